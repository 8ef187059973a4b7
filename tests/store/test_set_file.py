"""Sets on disk: what is written is read back, by us and by others."""

import datetime as dt
import json

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.damage import Damage
from crawlgauge.errors import StoreError
from crawlgauge.keys.thresholds import WHOLE, count_ranges
from crawlgauge.provenance import Input, Provenance
from crawlgauge.store import set_file
from crawlgauge.store.checksum import KeysChecksum
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.set_file import (
    SetReader,
    choose_range_bits,
    read_description,
    split_keys,
    write_set,
)

KEYS = np.unique(np.random.default_rng(1).integers(0, 2**64 - 1, 5000, dtype=np.uint64))
KEYS = np.append(KEYS, np.uint64(2**64 - 1))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "set.parquet"


@pytest.fixture
def write(path):
    def write(keys=KEYS, threshold=WHOLE):
        description = CrawlSet(
            crawl=Crawl(
                label="2021-12",
                date=dt.date(2021, 12, 15),
                n_urls=keys.size,
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
            range_bits=choose_range_bits(keys.size, threshold),
            provenance=Provenance(
                created="2026-03-16T00:00:00Z", inputs=(Input(name="ä", checksum="x:1"),)
            ),
            path=path,
        )
        with path.open("wb") as file:
            n_parts = count_ranges(description.range_bits, threshold)
            parts = split_keys(keys, description.range_bits)[:n_parts]
            return write_set(file, parts, description)

    return write


@pytest.mark.parametrize(("keys_per_range", "n_ranges"), [(1 << 20, 1), (2000, 4), (100, 64)])
def test_keys_are_read_back_as_they_were_cut(path, write, monkeypatch, keys_per_range, n_ranges):
    monkeypatch.setattr(set_file, "_KEYS_PER_RANGE", keys_per_range)
    write()
    reader = SetReader(path)
    bits = reader.description.range_bits
    parts = list(reader.ranges())
    assert 1 << bits == n_ranges == pq.ParquetFile(path).num_row_groups == len(parts)
    assert np.array_equal(np.concatenate(parts), KEYS)
    for number, part in enumerate(parts):
        assert all(int(key) >> (64 - bits) == number for key in part)


def test_the_description_survives(path, write):
    before = write()
    after = read_description(path)
    assert after.to_dict() == before.to_dict() | {
        "checksum": after.checksum,
        "range_bits": after.range_bits,
    }
    assert after.crawl == before.crawl
    assert after.provenance == before.provenance
    assert after.path == path


def test_the_checksum_does_not_depend_on_the_cut(path, write, monkeypatch):
    write()
    whole = read_description(path).checksum
    monkeypatch.setattr(set_file, "_KEYS_PER_RANGE", 100)
    write()
    assert read_description(path).checksum == whole
    for size in (1, 77, 5001):
        parts = KeysChecksum()
        for start in range(0, KEYS.size, size):
            parts.update(KEYS[start : start + size])
        assert parts.text() == whole
    write(KEYS[1:])
    assert read_description(path).checksum != whole


@pytest.mark.parametrize("keys_per_range", [1 << 20, 100])
def test_others_read_the_keys(path, write, monkeypatch, keys_per_range):
    monkeypatch.setattr(set_file, "_KEYS_PER_RANGE", keys_per_range)
    write()
    assert pl.read_parquet(path)["key"].to_list() == KEYS.tolist()
    rows = duckdb.read_parquet(str(path)).fetchall()
    assert [row[0] for row in rows] == KEYS.tolist()


def test_keys_take_the_space_of_their_differences(path, write):
    rng = np.random.default_rng(2)
    write(np.unique(rng.integers(0, 2**64 - 1, 200_000, dtype=np.uint64)))
    assert path.stat().st_size < 6.7 * 200_000, "log2(2**64 / 200,000) bits and a little more"


@pytest.mark.parametrize(
    ("n_keys", "n_bits"),
    [(1, 0), (1 << 20, 0), ((1 << 20) + 1, 1), (1 << 21, 1), (100_000_000, 7), (10**11, 17)],
)
def test_ranges_hold_about_a_million_keys(n_keys, n_bits):
    assert choose_range_bits(n_keys) == n_bits


def test_a_set_of_a_newer_format_is_refused(path, write):
    write()
    table = pq.read_table(path)
    document = json.loads(pq.ParquetFile(path).metadata.metadata[b"crawlgauge"])
    document["schema"] = "crawlgauge.set/2"
    pq.write_table(table.replace_schema_metadata({b"crawlgauge": json.dumps(document)}), path)
    with pytest.raises(StoreError, match=r"'crawlgauge\.set/2'; this version of crawlgauge reads"):
        read_description(path)


def test_other_files_are_refused(path, write):
    with pytest.raises(StoreError, match="is missing"):
        read_description(path)
    path.write_bytes(b"no Parquet")
    with pytest.raises(StoreError, match=r"is damaged .* add the crawl again"):
        read_description(path)
    write()
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)
    with pytest.raises(StoreError, match="is no set of crawlgauge"):
        read_description(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreError):
        read_description(path)
