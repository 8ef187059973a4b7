"""Lists of real URLs as archives: complete ones, and what crawlers of several kinds hold."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
STEADY = ("citizenlab-test-lists", "free-programming-books")
"""Lists whose URLs do not come and go."""


@pytest.fixture(scope="module")
def study():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("headline_study")
    finally:
        sys.path.remove(str(BENCHMARKS))
        for name in ("headline_study", "worlds"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("name", STEADY)
def test_every_crawl_of_a_complete_list_holds_nearly_all_and_the_population_does_not_jump(
    study, shared_data, name
):
    web = study.worlds.read_list(shared_data / "longitudinal" / name, 8, 10)
    estimates = study.estimate_coverage(study.make_table(web, web.exists))
    coverages = [row.coverage.value for row in estimates.per_crawl[1:]]
    assert estimates.headline.coverage.value > 0.97
    assert min(coverages) > 0.95
    for crawl, row in zip(estimates.crawls[1:], estimates.per_crawl[1:], strict=True):
        assert row.population.value == pytest.approx(crawl.n_urls, rel=0.05)


@pytest.mark.slow
def test_ranges_hold_whatever_crawls_real_lists(study, shared_data):
    results = list(study.run_on_lists(shared_data / "longitudinal"))
    known = [result for result in results if result.typical is not None]
    assert len(known) >= 0.9 * len(results)
    assert sum(result.typical.holds for result in known) >= 0.92 * len(known)
    silent = [r for r in known if r.grade in "AB" and abs(r.typical.error) > study.THIRD]
    assert len(silent) <= 0.015 * len(known)
