"""How often the check of the newest crawl errs, on archives whose truth is known."""

from collections import Counter

import numpy as np
import pytest

from crawlgauge.model.newest import judge_newest
from crawlgauge.simulate.urn_settings import DatePlan, TableNoise, UrnSettings
from crawlgauge.simulate.urn_table import draw_table

pytestmark = pytest.mark.slow

N_ARCHIVES = 200
POPULATION, COVERAGE = 1_000_000, 0.46
SHRUNK, GROWN = "crawl-shrank", "web-grew-or-went-elsewhere"
POPULATIONS_VARY = TableNoise(column_sd=0.2, row_sd=0.1, pair_sd=0.03)


def draw(seed, n_crawls, *, sd=0.0, within=0.0, growth=0.0, size=1.0, population=1.0, noise=None):
    """Draw half-yearly crawls whose sizes vary, the newest one and its web changed by factors."""
    rng = np.random.default_rng(seed)
    varied = sd * rng.standard_normal(n_crawls) + rng.uniform(-within / 2, within / 2, n_crawls)
    sizes = COVERAGE * POPULATION * np.exp(varied)
    populations = POPULATION * np.exp(growth * np.arange(n_crawls) / 2)
    sizes[-1] *= size
    populations[-1] *= population
    settings = UrnSettings(
        dates=DatePlan(n_crawls=n_crawls),
        population=tuple(populations.tolist()),
        coverage=tuple(np.minimum(sizes / populations, 0.95).tolist()),
        table_noise=noise,
    )
    return draw_table(settings, seed=seed, with_histories=False)


def judge_many(n_crawls, *, start=1000, **options):
    """Return how often each cause is named, and the share of ranges that hold the true change."""
    truth = options.get("size", 1.0) / options.get("population", 1.0) - 1
    causes, n_held = Counter(), 0
    for seed in range(start, start + N_ARCHIVES):
        table = draw(seed, n_crawls, **options)
        check = judge_newest(table)
        causes[check.cause] += 1
        change = check.measure("coverage").change
        n_held += change.low <= truth <= change.high
    return {cause: n / N_ARCHIVES for cause, n in causes.items()}, n_held / N_ARCHIVES


@pytest.mark.parametrize("n_crawls", [8, 12])
@pytest.mark.parametrize(
    "archive",
    [
        {"within": 0.2},
        {"sd": 0.14},
        {"sd": 0.3},
        {"sd": 0.1, "growth": 0.3},
        {"noise": POPULATIONS_VARY},
    ],
    ids=", ".join,
)
def test_false_alarms_are_fewer_than_one_in_twenty(n_crawls, archive):
    causes, held = judge_many(n_crawls, **archive)
    assert 1 - causes.get(None, 0.0) < 0.05
    assert 0.9 <= held <= 1


@pytest.mark.parametrize("n_crawls", [8, 12])
@pytest.mark.parametrize("archive", [{"within": 0.2}, {"sd": 0.1}, {"noise": POPULATIONS_VARY}])
def test_a_halved_crawl_is_found_and_said_to_have_shrunk(n_crawls, archive):
    """Coverages of one archive lie within 0.2 of each other, or their sizes or populations vary."""
    causes, held = judge_many(n_crawls, size=0.5, **archive)
    assert 1 - causes.get(None, 0.0) >= 0.95
    assert causes[SHRUNK] >= 0.85
    assert causes.get(GROWN, 0.0) == 0
    assert 0.9 <= held <= 1


def test_crawls_that_differ_by_a_fifth_from_one_to_the_next_still_show_a_halved_one():
    """A scatter of 0.14 about the mean is one of 0.2 between neighbours."""
    causes, _ = judge_many(8, sd=0.14, size=0.5)
    assert 1 - causes.get(None, 0.0) >= 0.95


@pytest.mark.parametrize("archive", [{"within": 0.2}, {"sd": 0.14}])
def test_a_doubled_web_is_found_and_not_taken_for_a_shrunk_crawl(archive):
    causes, held = judge_many(8, population=2.0, **archive)
    assert causes.get(None, 0.0) <= 0.05
    assert causes[GROWN] >= 0.95
    assert causes.get(SHRUNK, 0.0) == 0
    assert 0.9 <= held <= 1
