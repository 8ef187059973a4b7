"""Keys decoded from a set's file, against Arrow's own reading of it."""

import datetime as dt
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.errors import StoreError
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.provenance import Provenance
from crawlgauge.store import key_stream
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.key_stream import SLACK, KeyStream
from crawlgauge.store.set_file import METADATA_KEY, split_keys, write_set

LARGEST = 2**64 - 1


def draw_keys(n_keys, *, bits=64, seed=1):
    keys = np.random.default_rng(seed).integers(0, 2**bits - 1, n_keys, np.uint64, endpoint=True)
    return np.unique(keys)


@pytest.fixture
def write(tmp_path):
    def write(keys, range_bits=0, name="set.parquet"):
        path = tmp_path / name
        described = CrawlSet(
            crawl=Crawl(label="a", date=dt.date(2021, 12, 15), n_urls=len(keys)),
            level="url",
            key_rule="raw/1",
            threshold=WHOLE,
            n_captures=len(keys),
            rejected={},
            excluded={},
            damage=(),
            checksum="",
            range_bits=range_bits,
            provenance=Provenance(),
            path=path,
        )
        with path.open("wb") as file:
            write_set(file, split_keys(keys, range_bits), described)
        return path

    return write


def take_all(path, ends):
    """Take the keys below each end, with little room at first."""
    found = []
    with KeyStream(path) as stream:
        for end in ends:
            size, taken = SLACK, []
            while True:
                out = np.empty(size, dtype=np.uint64)
                place, is_done = stream.take(end, out, 0, size)
                taken.append(out[:place])
                if is_done:
                    break
                # What was there already is handed over; more room is for what follows.
                size *= 2
            found.append(np.concatenate(taken))
    return found


@pytest.mark.parametrize("range_bits", [0, 3])
@pytest.mark.parametrize("bits", [3, 20, 40, 57, 60, 64])
@pytest.mark.parametrize("n_keys", [1, 2, 33, 129, 5000, 70_000])
def test_keys_of_any_density_are_those_that_were_written(write, n_keys, bits, range_bits):
    keys = draw_keys(n_keys, bits=bits)
    (found,) = take_all(write(keys, range_bits), [WHOLE])
    assert np.array_equal(found, keys)


@pytest.mark.parametrize("seed", range(20))
def test_each_end_gets_the_keys_below_it(write, seed):
    rng = np.random.default_rng(seed)
    gaps = 2 ** rng.integers(0, rng.choice([3, 40, 56]), 400, dtype=np.uint64)
    keys = np.cumsum(gaps, dtype=np.uint64)
    ends = [*sorted({int(end) + 1 for end in rng.choice(keys, 5)}), WHOLE]
    parts = take_all(write(keys), ends)
    for part, low, end in zip(parts, [0, *ends[:-1]], ends, strict=True):
        assert part.tolist() == [key for key in keys.tolist() if low <= key < end]


def test_the_largest_and_the_smallest_key_are_there(write):
    keys = np.array([0, 1, LARGEST - 1, LARGEST], dtype=np.uint64)
    first, last = take_all(write(keys), [LARGEST, WHOLE])
    assert (first.tolist(), last.tolist()) == ([0, 1, LARGEST - 1], [LARGEST])


@pytest.mark.parametrize("read_bytes", [1, 1000])
def test_pages_are_put_together_from_pieces_of_the_file(write, monkeypatch, read_bytes):
    monkeypatch.setattr(key_stream, "_READ_BYTES", read_bytes)
    keys = draw_keys(60_000)
    found = take_all(write(keys, 2), [1 << 62, 1 << 63, WHOLE])
    assert np.array_equal(np.concatenate(found), keys)


@pytest.mark.parametrize(
    "how",
    [
        {"compression": "zstd"},
        {"use_dictionary": True},
        {"data_page_version": "2.0"},
        {"compression": "none", "use_dictionary": False},
    ],
)
def test_a_set_that_another_program_wrote_anew_has_the_same_keys(write, how):
    keys = draw_keys(3000)
    path = write(keys, 1)
    table = pq.read_table(path)
    file = pq.ParquetFile(path)
    metadata = {METADATA_KEY: file.metadata.metadata[METADATA_KEY]}
    pq.write_table(table.replace_schema_metadata(metadata), path, **how)
    (found,) = take_all(path, [WHOLE])
    assert np.array_equal(found, keys)


def test_every_broken_byte_is_noticed(write):
    path = write(draw_keys(300), 1)
    whole = path.read_bytes()
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    begin, messages = column.data_page_offset, []
    for place in range(begin, begin + column.total_compressed_size):
        changed = bytearray(whole)
        changed[place] ^= 0x10
        path.write_bytes(changed)
        try:
            (found,) = take_all(path, [WHOLE])
        except StoreError as error:
            messages.append(str(error))
        else:
            # The statistics in the header of a page are not used.
            assert np.array_equal(found, draw_keys(300))
    assert len(messages) > column.total_compressed_size * 0.9
    assert all(str(path) in message and "--replace" in message for message in messages)


def test_a_file_that_is_cut_after_it_was_opened_is_noticed(write):
    path = write(draw_keys(100_000))
    out = np.empty(100_000 + SLACK, dtype=np.uint64)
    with KeyStream(path) as stream:
        os.truncate(path, 1000)
        with pytest.raises(StoreError, match="it ends too early"):
            stream.take(WHOLE, out, 0, out.size)


def test_nothing_is_written_beyond_the_room_that_was_given(write):
    keys = draw_keys(10_000)
    out = np.zeros(3 * SLACK, dtype=np.uint64)
    with KeyStream(write(keys)) as stream:
        place, is_done = stream.take(WHOLE, out, 10, 10 + 2 * SLACK)
    assert not is_done
    assert np.array_equal(out[10:place], keys[: place - 10])
    assert not out[:10].any()
    assert not out[10 + 2 * SLACK :].any()


def test_a_column_that_could_have_nulls_is_read_by_arrow(write):
    path = write(draw_keys(10))
    metadata = pq.ParquetFile(path).metadata.metadata
    table = pa.table({"key": pa.array([1, 2, 3], pa.uint64())})
    pq.write_table(
        table.replace_schema_metadata({METADATA_KEY: metadata[METADATA_KEY]}),
        path,
        compression="none",
        use_dictionary=False,
        column_encoding={"key": "DELTA_BINARY_PACKED"},
    )
    (found,) = take_all(path, [WHOLE])
    assert found.tolist() == [1, 2, 3]
