"""Plans hold the truth: a crawl of the planned size reaches what it was planned for."""

import numpy as np
import pytest

from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.plan import plan_crawls
from crawlgauge.simulate.urn_settings import Course, DatePlan, TableNoise, UrnSettings
from crawlgauge.simulate.urn_table import draw_table

pytestmark = pytest.mark.slow

PERSISTENCE, COVERAGE, POPULATION = 0.73, 0.4, 300_000
TARGET, UNION_TARGET = 0.8, 0.9
KINDS = (
    {},
    {"growth": 0.15},
    {"growth": -0.1},
    {"noise_sd": 0.2},
)


def draw(seed, n_crawls, *, with_histories, growth=0.0, noise_sd=0.0, table_noise=None):
    settings = UrnSettings(
        dates=DatePlan(n_crawls=n_crawls),
        population=Course(first=POPULATION, growth_per_year=growth),
        coverage=Course(first=COVERAGE, noise_sd=noise_sd),
        persistence=PERSISTENCE,
        table_noise=table_noise,
    )
    return draw_table(settings, seed=seed, with_histories=with_histories)


def true_sizes(table, growth, years):
    """Return which sizes reach the coverage, reach the union with the next crawl, and keep it."""
    days = [crawl.date.toordinal() for crawl in table.crawls]
    population = np.array([crawl.population for crawl in table.truth.crawls], dtype=float)
    coverage = [crawl.coverage for crawl in table.truth.crawls]
    union = coverage[0]
    for k in range(1, len(days)):
        lived = PERSISTENCE ** ((days[k] - days[k - 1]) / 365.25)
        older = lived * population[k - 1] / population[k]
        union = coverage[k] + (1 - coverage[k]) * older * union
    kept = (PERSISTENCE / (1 + growth)) ** years
    later = population[-1] * (1 + growth) ** years
    reaching = later * (UNION_TARGET - kept * union) / (1 - kept * union)
    keeping = population[-1] * UNION_TARGET * (1 - kept) / (1 - kept * UNION_TARGET)
    return TARGET * population[-1], reaching, keeping


def holds(estimate, truth):
    return estimate.low <= truth <= estimate.high


def score(seed, n_crawls, *, with_histories, **kind):
    table = draw(seed, n_crawls, with_histories=with_histories, **kind)
    plan = plan_crawls(estimate_coverage(table), target=TARGET, union_target=UNION_TARGET)
    years = plan.next_crawl.after_years
    single, reaching, keeping = true_sizes(table, kind.get("growth", 0.0), years)
    found = [holds(plan.coverage_target.n_urls, single)]
    if with_histories:
        found.append(holds(plan.union_target.n_urls_next, reaching))
        found.append(holds(plan.union_target.n_urls_each, keeping))
    return found


def test_planned_sizes_reach_coverage_and_union_of_archives_with_histories():
    """Two hundred archives of four crawls: even, growing, shrinking, of varying sizes."""
    held = [
        score(500 + seed, 4, with_histories=True, **kind) for kind in KINDS for seed in range(50)
    ]
    shares = np.mean(held, axis=0)
    assert shares.min() >= 0.9


def test_planned_sizes_reach_the_coverage_of_archives_known_by_pairs():
    noise = TableNoise(column_sd=0.1, row_sd=0.1, pair_sd=0.03)
    held = [score(900 + seed, 6, with_histories=False, table_noise=noise) for seed in range(200)]
    assert 0.9 <= np.mean(held) <= 0.99
