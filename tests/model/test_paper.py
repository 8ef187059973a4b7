import math

import numpy as np
import pytest
from scipy import optimize, stats

from crawlgauge.model.pairs import pair_data
from crawlgauge.model.paper import fit_linear, fit_paper, fit_pooled

# ----------------------------------------------------------------------------- the published method


DAYS = [0, 183, 366, 549, 732, 915, 1098, 1281]
YEARS = np.array(DAYS) / 365.25
LABELS = tuple(f"c{k + 1}" for k in range(len(DAYS)))
BIG = 10**15
ALPHA = 0.73


def urn_of(make_urn, sizes, coverage):
    return pair_data(make_urn(DAYS, sizes, coverage, ALPHA))


def noisy(make_urn, seed=0):
    rng = np.random.default_rng(seed)
    factors = {(i, j): rng.uniform(0.8, 1.2) for j in range(8) for i in range(j)}
    return make_urn(DAYS, [10**6] * 8, [0.5] * 8, ALPHA, factors=factors)


def test_an_urn_with_constant_coverage_lies_on_the_line(make_urn):
    paper = fit_paper(urn_of(make_urn, [BIG] * 8, [0.46] * 8), LABELS)
    assert paper.coverage == pytest.approx(0.46, rel=1e-12)
    assert paper.persistence == pytest.approx(0.73, rel=1e-12)
    assert paper.half_life_years == pytest.approx(math.log(0.5) / math.log(0.73), rel=1e-12)
    assert paper.r_squared == pytest.approx(1, abs=1e-12)
    assert paper.n_pairs == 28
    assert paper.direction == "forward"


def test_the_pooled_line_is_ordinary_least_squares(make_urn):
    table = noisy(make_urn)
    lags = [(p.b.date - p.a.date).days / 365.25 for p in table.pairs()]
    logs = [math.log(p.n_shared / p.a.n_urls) for p in table.pairs()]
    expected = stats.linregress(lags, logs)
    paper = fit_paper(pair_data(table), LABELS)
    assert paper.coverage == pytest.approx(math.exp(expected.intercept), rel=1e-12)
    assert paper.persistence == pytest.approx(math.exp(expected.slope), rel=1e-12)
    assert paper.r_squared == pytest.approx(expected.rvalue**2, rel=1e-12)


def test_a_growing_population_bends_the_slope_by_half_its_rate_but_not_the_intercept(make_urn):
    coverage = 0.4 * 1.2 ** -(YEARS - YEARS.mean())
    for direction in ("forward", "backward"):
        line = fit_pooled(urn_of(make_urn, [BIG] * 8, coverage), direction)
        assert line.persistence == pytest.approx(ALPHA / math.sqrt(1.2), rel=1e-9)
        assert line.persistence == pytest.approx(0.667, abs=0.001)
        assert line.coverage == pytest.approx(0.4, rel=1e-9)


def test_growing_crawls_bend_the_two_directions_apart(make_urn):
    growth = 1.2 ** (YEARS - YEARS.mean())
    pairs = urn_of(make_urn, np.rint(BIG * growth), 0.4 * growth)
    forward, backward = fit_pooled(pairs, "forward"), fit_pooled(pairs, "backward")
    assert forward.persistence == pytest.approx(ALPHA * math.sqrt(1.2), rel=1e-9)
    assert backward.persistence == pytest.approx(ALPHA / math.sqrt(1.2), rel=1e-9)
    assert (round(forward.persistence, 3), round(backward.persistence, 3)) == (0.8, 0.666)
    assert forward.coverage == pytest.approx(0.4, rel=1e-9)
    assert backward.coverage == pytest.approx(0.4, rel=1e-9)


def test_each_start_has_the_line_through_its_own_pairs(make_urn):
    table = noisy(make_urn)
    paper = fit_paper(pair_data(table), LABELS)
    own = [p for p in table.pairs() if p.a.label == "c3"]
    expected = stats.linregress(
        [(p.b.date - p.a.date).days / 365.25 for p in own],
        [math.log(p.containment_a_in_b) for p in own],
    )
    assert paper.per_start[2].label == "c3"
    assert paper.per_start[2].coverage == pytest.approx(math.exp(expected.intercept), rel=1e-12)
    assert paper.per_start[2].persistence == pytest.approx(math.exp(expected.slope), rel=1e-12)
    assert paper.per_start[2].n_pairs == 5


def test_starts_with_fewer_than_two_pairs_have_no_line_but_the_pooled_self_intersection(make_urn):
    paper = fit_paper(pair_data(noisy(make_urn)), LABELS)
    assert [(s.coverage, s.persistence, s.n_pairs) for s in paper.per_start[6:]] == [
        (None, None, 1),
        (None, None, 0),
    ]
    assert paper.self_intersections[6:] == (paper.coverage, paper.coverage)
    assert paper.self_intersections[:6] == tuple(s.coverage for s in paper.per_start[:6])


