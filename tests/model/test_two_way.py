import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way, refused_fit

BIG = 10**15
DAYS = [0, 150, 400, 500, 900, 1300]
SIZES = [BIG, 3 * BIG, BIG // 2, 2 * BIG, BIG, 4 * BIG]
COVERAGE = [0.1, 0.46, 0.2, 0.3, 0.11, 0.4]


def count_noise(seed, n):
    rng = np.random.default_rng(seed)
    return {(i, j): rng.uniform(0.7, 1.3) for j in range(n) for i in range(j)}


def dense_fit(pairs):
    """Fit by the textbook: dummies for the ends, dense least squares, the same passes for tau."""
    columns = np.unique(pairs.end)
    design = np.column_stack([pairs.end[:, None] == columns, pairs.lag_years]).astype(float)
    logs, counting = np.log(pairs.n_shared / pairs.n_counted[pairs.start]), 1 / pairs.n_shared
    freedom = max(round(pairs.weight.sum()) - design.shape[1], 1)
    tau_squared = 0.05**2
    for last in (False, False, False, True):
        root = np.sqrt(pairs.weight / (tau_squared + counting))
        solution, *_ = np.linalg.lstsq(design * root[:, None], logs * root, rcond=None)
        if not last:
            squares = np.sum(pairs.weight * (logs - design @ solution) ** 2)
            noise = np.average(counting, weights=pairs.weight)
            tau_squared = max(1e-8, squares / freedom - noise)
    return dict(zip(columns.tolist(), solution, strict=False)), solution[-1], tau_squared


def test_an_urn_is_recovered_whatever_the_sizes_and_populations(make_urn):
    fit = fit_two_way(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73)))
    assert np.exp(fit.log_coverage[1:]) == pytest.approx(COVERAGE[1:], rel=1e-12)
    assert math.exp(fit.log_persistence) == pytest.approx(0.73, rel=1e-12)
    assert math.exp(fit.log_typical) == pytest.approx(math.prod(COVERAGE[1:]) ** (1 / 5), rel=1e-12)
    assert fit.coverage_reasons == ("not identifiable: first crawl", *[None] * 5)
    assert fit.persistence_reason is None
    assert fit.n_freedom == 9


@given(
    seed=st.integers(0, 2**32 - 1),
    gaps=st.lists(st.integers(1, 400), min_size=3, max_size=7),
    alpha=st.floats(0.3, 1.1),
)
def test_any_urn_is_recovered(make_urn, seed, gaps, alpha):
    rng = np.random.default_rng(seed)
    days = [0, *np.cumsum(gaps).tolist()]
    sizes = rng.integers(BIG // 2, BIG, size=len(days)).tolist()
    coverage = rng.uniform(0.05, 0.2, size=len(days)).tolist()
    fit = fit_two_way(pair_data(make_urn(days, sizes, coverage, alpha)))
    assert fit.log_coverage[1:] == pytest.approx(np.log(coverage[1:]), abs=1e-6)
    assert fit.log_persistence == pytest.approx(math.log(alpha), abs=1e-6)


@pytest.mark.parametrize("size", [300, 20_000, 10**9])
def test_it_equals_dense_least_squares_with_dummies(make_urn, size):
    sizes = [size * k for k in (2, 3, 1, 4, 2, 3)]
    table = make_urn(DAYS, sizes, COVERAGE, 0.73, factors=count_noise(3, 6))
    pairs = pair_data(table)
    levels, slope, tau_squared = dense_fit(pairs)
    fit = fit_two_way(pairs)
    assert {j: fit.log_coverage[j] for j in levels} == pytest.approx(levels, rel=1e-9)
    assert fit.log_persistence == pytest.approx(slope, rel=1e-9)
    assert fit.tau_squared == pytest.approx(tau_squared, rel=1e-9)


def test_it_equals_dense_least_squares_with_same_date_and_missing_pairs(make_urn):
    factors = {**count_noise(4, 6), (0, 2): None, (3, 5): None}
    days = [0, 0, 400, 400, 900, 1300]
    pairs = pair_data(make_urn(days, [10**6] * 6, [0.4] * 6, 0.73, factors=factors))
    levels, slope, tau_squared = dense_fit(pairs)
    fit = fit_two_way(pairs)
    assert fit.log_coverage == pytest.approx([levels[j] for j in range(6)], rel=1e-9)
    assert fit.log_persistence == pytest.approx(slope, rel=1e-9)
    assert fit.tau_squared == pytest.approx(tau_squared, rel=1e-9)


def test_three_crawls_give_the_closed_form(make_table):
    m, x12, x13, x23 = [900, 1000, 800], 310, 200, 290
    days = [0, 200, 500]
    fit = fit_two_way(pair_data(make_table(days, m, {(0, 1): x12, (0, 2): x13, (1, 2): x23})))
    alpha = (x13 * m[1] / (x23 * m[0])) ** (365.25 / 200)
    assert math.exp(fit.log_coverage[1]) == pytest.approx(x12 * x23 / (m[1] * x13), rel=1e-12)
    assert math.exp(fit.log_persistence) == pytest.approx(alpha, rel=1e-12)
    assert math.exp(fit.log_coverage[2]) == pytest.approx(
        x23 / (m[1] * alpha ** (300 / 365.25)), rel=1e-12
    )
    assert fit.n_freedom == 0
    assert fit.coverage_reasons[1:] == ("0 degrees of freedom: no interval is possible",) * 2
    assert fit.persistence_reason == "0 degrees of freedom: no interval is possible"


def test_a_jump_of_coverage_does_not_bias_the_persistence(make_urn):
    coverage = [0.3, 0.3, 0.3, 0.6, 0.6, 0.6]
    fit = fit_two_way(pair_data(make_urn(DAYS, [BIG] * 6, coverage, 0.73)))
    assert math.exp(fit.log_persistence) == pytest.approx(0.73, rel=1e-12)


def test_missing_pairs_do_not_hinder_what_the_others_determine(make_urn):
    factors = {(0, 3): None, (1, 2): None, (0, 5): None}
    fit = fit_two_way(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors=factors)))
    assert np.exp(fit.log_coverage[1:]) == pytest.approx(COVERAGE[1:], rel=1e-12)
    assert fit.n_freedom == 6


