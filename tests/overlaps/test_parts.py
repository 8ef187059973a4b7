"""Parts of the URLs by ranges of their keys: disjoint, whole together, and sound as tables."""

import random
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.errors import OverlapError
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.overlaps.counting import count_parts, count_sets


def draw_keys(seed, n_crawls=5, n_keys=3000):
    rng = random.Random(seed)
    keys = [rng.randrange(WHOLE) for _ in range(n_keys)]
    return [{key for key in keys if rng.random() < 0.5} for _ in range(n_crawls)]


def by_sets(sets, low, end):
    """Histories of the keys of a range, by Python's own sets."""
    found = {}
    for key in set().union(*sets):
        if low <= key < end:
            mask = sum(1 << k for k, keys in enumerate(sets) if key in keys)
            found[mask] = found.get(mask, 0) + 1
    return found


@pytest.mark.parametrize("threshold", [WHOLE, WHOLE // 3])
def test_parts_are_those_of_pythons_own_sets(write_set_file, threshold):
    keys = draw_keys(1)
    sets = [write_set_file(k, of_crawl, threshold) for k, of_crawl in enumerate(keys)]
    table = count_sets(sets)
    parts = count_parts(sets, table, 4)
    for number, part in enumerate(parts):
        expected = by_sets(keys, threshold * number // 4, threshold * (number + 1) // 4)
        histories = part.histories
        counted = zip(histories.masks.tolist(), histories.counts.tolist(), strict=True)
        assert dict(counted) == expected
        assert np.array_equal(histories.count_pairs(), part.n_shared)
        assert part.sample_rate == pytest.approx(table.sample_rate / 4)
        assert [crawl.n_urls for crawl in part.crawls] == [c.n_urls for c in table.crawls]
    assert np.array_equal(sum(part.n_shared for part in parts), table.n_shared)


def test_where_histories_are_cut_the_parts_lie_within_them(write_set_file):
    keys = draw_keys(2)
    sets = [write_set_file(k, of_crawl) for k, of_crawl in enumerate(keys)]
    whole = count_sets(sets)
    half = count_sets(sets, threshold=WHOLE // 2).histories
    parts = count_parts(sets, replace(whole, histories=half), 4)
    assert sum(part.histories.n_urls for part in parts) == half.n_urls
    assert parts[0].sample_rate == 1 / 8


def test_too_few_urls_to_be_divided_are_an_error(write_set_file):
    sets = [write_set_file(0, {1, 2, WHOLE - 1}), write_set_file(1, {1, WHOLE - 1})]
    with pytest.raises(OverlapError, match="crawl 'c00': there are too few to be divided"):
        count_parts(sets, count_sets(sets), 4)


def test_parts_of_more_crawls_than_histories_are_counted_of_have_pairs_alone(
    write_sets, draw_sets, count_plainly
):
    keys = draw_sets(66, seed=4, n_pool=2000)
    sets = write_sets(keys)
    parts = count_parts(sets, count_sets(sets), 2)
    assert all(part.histories is None for part in parts)
    n_shared, _ = count_plainly(keys)
    assert sum(part.n_shared for part in parts).tolist() == n_shared
