"""Windows are counted as one would count them one URL at a time."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.histories.window_model import N_GROUPS, count_windows


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
    tallies = count_windows(data).tallies(lags)
    for crawl in range(data.n_crawls):
        by_hand = np.zeros(lags + 1)
        for row, count in zip(data.captured, data.counts, strict=True):
            if row[crawl]:
                earlier = np.flatnonzero(row[:crawl])
                since = crawl - earlier[-1] if earlier.size else np.inf
                by_hand[int(since) if since <= lags else 0] += count
        assert tallies.by_state[crawl] == pytest.approx(by_hand)
    assert tallies.sizes == pytest.approx(data.sizes)


def test_tallies_without_a_group_are_those_of_the_others(random_data):
    counts = count_windows(random_data(5))
    (columns,) = counts.group_kinds
    left = [counts.tallies(1, without=column) for column in columns]
    assert sum(tallies.shared for tallies in left) == pytest.approx(
        (N_GROUPS - 1) * counts.shared[..., 0]
    )


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
    assert counts.bracketed[1:-1].tolist() == [[7, 3], [5, 2], [1, 1]]


def test_crawls_of_one_date_have_a_unit_of_time(make_data):
    data = make_data({"11111": 4}, years=[0, 0, 0, 0, 0])
    assert count_windows(data).spacing == 1
