"""Windows are counted as one would count them one URL at a time, and so is their likelihood."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.histories.known_alive import (
    N_GROUPS,
    WindowModel,
    capture_table,
    count_windows,
)

MODELS = list(itertools.product((False, True), (0, 1, 2, 5)))
STEP = 1e-5


def count_by_hand(data, first, last):
    """Return how many URLs both crawls captured, by what was captured in between."""
    found = {}
    for row, count in zip(data.captured, data.counts, strict=True):
        if row[first] and row[last]:
            inside = tuple(bool(mark) for mark in row[first + 1 : last])
            found[inside] = found.get(inside, 0) + count
    return found


@pytest.mark.parametrize("n_crawls", [5, 7, 11])
def test_interiors_are_those_of_every_url_captured_at_both_ends(random_data, n_crawls):
    data = random_data(1, n_crawls=n_crawls, n_histories=25)
    counts = count_windows(data)
    assert counts.longest == min(9, n_crawls - 1)
    for length in range(2, counts.longest + 1):
        table = counts.interiors[length - 2]
        for first in range(n_crawls - length):
            by_hand = count_by_hand(data, first, first + length)
            for inside in itertools.product([False, True], repeat=length - 1):
                number = sum(mark << bit for bit, mark in enumerate(inside))
                assert table[number, first, 0] == by_hand.get(inside, 0)


def test_groups_share_out_all_urls(random_data):
    counts = count_windows(random_data(2))
    for array in (*counts.interiors, counts.recent, counts.shared):
        assert array[..., 1:].sum(axis=-1) == pytest.approx(array[..., 0])
    sizes = np.array([np.diag(counts.shared[..., 1 + group]).sum() for group in range(N_GROUPS)])
    assert sizes.min() > 0.5 * sizes.mean()


def test_the_same_histories_give_the_same_groups(random_data):
    once, twice = count_windows(random_data(3)), count_windows(random_data(3))
    assert np.array_equal(once.shared, twice.shared)


@pytest.mark.parametrize("lags", [0, 1, 2, 5])
def test_captures_are_told_apart_by_the_crawls_since_the_last_one(random_data, lags):
    data = random_data(4)
    by_state, shared = (array[..., 0] for array in count_windows(data).tallies(lags))
    for crawl in range(data.n_crawls):
        by_hand = np.zeros(lags + 1)
        for row, count in zip(data.captured, data.counts, strict=True):
            if row[crawl]:
                earlier = np.flatnonzero(row[:crawl])
                since = crawl - earlier[-1] if earlier.size else np.inf
                by_hand[int(since) if since <= lags else 0] += count
        assert by_state[crawl] == pytest.approx(by_hand)
    assert np.diag(shared) == pytest.approx(data.sizes)


def test_tallies_without_a_group_are_those_of_the_others(random_data):
    counts = count_windows(random_data(5))
    (columns,) = counts.group_kinds
    left = counts.tallies(1, without=columns)[1].sum(axis=-1)
    assert left == pytest.approx((N_GROUPS - 1) * counts.shared[..., 0])


def test_groups_of_whole_hosts_stand_beside_the_random_ones(random_data):
    data = random_data(6)
    rng = np.random.default_rng(6)
    by_host = rng.multinomial(data.counts.astype(int), np.full(N_GROUPS, 1 / N_GROUPS))
    counts = count_windows(replace(data, by_host_group=by_host.astype(float)))
    of_urls, of_hosts = counts.group_kinds
    for array in (*counts.interiors, counts.recent, counts.shared):
        assert array[..., of_urls].sum(axis=-1) == pytest.approx(array[..., 0])
        assert array[..., of_hosts].sum(axis=-1) == pytest.approx(array[..., 0])
    for column, group in zip(of_hosts, by_host.T, strict=True):
        assert np.diag(counts.shared[..., column]) == pytest.approx(group @ data.captured)


def test_many_crawls_have_shorter_windows(make_data):
    data = make_data({"1" * 64: 5, "10" * 32: 3})
    counts = count_windows(data)
    assert counts.longest == 8
    assert counts.interiors[6].shape == (128, 56, 1 + N_GROUPS)
    assert counts.interiors[0][:, 0, 0].tolist() == [3, 5]


def test_bracketed_urls_are_those_of_manly_and_parr(make_data):
    data = make_data({"10100": 4, "11010": 3, "01110": 2, "00111": 1})
    counts = count_windows(data)
    assert counts.n_known.tolist() == [0, 7, 5, 1, 0]
    assert counts.n_held.tolist() == [0, 3, 2, 1, 0]


# ----------------------------------------------------------------------------------- the likelihood


def make_case(data, is_uneven, lags):
    model = WindowModel(count_windows(data), trap_lags=lags, is_uneven=is_uneven)
    rng = np.random.default_rng(8)
    vector = model.start()
    vector += rng.normal(0, 0.2, vector.size)
    vector[model.sigma] = 0.7
    return model, vector, np.exp(rng.normal(0, 0.2, (data.n_crawls, model.share.size)))


def slopes_of(function, at):
    steps = STEP * np.eye(at.size)
    return np.array([(function(at + step) - function(at - step)) / (2 * STEP) for step in steps])


def likelihood_by_hand(data, model, vector, tilt):
    """Sum over all windows of all URLs and over all interiors, crawl by crawl."""
    chance = model.chances(vector[None]).hit[:, :, 0]

    def weight(first, inside):
        value = model.share * tilt[first] * chance[first, 0]
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
            if 2 <= last - first <= model.counts.longest:
                inside = row[first + 1 : last].tolist()
                every = itertools.product([False, True], repeat=len(inside))
                norm = sum(weight(first, other) for other in every)
                total += count * math.log(weight(first, inside) / norm)
    return total


@pytest.mark.parametrize(("is_uneven", "lags"), MODELS)
def test_it_is_the_sum_over_the_windows_of_every_url(random_data, is_uneven, lags):
    data = random_data(11, n_crawls=7, n_histories=12)
    model, vector, tilt = make_case(data, is_uneven, lags)
    found = model.log_likelihood(model.interiors(vector[None], tilt))
    assert found == pytest.approx(likelihood_by_hand(data, model, vector, tilt), rel=1e-10)


@pytest.mark.parametrize(("is_uneven", "lags"), MODELS)
def test_slopes_agree_with_finite_differences(random_data, is_uneven, lags):
    model, vector, tilt = make_case(random_data(12), is_uneven, lags)
    (found,) = model.score(model.interiors(vector[None], tilt))
    expected = slopes_of(lambda at: model.log_likelihood(model.interiors(at[None], tilt)), vector)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6 * model.counts.n_windows)
    _, (of_guards,) = model.log_prior(vector[None])
    expected = slopes_of(lambda at: model.log_prior(at[None])[0][0], vector)
    assert of_guards == pytest.approx(expected, abs=1e-7)


def test_group_scores_add_up_to_the_score_of_all(random_data):
    model, vector, tilt = make_case(random_data(13), is_uneven=True, lags=1)
    interiors = model.interiors(vector[None], tilt)
    groups = model.score(interiors, slice(1, 1 + N_GROUPS)).sum(axis=0)
    assert groups == pytest.approx(model.score(interiors)[0], rel=1e-9)


def test_several_vectors_are_scored_as_each_by_itself(random_data):
    model, vector, tilt = make_case(random_data(14), is_uneven=True, lags=2)
    several = vector + np.random.default_rng(15).normal(0, 0.1, (3, vector.size))
    alone = [model.score(model.interiors(each[None], tilt))[0] for each in several]
    assert model.score(model.interiors(several, tilt)) == pytest.approx(np.array(alone), rel=1e-9)


@pytest.mark.parametrize(("is_uneven", "lags"), MODELS)
def test_starts_lie_within_the_bounds(random_data, is_uneven, lags):
    model = WindowModel(count_windows(random_data(15)), trap_lags=lags, is_uneven=is_uneven)
    low, high = model.bounds
    assert np.all((low <= model.start()) & (model.start() <= high))


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
def test_far_effects_stay_numbers(link):
    table = capture_table(np.array([-1e3, 1e3]), link)
    for chances in (table.hit, table.miss):
        assert np.all((chances > 0) & (chances <= 1))
        assert np.all(np.isfinite(np.log(chances)))
