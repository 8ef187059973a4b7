"""Sorted sets of keys: merged and counted as Python's own sets are."""

import itertools
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.core.sets import MaskCounts, count_masks

WHOLE = 1 << 64
# A few leading bits, many or few possible keys after them.
RANGES = st.sampled_from([(0, 0), (1, 1), (5, 3), (0, 12), (4095, 12), (3, 2)])
SPREADS = st.sampled_from([0, 7, 40])


def to_array(keys):
    return np.array(sorted(keys), dtype=np.uint64)


def count_plainly(sets):
    """Return how many keys have each mask, one key after the other."""
    return Counter(
        sum(1 << number for number, keys in enumerate(sets) if key in keys)
        for key in set().union(*sets)
    )


def pair_plainly(sets):
    shared = np.zeros((len(sets), len(sets)), dtype=np.int64)
    for one, other in itertools.combinations_with_replacement(range(len(sets)), 2):
        shared[one, other] = len(sets[one] & sets[other])
    return shared.tolist()


def to_index(sets):
    """Return the keys of some sets, given with their numbers, and the mask of each key."""
    keys = to_array(set().union(*sets.values()))
    masks = [sum(1 << bit for bit, own in sets.items() if key in own) for key in keys.tolist()]
    return keys, np.array(masks, dtype=np.uint64)


def as_parts(sets):
    return [(number, to_array(keys), None) for number, keys in enumerate(sets)]


def as_dict(counts):
    masks, numbers = counts.arrays()
    assert np.all(masks[1:] > masks[:-1])
    assert len(counts) == masks.size
    return dict(zip(masks.tolist(), numbers.tolist(), strict=True))


def check_pairs(sets, low=0, width=64):
    shared = np.zeros((len(sets), len(sets)), dtype=np.int64)
    count_masks(as_parts(sets), low, width, shared)
    assert shared.tolist() == pair_plainly(sets)


def check(sets, low=0, width=64, indexed=()):
    """Count sets by mask and by pair, some of them through an index, and list what there is."""
    parts = [part for part in as_parts(sets) if part[0] not in indexed]
    if indexed:
        parts.insert(0, (None, *to_index({number: sets[number] for number in indexed})))
    counts = MaskCounts(len(sets))
    count_masks(parts, low, width, counts)
    assert as_dict(counts) == count_plainly(sets)
    shared = np.zeros((len(sets), len(sets)), dtype=np.int64)
    count_masks(parts, low, width, shared)
    assert shared.tolist() == pair_plainly(sets)
    room = sum(part[1].size for part in parts)
    keys, masks = np.empty(room, np.uint64), np.empty(room, np.uint64)
    n_keys = count_masks(parts, low, width, MaskCounts(len(sets)), (keys, masks))
    expected = to_index(dict(enumerate(sets)))
    assert keys[:n_keys].tolist() == expected[0].tolist()
    assert masks[:n_keys].tolist() == expected[1].tolist()


@given(
    where=RANGES,
    spread=SPREADS,
    numbers=st.lists(st.sets(st.integers(0, 60), max_size=40), min_size=1, max_size=64),
    indexed=st.sets(st.integers(0, 63), max_size=5),
)
@settings(max_examples=150)
def test_any_sets_are_counted_as_one_key_after_the_other(where, spread, numbers, indexed):
    number, bits = where
    low = number << (64 - bits)
    sets = [{low + (k << spread) for k in chosen} for chosen in numbers]
    check(sets, low, 64 - bits, sorted(k for k in indexed if k < len(sets)))


