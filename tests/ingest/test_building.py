"""The builder gathers batches into sorted, unique keys and counts what was left out."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
import xxhash

from crawlgauge.keys.rules import RAW
from crawlgauge.keys.thresholds import Sampling
from crawlgauge.sources.captures import Captures, Rejection
from crawlgauge.store.building import SetBuilder
from crawlgauge.store.key_runs import KeyMemory
from crawlgauge.store.spilling import SpillFolder


@pytest.fixture
def builder(tmp_path):
    with SpillFolder(tmp_path) as spill:
        yield SetBuilder(RAW, KeyMemory(1 << 30, spill).open_runs(Sampling()))


def keys_of(builder):
    return np.concatenate(list(builder.runs.ranges(0))).tolist()


def test_keys_are_those_of_the_urls(builder):
    rng = np.random.default_rng(1)
    urls = set()
    for _ in range(40):
        batch = [b"http://a.org/%d" % number for number in rng.integers(0, 500, 30)]
        urls.update(batch)
        builder.add(Captures(url=pa.array(batch)))
    expected = sorted(xxhash.xxh64_intdigest(url, seed=42) for url in urls)
    assert keys_of(builder) == expected
    assert builder.n_captures == 40 * 30
    assert keys_of(builder) == expected, "asking twice changes nothing"


def test_what_was_left_out_is_counted_and_the_first_examples_are_kept(builder):
    for line in range(1, 9):
        example = Rejection(file="f", line=line, offset=0, reason="no-host", text="x")
        builder.add(
            Captures(
                url=pa.array([], pa.binary()),
                rejected={"no-host": 1},
                excluded={"other-scheme": 2},
                examples=(example, example),
            )
        )
    assert builder.rejected == {"no-host": 8}
    assert builder.excluded == {"other-scheme": 16}
    assert [example.line for example in builder.examples] == [1, 1, 2, 2, 3]
    assert builder.runs.n_most == builder.n_captures == 0


def test_captures_are_counted_by_day_and_those_without_a_time_are_not(builder):
    times = ["2021-06-01T23:59:59", "NaT", "2021-06-02T00:00:00", "1969-12-31T23:59:59", "NaT"]
    for some in (times, ["NaT"], ["2021-06-02T12:00:00"]):
        time = np.array(some, dtype="datetime64[s]")
        builder.add(Captures(url=pa.array([b"http://a.org/"] * time.size), time=time))
    days = {dt.date.fromordinal(day).isoformat(): n for day, n in builder.days.items()}
    assert days == {"1969-12-31": 1, "2021-06-01": 1, "2021-06-02": 2}
    assert builder.first_capture == dt.datetime(1969, 12, 31, 23, 59, 59, tzinfo=dt.UTC)
    assert builder.last_capture == dt.datetime(2021, 6, 2, 12, tzinfo=dt.UTC)
