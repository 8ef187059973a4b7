"""The history index: what is counted by it is what is counted from all sets."""

import errno
import json
import logging
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crawlgauge.keys.sampling import WHOLE
from crawlgauge.overlaps import counting, histories
from crawlgauge.overlaps.counting import count_sets
from crawlgauge.store import history_index, ranges


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "_LEAST_INDEXED", 1)
    monkeypatch.setattr(ranges, "_KEYS_PER_RANGE", 1000)
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


def forget_counts(cache):
    for path in cache.glob("overlaps-*"):
        path.unlink()


def index_files(cache):
    return sorted(path.name for path in cache.glob("index-*"))


@pytest.mark.parametrize("n_crawls", [3, 8, 15, 16, 17, 31, 40, 64])
@pytest.mark.parametrize("place", [0, -1])
def test_of_an_added_crawl_only_its_own_set_is_read(
    write_sets, draw_sets, check_table, cache, read, monkeypatch, n_crawls, place
):
    monkeypatch.setattr(counting, "_MAX_OUTSIDE", 0.9)
    sets = draw_sets(n_crawls, seed=n_crawls)
    written = write_sets(sets)
    new = written[place]
    count_sets([item for item in written if item is not new], cache=cache)
    before = index_files(cache)
    assert len(before) == 2
    steps = []
    table = count_sets(written, cache=cache, progress=lambda *step: steps.append(step))
    check_table(table, sets)
    assert read[1:] == [[new.crawl.label]]
    assert index_files(cache) == before
    assert steps == [(number, len(steps)) for number in range(1, len(steps) + 1)]


def test_crawls_that_come_together_are_merged_with_the_index(
    write_sets, draw_sets, check_table, cache, read, monkeypatch
):
    monkeypatch.setattr(counting, "_MAX_OUTSIDE", 0.9)
    sets = draw_sets(9, seed=3)
    written = write_sets(sets)
    count_sets([written[k] for k in (1, 2, 4, 5, 7, 8)], cache=cache)
    check_table(count_sets(written, cache=cache), sets)
    assert read[1:] == [["c00", "c03", "c06"]]


def test_removed_and_replaced_crawls_are_left_out_of_what_the_index_tells(
    write_sets, write_set_file, draw_sets, check_table, cache, read, monkeypatch
):
    monkeypatch.setattr(counting, "_MAX_OUTSIDE", 0.9)
    sets = draw_sets(10, seed=4)
    written = write_sets(sets)
    count_sets(written, cache=cache)
    forget_counts(cache)
    del written[3], sets[3]
    sets[5] = sets[5] | {1, 2, 3}
    written[5] = replace(write_set_file(6, sets[5]))
    check_table(count_sets(written, cache=cache), sets)
    assert read[1:] == [["c06"]]


def test_an_index_of_mostly_other_crawls_is_of_no_use(
    write_sets, draw_sets, check_table, cache, read
):
    sets = draw_sets(12, seed=5)
    written = write_sets(sets)
    count_sets(written, cache=cache)
    forget_counts(cache)
    check_table(count_sets(written[:2], cache=cache), sets[:2])
    assert read[1:] == [["c00", "c01"]]


def test_the_index_is_made_anew_when_much_has_come_since(write_sets, check_table, cache, read):
    sets = [{*range(k, k + 4000)} for k in range(0, 800, 100)]
    written = write_sets(sets)
    names = []
    for n in range(3, 9):
        check_table(count_sets(written[:n], cache=cache), sets[:n])
        names.append(index_files(cache))
    assert all(len(found) == 2 for found in names)
    # A fourth crawl holds a quarter of all keys, and not more; two of five do.
    assert names[0] == names[1] != names[2] == names[3] != names[4]
    assert [len(labels) for labels in read] == [3, 1, 2, 1, 2, 1]