def test_a_crawl_without_earlier_partner_is_not_identifiable(make_urn):
    factors = {(0, 2): None, (1, 2): None}
    fit = fit_two_way(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors=factors)))
    assert fit.estimated.tolist() == [False, True, False, True, True, True]
    assert fit.coverage_reasons[2] == "not identifiable: no earlier crawl is compared with it"


def test_a_crawl_that_shares_nothing_with_earlier_ones_says_so(make_urn):
    factors = {(0, 2): 0, (1, 2): 0}
    fit = fit_two_way(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors=factors)))
    assert fit.coverage_reasons[2] == "not identifiable: it shares nothing with any earlier crawl"


def test_one_row_a_column_identifies_neither_persistence_nor_coverage(make_urn):
    chain = {(0, 2): None, (0, 3): None, (1, 3): None}
    fit = fit_two_way(
        pair_data(make_urn([0, 100, 300, 400], [BIG] * 4, [0.4] * 4, 0.7, factors=chain))
    )
    assert not fit.has_persistence
    assert "two different dates" in fit.persistence_reason
    assert not fit.estimated.any()
    assert fit.coverage_reasons[0] == "not identifiable: first crawl"
    assert all("cannot be told from turnover" in reason for reason in fit.coverage_reasons[1:])
    assert "cannot be told from turnover" in fit.typical_reason
    assert math.isnan(fit.log_typical)


def test_a_same_date_partner_identifies_the_first_crawl(make_urn):
    days, coverage, population = [0, 0, 300, 700], [0.2, 0.5, 0.3, 0.4], BIG
    sizes = [round(c * population) for c in coverage]
    fit = fit_two_way(pair_data(make_urn(days, sizes, coverage, 0.7)))
    assert np.exp(fit.log_coverage) == pytest.approx(coverage, rel=1e-12)
    assert math.exp(fit.log_persistence) == pytest.approx(0.7, rel=1e-12)


def test_without_persistence_only_same_date_crawls_are_identified(make_urn):
    """The third crawl is compared with two crawls of one date, so that decay does not show."""
    coverage = [0.2, 0.5, 0.3]
    sizes = [round(c * BIG) for c in coverage]
    fit = fit_two_way(pair_data(make_urn([0, 0, 300], sizes, coverage, 0.7)))
    assert fit.estimated.tolist() == [True, True, False]
    assert np.exp(fit.log_coverage[:2]) == pytest.approx([0.2, 0.5], rel=1e-12)
    assert not fit.has_persistence
    assert fit.log_containments(np.array([1]), np.array([0.0])) == pytest.approx(math.log(0.5))
    assert np.isnan(fit.log_containments(np.array([2]), np.array([1.0])))


def test_without_any_pair_nothing_is_identified(make_table):
    fit = fit_two_way(pair_data(make_table([0, 1, 2], [10, 10, 10], {})))
    assert not fit.estimated.any()
    assert not fit.has_persistence
    assert (
        fit.coverage_reasons[1:] == ("not identifiable: no earlier crawl is compared with it",) * 2
    )


def test_a_refused_fit_knows_nothing_for_one_reason():
    fit = refused_fit(3, "because")
    assert fit.coverage_reasons == ("because",) * 3
    assert (fit.persistence_reason, fit.typical_reason) == ("because", "because")
    assert not fit.estimated.any()
