"""Attributes on disk: what is written is read back, by us and by others, or refused."""

import hashlib
import io
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import crawlgauge as cg
from crawlgauge.errors import StoreError
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.store.attribute_file import read_attributes, write_attributes
from crawlgauge.store.attributes import NO_STATUS, NO_TIME, Attributes
from crawlgauge.store.set_file import SetReader, choose_range_bits, split_keys, write_set

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
    return tmp_path / "attributes.arrow"


@pytest.fixture
def write(path, store, make_list):
    """Write attributes, and the set with their keys and some larger ones."""
    template = cg.add_crawl(store, "2021-06", make_list(range(3))).crawl_set

    def write(attributes, threshold=WHOLE):
        keys = np.union1d(attributes.keys, np.array([2**64 - 9, 2**64 - 1], dtype=np.uint64))
        bits = choose_range_bits(keys.size)
        description = replace(
            template, path=path.with_name("url.parquet"), range_bits=bits, threshold=threshold
        )
        with description.path.open("wb") as file:
            write_set(file, split_keys(keys, bits), description)
        written = SetReader(description.path).description
        with path.open("wb") as file:
            write_attributes(file, attributes, set_checksum=written.checksum)
        return written

    return write


def read(path, crawl_set):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return read_attributes(path, crawl_set, checksum=f"sha256:{digest}")


@pytest.mark.parametrize(("n_rows", "n_hosts"), [(1, 1), (1000, 7), (3000, 3000), (70_000, 40_000)])
def test_attributes_are_read_back(path, write, n_rows, n_hosts):
    attributes = make_attributes(n_rows, n_hosts)
    found = read(path, write(attributes))
    assert are_equal(found, attributes)
    assert not found.keys.flags.writeable


@pytest.mark.parametrize(
    "times",
    [
        [0, 6_000_000_000, NO_TIME],
        [NO_TIME, NO_TIME, NO_TIME],
        [-5, 2**32 - 6, 2**32 - 5],
    ],
)
def test_times_of_all_ages_are_read_back(path, write, times):
    attributes = replace(make_attributes(3), times=np.array(times, dtype=np.int64))
    assert are_equal(read(path, write(attributes)), attributes)


def test_a_crawl_without_attributes_is_read_back(path, write):
    nothing = {name: np.empty(0, dtype=getattr(make_attributes(1), name).dtype) for name in COLUMNS}
    texts = {"hosts": pa.array([], pa.string()), "mimes": pa.array([], pa.string())}
    attributes = Attributes(**nothing, **texts, threshold=5)
    assert are_equal(read(path, write(attributes)), attributes)


def test_others_read_the_table(path, write):
    attributes = make_attributes(1000)
    write(attributes)
    hosts = attributes.hosts.to_pylist()
    frame = pl.read_ipc(path)
    assert frame.columns == ["time", "status", "host", "mime"]
    expected = [None if code < 0 else hosts[code] for code in attributes.host_codes.tolist()]
    assert frame["host"].cast(pl.String).to_list() == expected
    statuses = [None if status == NO_STATUS else status for status in attributes.statuses.tolist()]
    assert frame["status"].to_list() == statuses


def test_each_host_is_written_once_however_many_there_are(path, write):
    write(make_attributes(200_000, n_hosts=100_000))
    assert path.stat().st_size < 200_000 * 24


def test_a_row_takes_few_bytes(path, write):
    write(make_attributes(100_000))
    assert path.stat().st_size < 100_000 * 9


def test_damage_is_told(path, write):
    crawl_set = write(make_attributes(100))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        with pytest.raises(StoreError, match=r"is damaged .* add the crawl again"):
            read_attributes(path, crawl_set, checksum=f"sha256:{digest}")


@pytest.mark.parametrize("n_bytes", [0, 3, 100, -1])
def test_a_cut_file_is_refused(path, write, n_bytes):
    crawl_set = write(make_attributes(300))
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(StoreError, match=r"is damaged .* add the crawl again"):
        read(path, crawl_set)


def test_attributes_of_another_set_are_refused(path, write):
    crawl_set = write(make_attributes(10))
    with pytest.raises(StoreError, match="belongs to another state of the crawl's set"):
        read(path, replace(crawl_set, checksum="keys-sha256:1"))


def test_a_set_with_fewer_keys_is_refused(path, write):
    larger = make_attributes(10)
    crawl_set = write(larger)
    with path.open("wb") as file:
        write_attributes(file, make_attributes(20), set_checksum=crawl_set.checksum)
    with pytest.raises(StoreError, match="fewer than 20 keys"):
        read(path, crawl_set)


def test_a_newer_format_is_refused(path, write):
    crawl_set = write(make_attributes(10))
    table = pa.ipc.open_file(path).read_all()
    document = json.loads(table.schema.metadata[b"crawlgauge"])
    document["schema"] = "crawlgauge.attributes/2"
    rewrite(path, table.replace_schema_metadata({b"crawlgauge": json.dumps(document)}))
    with pytest.raises(StoreError, match=r"'crawlgauge\.attributes/2'; this version"):
        read(path, crawl_set)


def test_other_files_are_refused(path, write):
    crawl_set = write(make_attributes(10))
    table = pa.ipc.open_file(path).read_all()
    rewrite(path, table.replace_schema_metadata(None))
    with pytest.raises(StoreError, match="its description is missing"):
        read(path, crawl_set)
    rewrite(path, table.drop_columns(["host"]))
    with pytest.raises(StoreError, match="is damaged"):
        read(path, crawl_set)
    path.unlink()
    with pytest.raises(StoreError, match="is missing"):
        read_attributes(path, crawl_set, checksum="sha256:0")
    path.mkdir()
    with pytest.raises(StoreError):
        read_attributes(path, crawl_set, checksum="sha256:0")


def rewrite(path, table):
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(sink.getvalue())
