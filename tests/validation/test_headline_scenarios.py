"""Archives that break one assumption each, or two: how near the headline comes to the truth.

Eight half-yearly crawls of 60,000 URLs. Each scenario has a limit of its own: what the method can
do there, from even capture, where it is exact, to a core that lives longer and is re-seeded, where
only the range is left.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.histories.data import history_data
from crawlgauge.model.histories.known_alive import fit_known_alive
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.simulate.archive_files import count_archive
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_sets import draw_sets
from crawlgauge.simulate.urn_settings import Course, HostNoise, ScopeChange, change_settings
from crawlgauge.simulate.urn_table import draw_table

N_CRAWLS = 8
POPULATION = 60_000
SEED = 1

# Scenario: largest error, and the grades that are right.
LIMITS = {
    "pure": (0.02, "A"),
    "capture-gamma-mild": (0.05, "AB"),
    "capture-gamma-strong": (0.2, "BC"),
    "core-always": (0.02, "C"),
    "core-long-lived": (0.2, "C"),
    "survival-mix": (0.02, "AB"),
    "survival-mix-extreme": (0.03, "BC"),
    "survival-gamma": (0.02, "AB"),
    "avoid-most": (0.04, "AB"),
    "reseed": (0.02, "B"),
    "host-noise": (0.04, "AB"),
    "population-growth": (0.02, "A"),
    "avoid-and-survival-mix": (0.05, "AB"),
    "core-and-reseed": (0.3, "C"),
}
CHANGES = {
    "host-noise": {"host_noise": HostNoise(n_hosts=50, sd=0.5)},
    "scope-change": {"scope_change": ScopeChange(share_common=0.6)},
    "population-growth": {
        "population": Course(first=POPULATION / 2, growth_per_year=0.2),
        "coverage": 0.4,
    },
}

SAMPLE = 2**18
LARGE = 100_000_000
SAMPLED = ("pure", "survival-mix", "avoid-most", "capture-gamma-mild")


def settings_of(name, population=POPULATION):
    settings = change_settings(find_scenario(name), n_crawls=N_CRAWLS, population=population)
    return replace(settings, **CHANGES.get(name, {}))


def draw(name):
    return count_archive(draw_sets(settings_of(name), seed=SEED))


def typical(truth):
    """Return the typical coverage over the crawls that lie inside windows."""
    inside = [crawl.coverage for crawl in truth.crawls[1:-1]]
    return math.exp(np.log(inside).mean())


def take_sample(table, seed):
    """Keep each URL with the same chance, as the smallest keys of a hash do."""
    histories = table.histories
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(SAMPLE, histories.counts / histories.n_urls)
    rate = SAMPLE / histories.n_urls
    sample = Histories(
        n_crawls=N_CRAWLS,
        masks=histories.masks[counts > 0],
        counts=counts[counts > 0],
        sample_rate=rate,
    )
    pairs = sample.count_pairs()
    return OverlapTable(
        crawls=tuple(
            replace(crawl, n_sampled=int(size))
            for crawl, size in zip(table.crawls, np.diag(pairs), strict=True)
        ),
        n_shared=pairs,
        histories=sample,
        sample_rate=rate,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITS)
def test_the_headline_comes_as_near_as_it_can_and_its_range_holds(name):
    limit, grades = LIMITS[name]
    table = draw(name)
    truth = typical(table.truth)
    estimates = estimate_coverage(table)
    headline = estimates.headline
    assert headline.estimator == "histories"
    assert headline.coverage.value == pytest.approx(truth, rel=limit)
    assert headline.coverage.low < truth < headline.coverage.high
    assert estimates.agreement.grade in grades
    assert ("do not settle" in headline.statement) == (estimates.agreement.grade == "C")
    newest = estimates.newest.coverage
    assert newest.low < table.truth.crawls[-1].coverage < newest.high


@pytest.mark.slow
def test_a_core_beside_a_periphery_that_is_hardly_captured_gets_no_number():
    estimates = estimate_coverage(draw("core-periphery"))
    assert estimates.headline.coverage.value is None
    assert estimates.agreement.grade == "none"


@pytest.mark.slow
def test_after_a_change_of_scope_too_few_crawls_are_left_for_a_grade():
    """The four crawls of the latest regime are estimated from pairs, and the reason is told."""
    table = draw("scope-change")
    estimates = estimate_coverage(table)
    assert estimates.headline.estimator == "two-way"
    assert estimates.headline.coverage.value == pytest.approx(0.46, rel=0.02)
    assert estimates.agreement.grade == "none"
    assert "it takes 5 crawls to test" in estimates.agreement.reason


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLED)
def test_a_hash_sample_gives_the_same_headline_within_its_sampling_error(name):
    """A quarter of a million URLs stand for a hundred million."""
    whole = draw_table(settings_of(name, LARGE), seed=SEED, with_histories=True)
    sample = take_sample(whole, SEED)
    of_whole, of_sample = (
        estimate_coverage(table).headline.coverage.value for table in (whole, sample)
    )
    error = fit_known_alive(history_data(sample)).sampling_sd
    assert error < 0.01
    assert abs(math.log(of_sample / of_whole)) < 3 * error


@pytest.mark.slow
def test_a_hash_sample_gives_the_population_of_the_whole():
    """Ratios come from the sample, sizes from the whole."""
    whole = draw_table(settings_of("pure", LARGE), seed=SEED, with_histories=True)
    population = estimate_coverage(take_sample(whole, SEED)).newest.population
    assert population.value == pytest.approx(LARGE, rel=0.02)
    assert population.low < LARGE < population.high
