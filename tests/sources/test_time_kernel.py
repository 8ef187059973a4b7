"""Capture times as archives write them."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.sources.time_kernel import NO_TIME, parse_time


def parse(text):
    seconds = parse_time(
        np.frombuffer(b"x" + text + b"x", np.uint8), 1, 1 + len(text), np.zeros(6, np.int64)
    )
    return None if seconds == NO_TIME else dt.datetime.fromtimestamp(seconds, dt.UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"2013", "2013-01-01T00:00:00"),
        (b"201312", "2013-12-01T00:00:00"),
        (b"20131215", "2013-12-15T00:00:00"),
        (b"20131215060708", "2013-12-15T06:07:08"),
        (b"20131215060708123", "2013-12-15T06:07:08"),
        (b"2013-12-15", "2013-12-15T00:00:00"),
        (b"2013-12-15T06:07Z", "2013-12-15T06:07:00"),
        (b"2013-12-15T06:07:08Z", "2013-12-15T06:07:08"),
        (b"2013-12-15 06:07:08", "2013-12-15T06:07:08"),
        (b"2013-12-15T06:07:08.123456Z", "2013-12-15T06:07:08"),
        (b"2013-12-15T06:07:08+01:00", "2013-12-15T05:07:08"),
        (b"2013-12-15T06:07:08-0530", "2013-12-15T11:37:08"),
        (b"2013-12-15T23:30:00-02", "2013-12-16T01:30:00"),
        (b"20160229000000", "2016-02-29T00:00:00"),
        (b"20161231235960", "2017-01-01T00:00:00"),
    ],
)
def test_every_usual_form_is_read(text, expected):
    assert parse(text) == dt.datetime.fromisoformat(expected).replace(tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"-",
        b"201",
        b"20131",
        b"20131332",
        b"20150229",
        b"2013-12-15T",
        b"20131215246060",
        b"2013121506070812345",
        b"1899-01-01",
        b"2013/12/15",
        b"2013-12-15T06:07:08X",
        b"2013-12-15T06:07:08+1",
        b"20131215T060708Z",
        b"soon",
    ],
)
def test_what_is_no_time_is_none(text):
    assert parse(text) is None


@given(st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2199, 12, 31)))  # noqa: DTZ001
def test_each_time_is_that_of_the_calendar(time):
    expected = time.replace(microsecond=0, tzinfo=dt.UTC)
    assert parse(time.strftime("%Y%m%d%H%M%S").encode()) == expected
    assert parse(time.isoformat().encode()) == expected


@given(st.binary(max_size=40))
def test_no_bytes_break_it(data):
    parse(data)
