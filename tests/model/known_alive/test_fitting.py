"""Fits reach the optimum, and know as much as resampling says."""

import numpy as np
import pytest
from scipy import optimize

from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.known_alive import (
    fit_windows,
    jackknife_sd,
    minimise_within,
    vectors_without_groups,
)
from crawlgauge.model.histories.window_model import (
    WindowModel,
    bounds_of,
    build_interiors,
    capture_table,
    count_windows,
    first_start,
    log_likelihood,
    log_prior,
    score,
)

EVEN = WindowModel(trap_lags=0, is_uneven=False)
UNEVEN = WindowModel(trap_lags=0, is_uneven=True)


@pytest.fixture(scope="module")
def uneven(make_archive):
    return count_windows(make_archive(21, n_alive=4000, sigma=0.8, n_crawls=7).data)


@pytest.mark.parametrize("lags", [0, 1, 3])
@pytest.mark.parametrize("is_uneven", [False, True])
def test_no_other_optimiser_finds_a_better_fit(uneven, is_uneven, lags):
    model = WindowModel(trap_lags=lags, is_uneven=is_uneven)
    fit = fit_windows(model, uneven)

    def loss(vector):
        interiors = build_interiors(model, uneven, vector, fit.tilt)
        prior, slopes = log_prior(model, uneven, vector)
        return -log_likelihood(uneven, interiors) - prior, -score(uneven, interiors) - slopes

    bounds = optimize.Bounds(*bounds_of(model, uneven.n_crawls))
    start = first_start(model, uneven)
    other = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    assert loss(fit.vector)[0] <= float(other.fun) + 1e-3


def test_even_capture_without_a_trap_gives_each_crawl_its_share_of_the_windows(make_archive):
    """Where all URLs are alike, the fit is a share of successes, as Manly and Parr have it."""
    archive = make_archive(22, n_alive=100_000, n_crawls=6, coverage=[0.3, 0.5, 0.2, 0.6, 0.4, 0.5])
    counts = count_windows(archive.data)
    chance = capture_table(fit_windows(EVEN, counts).vector, EVEN.link).hit
    hits, trials = np.zeros(6), np.zeros(6)
    for length, table in enumerate(counts.interiors, start=2):
        n = table[..., 0]
        for inside in range(length - 1):
            held = (np.arange(len(n)) >> inside & 1) == 1
            for first in range(n.shape[1]):
                hits[first + 1 + inside] += n[held, first].sum()
                trials[first + 1 + inside] += n[:, first].sum()
    assert chance == pytest.approx(hits[1:-1] / trials[1:-1], rel=1e-3)
    known, captured = counts.bracketed[1:-1].T
    assert chance == pytest.approx(captured / known, rel=0.02)
    assert chance == pytest.approx(archive.coverage[1:-1], rel=0.03)


def test_the_effective_number_of_parameters_counts_overlapping_windows_once(make_archive):
    even = fit_windows(EVEN, count_windows(make_archive(23).data))
    # Each capture stands in several windows: the penalty exceeds the count of parameters.
    assert 1 < even.redundancy < 10
    assert even.criterion == pytest.approx(-2 * (even.log_likelihood - even.penalty))


def test_parameters_at_a_bound_have_no_part_in_the_penalty(make_archive):
    """Even capture puts the spread at its bound 0: both models then are one."""
    counts = count_windows(make_archive(24, n_crawls=6).data)
    even, spread = fit_windows(EVEN, counts), fit_windows(UNEVEN, counts)
    if spread.vector[-1] == 0:
        assert spread.penalty == pytest.approx(even.penalty, rel=0.05)
    else:
        assert spread.log_likelihood > even.log_likelihood


def test_one_step_without_a_group_is_close_to_a_fit_without_it(uneven):
    fit = fit_windows(UNEVEN, uneven)
    (columns,) = uneven.group_kinds
    without = vectors_without_groups(fit, uneven, columns)
    steps = without - fit.vector
    assert np.abs(steps.sum(axis=0)).max() < 1e-6
    assert np.all(jackknife_sd(without) > np.abs(steps).max(axis=0) / 3)


def test_jackknife_errors_are_those_of_repeated_archives(make_archive):
    """Twenty archives of one kind vary as much as the groups of one of them say."""
    fits, errors = [], []
    for seed in range(20):
        counts = count_windows(make_archive(100 + seed, n_alive=2000, n_crawls=6).data)
        fit = fit_windows(EVEN, counts)
        fits.append(fit.vector)
        errors.append(jackknife_sd(vectors_without_groups(fit, counts, counts.group_kinds[0])))
    spread = np.std(fits, axis=0, ddof=1).mean()
    assert np.mean(errors) == pytest.approx(spread, rel=0.3)


def test_a_hundred_times_the_urls_give_the_same_fit(make_archive):
    data = make_archive(25, n_alive=3000, n_crawls=6).data
    many = HistoryData(
        captured=data.captured, masks=data.masks, counts=100 * data.counts, years=data.years
    )
    model = WindowModel(trap_lags=1, is_uneven=False)
    once = fit_windows(model, count_windows(data)).vector
    again = fit_windows(model, count_windows(many)).vector
    assert once[:4] == pytest.approx(again[:4], abs=0.05)


# --------------------------------------------------------------------------------- the search


def rosenbrock(point):
    return float(optimize.rosen(point)), np.asarray(optimize.rosen_der(point))


def find(bounds, start):
    return minimise_within(
        rosenbrock,
        np.array(start),
        np.array(bounds).T,
        np.eye(len(start)),
        value_tolerance=1e-14,
        slope_tolerance=1e-9,
    )


def test_a_curved_valley_is_followed_to_its_end():
    point, value = find([(-5, 5)] * 3, [-1.2, 1.0, 0.4])
    assert point == pytest.approx([1, 1, 1], abs=1e-6)
    assert value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("bounds", [[(-2, 0.5)] * 3, [(-2, 2), (0.2, 0.3), (-2, 2)]])
def test_bounds_hold_and_the_lowest_point_on_them_is_found(bounds):
    point, value = find(bounds, [0.0, 0.25, 0.0])
    other = optimize.minimize(
        rosenbrock, [0.0, 0.25, 0.0], jac=True, method="L-BFGS-B", bounds=bounds
    )
    assert value <= float(other.fun) + 1e-6
    for at, (low, high) in zip(point, bounds, strict=True):
        assert low <= at <= high


def test_a_start_outside_the_bounds_is_brought_inside():
    point, _ = find([(-2, 2)] * 3, [9.0, -9.0, 9.0])
    assert point == pytest.approx([1, 1, 1], abs=1e-5)


def test_a_function_without_slope_is_left_at_once():
    point, value = minimise_within(
        lambda at: (3.0, np.zeros_like(at)),
        np.array([0.5]),
        np.array([[0.0], [1.0]]),
        np.zeros((1, 1)),
        value_tolerance=1e-12,
        slope_tolerance=1e-8,
    )
    assert (point.tolist(), value) == ([0.5], 3.0)
