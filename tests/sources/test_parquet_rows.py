"""Parquet with URLs in any form, and what becomes of broken files."""

import datetime as dt
import gzip
import io
import logging
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import parquet_rows
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.captures import NO_STATUS
from crawlgauge.sources.parquet_rows import looks_like_parquet, read_parquet_rows
from crawlgauge.sources.request import Request

ALL_FIELDS = frozenset({"key", "time", "status", "mime", "digest"})
URLS = ["http://a.org/", "https://b.org/x?y=z", "ftp://c.org/\u00e4"]


@pytest.fixture
def read(tmp_path):
    def read_table(table, path="t.parquet", *, keep=False, options=None, **wanted):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(table, bytes):
            file.write_bytes(table)
        else:
            pq.write_table(pa.table(table), file, **(options or {}))
        request = Request(**{"fields": ALL_FIELDS, **wanted})
        with ByteStream(str(file), keep_damaged=keep) as stream:
            return list(read_parquet_rows(stream, request)), stream.damages

    return read_table


def column(found, name):
    batches, _ = found
    return [value for batch in batches for value in batch.columns()[name].to_pylist()]


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.large_binary(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.large_string()),
    ],
    ids=str,
)
def test_urls_may_be_text_of_any_type(read, kind):
    column_of_urls = pa.array([*URLS, URLS[0]], pa.string())
    if pa.types.is_dictionary(kind):
        column_of_urls = column_of_urls.dictionary_encode().cast(kind)
    else:
        column_of_urls = column_of_urls.cast(kind)
    found = read({"url": column_of_urls})
    assert column(found, "url") == [url.encode() for url in [*URLS, URLS[0]]]


def test_urls_are_judged_as_in_every_other_format(read):
    urls = ["  http://a.org/ ", None, "", "#x", "a.org", "http://", "dns:a.org", "x" * 70_000]
    (batch,), _ = read({"url": urls})
    assert batch.url.to_pylist() == [b"http://a.org/"]
    assert batch.rejected == {"no-url": 2, "no-scheme": 2, "no-host": 1, "too-long": 1}
    assert batch.excluded == {"other-scheme": 1}
    assert [(item.line, item.reason) for item in batch.examples] == [
        (2, "no-url"),
        (3, "no-url"),
        (4, "no-scheme"),
        (5, "no-scheme"),
        (6, "no-host"),
    ]


def test_the_other_columns_stay_beside_their_urls(read):
    (batch,), _ = read(
        {
            "url_surtkey": ["a", "b", None, "d"],
            "url": ["http://a.org/", "bad", "http://c.org/", "http://d.org/"],
            "fetch_status": pa.array([200, 301, None, -9998], pa.int16()),
            "content_digest": ["A", "B", "C", None],
            "content_mime_type": ["text/html", "x/y", "warc/revisit", None],
            "fetch_time": pa.array([0, 1, 1_500_000_000_999, None], pa.timestamp("ms")),
            "warc_filename": ["f1", "f2", "f3", None],
        },
        group="filename",
    )
    assert batch.key.to_pylist() == [b"a", None, b"d"]
    assert batch.status.tolist() == [200, NO_STATUS, -9998]
    assert batch.digest.to_pylist() == [b"A", b"C", None]
    assert batch.mime.to_pylist() == [b"text/html", b"warc/revisit", None]
    assert batch.revisit.tolist() == [False, True, False]
    # 1970 is before the web, as in times that are written in digits.
    assert batch.time.tolist() == [None, dt.datetime(2017, 7, 14, 2, 40), None]  # noqa: DTZ001
    assert batch.group.to_pylist() == [b"f1", b"f3", None]


MOMENT = dt.datetime(2017, 7, 14, 2, 40, 5)  # noqa: DTZ001 - in UTC
TIMES = {
    "s": pa.array([MOMENT], pa.timestamp("s")),
    "ms": pa.array([MOMENT], pa.timestamp("ms")),
    "us with a zone": pa.array([MOMENT], pa.timestamp("us")).cast(pa.timestamp("us", "UTC")),
    "ns elsewhere": pa.array([MOMENT], pa.timestamp("ns", "Europe/Berlin")),
    "dictionary": pa.array(["20170714024005"]).dictionary_encode(),
    "digits": pa.array(["20170714024005"]),
    "ISO": pa.array([b"2017-07-14T04:40:05+02:00"]),
    "integer": pa.array([20170714024005]),
    "float": pa.array([20170714024005.0]),
}


@pytest.mark.parametrize("name", TIMES)
def test_times_may_have_any_type(read, name):
    assert column(read({"url": URLS[:1], "fetch_time": TIMES[name]}), "time") == [MOMENT]


def test_times_of_older_spark_versions_and_dates_are_read(read):
    table = {"url": URLS[:1], "date": pa.array([MOMENT], pa.timestamp("us"))}
    spark = {"use_deprecated_int96_timestamps": True, "store_schema": False}
    assert column(read(table, options=spark), "time") == [MOMENT]
    days = {"url": URLS[:2], "date": pa.array([MOMENT.date(), None])}
    assert column(read(days), "time") == [dt.datetime(2017, 7, 14), None]  # noqa: DTZ001


