"""Times as archives write them, against Python's own reading of them."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.core.fields import parse_time


def between(first, last):
    moments = st.datetimes(dt.datetime.fromisoformat(first), dt.datetime.fromisoformat(last))
    return moments.map(lambda moment: moment.replace(microsecond=0, tzinfo=dt.UTC))


moments = between("1990-01-01", "2200-12-31T23:59:59")


@given(moments)
def test_fourteen_digits_are_a_time_in_utc(moment):
    assert parse_time(moment.strftime("%Y%m%d%H%M%S").encode()) == moment.timestamp()


@given(
    between("1990-01-02", "2200-12-30"),
    st.sampled_from(["", ".5", ".123456"]),
    st.integers(-14 * 60, 14 * 60),
)
def test_iso_times_are_read_with_fraction_and_zone(moment, fraction, minutes):
    sign = "-" if minutes < 0 else "+"
    hours, rest = divmod(abs(minutes), 60)
    for zone in (f"{sign}{hours:02d}:{rest:02d}", f"{sign}{hours:02d}{rest:02d}"):
        text = moment.strftime("%Y-%m-%dT%H:%M:%S") + fraction + zone
        assert parse_time(text.encode()) == moment.timestamp() - 60 * minutes
    for zone in ("Z", "z", ""):
        text = moment.strftime("%Y-%m-%d %H:%M:%S") + fraction + zone
        assert parse_time(text.encode()) == moment.timestamp()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        (b"2013", "2013-01-01T00:00:00"),
        (b"201307", "2013-07-01T00:00:00"),
        (b"20130729", "2013-07-29T00:00:00"),
        (b"2013072919", "2013-07-29T19:00:00"),
        (b"20130729195151282", "2013-07-29T19:51:51"),
        (b"2013-07", "2013-07-01T00:00:00"),
        (b"2013-07-29", "2013-07-29T00:00:00"),
        (b"2013-07-29Z", "2013-07-29T00:00:00"),
        (b"20121231235960", "2013-01-01T00:00:00"),
        (b"20000229000000", "2000-02-29T00:00:00"),
    ],
)
def test_parts_of_a_time_are_a_time(text, moment):
    expected = dt.datetime.fromisoformat(moment).replace(tzinfo=dt.UTC)
    assert parse_time(text) == expected.timestamp()


@pytest.mark.parametrize(
    "text",
    [
        *b"- x 201 20130 20131301000000 20130732 20130230000000 19891231235959 22010101".split(),
        *b"20130729245959 20130729236059 20130729195961 2013-7-29 2013-07-29T 2013_07".split(),
        *b"2013072919515128x 201307291951512823 2013-07-29T19:51:51+ 2013-07-29T19:51:51+1".split(),
        *b"1990-01-01T00:00:00+00:01 2200-12-31T23:59:60 2200-12-31T23:59:59-99:99".split(),
        *b"2013-07-29T19:51:51+01:0 2013-07-29T19:51:51+01:000 21000229000000".split(),
        b"",
        b" 20130729195151",
        b"20130729195151\n",
    ],
)
def test_what_is_no_time_between_1990_and_2200_is_none(text):
    assert parse_time(text) is None


@given(st.binary(max_size=30))
def test_any_bytes_are_a_time_or_none(text):
    found = parse_time(text)
    assert found is None or 600_000_000 < found < 7_400_000_000
