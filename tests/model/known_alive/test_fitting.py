"""Fits reach the optimum, and know as much as resampling says."""

import numpy as np
import pytest
from scipy import optimize

from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.known_alive.families import Even, LogNormal, TwoClasses
from crawlgauge.model.known_alive.fitting import fit_windows, guarded_slopes, start_vectors
from crawlgauge.model.known_alive.information import inform, jackknife_sd, vectors_without_groups
from crawlgauge.model.known_alive.likelihood import build_interiors, log_likelihood
from crawlgauge.model.known_alive.links import capture_table
from crawlgauge.model.known_alive.parameters import WindowModel, bounds_of, log_prior
from crawlgauge.model.known_alive.windows import count_windows

FAMILIES = {"even": Even(), "log-normal": LogNormal(low_tail=0.35), "two classes": TwoClasses()}


@pytest.fixture(scope="module")
def uneven(make_archive):
    return count_windows(make_archive(21, n_alive=4000, sigma=0.8, n_crawls=7).data)


@pytest.mark.parametrize("lags", [0, 1])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_other_optimiser_finds_a_better_fit(uneven, family, lags):
    model = WindowModel(family=FAMILIES[family], trap_lags=lags)
    fit = fit_windows(model, uneven)

    def loss(vector):
        interiors = build_interiors(model, uneven, vector, fit.tilt)
        value = log_likelihood(uneven, interiors) + log_prior(model, uneven, vector)[0]
        return -value, -guarded_slopes(model, uneven, vector, fit.tilt)

    low, high = bounds_of(model, uneven.n_crawls)
    others = [
        optimize.minimize(
            loss, start, jac=True, method="L-BFGS-B", bounds=optimize.Bounds(low, high)
        )
        for start in start_vectors(model, uneven)
    ]
    assert loss(fit.vector)[0] <= min(float(other.fun) for other in others) + 1e-3


def test_even_capture_without_a_trap_gives_each_crawl_its_share_of_the_windows(make_archive):
    """Where all URLs are alike, the fit is a share of successes, as Manly and Parr have it."""
    archive = make_archive(22, n_alive=100_000, n_crawls=6, coverage=[0.3, 0.5, 0.2, 0.6, 0.4, 0.5])
    counts = count_windows(archive.data)
    model = WindowModel(family=Even(), trap_lags=0, link="logit")
    fit = fit_windows(model, counts)
    chance = capture_table(fit.vector, "logit").hit
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
    counts = count_windows(make_archive(23).data)
    even = inform(fit_windows(WindowModel(family=Even(), trap_lags=0), counts), counts)
    # Each capture stands in several windows: the penalty exceeds the count of parameters.
    assert 1 < even.redundancy < 10
    assert even.criterion == pytest.approx(-2 * (even.fit.log_likelihood - even.penalty))


def test_parameters_at_a_bound_have_no_part_in_the_penalty(make_archive):
    """Even capture puts the spread at its bound 0: two families then are one."""
    counts = count_windows(make_archive(24, n_crawls=6).data)
    even = inform(fit_windows(WindowModel(family=Even(), trap_lags=0), counts), counts)
    spread = fit_windows(WindowModel(family=LogNormal(low_tail=1.0), trap_lags=0), counts)
    if spread.vector[-1] == 0:
        assert inform(spread, counts).penalty == pytest.approx(even.penalty, rel=1e-3)
    else:
        assert spread.log_likelihood > even.fit.log_likelihood


def test_one_step_without_a_group_is_close_to_a_fit_without_it(uneven):
    model = WindowModel(family=LogNormal(low_tail=0.35), trap_lags=0)
    information = inform(fit_windows(model, uneven), uneven)
    steps = vectors_without_groups(information, uneven) - information.fit.vector
    assert np.abs(steps.sum(axis=0)).max() < 1e-6
    spread = jackknife_sd(vectors_without_groups(information, uneven))
    assert np.all(spread > np.abs(steps).max(axis=0) / 3)


def test_jackknife_errors_are_those_of_repeated_archives(make_archive):
    """Twenty archives of one kind vary as much as the groups of one of them say."""
    model = WindowModel(family=Even(), trap_lags=0)
    fits, errors = [], []
    for seed in range(20):
        counts = count_windows(make_archive(100 + seed, n_alive=2000, n_crawls=6).data)
        information = inform(fit_windows(model, counts), counts)
        fits.append(information.fit.vector)
        errors.append(jackknife_sd(vectors_without_groups(information, counts)))
    spread = np.std(fits, axis=0, ddof=1).mean()
    assert np.mean(errors) == pytest.approx(spread, rel=0.3)


def test_a_hundred_times_the_urls_give_the_same_fit(make_archive):
    data = make_archive(25, n_alive=3000, n_crawls=6).data
    many = HistoryData(
        captured=data.captured, masks=data.masks, counts=100 * data.counts, years=data.years
    )
    model = WindowModel(family=Even(), trap_lags=1)
    once = fit_windows(model, count_windows(data)).vector
    again = fit_windows(model, count_windows(many)).vector
    assert once[:4] == pytest.approx(again[:4], abs=0.05)
