import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlgauge.errors import FitError
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.intervals import find_margins
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way
from crawlgauge.provenance import Provenance

BIG = 10**15
DAYS = [0, 183, 366, 549, 732, 915]
YEARS = np.array(DAYS) / 365.25
COVERAGE = [0.5, 0.46, 0.4, 0.3, 0.35, 0.4]


@pytest.fixture
def growing(make_urn):
    """A population that grows by 10 % a year, under crawls of varying coverage."""
    sizes = [round(BIG * 1.1**t * c) for t, c in zip(YEARS, COVERAGE, strict=True)]
    return make_urn(DAYS, sizes, COVERAGE, 0.73, provenance=Provenance(settings={"level": "url"}))


def test_an_exact_urn_gives_back_all_its_parameters(growing):
    result = estimate_coverage(growing)
    values = [crawl.coverage.value for crawl in result.per_crawl]
    assert values[0] is None
    assert values[1:] == pytest.approx(COVERAGE[1:], rel=1e-9)
    typical = math.prod(COVERAGE[1:]) ** (1 / 5)
    assert result.headline.coverage.value == pytest.approx(typical, rel=1e-9)
    assert result.headline.estimator == "two-way"
    assert result.persistence.value == pytest.approx(0.73, rel=1e-9)
    assert result.half_life_years.value == pytest.approx(math.log(0.5) / math.log(0.73), rel=1e-9)
    assert result.growth_per_year.value == pytest.approx(0.1, rel=1e-9)
    assert result.population.value == pytest.approx(BIG * 1.1 ** YEARS[-1], rel=1e-9)


def test_the_newest_crawl_is_the_last_one(growing):
    result = estimate_coverage(growing)
    assert result.newest.label == "c6"
    assert result.newest.coverage == result.per_crawl[-1].coverage
    assert result.population == result.newest.population == result.per_crawl[-1].population


def test_the_first_crawl_is_not_identifiable_but_extrapolated_in_words(growing):
    first = estimate_coverage(growing).per_crawl[0]
    assert first.coverage.value is None
    assert first.coverage.reason == "not identifiable: first crawl"
    assert first.population.reason == "not identifiable: first crawl"
    assert first.note == "extrapolated by the growth model: 50 %"


def test_all_estimates_have_intervals_around_them(growing):
    result = estimate_coverage(growing)
    for estimate in (
        result.headline.coverage,
        result.persistence,
        result.half_life_years,
        result.population,
        result.growth_per_year,
        *(crawl.coverage for crawl in result.per_crawl[1:]),
        *(crawl.population for crawl in result.per_crawl[1:]),
    ):
        assert estimate.low <= estimate.value <= estimate.high
        assert (estimate.level, estimate.basis, estimate.reason) == (0.95, "interval", None)


def test_intervals_are_those_of_the_margins(growing):
    result = estimate_coverage(growing)
    pairs = pair_data(growing)
    margins = find_margins(pairs, fit_two_way(pairs))
    for estimate, margin in (
        (result.headline.coverage, margins.typical),
        (result.persistence, margins.persistence),
        (result.newest.coverage, margins.coverage[-1]),
        (result.newest.population, margins.population[-1]),
    ):
        assert estimate.low == pytest.approx(estimate.value * math.exp(-margin.half_width))
        assert estimate.high == pytest.approx(estimate.value * math.exp(margin.half_width))


def test_only_the_typical_coverage_is_uncertain_where_crawls_differ_but_pairs_fit(growing):
    result = estimate_coverage(growing)
    typical, newest = result.headline.coverage, result.newest.coverage
    assert typical.high / typical.low > 1.5
    assert newest.high / newest.low < 1.001
    assert newest.low <= COVERAGE[-1] <= newest.high


def test_populations_are_sizes_over_coverages_at_both_ends(growing):
    for crawl, row in zip(
        growing.crawls[1:], estimate_coverage(growing).per_crawl[1:], strict=True
    ):
        assert row.population.low == pytest.approx(crawl.n_urls / row.coverage.high)
        assert row.population.high == pytest.approx(crawl.n_urls / row.coverage.low)


def test_of_four_crawls_the_second_says_why_it_has_no_interval(make_urn):
    result = estimate_coverage(make_urn(DAYS[:4], [10**6] * 4, [0.4] * 4, 0.73))
    assert result.per_crawl[1].coverage.value is not None
    assert result.per_crawl[1].coverage.low is None
    assert "fewer than 3 crawls" in result.per_crawl[1].coverage.reason
    assert result.per_crawl[2].coverage.low is not None


def test_three_crawls_say_that_no_interval_is_possible(make_urn):
    result = estimate_coverage(make_urn(DAYS[:3], [BIG] * 3, [0.4] * 3, 0.73))
    for estimate in (
        result.headline.coverage,
        result.newest.coverage,
        result.population,
        result.persistence,
        result.half_life_years,
        result.growth_per_year,
    ):
        assert estimate.value is not None
        assert estimate.reason == "0 degrees of freedom: no interval is possible"


def test_estimators_stand_side_by_side_with_what_they_assume(growing):
    rows = {row.name: row for row in estimate_coverage(growing).estimators}
    assert list(rows) == ["paper-forward", "paper-backward", "two-way", "growth"]
    assert all(len(row.per_crawl) == 6 and row.assumes for row in rows.values())
    assert rows["growth"].per_crawl == pytest.approx(COVERAGE, rel=1e-9)
    assert rows["growth"].coverage == pytest.approx(rows["two-way"].coverage, rel=1e-9)
    assert rows["two-way"].per_crawl[0] is None
    assert rows["paper-forward"].per_crawl == (None,) * 6
    newest = growing.crawls[-1].n_urls
    for name in ("paper-forward", "paper-backward"):
        assert rows[name].population == pytest.approx(newest / rows[name].coverage)
    assert "e^(−growth rate)" in rows["paper-backward"].assumes


