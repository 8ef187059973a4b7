"""Keys on disk: what is written is read back, by us and by others, and damage is noticed."""

import datetime as dt
import os
from dataclasses import replace
from itertools import pairwise

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.errors import Damage, StoreError
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.provenance import Input, Provenance
from crawlgauge.store import key_set
from crawlgauge.store.attributes import Attributes, write_attributes
from crawlgauge.store.crawl_set import CrawlSet, Manifest
from crawlgauge.store.key_set import KeyReader, check_keys, write_keys

LARGEST = 2**64 - 1


def draw_keys(n_keys, seed=1):
    keys = np.random.default_rng(seed).integers(0, LARGEST, n_keys, np.uint64, endpoint=True)
    return np.union1d(keys, np.array([0, LARGEST], np.uint64))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(key_set, "_LEAST_BLOCK_KEYS", 64)


@pytest.fixture
def write(tmp_path):
    def write(keys, threshold=WHOLE, part=1000):
        description = CrawlSet(
            crawl=Crawl(
                label="2021-12",
                date=dt.date(2021, 12, 15),
                n_urls=1,
                first_capture=dt.datetime(2021, 12, 13, 8, 0, 5, tzinfo=dt.UTC),
                damaged=True,
            ),
            level="url",
            key_rule="raw/1",
            threshold=threshold,
            n_captures=7000,
            rejected={"no-host": 3},
            excluded={"other-scheme": 1},
            damage=(Damage(file="a.gz", byte=7, reason="broken", lost="the rest"),),
            unassigned={"no-time": 2},
            n_no_status=3,
            days={738_000: 10},
            checksum="",
            provenance=Provenance(
                created="2026-03-16T00:00:00Z", inputs=(Input(name="ä", checksum="x:1"),)
            ),
            folder=tmp_path,
        )
        parts = [keys[start : start + part] for start in range(0, keys.size, part)]
        return write_keys(tmp_path, parts, description, n_most=keys.size)

    return write


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_keys", [1, 62, 63, 64, 1000, 5000])
@pytest.mark.parametrize("part", [1, 77, 10_000])
def test_keys_are_read_back_and_each_range_has_its_own(write, n_keys, part):
    keys = draw_keys(n_keys)
    written = write(keys, part=part)
    check_keys(written)
    assert KeyReader(written).between(0, WHOLE).tolist() == keys.tolist()
    assert KeyReader(written).smallest(n_keys).tolist() == keys[:n_keys].tolist()
    rng = np.random.default_rng(n_keys)
    ends = sorted({0, WHOLE, *(int(key) + k for key in rng.choice(keys, 6) for k in (0, 1))})
    reader = KeyReader(written)
    for low, high in pairwise(ends):
        assert reader.between(low, high).tolist() == [k for k in keys.tolist() if low <= k < high]
        assert not reader.between(low, high).flags.writeable


def test_the_checksum_and_the_name_tell_the_keys_and_nothing_of_how_they_came(write, monkeypatch):
    one = write(draw_keys(5000), part=77)
    assert write(draw_keys(5000), part=5000).stored == one.stored
    assert one.path.stat().st_size == one.stored.n_bytes < 8 * 5002 + 4000
    monkeypatch.setattr(key_set, "_LEAST_BLOCK_KEYS", 64)
    other = write(draw_keys(5000))
    assert (other.checksum, other.path) == (one.checksum, one.path)
    assert write(draw_keys(5000, seed=2)).checksum != one.checksum


def test_the_least_block_grows_with_the_set(write, monkeypatch):
    monkeypatch.setattr(key_set, "_LEAST_BLOCK_KEYS", 2)
    monkeypatch.setattr(key_set, "_MOST_BLOCKS", 16)
    stored = write(draw_keys(1000)).stored
    assert (stored.block_keys, len(stored.fences)) == (64, 16)


def test_a_sample_tells_how_many_there_are_in_all(write):
    keys = draw_keys(8000)
    crawl = write(keys[keys < np.uint64(1 << 62)], threshold=1 << 62).crawl
    assert (crawl.n_sampled, crawl.n_urls) == (crawl.n_counted, 4 * crawl.n_sampled)
    assert abs(crawl.n_urls - 8000) < 500