def test_a_sample_is_counted_by_the_index_of_the_whole(
    write_sets, draw_sets, check_table, cache, read
):
    sets = draw_sets(6, seed=6)
    written = write_sets(sets)
    count_sets(written, cache=cache)
    for threshold in (WHOLE // 3, WHOLE // 64, 1 << 60):
        check_table(count_sets(written, threshold=threshold, cache=cache), sets, threshold)
    assert read[1:] == [[], [], []]


def test_the_index_of_a_sample_does_not_serve_for_the_whole(
    write_sets, draw_sets, check_table, cache, read
):
    sets = draw_sets(5, seed=7)
    written = write_sets(sets)
    count_sets(written, threshold=WHOLE // 2, cache=cache)
    check_table(count_sets(written, cache=cache), sets)
    assert len(read[1]) == 5
    assert len(index_files(cache)) == 2


@pytest.mark.parametrize("n_crawls", [12, 40])
def test_too_many_histories_are_counted_by_the_index_too(
    write_sets, draw_sets, check_table, cache, read, monkeypatch, n_crawls
):
    monkeypatch.setattr(histories, "MAX_HISTORIES", 256)
    monkeypatch.setattr(counting, "_MAX_OUTSIDE", 0.9)
    sets = draw_sets(n_crawls, seed=8)
    written = write_sets(sets)
    count_sets(written[:-1], cache=cache)
    table = count_sets(written, cache=cache)
    check_table(table, sets)
    assert table.histories.sample_rate == count_sets(written).histories.sample_rate < 1
    assert read[1] == [written[-1].crawl.label]


def test_the_index_can_be_read_by_other_programs(write_sets, draw_sets, cache):
    sets = draw_sets(20, seed=9)
    count_sets(write_sets(sets), cache=cache)
    (path,) = cache.glob("index-*.arrow")
    found = pl.read_ipc(path)
    assert found.schema == {"key": pl.UInt64, "mask": pl.UInt32}
    assert found["key"].to_list() == sorted(set().union(*sets))
    for key, mask in found.sample(50, seed=1).iter_rows():
        assert mask == sum(1 << k for k, keys in enumerate(sets) if key in keys)


@pytest.mark.parametrize("where", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("how", ["bit", "cut", "missing", "document", "empty document"])
def test_a_damaged_index_is_not_used_and_made_anew(
    write_sets, draw_sets, check_table, cache, monkeypatch, caplog, where, how
):
    monkeypatch.setattr(counting, "_MAX_OUTSIDE", 0.0)
    sets = draw_sets(6, seed=10)
    written = write_sets(sets)
    count_sets(written[:-1], cache=cache)
    (arrow,), (document,) = cache.glob("index-*.arrow"), cache.glob("index-*.json")
    damaged = document if "document" in how else arrow
    content = bytearray(damaged.read_bytes())
    start = 0
    if how in ("bit", "document"):
        if how == "bit":
            # Within the rows: what stands around them is for other programs.
            rows = json.loads(document.read_bytes())["content"]["ranges"]
            start = rows[int(where * len(rows))][3] + 3
        content[start or int(where * len(content))] ^= 0x20
        damaged.write_bytes(content)
    elif how == "missing":
        damaged.unlink()
    else:
        damaged.write_bytes(content[: 0 if how == "empty document" else int(where * len(content))])
    with caplog.at_level(logging.WARNING):
        check_table(count_sets(written, cache=cache), sets)
    assert "made anew" in caplog.text
    caplog.clear()
    forget_counts(cache)
    check_table(count_sets(written, cache=cache), sets)
    assert not caplog.text
    assert len(index_files(cache)) == 2


@pytest.mark.parametrize("step", ["room", "open", "write", "publish"])
def test_a_full_disk_is_no_hindrance(
    write_sets, draw_sets, check_table, cache, monkeypatch, caplog, step
):
    def fail(*_args, **_others):
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "room":
        usage = shutil.disk_usage(cache)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100))
    target = {
        "open": (history_index, "partial_file"),
        "write": (history_index.TableFile, "write"),
        "publish": (Path, "replace"),
    }
    sets = draw_sets(4, seed=11)
    written = write_sets(sets)
    if step in target:
        monkeypatch.setattr(*target[step], fail)
    with caplog.at_level(logging.INFO):
        check_table(count_sets(written, cache=cache), sets)
    assert "the index of histories is not kept" in caplog.text
    assert not index_files(cache)
    assert not list(cache.glob(".partial*"))


def test_an_error_of_counting_leaves_no_index(write_sets, draw_sets, cache):
    written = write_sets(draw_sets(3, seed=12))

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_sets(written, cache=cache, progress=stop)
    assert not list(cache.iterdir())


def test_what_a_kill_has_left_of_an_index_is_cleaned_up(write_sets, draw_sets, cache):
    for name in ("index-0123.arrow", "index-4567.json"):
        (cache / name).write_bytes(b"half")
    count_sets(write_sets(draw_sets(3, seed=13)), cache=cache)
    assert len(index_files(cache)) == 2
    assert not {"index-0123.arrow", "index-4567.json"} & {*index_files(cache)}


def test_small_stores_and_many_crawls_have_no_index(write_sets, draw_sets, cache, monkeypatch):
    count_sets(write_sets(draw_sets(66, seed=14, n_pool=100)), cache=cache)
    monkeypatch.setattr(counting, "_LEAST_INDEXED", 10_000)
    count_sets(write_sets(draw_sets(3, seed=15)), cache=cache)
    assert not index_files(cache)


def test_each_level_has_its_own_index(write_sets, draw_sets, cache):
    sets = draw_sets(4, seed=16)
    written = write_sets(sets)
    contents = [replace(item, level="content") for item in written]
    count_sets(written, cache=cache)
    count_sets(contents, cache=cache)
    assert len(index_files(cache)) == 4
    assert np.array_equal(
        count_sets(written, cache=cache).n_shared, count_sets(contents, cache=cache).n_shared
    )
