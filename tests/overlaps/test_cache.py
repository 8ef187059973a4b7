"""Counts that are kept: what is known is not read again, and the result is as if all were."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.keys.sampling import WHOLE
from crawlgauge.overlaps import counting, histories
from crawlgauge.overlaps.counting import count_group, count_sets, count_to_end
from crawlgauge.store.files import PARTIAL_PREFIX
from crawlgauge.store.ranges import HashRange


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


def same(one, other):
    assert one.crawls == other.crawls
    assert one.n_shared.tolist() == other.n_shared.tolist()
    assert (one.histories is None) == (other.histories is None)
    if one.histories is not None:
        assert one.histories.masks.tolist() == other.histories.masks.tolist()
        assert one.histories.counts.tolist() == other.histories.counts.tolist()
        assert one.histories.sample_rate == other.histories.sample_rate
    assert one.provenance == other.provenance


def test_what_was_counted_is_not_read_again(write_sets, draw_sets, cache, read):
    written = write_sets(draw_sets(6, seed=1))
    first = count_sets(written, cache=cache)
    for item in written:
        item.path.unlink()
    same(count_sets(written, cache=cache), first)
    assert len(read) == 1


def test_a_new_label_or_date_needs_no_counting(write_sets, draw_sets, cache, read):
    written = write_sets(draw_sets(3, seed=6))
    count_sets(written, cache=cache)
    renamed = replace(written[0], crawl=replace(written[0].crawl, label="a-new-name"))
    assert count_sets([renamed, *written[1:]], cache=cache).crawls[0].label == "a-new-name"
    assert len(read) == 1


@pytest.mark.parametrize(
    ("n_before", "n_after"), [(60, 68), (64, 65), (66, 67), (68, 64), (70, 60), (70, 66)]
)
def test_histories_come_and_go_with_the_number_of_crawls(
    write_sets, draw_sets, check_table, cache, n_before, n_after
):
    sets = draw_sets(max(n_before, n_after), seed=7, n_pool=600)
    written = write_sets(sets)
    count_sets(written[:n_before], cache=cache)
    check_table(count_sets(written[:n_after], cache=cache), sets[:n_after])


def test_so_many_crawls_of_the_same_urls_that_histories_end_are_counted(
    write_sets, draw_sets, check_table, cache
):
    sets = draw_sets(4, seed=2, n_pool=100)
    count_sets(write_sets(sets), cache=cache)
    many = sets * 17
    check_table(count_sets(write_sets(many), cache=cache), many)


@pytest.mark.parametrize("max_histories", [64, 256, 1 << 18])
@pytest.mark.parametrize("seed", range(6))
def test_any_changes_give_what_counting_anew_gives(
    write_set_file, draw_sets, cache, monkeypatch, seed, max_histories
):
    monkeypatch.setattr(histories, "MAX_HISTORIES", max_histories)
    monkeypatch.setattr(counting, "_LEAST_INDEXED", 1000)
    rng = np.random.default_rng(seed)
    pool = draw_sets(14, seed=seed, n_pool=800)
    present = {k: pool[k] for k in rng.choice(14, 5, replace=False).tolist()}
    for _ in range(8):
        written = [write_set_file(k, present[k]) for k in sorted(present)]
        same(count_sets(written, cache=cache), count_sets(written))
        for k in rng.choice(14, 2, replace=False).tolist():
            if len(present) > 3 and rng.random() < 0.4:
                present.pop(k, None)
            else:
                present[k] = pool[k] | {int(key) for key in rng.integers(0, 2**63, 20)}


def test_samples_are_kept_beside_the_whole(write_sets, draw_sets, cache, read):
    written = write_sets(draw_sets(4, seed=8))
    for threshold in (WHOLE, WHOLE // 4, WHOLE // 10, WHOLE, WHOLE // 4):
        count_sets(written, threshold=threshold, cache=cache)
    assert len(read) == 3


def test_counts_that_fit_no_crawls_any_more_are_deleted(write_sets, draw_sets, cache, read):
    written = write_sets(draw_sets(5, seed=9))
    count_sets(written[:3], cache=cache)
    count_sets(written[:3], threshold=WHOLE // 8, cache=cache)
    other = cache / "somebody-elses.txt"
    other.write_text("not ours")
    count_sets(written, cache=cache)
    assert len(list(cache.glob("overlaps-*"))) == 1
    count_sets(written, cache=cache)
    assert len(read) == 3
    assert other.exists()


@pytest.mark.parametrize("how", ["bit", "end", "empty", "foreign", "another version"])
def test_a_damaged_file_is_passed_over_and_written_again(
    write_sets, draw_sets, check_table, cache, read, caplog, how
):
    sets = draw_sets(4, seed=10)
    written = write_sets(sets)
    count_sets(written, cache=cache)
    (kept,) = cache.iterdir()
    content = bytearray(kept.read_bytes())
    if how == "bit":
        content[len(content) // 2] ^= 1
    damaged = {
        "end": content[:-9],
        "empty": b"",
        "foreign": b'{"sha256": "of somebody else"}',
        "another version": b'{"schema": "crawlgauge.counts/1"}',
    }
    kept.write_bytes(damaged.get(how, content))
    with caplog.at_level(logging.WARNING):
        check_table(count_sets(written, cache=cache), sets)
    assert f"{kept} is damaged" in caplog.text
    count_sets(written, cache=cache)
    assert len(read) == 2


def test_a_folder_that_cannot_be_written_to_is_no_hindrance(
    write_sets, draw_sets, check_table, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(counting, "_LEAST_INDEXED", 1)
    sets = draw_sets(3, seed=11)
    with caplog.at_level(logging.INFO):
        check_table(count_sets(write_sets(sets), cache=tmp_path / "missing"), sets)
    assert "counts are not kept" in caplog.text
    assert "the index of histories is not kept" in caplog.text


def test_another_engine_counts_and_its_counts_are_kept(write_sets, draw_sets, check_table, cache):
    sets = draw_sets(4, seed=12)
    written = write_sets(sets)
    asked = []

    def engine(own, threshold):
        asked.append((len(own), threshold))
        everything = HashRange(number=0, bits=0)
        return count_to_end(threshold, len(own), lambda end: count_group(own, everything, end))

    for _ in range(2):
        check_table(count_sets(written, cache=cache, engine=engine), sets)
    check_table(
        count_sets(written, cache=cache, threshold=WHOLE // 3, engine=engine), sets, WHOLE // 3
    )
    assert asked == [(4, WHOLE), (4, WHOLE // 3)]


def test_no_unfinished_file_is_left(write_sets, draw_sets, cache, monkeypatch):
    monkeypatch.setattr(counting, "_LEAST_INDEXED", 1)
    count_sets(write_sets(draw_sets(3, seed=13)), cache=cache)
    assert not list(cache.glob(f"{PARTIAL_PREFIX}*"))
