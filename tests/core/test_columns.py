"""Tables are taken row by row where they lie, whatever their texts and gaps."""

import polars as pl
import pytest
from collecting import collect

from crawlgauge.core.captures import hash_text
from crawlgauge.core.columns import add_columns
from crawlgauge.keys.rules import GIVEN, RAW

URL, KEY, TIME, STATUS, MIME, DIGEST, GROUP = range(7)


def test_rows_become_captures_with_long_short_and_missing_texts():
    urls = ["http://a.org/", "http://b.org/" + "x" * 50, None, "nothing", "http://c.org/ä"]
    frame = pl.DataFrame(
        {
            "url": urls,
            "time": [1375127511, None, 5, 5, 1375127511],
            "status": pl.Series([200, 404, 1, 1, None], dtype=pl.Int32),
            "mime": ["text/html", None, "a", "b", "application/vnd.ms-excel.12"],
        }
    )
    collector, found = collect(key_rule=RAW)
    rejected = add_columns(collector, frame, [URL, TIME, STATUS, MIME])
    collector.flush()
    assert rejected == [(2, "no-url", b""), (3, "no-scheme", b"nothing")]
    assert found.rejected == {"no-url": 1, "no-scheme": 1}
    kept = [urls[k].encode() for k in (0, 1, 4)]
    assert found.rows == [
        (hash_text(kept[0]), 1375127511, b"a.org", b"text/html", 200, False),
        (hash_text(kept[1]), None, b"b.org", None, 404, False),
        (hash_text(kept[2]), 1375127511, b"c.org", b"application/vnd.ms-excel.12", None, False),
    ]


def test_slices_and_several_chunks_are_read_as_one_table():
    parts = [
        pl.DataFrame({"key": [f"org,a)/{n}{'y' * (n % 20)}" for n in range(k, k + 1000)]})
        for k in (0, 1000, 2000)
    ]
    frame = pl.concat(parts, rechunk=False).slice(7, 2500)
    collector, found = collect(key_rule=GIVEN)
    assert add_columns(collector, frame, [KEY]) == []
    collector.flush()
    assert found.keys == [hash_text(key.encode()) for key in frame["key"]]


def test_bytes_that_are_no_text_are_taken_as_they_are():
    frame = pl.DataFrame({"url": [b"http://a.org/\xff\xfe" * n for n in (1, 3)]})
    collector, found = collect(key_rule=RAW)
    add_columns(collector, frame, [URL])
    collector.flush()
    assert found.keys == [hash_text(url) for url in frame["url"]]


@pytest.mark.parametrize(
    ("frame", "fields"),
    [
        (pl.DataFrame({"url": [1, 2]}), [URL]),
        (pl.DataFrame({"time": pl.Series([1], dtype=pl.Int32)}), [TIME]),
        (pl.DataFrame({"url": ["http://a.org/"]}), [URL, TIME]),
    ],
)
def test_columns_of_other_types_or_numbers_are_refused(frame, fields):
    collector, _ = collect()
    with pytest.raises(ValueError, match="column"):
        add_columns(collector, frame, fields)


def test_an_empty_table_holds_nothing():
    collector, found = collect()
    assert (
        add_columns(collector, pl.DataFrame({"url": pl.Series([], dtype=pl.String)}), [URL]) == []
    )
    collector.flush()
    assert not found.batches