def test_a_start_whose_pairs_have_one_lag_has_no_line(make_table):
    table = make_table([0, 100, 100], [10, 10, 10], {(0, 1): 5, (0, 2): 4})
    assert fit_paper(pair_data(table), LABELS[:3]).per_start[0].coverage is None


def test_without_two_different_lags_there_is_no_line(make_table):
    paper = fit_paper(pair_data(make_table([0, 100], [10, 10], {(0, 1): 5})), ("c1", "c2"))
    assert (paper.coverage, paper.persistence, paper.half_life_years) == (None, None, None)
    assert paper.r_squared is None
    assert paper.n_pairs == 1
    assert paper.self_intersections == (None, None)


def test_two_pairs_leave_no_freedom_for_r_squared(make_table):
    table = make_table([0, 100, 300], [100, 100, 100], {(0, 1): 50, (0, 2): 30})
    paper = fit_paper(pair_data(table), LABELS[:3])
    assert paper.coverage is not None
    assert paper.r_squared is None


def test_persistence_of_one_or_more_has_no_half_life(make_urn):
    paper = fit_paper(pair_data(make_urn(DAYS, [BIG] * 8, [0.3] * 8, 1.05)), LABELS)
    assert paper.persistence == pytest.approx(1.05)
    assert paper.half_life_years is None


def test_a_same_date_pair_weighs_as_much_as_any_other_pair(make_table):
    """Both crawls are of one size, so that the pair's two rows coincide and stand for one."""
    days, sizes = [0, 0, 365, 900], [1000] * 4
    overlaps = {(0, 1): 700, (0, 2): 400, (1, 2): 450, (0, 3): 200, (1, 3): 180, (2, 3): 350}
    line = fit_pooled(pair_data(make_table(days, sizes, overlaps)), "forward")
    expected = stats.linregress(
        [(days[j] - days[i]) / 365.25 for i, j in overlaps],
        [math.log(n / 1000) for n in overlaps.values()],
    )
    assert line.log_coverage == pytest.approx(expected.intercept, rel=1e-12)
    assert line.log_persistence == pytest.approx(expected.slope, rel=1e-12)
    assert line.r_squared == pytest.approx(expected.rvalue**2, rel=1e-12)


# ------------------------------------------------------------------------------------ least squares


def test_parameters_minimise_the_weighted_sum_of_squares():
    rng = np.random.default_rng(1)
    design, response = rng.normal(size=(20, 3)), rng.normal(size=20)
    weight = rng.uniform(0.1, 10, size=20)
    expected = optimize.lsq_linear(
        design * np.sqrt(weight)[:, None], response * np.sqrt(weight), tol=1e-14
    ).x
    parameters, residuals = fit_linear(design, response, weight)
    assert parameters == pytest.approx(expected, rel=1e-9)
    assert residuals == pytest.approx(response - design @ expected, abs=1e-9)


def test_a_row_of_weight_two_counts_as_two_rows():
    rng = np.random.default_rng(2)
    design, response = rng.normal(size=(6, 2)), rng.normal(size=6)
    doubled, _ = fit_linear(design, response, np.array([2.0, 1, 1, 1, 1, 1]))
    repeated, _ = fit_linear(
        np.vstack([design[:1], design]), np.concatenate([response[:1], response]), np.ones(7)
    )
    assert doubled == pytest.approx(repeated, rel=1e-12)


def test_parameters_that_trade_off_are_not_identified_but_others_are():
    lags = np.array([1.0, 2.0, 4.0])
    design = np.column_stack([lags, 3 * lags, np.ones(3)])
    parameters, residuals = fit_linear(design, 7 - 2 * lags, np.ones(3))
    assert np.isnan(parameters).tolist() == [True, True, False]
    assert parameters[2] == pytest.approx(7)
    assert residuals == pytest.approx(np.zeros(3), abs=1e-12)


def test_fewer_rows_than_parameters_identify_none_of_a_line():
    parameters, _ = fit_linear(np.array([[1.0, 2.0]]), np.array([3.0]), np.ones(1))
    assert np.isnan(parameters).all()


def test_one_row_that_touches_one_parameter_identifies_it():
    parameters, _ = fit_linear(np.array([[1.0, 0.0]]), np.array([3.0]), np.ones(1))
    assert parameters[0] == pytest.approx(3)
    assert np.isnan(parameters[1])


def test_no_rows_identify_nothing():
    parameters, _ = fit_linear(np.empty((0, 2)), np.empty(0), np.empty(0))
    assert np.isnan(parameters).all()


def test_one_day_among_decades_is_information():
    lags = np.array([30.0, 30.0 + 1 / 365.25, 30.0])
    parameters, _ = fit_linear(np.column_stack([np.ones(3), lags]), -0.3 * lags, np.ones(3))
    assert parameters == pytest.approx([0, -0.3], abs=1e-8)
