"""Compiled counts of a hash range, against a plain walk over its keys."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.overlaps import range_counts
from crawlgauge.overlaps.range_counts import HashRange, count_range
from crawlgauge.overlaps.range_keys import RangeKeys

# A few leading bits, many or few possible keys after them, close together or far apart.
RANGES = st.sampled_from([(0, 0), (1, 1), (5, 3), (0, 12), (4095, 12), (3, 2)])
SPREADS = st.sampled_from([0, 7, 40])


def count_plainly(sets, n_new, history_end):
    """Walk over the keys that new sets hold."""
    masks, n_shared = Counter(), np.zeros((n_new, len(sets)), dtype=np.int64)
    for key in set().union(*sets[:n_new]):
        holders = [number for number, keys in enumerate(sets) if key in keys]
        if key < history_end:
            masks[sum(1 << holder for holder in holders)] += 1
            continue
        for one in holders:
            for other in holders:
                if one < n_new and other >= one:
                    n_shared[one, other] += 1
    return dict(masks), n_shared.tolist()


def compare(sets, n_new, where, history_end):
    parts = [np.array(sorted(keys), dtype=np.uint64) for keys in sets]
    counted = count_range(RangeKeys.of(parts), n_new, where, history_end)
    found = dict(zip(counted.masks.tolist(), counted.counts.tolist(), strict=True))
    assert (found, counted.n_shared.tolist()) == count_plainly(sets, n_new, history_end)


@given(
    where=RANGES,
    spread=SPREADS,
    numbers=st.lists(st.sets(st.integers(0, 60), max_size=40), min_size=1, max_size=40),
    n_new=st.integers(1, 40),
    part=st.sampled_from([0, 0.4, 1]),
)
@settings(max_examples=150)
def test_any_sets_are_counted_as_by_a_walk(where, spread, numbers, n_new, part):
    there = HashRange(number=where[0], bits=where[1])
    sets = [{there.low + (k << spread) for k in chosen} for chosen in numbers]
    history_end = there.low + int(part * (60 << spread)) if part < 1 else there.end
    compare(sets, min(n_new, len(sets)), there, history_end)


@pytest.mark.parametrize("n_new", [1, 5, 16, 17, 64, 70, 129])
@pytest.mark.parametrize("cell_bits", [4, 13])
def test_many_sets_in_many_cells_are_counted_as_by_a_walk(monkeypatch, n_new, cell_bits):
    monkeypatch.setattr(range_counts, "_CELL_KEYS_BITS", cell_bits)
    rng = np.random.default_rng(n_new)
    pool = rng.integers(0, 2**63, 4000, dtype=np.uint64)
    n_sets = min(n_new + 10, 129)
    sets = [set(rng.choice(pool, int(n)).tolist()) for n in rng.integers(0, 300, n_sets)]
    compare(sets, n_new, HashRange(number=0, bits=1), 0 if n_sets > 64 else 2**62)


def test_more_histories_than_a_tally_begins_with_are_counted():
    """Twenty sets of every other key, of every fourth and so on give a history to each key."""
    keys = np.random.default_rng(3).permutation(1 << 17).tolist()
    sets = [{(key << 44) for place, key in enumerate(keys) if place >> k & 1} for k in range(20)]
    parts = [np.array(sorted(chosen), dtype=np.uint64) for chosen in sets]
    counted = count_range(RangeKeys.of(parts), 20, HashRange(number=0, bits=0), 1 << 64)
    assert sorted(counted.masks.tolist()) == list(range(1, 1 << 17))
    assert set(counted.counts.tolist()) == {1}