@pytest.mark.parametrize(
    "statuses",
    [
        pa.array([200, None, 404], pa.int64()),
        pa.array([200, None, 404], pa.uint16()),
        pa.array([200.0, float("nan"), 404.0]),
        pa.array([200.0, 1.5, 404.0]),
        pa.array(["200", "-", "404"]),
        pa.array(["200", None, "404"]).dictionary_encode(),
        pa.array([200, 10**12, 404]),
    ],
)
def test_statuses_may_be_numbers_or_text(read, statuses):
    assert column(read({"url": URLS, "status": statuses}), "status") == [200, None, 404]


def test_nested_columns_are_known_by_dotted_names(read):
    fetch = pa.array([{"time": MOMENT, "status": 200}, None, {"time": None, "status": 404}])
    url = pa.array([{"url": item, "surtkey": "k"} for item in URLS])
    warc = pa.array([{"filename": "f"}] * 3)
    table = {"url": url, "fetch": fetch, "warc": warc, "crawl": ["c1", "c2", "c3"]}
    found = read(table, group="filename")
    assert column(found, "url") == [item.encode() for item in URLS]
    assert column(found, "key") == [b"k"] * 3
    assert column(found, "status") == [200, None, 404]
    assert column(found, "time") == [MOMENT, None, None]
    assert column(found, "group") == [b"f"] * 3
    found = read(table, column="url.url", group="fetch.status")
    assert column(found, "group") == [b"200", None, b"404"]


def test_the_user_can_say_which_column_holds_the_urls(read):
    table = {"seed": URLS, "url": ["http://other.org/"] * 3, "page": URLS}
    assert column(read(table, column="seed"), "url")[0] == b"http://a.org/"
    assert column(read(table, column="3"), "url")[0] == b"http://a.org/"


@pytest.mark.parametrize(
    ("table", "wanted", "message"),
    [
        ({"a": URLS}, {}, "cannot tell which column holds the URLs; there are a"),
        ({"url": URLS}, {"column": "b"}, "has no column b; there are url"),
        ({"url": [1, 2, 3]}, {}, "the column for the URL holds int64"),
        ({"url": [[1], [2], [3]]}, {}, "the column for the URL holds list"),
        ({"url": URLS, "status": [[1], [2], [3]]}, {}, "the column for the status holds list"),
        ({"url": URLS, "time": [dt.time(1)] * 3}, {}, "the column for the time holds time64"),
        ({"url": URLS}, {"group": "crawl"}, "has no column crawl; there are url"),
        ({"url": URLS}, {"group": "filename"}, "no column that names the WARC file"),
    ],
)
def test_columns_that_cannot_be_used_are_told(read, table, wanted, message):
    with pytest.raises(SourceError, match=message):
        read(table, **wanted)


def test_two_columns_of_one_name_are_refused(read):
    table = pa.Table.from_arrays(
        [pa.array(URLS), pa.array(URLS), pa.array(URLS)], ["url", "x", "x"]
    )
    assert column(read(table), "url")[0] == b"http://a.org/"
    with pytest.raises(SourceError, match="several columns called x"):
        read(table, column="2")


def test_folders_of_the_path_can_be_groups_where_no_column_is(read):
    folder = "crawl=CC-MAIN-2023-40/subset=warc%2Fx/t.parquet"
    assert column(read({"url": URLS}, folder, group="crawl"), "group") == [b"CC-MAIN-2023-40"] * 3
    assert column(read({"url": URLS}, folder, group="subset"), "group") == [b"warc/x"] * 3
    inside = {"url": URLS, "crawl": ["x", "y", "z"]}
    assert column(read(inside, folder, group="crawl"), "group") == [b"x", b"y", b"z"]


