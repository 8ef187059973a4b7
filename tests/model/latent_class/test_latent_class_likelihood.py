"""The likelihood against sums over everything that can happen to a URL, and its gradient."""

import itertools
import math

import numpy as np
import pytest

from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.latent_class_model import (
    ClassModel,
    Likelihood,
    history_paths,
    step_chances,
    thin_histories,
)

CASES = list(itertools.product([1, 2], [0, 1, 2]))


def histories(captured, counts, years):
    captured = np.asarray(captured, dtype=bool)
    bits = np.uint64(1) << np.arange(captured.shape[1], dtype=np.uint64)
    return HistoryData(
        captured=captured,
        masks=(captured * bits).sum(axis=1, dtype=np.uint64),
        counts=np.asarray(counts, dtype=float),
        years=np.asarray(years, dtype=float),
    )


def all_histories(n_crawls, rng):
    captured = np.array(list(itertools.product([False, True], repeat=n_crawls)))[1:]
    counts = rng.integers(1, 50, len(captured))
    return histories(captured, counts, np.cumsum(rng.uniform(0.1, 1, n_crawls)))


def class_model(data, n_classes, trap_lags):
    intervals = np.diff(data.years)
    return ClassModel(
        n_classes=n_classes, trap_lags=trap_lags, intervals=intervals / intervals.mean()
    )


def chance_by_deaths(history, first, crawls_alive, capture, survival):
    """Return the chance of a history of a URL that dies after a given number of further crawls."""
    chance, last = 1.0, first
    for crawl in range(first + 1, first + crawls_alive + 1):
        p = capture(crawl, crawl - last)
        chance *= survival(crawl) * (p if history[crawl] else 1 - p)
        last = crawl if history[crawl] else last
    end = first + crawls_alive + 1
    if any(history[end:]):
        return 0.0
    return chance * (1 - survival(end)) if end < len(history) else chance


def brute_force(model, theta, history):
    """Sum over classes and over all times of death."""
    n_shares = model.n_cohorts * (model.n_classes - 1)
    shares, rest = theta[:n_shares], theta[n_shares:]
    hazards, rest = np.exp(rest[: model.n_classes]), rest[model.n_classes :]
    gaps, rest = [0.0, *rest[: model.n_classes - 1]], rest[model.n_classes - 1 :]
    traps, levels = rest[: model.trap_lags], rest[model.trap_lags :]
    first = history.index(True)
    total = 0.0
    for g in range(model.n_classes):
        share = 1.0
        if model.n_classes == 2:
            second = 1 / (1 + math.exp(-shares[min(first, model.n_cohorts - 1)]))
            share = second if g == 1 else 1 - second

        def capture(crawl, since, g=g):
            trap = traps[since - 1] if since <= model.trap_lags else 0.0
            return 1 / (1 + math.exp(-(levels[crawl - 1] - gaps[g] + trap)))

        def survival(crawl, g=g):
            return math.exp(-hazards[g] * model.intervals[crawl - 1])

        total += share * sum(
            chance_by_deaths(history, first, alive, capture, survival)
            for alive in range(len(history) - first)
        )
    return total


@pytest.mark.parametrize("n_crawls", [4, 5])
@pytest.mark.parametrize(("n_classes", "trap_lags"), CASES)
def test_each_history_has_the_chance_that_enumeration_gives(n_crawls, n_classes, trap_lags):
    rng = np.random.default_rng([n_crawls, n_classes, trap_lags])
    data = all_histories(n_crawls, rng)
    model = class_model(data, n_classes, trap_lags)
    theta = rng.normal(0, 0.8, model.n_parameters)
    found = Likelihood.of(model, history_paths(data)).log_likelihoods(theta)
    tells = data.captured[:, :-1].any(axis=1)
    expected = [brute_force(model, theta, history.tolist()) for history in data.captured[tells]]
    assert np.exp(found) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("n_classes", "trap_lags"), CASES)
def test_the_histories_of_each_first_capture_have_chances_that_sum_to_one(n_classes, trap_lags):
    rng = np.random.default_rng(1)
    data = all_histories(7, rng)
    model = class_model(data, n_classes, trap_lags)
    paths = history_paths(data)
    theta = rng.normal(0, 1.0, model.n_parameters)
    chances = np.exp(Likelihood.of(model, paths).log_likelihoods(theta))
    assert np.bincount(paths.first, chances) == pytest.approx(np.ones(6), rel=1e-12)


