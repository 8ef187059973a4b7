"""Attributes on disk: what is written is read back, by us and by others, or refused."""

import json

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawlgauge.errors import StoreError
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.store.attribute_file import read_attributes, write_attributes
from crawlgauge.store.attributes import NO_STATUS, NO_TIME, Attributes

COLUMNS = ("keys", "times", "statuses", "host_codes", "mime_codes")


def make_attributes(n_rows, n_hosts=7, seed=1):
    rng = np.random.default_rng(seed)
    keys = np.unique(rng.integers(0, 2**64 - 1, n_rows, dtype=np.uint64))
    times = rng.integers(1_600_000_000, 1_601_000_000, n_rows)
    times[::5] = NO_TIME
    statuses = rng.choice(np.array([200, 404, -9998, NO_STATUS], dtype=np.int16), n_rows)
    return Attributes(
        keys=keys,
        times=times,
        statuses=statuses,
        host_codes=rng.integers(-1, n_hosts, n_rows, dtype=np.int32),
        mime_codes=rng.integers(-1, 2, n_rows, dtype=np.int32),
        hosts=pa.array([f"host-{number}.example" for number in range(n_hosts)]),
        mimes=pa.array(["text/html", "image/png"]),
        threshold=WHOLE,
    )


def are_equal(one, other):
    columns = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)
    texts = one.hosts.equals(other.hosts) and one.mimes.equals(other.mimes)
    return columns and texts and one.threshold == other.threshold


@pytest.fixture
def path(tmp_path):
    return tmp_path / "attributes.parquet"


@pytest.fixture
def write(path):
    def write(attributes):
        with path.open("wb") as file:
            write_attributes(file, attributes, set_checksum="keys-sha256:0")
        return attributes

    return write


@pytest.mark.parametrize(("n_rows", "n_hosts"), [(1, 1), (1000, 7), (3000, 3000)])
def test_attributes_are_read_back(path, write, n_rows, n_hosts):
    written = write(make_attributes(n_rows, n_hosts))
    found = read_attributes(path, set_checksum="keys-sha256:0")
    assert are_equal(found, written)
    assert not found.keys.flags.writeable


def test_a_crawl_without_attributes_is_read_back(path, write):
    nothing = {name: np.empty(0, dtype=getattr(make_attributes(1), name).dtype) for name in COLUMNS}
    texts = {"hosts": pa.array([], pa.string()), "mimes": pa.array([], pa.string())}
    written = write(Attributes(**nothing, **texts, threshold=5))
    assert are_equal(read_attributes(path), written)


def test_others_read_the_table(path, write):
    written = write(make_attributes(1000))
    hosts = written.hosts.to_pylist()
    expected = [None if code < 0 else hosts[code] for code in written.host_codes.tolist()]
    frame = pl.read_parquet(path)
    assert frame.columns == ["key", "time", "status", "host", "mime"]
    assert frame["key"].to_list() == written.keys.tolist()
    assert frame["host"].to_list() == expected
    rows = duckdb.read_parquet(str(path)).project("host, time, status").fetchall()
    times = [None if time == NO_TIME else time for time in written.times.tolist()]
    statuses = [None if status == NO_STATUS else status for status in written.statuses.tolist()]
    assert rows == list(zip(expected, times, statuses, strict=True))


def test_each_host_is_written_once_however_many_there_are(path, write):
    write(make_attributes(200_000, n_hosts=100_000))
    encodings = pq.ParquetFile(path).metadata.row_group(0).column(3).encodings
    assert "RLE_DICTIONARY" in encodings
    assert path.stat().st_size < 200_000 * 16


def test_damaged_bytes_are_found_or_do_no_harm(path, write):
    written = write(make_attributes(100))
    whole = path.read_bytes()
    n_refused = 0
    places = range(0, len(whole), 3)
    for place in places:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            found = read_attributes(path)
        except StoreError:
            n_refused += 1
        else:
            assert are_equal(found, written), place
    assert n_refused > len(places) / 2


@pytest.mark.parametrize("n_bytes", [0, 3, 100, -1])
def test_a_cut_file_is_refused(path, write, n_bytes):
    write(make_attributes(300))
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(StoreError, match=r"is damaged .* add the crawl again"):
        read_attributes(path)


def test_attributes_of_another_set_are_refused(path, write):
    write(make_attributes(10))
    with pytest.raises(StoreError, match="belongs to another state of the crawl's set"):
        read_attributes(path, set_checksum="keys-sha256:1")


def test_a_newer_format_is_refused(path, write):
    write(make_attributes(10))
    table = pq.read_table(path)
    document = json.loads(pq.ParquetFile(path).metadata.metadata[b"crawlgauge"])
    document["schema"] = "crawlgauge.attributes/2"
    pq.write_table(table.replace_schema_metadata({b"crawlgauge": json.dumps(document)}), path)
    with pytest.raises(StoreError, match=r"'crawlgauge\.attributes/2'; this version"):
        read_attributes(path)


def test_other_files_are_refused(path, write):
    with pytest.raises(StoreError, match="is missing"):
        read_attributes(path)
    write(make_attributes(10))
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)
    with pytest.raises(StoreError, match="its description is missing"):
        read_attributes(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreError):
        read_attributes(path)