def test_others_read_the_keys_and_what_they_are(write):
    keys = draw_keys(5000)
    written = write(keys)
    assert pl.read_ipc(written.path)["key"].to_list() == keys.tolist()
    table = pa.ipc.open_file(written.path).read_all()
    table.validate(full=True)
    assert table["key"].to_pylist() == keys.tolist()
    assert duckdb.arrow(table).max("key").fetchall() == [(LARGEST,)]
    assert b'"label": "2021-12"' in table.schema.metadata[b"crawlgauge"]


def test_the_description_survives_the_manifest(write, tmp_path):
    written = write(draw_keys(300))
    stored = write_attributes(tmp_path, Attributes.nothing())
    manifest = Manifest(label="2021-12", sets={"url": written}, attributes=stored)
    assert Manifest.from_bytes(manifest.to_bytes(), tmp_path, "2021-12") == manifest


@pytest.mark.usefixtures("small_blocks")
def test_every_broken_byte_is_noticed_where_it_is_read_and_by_verifying(write):
    keys = draw_keys(300)
    written = write(keys)
    whole = written.path.read_bytes()
    messages = []
    for place in range(len(whole)):
        # In place: a file that is mapped may not be shortened.
        written.path.unlink()
        written.path.write_bytes(
            whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :]
        )
        is_key = 0 <= place - written.stored.offset < 8 * keys.size
        try:
            assert KeyReader(written).between(0, WHOLE).tolist() == keys.tolist()
            assert not is_key
        except StoreError as error:
            messages.append(str(error))
            assert is_key
        what = "the checksum of its keys" if is_key else "it was changed after it was written"
        with pytest.raises(StoreError, match=what):
            check_keys(written)
    assert all(f"{written.path} is damaged" in message for message in messages)
    assert all("add the crawl again from its files" in message for message in messages)


@pytest.mark.usefixtures("small_blocks")
def test_only_blocks_that_are_read_are_compared(write):
    keys = draw_keys(1000)
    written = write(keys)
    with written.path.open("r+b") as file:
        file.seek(written.stored.offset + 8 * 900)
        file.write(b"\0")
    reader = KeyReader(written)
    assert reader.between(0, int(keys[800])).tolist() == keys[:800].tolist()
    with pytest.raises(StoreError, match="the checksum of its keys is wrong"):
        reader.between(int(keys[800]), WHOLE)


@pytest.mark.parametrize("n_bytes", [0, 10, 500, -1, +1])
def test_a_file_of_another_length_is_refused(write, n_bytes):
    written = write(draw_keys(100))
    size = written.stored.n_bytes
    os.truncate(written.path, size + n_bytes if abs(n_bytes) == 1 else n_bytes)
    with pytest.raises(StoreError, match=r"is damaged \(it has [\d,]+ bytes, not"):
        KeyReader(written)
    with pytest.raises(StoreError, match="is damaged"):
        check_keys(written)


def test_what_the_system_refuses_is_said_as_such_and_not_called_damage(write, monkeypatch):
    written = write(draw_keys(100))

    def refuse(_path):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(key_set, "Mapping", refuse)
    with pytest.raises(StoreError, match=r"Too many open files; allow more open files") as caught:
        KeyReader(written)
    assert "damaged" not in str(caught.value)
    monkeypatch.undo()
    written.path.unlink()
    with pytest.raises(StoreError, match=r"is missing: .*run the command again"):
        KeyReader(written)
    written.path.mkdir()
    with pytest.raises(StoreError, match="cannot read"):
        KeyReader(written)


def test_keys_out_of_order_or_beyond_the_sample_are_found(write):
    written = write(np.array([5, 9, 7], np.uint64))
    with pytest.raises(StoreError, match="its keys are not in order"):
        check_keys(written)
    beyond = replace(write(np.array([5, 9], np.uint64)), threshold=9)
    with pytest.raises(StoreError, match="it holds keys beyond its sample"):
        check_keys(beyond)
