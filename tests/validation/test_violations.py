"""Archives that break one assumption each: the right check of pairs speaks, and no other does.

Twenty archives of twelve half-yearly crawls for each way in which archives depart from the urn.
A check speaks if its status is neither ok nor na. At least 19 of 20 times the right one must, and
at most once one that is neither required nor allowed.
"""

import math
from collections import Counter
from dataclasses import replace

import pytest

from crawlgauge.model.checks import diagnose
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.decay import outermost
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way
from crawlgauge.simulate.archive_files import count_archive
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_sets import draw_sets
from crawlgauge.simulate.urn_settings import ScopeChange, UrlClass, change_settings
from crawlgauge.simulate.urn_table import draw_table

N_ARCHIVES = 20
N_RIGHT = 19
N_WRONG = 1

# Scenario: checks that must speak, checks that may. All others must not. Lack of fit is what other
# violations leave behind, unless their repair removes it. Uneven capture (the first four after
# the pure urn) moves all pairs alike, and no check of pairs can see it.
EXPECTED = {
    "pure": ((), ()),
    "capture-gamma-mild": ((), ()),
    "capture-gamma-strong": ((), ()),
    "core-periphery": ((), ()),
    "core-always": ((), ()),
    "core-long-lived": (("curvature",), ()),
    "survival-mix": (("curvature",), ("lack-of-fit",)),
    "survival-mix-extreme": (("curvature",), ("lack-of-fit",)),
    "population-growth": (("population-trend",), ()),
    "population-shrink": (("population-trend",), ()),
    "size-trend": ((), ()),
    "size-noise": ((), ()),
    "coverage-jump": ((), ()),
    "avoid-all": (("short-lag",), ("lack-of-fit",)),
    "avoid-most": (("short-lag",), ("lack-of-fit",)),
    "avoid-two": (("short-lag",), ("lack-of-fit",)),
    "reseed": (("short-lag",), ("lack-of-fit",)),
    "scope-change": (("change-point",), ()),
    "host-noise": ((), ()),
}


def speak(table):
    """Return the status of each check that speaks."""
    checks = estimate_coverage(replace(table, histories=None)).checks
    return {check.id: check.status for check in checks if check.status not in {"ok", "na"}}


def draw(name, seed, **changes):
    settings = change_settings(find_scenario(name), **changes)
    if settings.has_memory or settings.host_noise is not None:
        return count_archive(draw_sets(settings, seed=seed))
    return draw_table(settings, seed=seed)


def count_speakers(tables):
    return Counter(check for table in tables for check in speak(table))


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_the_right_check_speaks_and_no_wrong_one(name):
    must, may = EXPECTED[name]
    spoken = count_speakers(draw(name, seed) for seed in range(1, N_ARCHIVES + 1))
    assert [check for check in must if spoken[check] < N_RIGHT] == []
    wrong = {check: n for check, n in spoken.items() if check not in {*must, *may}}
    assert [check for check, n in wrong.items() if n > N_WRONG] == []


@pytest.mark.parametrize("name", EXPECTED)
def test_one_archive_of_each_kind(name):
    must, may = EXPECTED[name]
    spoken = set(speak(draw(name, 100)))
    assert set(must) <= spoken <= {*must, *may}


@pytest.mark.slow
@pytest.mark.parametrize("n_crawls", [5, 8, 12])
@pytest.mark.parametrize("population", [2_000, 100_000_000])
def test_the_pure_urn_is_silent_at_every_scale(population, n_crawls):
    seeds = range(1, N_ARCHIVES + 1)
    tables = [draw("pure", seed, population=population, n_crawls=n_crawls) for seed in seeds]
    assert sum(bool(speak(table)) for table in tables) <= N_WRONG


@pytest.mark.slow
@pytest.mark.parametrize("n_crawls", [6, 8, 15])
@pytest.mark.parametrize("letter", ["b", "c-mild", "c", "d", "e", "f", "h"])
def test_noise_without_a_pattern_is_taken_for_no_violation(letter, n_crawls):
    """Lack of fit may be found, since noise is just that; a trend by chance in 5 % of archives."""
    population = 100_000 if letter == "h" else None
    spoken = count_speakers(
        draw(f"regime-{letter}", seed, n_crawls=n_crawls, population=population)
        for seed in range(1, N_ARCHIVES + 1)
    )
    patterns = spoken["short-lag"] + spoken["curvature"] + spoken["change-point"]
    assert patterns <= N_WRONG
    # Of 20 archives with a chance of 5 % each, more than 4 occur in 1 of 400 samples.
    assert spoken["population-trend"] <= 4


@pytest.mark.parametrize(
    "departure",
    [
        {
            "classes": (
                UrlClass(share=0.5, persistence=0.75),
                UrlClass(share=0.5, persistence=0.71),
            )
        },
        {"scope_change": ScopeChange(share_common=0.98)},
    ],
    ids=["lifetimes", "scope"],
)
def test_at_web_scale_immaterial_departures_do_not_speak(departure):
    settings = change_settings(find_scenario("pure"), population=1_000_000_000)
    assert speak(draw_table(replace(settings, **departure), seed=1)) == {}


def test_after_a_change_of_scope_the_latest_regime_has_its_true_coverage():
    table = draw("scope-change", 1)
    whole = fit_two_way(pair_data(table))
    diagnosis = diagnose(table)
    assert math.exp(whole.log_persistence) < 0.70
    assert math.exp(diagnosis.fit.log_persistence) == pytest.approx(0.73, rel=0.01)
    assert estimate_coverage(table).headline.coverage.value == pytest.approx(0.46, rel=0.01)


@pytest.mark.parametrize("name", ["survival-mix", "survival-mix-extreme"])
def test_with_mixed_lifetimes_the_range_over_shapes_holds_what_one_rate_misses(name):
    diagnosis = diagnose(draw(name, 1))
    lowest, highest = outermost(diagnosis.shapes)
    assert math.exp(diagnosis.fit.log_typical) < 0.88 * 0.46
    assert lowest.coverage < 0.46 < 1.03 * highest.coverage


@pytest.mark.parametrize(("name", "n_lags"), [("avoid-most", 1), ("avoid-two", 2)])
def test_with_avoidance_the_range_over_lag_cuts_holds_what_all_pairs_miss(name, n_lags):
    table = draw(name, 1)
    diagnosis = diagnose(table)
    found = diagnosis.short_lag
    assert found.n_lags == n_lags
    assert math.exp(diagnosis.fit.log_typical) < 0.5 * table.truth.coverage
    assert min(found.cuts) < table.truth.coverage < max(found.cuts)
    assert found.cuts[0] == pytest.approx(table.truth.coverage, rel=0.35)


def test_with_re_seeding_the_lag_cut_comes_closer_than_all_pairs():
    table = draw("reseed", 1)
    diagnosis = diagnose(table)
    truth = table.truth.coverage
    assert math.exp(diagnosis.fit.log_typical) > 1.1 * truth
    assert min(diagnosis.short_lag.cuts) == pytest.approx(truth, rel=0.05)