@pytest.mark.parametrize("n_sets", [1, 2, 15, 16, 17, 33, 64])
@pytest.mark.parametrize("share_indexed", [0, 0.3, 0.9, 1])
def test_random_sets_of_many_cells_are_counted_with_and_without_an_index(n_sets, share_indexed):
    rng = np.random.default_rng(n_sets)
    pool = rng.integers(0, WHOLE - 1, 60_000, dtype=np.uint64, endpoint=True)
    sizes = rng.integers(0, 3_000_000 // n_sets // 50, n_sets)
    sets = [set(rng.choice(pool, int(size)).tolist()) for size in sizes]
    sets[0] |= {0, WHOLE - 1}
    indexed = np.flatnonzero(rng.random(n_sets) < share_indexed).tolist()
    check(sets, indexed=indexed)


@pytest.mark.parametrize("n_sets", [1, 3, 63, 64, 65, 127, 128, 130])
def test_pairs_of_any_number_of_sets_are_counted(n_sets):
    rng = np.random.default_rng(n_sets)
    pool = rng.integers(0, WHOLE >> 1, 8000, dtype=np.uint64)
    sets = [set(rng.choice(pool, int(n)).tolist()) for n in rng.integers(0, 900, n_sets)]
    check_pairs(sets, 0, 63)


def test_the_sets_of_an_archive_can_share_a_bit():
    sets = [{1, 2}, {2, 3}, {3, 4}]
    counts = MaskCounts(2)
    count_masks(
        [(bit, to_array(keys), None) for bit, keys in zip((0, 0, 1), sets, strict=True)],
        0,
        64,
        counts,
    )
    assert as_dict(counts) == {0b01: 2, 0b11: 1, 0b10: 1}


def test_keys_of_an_index_that_no_set_holds_any_more_vanish():
    index = np.array([1, 5, 9], np.uint64), np.array([0, 2, 0], np.uint64)
    counts, room = MaskCounts(20), (np.empty(9, np.uint64), np.empty(9, np.uint64))
    parts = [(None, *index), (0, to_array({5, 9, 11}), None), (7, to_array({11}), None)]
    assert count_masks(parts, 0, 64, counts, room) == 3
    assert as_dict(counts) == {0b11: 1, 0b1: 1, 0b10000001: 1}
    assert room[0][:3].tolist() == [5, 9, 11]


def test_a_history_of_its_own_for_each_key_is_counted():
    """Twenty sets of every other key, of every fourth and so on."""
    keys = np.random.default_rng(3).permutation(1 << 17).tolist()
    sets = [{key << 44 for place, key in enumerate(keys) if place >> k & 1} for k in range(20)]
    counts = MaskCounts(20)
    count_masks(as_parts(sets), 0, 64, counts)
    assert as_dict(counts) == dict.fromkeys(range(1, 1 << 17), 1)


@pytest.mark.parametrize("shift", [0, 20, 40, 47])
def test_histories_of_late_crawls_are_told_apart_as_fast_as_others(shift):
    """What differs in high bits alone must not meet in one place of the table."""
    masks = (np.arange(1, 1 << 17, dtype=np.uint64)) << np.uint64(shift)
    counts = MaskCounts(64)
    counts.add(masks, np.ones(masks.size, np.int64))
    counts.add(masks, np.ones(masks.size, np.int64))
    found, numbers = counts.arrays()
    assert np.array_equal(found, masks)
    assert set(numbers.tolist()) == {2}


@pytest.mark.parametrize(
    "parts",
    [
        [(0, np.array([3, 2, 1 << 63], np.uint64), None)],
        [(0, np.array([1 << 60], np.uint64), None), (1, np.array([1 << 63, 1], np.uint64), None)],
        [(None, np.array([7, 3], np.uint64), np.array([1, 1], np.uint64))],
        [(None, np.array([7, 7], np.uint64), np.array([1, 1], np.uint64))],
        [(None, np.array([7], np.uint64), np.array([1 << 5], np.uint64))],
        [(None, np.array([7], np.uint64), np.array([1, 2], np.uint64))],
        [(None, np.array([7], np.uint64), np.array([1], np.uint64))] * 2,
        [(2, np.array([7], np.uint64), None)],
    ],
    ids=["range", "cells", "index", "twice", "mask", "lengths", "two indexes", "number"],
)
def test_what_cannot_be_is_an_error_and_never_written_anywhere(parts):
    with pytest.raises(ValueError, match=r"sorted|index|no such set"):
        count_masks(parts, 0, 62, MaskCounts(2))


def test_masks_of_more_sets_than_there_are_are_refused():
    for n_sets in (5, 20):
        with pytest.raises(ValueError, match="more sets than there are"):
            MaskCounts(n_sets).add(np.array([1 << n_sets], np.uint64), np.ones(1, np.int64))
    with pytest.raises(ValueError, match="65 sets"):
        MaskCounts(65)


def crowd(n_keys, seed):
    """Draw keys that are no hashes: close together, in heaps, or each twice as far as the last."""
    rng = np.random.default_rng(seed)
    heaps = rng.integers(0, 40, n_keys) << 50 | rng.integers(0, 4 * n_keys, n_keys)
    powers = [1 << k for k in range(64)]
    return {*rng.integers(0, 3 * n_keys, n_keys).tolist(), *heaps.tolist(), *powers}


@pytest.mark.parametrize("n_sets", [1, 2, 9, 40])
@pytest.mark.parametrize("indexed", [[], [0]])
def test_keys_that_are_no_hashes_are_counted_all_the_same(n_sets, indexed):
    sets = [crowd(20_000 // n_sets, seed) for seed in range(n_sets)]
    check(sets, indexed=indexed)


def test_pairs_of_many_sets_are_counted_if_their_keys_are_no_hashes():
    check_pairs([crowd(1_000, seed) for seed in range(70)])


def test_more_keys_close_together_than_a_cell_has_room_for_are_counted():
    sets = [set(range(k, 90_000 * (k + 1), k + 1)) for k in range(3)]
    check(sets)
    check(sets, indexed=[1])
    check([{key << 40 for key in own} for own in sets], width=63, indexed=[2])


@pytest.mark.parametrize("n_sets", [3, 70])
def test_no_keys_make_counting_take_longer_than_so_many_keys_do(n_sets):
    """Four times the keys take about four times as long, wherever they lie."""

    def measure(n_keys):
        parts = [np.arange(k, 3 * n_keys + k, 3, dtype=np.uint64) for k in range(n_sets)]
        shared = np.zeros((n_sets, n_sets), dtype=np.int64)
        start = time.process_time()
        count_masks([(k, keys, None) for k, keys in enumerate(parts)], 0, 64, shared)
        return time.process_time() - start

    few, many = (min(measure(n) for _ in range(2)) for n in (4_000, 16_000))
    assert many < 10 * few + 0.1
