"""Overlaps and histories counted from sets, against Python's own sets."""

from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.errors import OverlapError, StoreError
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.overlaps import history_tally, range_keys
from crawlgauge.overlaps.counting import count_sets
from crawlgauge.store import set_file

LARGEST = 2**64 - 1


@pytest.mark.parametrize("n_crawls", [1, 2, 3, 15, 16, 17, 33, 64, 65, 130])
@pytest.mark.parametrize("keys_per_range", [1 << 20, 500])
def test_counts_are_those_of_python_sets(
    write_sets, draw_sets, check_table, monkeypatch, n_crawls, keys_per_range
):
    monkeypatch.setattr(set_file, "_KEYS_PER_RANGE", keys_per_range)
    monkeypatch.setattr(range_keys, "_KEYS_PER_RANGE", keys_per_range)
    sets = draw_sets(n_crawls, seed=n_crawls)
    written = write_sets(sets)
    if n_crawls > 3 and keys_per_range == 500:
        assert len({item.range_bits for item in written}) > 1, "sets are cut differently"
    steps = []
    table = count_sets(written, progress=lambda *step: steps.append(step))
    check_table(table, sets)
    n_ranges = len(steps)
    assert steps == [(number, n_ranges) for number in range(1, n_ranges + 1)]
    assert (n_ranges > 1) == (keys_per_range == 500)


@pytest.mark.parametrize(
    "sets",
    [
        [{1, 2, 3}] * 3,
        [{1, 2}, {3, 4}, {5}],
        [{LARGEST}, {LARGEST}, {0}],
        [{0, LARGEST}, {LARGEST - 1, LARGEST}],
        [{7}, set(range(1000))],
        [set(range(0, 90_000, 2)), set(range(0, 90_000, 3))],
    ],
    ids=["identical", "nothing shared", "largest key alone", "largest key", "one URL", "crowded"],
)
def test_extreme_crawls_are_counted_right(write_sets, check_table, sets):
    check_table(count_sets(write_sets(sets)), sets)


def test_larger_crawls_fill_many_cells(write_sets, check_table):
    rng = np.random.default_rng(8)
    pool = rng.integers(0, LARGEST, 60_000, dtype=np.uint64)
    sets = [set(pool[rng.random(pool.size) < 0.6].tolist()) for _ in range(5)]
    check_table(count_sets(write_sets(sets)), sets)


@pytest.mark.parametrize("keys_per_range", [1 << 20, 300])
@pytest.mark.parametrize("n_crawls", [12, 40])
def test_too_many_histories_are_counted_in_a_part_and_pairs_in_all(
    write_sets, draw_sets, check_table, monkeypatch, n_crawls, keys_per_range
):
    monkeypatch.setattr(set_file, "_KEYS_PER_RANGE", keys_per_range)
    monkeypatch.setattr(range_keys, "_KEYS_PER_RANGE", keys_per_range)
    monkeypatch.setattr(history_tally, "MAX_HISTORIES", 256)
    sets = draw_sets(n_crawls, seed=5)
    table = count_sets(write_sets(sets))
    check_table(table, sets)
    assert table.histories.masks.size <= 256
    assert table.histories.sample_rate in {2.0**-k for k in range(1, 10)}
    assert table.sample_rate == 1, "pairs are counted exactly"


def test_the_part_does_not_depend_on_how_sets_are_cut(write_sets, draw_sets, monkeypatch):
    monkeypatch.setattr(history_tally, "MAX_HISTORIES", 128)
    written = write_sets(draw_sets(14, seed=6))
    rates = set()
    for keys_per_range in (1 << 20, 3000, 700, 100):
        monkeypatch.setattr(range_keys, "_KEYS_PER_RANGE", keys_per_range)
        rates.add(count_sets(written).histories.sample_rate)
    assert len(rates) == 1


def test_the_part_is_the_largest_that_is_possible(
    write_sets, draw_sets, count_plainly, monkeypatch
):
    monkeypatch.setattr(history_tally, "MAX_HISTORIES", 256)
    sets = draw_sets(20, seed=7)
    rate = count_sets(write_sets(sets)).histories.sample_rate
    _, twice = count_plainly(sets, history_end=round(2 * rate * WHOLE))
    assert len(twice) > 256


def test_the_table_carries_crawls_rule_and_checksums(write_sets):
    written = write_sets([{1, 2}, {2, 3}])
    table = count_sets(written)
    assert table.crawls == tuple(item.crawl for item in written)
    assert (table.key_rule, table.level, table.sample_rate) == ("raw/1", "url", 1.0)
    inputs = [(entry.name, entry.checksum) for entry in table.provenance.inputs]
    assert inputs == [(item.crawl.label, item.checksum) for item in written]
    assert not table.provenance.settings


def test_no_sets_and_sets_of_two_rules_are_refused(write_sets):
    with pytest.raises(OverlapError, match="the store holds no crawls"):
        count_sets([])
    first, second = write_sets([{1}, {2}])
    with pytest.raises(OverlapError, match=r"their key rule is raw/1 and other/1.*--replace"):
        count_sets([first, replace(second, key_rule="other/1")])


def test_a_damaged_set_is_named_and_the_others_can_be_counted(write_sets, draw_sets, check_table):
    sets = draw_sets(4, seed=9)
    written = write_sets(sets)
    content = bytearray(written[2].path.read_bytes())
    content[len(content) // 3] ^= 0x10
    written[2].path.write_bytes(content)
    with pytest.raises(StoreError, match=r"'c02' cannot be counted: .*crawlgauge remove c02"):
        count_sets(written)
    del written[2], sets[2]
    check_table(count_sets(written), sets)


def test_a_set_that_vanished_is_named(write_sets):
    written = write_sets([{1}, {2}])
    written[1].path.unlink()
    with pytest.raises(StoreError, match=r"'c01' cannot be counted: .* is missing"):
        count_sets(written)