@pytest.mark.parametrize(("n_classes", "trap_lags"), CASES)
def test_the_gradient_agrees_with_differences(n_classes, trap_lags):
    rng = np.random.default_rng([2, n_classes, trap_lags])
    data = all_histories(7, rng)
    likelihood = Likelihood.of(class_model(data, n_classes, trap_lags), history_paths(data))
    step = 1e-5
    for _ in range(3):
        theta = rng.normal(0, 0.8, likelihood.model.n_parameters)
        value, gradient = likelihood.objective(theta)
        differences = [
            (likelihood.objective(theta + move)[0] - likelihood.objective(theta - move)[0])
            / (2 * step)
            for move in step * np.eye(theta.size)
        ]
        assert gradient == pytest.approx(differences, abs=1e-6)
        mean = np.average(likelihood.log_likelihoods(theta), weights=likelihood.paths.counts)
        assert value == pytest.approx(-mean, rel=1e-12)


def test_classes_share_out_every_url():
    rng = np.random.default_rng(3)
    data = all_histories(6, rng)
    likelihood = Likelihood.of(class_model(data, 2, 1), history_paths(data))
    theta = rng.normal(0, 0.8, likelihood.model.n_parameters)
    counts = likelihood.expected_counts(theta)
    sizes = counts.steps.sum(axis=(0, 1)) + counts.firsts.sum(axis=0)
    only_last = ~data.captured[:, :-1].any(axis=1)
    assert sizes[:-1] == pytest.approx(data.sizes[:-1])
    assert sizes[-1] == pytest.approx(data.sizes[-1] - data.counts[only_last].sum())
    assert counts.firsts.sum() == pytest.approx(counts.lasts.sum())
    assert (counts.firsts >= 0).all()


def test_chances_at_the_bounds_stay_finite():
    data = histories(np.ones((1, 9), dtype=bool), [5], np.arange(9))
    for n_classes, trap_lags in CASES:
        likelihood = Likelihood.of(class_model(data, n_classes, trap_lags), history_paths(data))
        for corner in np.array(likelihood.model.bounds).T:
            value, gradient = likelihood.objective(corner)
            assert np.isfinite(value)
            assert np.isfinite(gradient).all()


def test_crawls_of_one_date_lose_no_url_between_them():
    model = ClassModel(n_classes=1, trap_lags=0, intervals=np.array([0.0, 1.5, 1.5]))
    theta = np.array([math.log(0.3), 0.2, 0.1, -0.3])
    chances = step_chances(model, model.unpack(theta))
    assert chances.death[0, 0, 1] == 0
    assert math.exp(chances.log_step[0, 0, 1]) == pytest.approx(1 / (1 + math.exp(-0.2)))


def test_histories_without_a_later_crawl_tell_nothing_and_neither_do_crawls_that_share_nothing():
    data = histories(
        [
            [True, False, False, True, False],
            [False, True, False, True, True],
            [False, False, True, False, False],
            [False, False, False, False, True],
        ],
        [5, 6, 700, 800],
        np.arange(5),
    )
    paths = history_paths(data)
    assert list(paths.counts) == [5, 6]
    counts = paths.count(paths.counts)
    steps = {
        (int(i), int(k)): counts.steps[i, k] for i, k in zip(*np.nonzero(counts.steps), strict=True)
    }
    assert steps == {(0, 3): 5, (1, 3): 6, (3, 4): 6}
    assert list(counts.firsts) == [5, 6, 0, 0, 0]
    assert list(counts.lasts) == [0, 0, 0, 5, 6]


def test_a_thinned_sample_is_small_even_and_always_the_same():
    rng = np.random.default_rng(4)
    captured = np.array(list(itertools.product([False, True], repeat=12)))[1:]
    data = histories(captured, rng.geometric(0.05, len(captured)), np.arange(12))
    sample = thin_histories(data, 1000)
    assert sample.counts.size == pytest.approx(1000, rel=0.1)
    assert sample.n_urls / data.n_urls == pytest.approx(sample.sample_rate, rel=0.1)
    assert sample.sizes / data.sizes == pytest.approx(np.full(12, sample.sample_rate), rel=0.15)
    assert (sample.counts > 0).all()
    assert np.array_equal(sample.counts, thin_histories(data, 1000).counts)
    bits = np.uint64(1) << np.arange(12, dtype=np.uint64)
    assert np.array_equal(sample.masks, (sample.captured * bits).sum(axis=1, dtype=np.uint64))
    assert thin_histories(data, 5000) is data
