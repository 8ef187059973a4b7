"""Attributes on disk: what is written is read back, by us and by others, or refused."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import crawlgauge as cg
from crawlgauge.core.batch import NO_STATUS, NO_TIME
from crawlgauge.errors import StoreError
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.store.attributes import Attributes, read_attributes, write_attributes
from crawlgauge.store.key_set import write_keys

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
        hosts=tuple(f"host-{number}.example" for number in range(n_hosts)),
        mimes=("text/html", "image/png"),
        threshold=WHOLE,
    )


def are_equal(one, other):
    columns = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)
    others = ("hosts", "mimes", "threshold")
    return columns and all(getattr(one, name) == getattr(other, name) for name in others)


@pytest.fixture
def write(tmp_path, store, make_list):
    """Write attributes, and the set with their keys and some larger ones; return what reads."""
    template = cg.add_crawl(store, "2021-06", make_list(range(3))).crawl_set

    def write(attributes):
        keys = np.union1d(attributes.keys, np.array([2**64 - 9, 2**64 - 1], dtype=np.uint64))
        description = replace(template, folder=tmp_path)
        written = write_keys(tmp_path, [keys], description, n_most=keys.size)
        return tmp_path, write_attributes(tmp_path, attributes), written

    return write


@pytest.mark.parametrize(
    ("n_rows", "n_hosts"),
    [(1, 1), (1000, 7), (1000, 128), (1000, 129), (40_000, 32_769), (70_000, 40_000)],
)
def test_attributes_are_read_back(write, n_rows, n_hosts):
    attributes = make_attributes(n_rows, n_hosts)
    found = read_attributes(*write(attributes))
    assert are_equal(found, attributes)
    assert not found.keys.flags.writeable


@pytest.mark.parametrize(
    "times",
    [
        [0, 6_000_000_000, NO_TIME],
        [NO_TIME, NO_TIME, NO_TIME],
        [-5, 2**32 - 6, 2**62],
    ],
)
def test_times_of_all_ages_are_read_back(write, times):
    attributes = replace(make_attributes(3), times=np.array(times, dtype=np.int64))
    assert are_equal(read_attributes(*write(attributes)), attributes)


def test_a_crawl_without_attributes_is_read_back(write):
    assert are_equal(read_attributes(*write(Attributes.nothing())), Attributes.nothing())


def test_others_read_the_table_in_which_each_host_stands_once(write):
    attributes = make_attributes(20_000, n_hosts=10_000)
    folder, stored, _ = write(attributes)
    frame = pl.read_ipc(folder / stored.file)
    assert frame.columns == ["time", "status", "host", "mime"]
    for column, codes, texts in (
        ("host", attributes.host_codes, attributes.hosts),
        ("mime", attributes.mime_codes, attributes.mimes),
    ):
        expected = [None if code < 0 else texts[code] for code in codes.tolist()]
        assert frame[column].cast(pl.String).to_list() == expected
    statuses = [None if status == NO_STATUS else status for status in attributes.statuses.tolist()]
    assert frame["status"].to_list() == statuses
    assert frame["time"].null_count() == 4000
    assert (folder / stored.file).stat().st_size < 20_000 * 13 + 10_000 * 23


def test_every_broken_byte_and_every_cut_is_noticed(write):
    folder, stored, crawl_set = write(make_attributes(100))
    path = folder / stored.file
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        with pytest.raises(StoreError, match=r"is damaged .* add the crawl again"):
            read_attributes(folder, stored, crawl_set)
        if place % 100 == 0:
            path.write_bytes(whole[:place])
            with pytest.raises(StoreError, match=r"is damaged .* add the crawl again"):
                read_attributes(folder, stored, crawl_set)
    path.unlink()
    with pytest.raises(StoreError, match="is missing"):
        read_attributes(folder, stored, crawl_set)
    path.mkdir()
    with pytest.raises(StoreError, match="cannot read"):
        read_attributes(folder, stored, crawl_set)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": [2, 1]}, "not sorted"),
        ({"keys": [1, 1]}, "not sorted"),
        ({"keys": [1, 9]}, "not below"),
        ({"threshold": 0}, "not below"),
        ({"times": [1]}, "differ in length"),
        ({"host_codes": [0, 1]}, "not there"),
        ({"mime_codes": [-2, 0]}, "not there"),
    ],
)
def test_attributes_that_contradict_themselves_are_refused(change, message):
    good = {
        "keys": [1, 2],
        "times": [0, NO_TIME],
        "statuses": [200, NO_STATUS],
        "host_codes": [0, -1],
        "mime_codes": [0, -1],
        "threshold": 9,
    }
    kinds = {"keys": "u8", "times": "i8", "statuses": "i2", "host_codes": "i4", "mime_codes": "i4"}

    def make(values):
        arrays = {name: np.array(values[name], dtype=kind) for name, kind in kinds.items()}
        texts = {"hosts": ("a.org",), "mimes": ("text/html",)}
        return Attributes(**arrays, **texts, threshold=values["threshold"])

    assert len(make(good)) == 2
    with pytest.raises(ValueError, match=message):
        make(good | change)


def test_a_part_has_no_more_texts_than_it_needs():
    whole = make_attributes(100)
    part = whole.part(slice(10, 13))
    assert part.keys.tolist() == whole.keys[10:13].tolist()
    for codes, texts in (("host_codes", "hosts"), ("mime_codes", "mimes")):
        known = [[*getattr(one, texts), None] for one in (whole, part)]
        told, own = getattr(whole, codes)[10:13].tolist(), getattr(part, codes).tolist()
        assert [known[1][code] for code in own] == [known[0][code] for code in told]
        assert set(own) - {-1} == set(range(len(getattr(part, texts))))