def test_only_what_is_asked_for_is_read(read, monkeypatch):
    asked = []
    whole = pq.ParquetFile.iter_batches

    def spy(self, *, columns, **options):
        asked.extend(columns)
        return whole(self, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    table = {"url": URLS, "status": [200] * 3, "mime": ["a/b"] * 3, "digest": ["d"] * 3}
    (batch,), _ = read(table, fields=frozenset())
    assert asked == ["url"]
    assert list(batch.columns()) == ["url"]
    asked.clear()
    read(table, fields=frozenset({"status"}))
    # Whether it is a revisit is told by the media type.
    assert asked == ["url", "status", "mime"]


def test_common_crawls_keys_are_read_without_the_urls_where_these_say_no_more(read):
    table = {"url_surtkey": ["org,a)/", "org,b)/x?y=z", "org,c)/"], "url": URLS}
    found = read(table, needs_url=False)
    assert column(found, "key") == [b"org,a)/", b"org,b)/x?y=z", b"org,c)/"]
    assert column(found, "url") == [None, None, None]
    assert column(read(table), "url") == [url.encode() for url in URLS]
    # What another program calls a key may be anything.
    other = {"urlkey": table["url_surtkey"], "url": URLS}
    assert column(read(other, needs_url=False), "url") == [url.encode() for url in URLS]


def test_row_groups_and_batches_are_read_in_order_and_rows_numbered(read, monkeypatch):
    monkeypatch.setattr(parquet_rows, "_BATCH_ROWS", 7)
    monkeypatch.setattr(parquet_rows, "_PART_BYTES", 100)
    urls = [f"http://a.org/{k}" if k % 10 else "bad" for k in range(100)]
    found = read({"url": urls}, options={"row_group_size": 30})
    assert len(found[0]) > 100 // 7
    assert column(found, "url") == [url.encode() for url in urls if url != "bad"]
    lines = [item.line for batch in found[0] for item in batch.examples]
    assert lines == list(range(1, 101, 10))


@pytest.mark.parametrize("table", [{"url": pa.array([], pa.string())}, {"url": pa.nulls(3)}])
def test_a_file_without_urls_gives_none(read, table):
    found = read(table)
    assert [url for batch in found[0] for url in batch.url.to_pylist()] == []


def make(table, **options):
    target = io.BytesIO()
    pq.write_table(pa.table(table), target, **options)
    return target.getvalue()


def test_a_file_without_its_footer_is_damaged_as_a_whole(read):
    data = make({"url": URLS})
    for broken in (data[:-1], data[: len(data) // 2], data[:4], data[:-8] + b"\xff" * 4 + b"PAR1"):
        with pytest.raises(DamagedInput, match=r"footer.*missing or wrong.*lost: all of it"):
            read(broken)
        batches, damages = read(broken, keep=True)
        assert batches == []
        assert len(damages) == 1


def test_a_broken_row_group_is_damage_and_the_others_are_kept(read):
    urls = [f"http://a.org/{k}" for k in range(300)]
    data = make(
        {"url": urls},
        row_group_size=100,
        compression="none",
        use_dictionary=False,
        write_page_checksum=True,
    )
    broken = data.replace(b"http://a.org/150", b"http://a.org/XXX")
    with pytest.raises(DamagedInput, match=r"row group 2 cannot be read .*lost: rows 101 to 200"):
        read(broken)
    found = read(broken, keep=True)
    assert column(found, "url") == [url.encode() for url in urls[:100] + urls[200:]]
    assert [damage.lost for damage in found[1]] == ["rows 101 to 200"]


@pytest.mark.parametrize("options", [{}, {"write_page_checksum": True, "compression": "zstd"}])
def test_flipped_bytes_never_end_the_process_nor_raise_anything_else(read, options):
    nested = pa.array([{"url": url, "surtkey": "k"} for url in URLS])
    warc = pa.array([{"filename": "f"}, None, {"filename": None}])
    columns = {"status": [200, None, 404], "mime": ["text/html", None, "image/png"]}
    data = make({"url": nested, "warc": warc, **columns}, **options)
    rng = random.Random(3)
    n_damaged = 0
    for _ in range(600):
        broken = bytearray(data)
        broken[rng.randrange(4, len(data))] = rng.randrange(256)
        try:
            batches, damages = read(bytes(broken), keep=True, group="filename")
        except SourceError:
            continue
        n_damaged += bool(damages)
        assert sum(len(batch) + sum(batch.rejected.values()) for batch in batches) <= len(URLS)
    assert n_damaged > 100


def test_what_cannot_be_read_in_any_order_is_told(tmp_path):
    data = make({"url": URLS})
    with ByteStream("-", open_file=lambda: io.BytesIO(data)) as stream:
        assert looks_like_parquet(stream.beginning())
        with pytest.raises(SourceError, match="save it to a file first"):
            list(read_parquet_rows(stream, Request()))
    packed = tmp_path / "t.parquet.gz"
    packed.write_bytes(gzip.compress(data))
    with ByteStream(str(packed)) as stream:
        assert looks_like_parquet(stream.beginning())
        with pytest.raises(SourceError, match=r"compressed as a whole.*decompress it first"):
            list(read_parquet_rows(stream, Request()))


def test_an_encrypted_file_is_told(read):
    assert looks_like_parquet(b"PARE\0\0")
    with pytest.raises(SourceError, match="is encrypted Parquet"):
        read(b"PARE" + b"\0" * 40 + b"PARE")


def test_a_summary_of_other_files_is_passed_over(read, tmp_path, caplog):
    part = tmp_path / "part.parquet"
    described = []
    pq.write_table(pa.table({"url": URLS}), part, metadata_collector=described)
    described[0].set_file_path("part.parquet")
    summary = tmp_path / "_metadata"
    pq.write_metadata(pa.schema({"url": pa.string()}), summary, metadata_collector=described)
    caplog.set_level(logging.INFO)
    assert read(summary.read_bytes(), "_metadata") == ([], [])
    assert "only describes the files beside it" in caplog.text
    pq.write_metadata(pa.schema({"url": pa.string()}), summary)
    assert read(summary.read_bytes(), "_common_metadata") == ([], [])


def test_other_files_are_not_taken_for_parquet():
    for other in (b"", b"PAR", b"http://a.org/", b"PK\x03\x04", b"\x1f\x8b", b" PAR1"):
        assert not looks_like_parquet(other)