def test_backward_persistence_is_lower_by_the_growth_of_the_population(make_urn):
    sizes = [round(BIG * 1.1**t) for t in YEARS]
    result = estimate_coverage(make_urn(DAYS, sizes, [0.4] * 6, 0.73))
    rows = {row.name: row for row in result.estimators}
    assert rows["paper-forward"].persistence == pytest.approx(0.73, rel=1e-9)
    assert rows["paper-backward"].persistence == pytest.approx(0.73 / 1.1, rel=1e-9)


def test_agreement_of_pair_estimators_is_no_evidence(growing):
    result = estimate_coverage(growing)
    assert (result.agreement.spread, result.agreement.grade) == (None, "none")
    assert "no evidence" in result.agreement.reason
    assert result.union is None


def test_residuals_list_each_known_pair_with_its_distance_from_both_fits(make_urn):
    table = make_urn(DAYS, [BIG] * 6, [0.4] * 6, 0.73, factors={(1, 4): 1.2, (0, 5): None})
    result = estimate_coverage(table)
    assert len(result.residuals) == 14
    for pair, residual in zip(table.pairs(), result.residuals, strict=True):
        assert (residual.a, residual.b) == (pair.a.label, pair.b.label)
        assert residual.lag_years == pytest.approx((pair.b.date - pair.a.date).days / 365.25)
        line = result.paper.coverage * result.paper.persistence**residual.lag_years
        assert residual.log_r == pytest.approx(math.log(residual.containment / line), abs=1e-12)
        coverage = next(c for c in result.per_crawl if c.label == residual.b).coverage.value
        curve = coverage * result.persistence.value**residual.lag_years
        assert residual.log_r_two_way == pytest.approx(
            math.log(residual.containment / curve), abs=1e-12
        )
        assert residual.jaccard == pair.jaccard
        assert residual.dice == pair.dice
        assert residual.containment_backward == pair.containment_b_in_a
    largest = max(result.residuals, key=lambda residual: residual.log_r)
    assert (largest.a, largest.b) == ("c2", "c5")


def test_a_same_date_pair_is_listed_once_the_first_label_first(make_table):
    overlaps = {(0, 1): 40, (0, 2): 30, (1, 2): 50, (0, 3): 20, (1, 3): 30, (2, 3): 30}
    result = estimate_coverage(make_table([0, 0, 300, 600], [100, 120, 100, 90], overlaps))
    assert [(r.a, r.b) for r in result.residuals].count(("c1", "c2")) == 1
    assert result.residuals[0].containment == pytest.approx(0.4)
    assert result.per_crawl[0].coverage.value is not None


def test_crawls_that_cannot_be_compared_give_reasons_and_no_numbers(make_table):
    result = estimate_coverage(make_table([0, 100, 200], [10, 10, 10], {}))
    assert result.headline.coverage.value is None
    assert result.estimators == ()
    assert result.residuals == ()
    assert result.paper.coverage is None
    assert "no earlier crawl is compared" in result.headline.statement


def test_a_chain_of_pairs_leaves_coverage_open_but_can_show_growth(make_urn):
    days, chain = [0, 100, 400, 900], {(0, 2): None, (0, 3): None, (1, 3): None}
    result = estimate_coverage(make_urn(days, [BIG] * 4, [0.4] * 4, 0.73, factors=chain))
    assert result.headline.coverage.value is None
    assert "cannot be told from turnover" in result.headline.coverage.reason
    assert result.per_crawl[3].note == "extrapolated by the growth model: 40 %"


@given(data=st.data(), n=st.integers(3, 6))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_any_table_gives_ordered_intervals_or_reasons(make_table, data, n):
    """Counts without any order: nothing may fail, and every gap must say why."""
    days = sorted(data.draw(st.lists(st.integers(0, 3000), min_size=n, max_size=n)))
    sizes = data.draw(st.lists(st.sampled_from([1, 50, 10**4, 10**9]), min_size=n, max_size=n))
    overlaps = {
        (i, j): round(min(sizes[i], sizes[j]) * data.draw(st.sampled_from([0.001, 0.3, 0.9, 1])))
        for j in range(n)
        for i in range(j)
        if data.draw(st.integers(0, 9))
    }
    result = estimate_coverage(make_table(days, sizes, overlaps))
    estimates = [
        result.headline.coverage,
        result.persistence,
        result.half_life_years,
        result.growth_per_year,
        *(crawl.coverage for crawl in result.per_crawl),
        *(crawl.population for crawl in result.per_crawl),
    ]
    for estimate in estimates:
        if estimate.low is not None and estimate.high is not None:
            assert estimate.low <= estimate.value <= estimate.high < math.inf
        else:
            assert estimate.reason
    assert "nan" not in result.headline.statement + " ".join(result.warnings)


def test_one_crawl_is_refused_with_what_more_crawls_would_tell(make_table):
    with pytest.raises(FitError, match="two give a lower bound, three give point estimates"):
        estimate_coverage(make_table([0], [10], {}))


def test_provenance_is_the_tables(growing):
    assert estimate_coverage(growing).provenance == growing.provenance


def test_level_and_crawls_are_the_tables(make_urn):
    table = make_urn(DAYS, [BIG] * 6, COVERAGE, 0.73, level="content")
    result = estimate_coverage(table)
    assert result.level == "content"
    assert result.crawls == table.crawls
    assert "contents" in result.headline.statement
