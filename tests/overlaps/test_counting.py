"""Overlaps and histories counted from sets, against Python's own sets."""

import errno
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.errors import OverlapError, StoreError
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.overlaps import histories
from crawlgauge.overlaps.counting import count_sets
from crawlgauge.store import key_set, ranges

LARGEST = 2**64 - 1


@pytest.mark.parametrize("n_crawls", [1, 2, 3, 15, 16, 17, 33, 64, 65, 130])
@pytest.mark.parametrize("keys_per_range", [1 << 20, 500])
def test_counts_are_those_of_python_sets(
    write_sets, draw_sets, check_table, monkeypatch, n_crawls, keys_per_range
):
    monkeypatch.setattr(ranges, "_KEYS_PER_RANGE", keys_per_range)
    monkeypatch.setattr(key_set, "_LEAST_BLOCK_KEYS", 128)
    sets = draw_sets(n_crawls, seed=n_crawls)
    steps = []
    table = count_sets(write_sets(sets), progress=lambda *step: steps.append(step))
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
    monkeypatch.setattr(ranges, "_KEYS_PER_RANGE", keys_per_range)
    monkeypatch.setattr(histories, "MAX_HISTORIES", 256)
    sets = draw_sets(n_crawls, seed=5)
    table = count_sets(write_sets(sets))
    check_table(table, sets)
    assert table.histories.masks.size <= 256
    assert table.histories.sample_rate in {2.0**-k for k in range(1, 10)}
    assert table.sample_rate == 1, "pairs are counted exactly"


@pytest.mark.parametrize("threshold", [WHOLE, WHOLE // 4, WHOLE * 3 // 4, WHOLE // 3 + 12345])
def test_the_part_does_not_depend_on_how_sets_are_cut(
    write_sets, draw_sets, monkeypatch, threshold
):
    monkeypatch.setattr(histories, "MAX_HISTORIES", 128)
    written = write_sets(draw_sets(14, seed=6))
    rates = set()
    for keys_per_range in (1 << 20, 7000, 3000, 700, 100):
        monkeypatch.setattr(ranges, "_KEYS_PER_RANGE", keys_per_range)
        rates.add(count_sets(written, threshold=threshold).histories.sample_rate)
    assert len(rates) == 1
    assert rates.pop() <= threshold / WHOLE / 2


def test_the_part_is_the_largest_that_is_possible(
    write_sets, draw_sets, count_plainly, monkeypatch
):
    monkeypatch.setattr(histories, "MAX_HISTORIES", 256)
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
    assert table.host_groups is None


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
    content[written[2].stored.offset + 8] ^= 0x10
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


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.EIO, errno.ENOMEM])
def test_what_the_system_refuses_is_no_reason_to_take_a_crawl_out(write_sets, monkeypatch, number):
    def refuse(path):
        raise OSError(number, "refused", str(path))

    written = write_sets([{1}, {2}])
    monkeypatch.setattr(key_set, "Mapping", refuse)
    with pytest.raises(StoreError, match=r"'c00' cannot be counted: cannot read .*: refused") as it:
        count_sets(written)
    assert "remove" not in str(it.value)
    assert "damaged" not in str(it.value)
