import math

import pytest

from crawlgauge.errors import FitError
from crawlgauge.model.coverage import estimate_coverage


@pytest.fixture
def two(make_table):
    """Two years apart; the newer crawl holds 39 % of the older."""
    return make_table([0, 731], [1000, 2000], {(0, 1): 390})


def test_only_a_lower_bound_of_the_newer_coverage_is_known(two):
    result = estimate_coverage(two)
    reason = (
        "not identifiable: two crawls give only coverage × persistence^lag = 0.39, "
        "so coverage is at least 39 %"
    )
    assert result.headline.coverage.value is None
    assert result.headline.coverage.reason == reason
    assert result.headline.estimator is None
    assert result.newest.coverage.reason == reason
    assert result.population.reason == reason
    assert result.per_crawl[0].coverage.reason == "not identifiable: first crawl"
    assert result.headline.statement.startswith(
        "Two crawls cannot tell coverage from turnover: the newer one holds at least 39 %"
    )


def test_persistence_half_life_and_growth_say_why_they_are_unknown(two):
    result = estimate_coverage(two)
    assert result.persistence.value is None
    assert result.persistence.reason == "not identifiable: two crawls give only one pair"
    assert result.half_life_years.reason == result.persistence.reason
    assert "fewer than two dates" in result.growth_per_year.reason
    assert any("Add a third crawl" in warning for warning in result.warnings)
    assert result.estimators == ()


def test_a_given_persistence_gives_the_newer_coverage(two):
    result = estimate_coverage(two, persistence=0.73)
    coverage = 0.39 / 0.73 ** (731 / 365.25)
    assert result.newest.coverage.value == pytest.approx(coverage, rel=1e-12)
    assert result.newest.population.value == pytest.approx(2000 / coverage, rel=1e-12)
    assert "rests on the given persistence of 73 % a year" in result.newest.coverage.reason
    assert result.headline.coverage == result.newest.coverage
    assert result.headline.estimator == "two-way"
    assert result.persistence.value == pytest.approx(0.73)
    assert result.persistence.reason == "given, not estimated"
    assert result.half_life_years.value == pytest.approx(math.log(0.5) / math.log(0.73))
    assert result.per_crawl[0].coverage.value is None
    assert result.headline.statement.startswith("If 73 % of the URLs live on for a year, as given")
    assert result.provenance.settings["persistence"] == 0.73
    assert any("rests wholly on the given persistence" in text for text in result.warnings)


def test_a_given_persistence_of_one_gives_the_lower_bound_and_no_half_life(two):
    result = estimate_coverage(two, persistence=1.0)
    assert result.newest.coverage.value == pytest.approx(0.39)
    assert result.half_life_years.reason == "longer than this series can tell"
    assert not any("do not shrink with time" in warning for warning in result.warnings)


def test_a_given_persistence_that_makes_coverage_impossible_is_answered_with_the_least(two):
    result = estimate_coverage(two, persistence=0.5)
    assert result.newest.coverage.value > 1
    least = 0.39 ** (365.25 / 731)
    assert any(f"at least {100 * least:.0f} % a year" in text for text in result.warnings)
    assert "impossible" in result.headline.statement


def test_two_crawls_of_one_date_give_both_coverages_directly(make_table):
    result = estimate_coverage(make_table([0, 0], [1000, 2000], {(0, 1): 390}))
    assert [crawl.coverage.value for crawl in result.per_crawl] == pytest.approx([0.195, 0.39])
    populations = [crawl.population.value for crawl in result.per_crawl]
    assert populations == pytest.approx([1000 * 2000 / 390] * 2)
    assert result.headline.coverage.value == pytest.approx(math.sqrt(0.195 * 0.39))
    assert result.headline.coverage.reason == "0 degrees of freedom: no interval is possible"
    assert result.persistence.value is None
    assert "gone" not in result.headline.statement


def test_two_crawls_that_share_nothing_leave_everything_open(make_table):
    result = estimate_coverage(make_table([0, 100], [1000, 2000], {(0, 1): 0}))
    assert result.headline.coverage.reason == "not identifiable: the two crawls share nothing"
    assert result.headline.statement == (
        "Coverage cannot be estimated from these overlaps: the two crawls share nothing."
    )
    assert result.residuals[0].log_r is None
    assert result.residuals[0].log_r_two_way is None


def test_two_crawls_that_are_not_compared_leave_everything_open(make_table):
    result = estimate_coverage(make_table([0, 100], [1000, 2000], {}))
    assert "the overlap of the two crawls is not known" in result.headline.coverage.reason
    assert result.residuals == ()


@pytest.mark.parametrize("persistence", [0.0, -0.1, 1.01, math.nan])
def test_a_persistence_that_is_no_share_is_refused(two, persistence):
    with pytest.raises(FitError, match="above 0 and at most 1"):
        estimate_coverage(two, persistence=persistence)


def test_a_persistence_is_refused_where_it_can_be_estimated(make_urn, make_table):
    with pytest.raises(FitError, match="with 3 crawls it is estimated"):
        estimate_coverage(make_urn([0, 100, 200], [1000] * 3, [0.4] * 3, 0.7), persistence=0.7)
    with pytest.raises(FitError, match="same date"):
        estimate_coverage(make_table([0, 0], [10, 10], {(0, 1): 4}), persistence=0.7)
