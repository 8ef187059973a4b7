"""The composite likelihood is the sum over windows that its formula says, and so are its slopes."""

import itertools
import math

import numpy as np
import pytest

from crawlgauge.model.histories.window_model import (
    N_GROUPS,
    WindowModel,
    bounds_of,
    build_interiors,
    capture_chances,
    capture_table,
    count_windows,
    first_start,
    kinds_of_url,
    log_likelihood,
    log_prior,
    score,
    to_effect,
    unpack,
)

MODELS = list(itertools.product((False, True), (0, 1, 2, 5)))
STEP = 1e-5


def make_case(counts, is_uneven, lags):
    model = WindowModel(trap_lags=lags, is_uneven=is_uneven)
    rng = np.random.default_rng(8)
    vector = first_start(model, counts)
    vector += rng.normal(0, 0.2, vector.size)
    vector[model.places(counts.n_crawls)[2]] = 0.7
    n_kinds = unpack(model, counts, vector)[1].share.size
    return model, vector, np.exp(rng.normal(0, 0.2, (counts.n_crawls, n_kinds)))


def slopes_of(function, at):
    steps = STEP * np.eye(at.size)
    return np.array([(function(at + step) - function(at - step)) / (2 * STEP) for step in steps])


def likelihood_by_hand(data, counts, model, vector, tilt):
    """Sum over all windows of all URLs and over all interiors, crawl by crawl."""
    chance = capture_chances(model, counts, vector)
    share = unpack(model, counts, vector)[1].share

    def weight(first, inside):
        value = share * tilt[first] * chance[first, 0]
        latest = first
        for crawl, mark in enumerate([*inside, True], start=first + 1):
            since = crawl - latest
            p = chance[crawl, since if since <= model.trap_lags else 0]
            value = value * (p if mark else 1 - p)
            latest = crawl if mark else latest
        return value.sum()

    total = 0.0
    for row, count in zip(data.captured, data.counts, strict=True):
        ends = np.flatnonzero(row)
        for first, last in itertools.combinations(ends.tolist(), 2):
            if 2 <= last - first <= counts.longest:
                inside = row[first + 1 : last].tolist()
                every = itertools.product([False, True], repeat=len(inside))
                norm = sum(weight(first, other) for other in every)
                total += count * math.log(weight(first, inside) / norm)
    return total


@pytest.mark.parametrize(("is_uneven", "lags"), MODELS)
def test_it_is_the_sum_over_the_windows_of_every_url(random_data, is_uneven, lags):
    data = random_data(11, n_crawls=7, n_histories=12)
    counts = count_windows(data)
    model, vector, tilt = make_case(counts, is_uneven, lags)
    found = log_likelihood(counts, build_interiors(model, counts, vector, tilt))
    assert found == pytest.approx(likelihood_by_hand(data, counts, model, vector, tilt), rel=1e-10)


@pytest.mark.parametrize(("is_uneven", "lags"), MODELS)
def test_slopes_agree_with_finite_differences(random_data, is_uneven, lags):
    counts = count_windows(random_data(12))
    model, vector, tilt = make_case(counts, is_uneven, lags)
    found = score(counts, build_interiors(model, counts, vector, tilt))
    expected = slopes_of(
        lambda at: log_likelihood(counts, build_interiors(model, counts, at, tilt)), vector
    )
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6 * counts.n_windows)


@pytest.mark.parametrize(("is_uneven", "lags"), MODELS)
def test_slopes_of_the_guards_agree_with_finite_differences(random_data, is_uneven, lags):
    counts = count_windows(random_data(14))
    model, vector, _ = make_case(counts, is_uneven, lags)
    _, found = log_prior(model, counts, vector)
    expected = slopes_of(lambda at: log_prior(model, counts, at)[0], vector)
    assert found == pytest.approx(expected, abs=1e-7)


def test_group_scores_add_up_to_the_score_of_all(random_data):
    counts = count_windows(random_data(13))
    model, vector, tilt = make_case(counts, is_uneven=True, lags=1)
    interiors = build_interiors(model, counts, vector, tilt)
    groups = sum(score(counts, interiors, 1 + group) for group in range(N_GROUPS))
    assert groups == pytest.approx(score(counts, interiors), rel=1e-9)


@pytest.mark.parametrize(("is_uneven", "lags"), MODELS)
def test_starts_lie_within_the_bounds(random_data, is_uneven, lags):
    counts = count_windows(random_data(15))
    model = WindowModel(trap_lags=lags, is_uneven=is_uneven)
    low, high = bounds_of(model, counts.n_crawls)
    start = first_start(model, counts)
    assert np.all((low <= start) & (start <= high))


def test_kinds_of_url_have_shares_that_add_up_and_a_short_low_tail():
    nodes = kinds_of_url(0.8)
    assert nodes.share.sum() == pytest.approx(1)
    assert nodes.effect == pytest.approx(0.8 * nodes.effect_slope)
    assert nodes.effect.min() == pytest.approx(-0.35 * nodes.effect.max())
    # Above the middle it is the normal law of that spread.
    above = nodes.effect > 0
    assert 2 * nodes.share[above] @ nodes.effect[above] ** 2 == pytest.approx(0.64, rel=0.02)


def test_without_a_spread_there_is_one_kind():
    assert kinds_of_url(None).share.tolist() == [1.0]
    assert kinds_of_url(None).effect.tolist() == [0.0]


@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_slopes_of_chances_are_those_of_their_logarithms(link):
    effect, step = np.linspace(-6, 2.5, 30), 1e-6
    table = capture_table(effect, link)
    above, below = capture_table(effect + step, link), capture_table(effect - step, link)
    hit_slope = (np.log(above.hit) - np.log(below.hit)) / (2 * step)
    miss_slope = (np.log(above.miss) - np.log(below.miss)) / (2 * step)
    assert table.hit_slope == pytest.approx(hit_slope, abs=1e-7)
    assert table.miss_slope == pytest.approx(miss_slope, abs=1e-7)
    assert table.hit + table.miss == pytest.approx(1.0)


@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_effects_and_chances_belong_together(link):
    chance = np.array([0.001, 0.3, 0.97])
    assert capture_table(to_effect(chance, link), link).hit == pytest.approx(chance)


@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_far_effects_stay_numbers(link):
    table = capture_table(np.array([-1e3, 1e3]), link)
    for chances in (table.hit, table.miss):
        assert np.all((chances > 0) & (chances <= 1))
        assert np.all(np.isfinite(np.log(chances)))
