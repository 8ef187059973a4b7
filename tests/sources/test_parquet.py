"""Parquet with URLs in any form, which parts of it are read, and what becomes of broken files."""

import datetime as dt
import gzip
import io
import logging
import random
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from readings import keys, read_streams, urls

from crawlgauge.core.captures import Collector
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.keys.rules import GIVEN, RAW
from crawlgauge.keys.scope import parse_scope
from crawlgauge.keys.surt import canonical_surt
from crawlgauge.sources import parquet
from crawlgauge.sources.captures import Intake
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.parquet import looks_like_parquet, read_parquet
from crawlgauge.sources.what_counts import Settings

URLS = ["http://a.org/", "https://b.org/x?y=z", "ftp://c.org/\u00e4"]


@pytest.fixture
def read_table(tmp_path):
    """Write a table, or the bytes of a file, and read it."""

    def run(table, path="t.parquet", *, keep=False, options=None, **wishes):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(table, bytes):
            file.write_bytes(table)
        else:
            pq.write_table(pa.table(table), file, **(options or {}))
        return read_streams(read_parquet, lambda: Stream(str(file), keep_damaged=keep), **wishes)

    return run


def make(table, **options):
    target = io.BytesIO()
    pq.write_table(pa.table(table), target, **options)
    return target.getvalue()


# ----------------------------------------------------------------------------------------- columns


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
@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
def test_urls_may_be_text_of_any_type(read_table, kind, compression):
    column = pa.array([*URLS, URLS[0]], pa.string())
    if pa.types.is_dictionary(kind):
        column = column.dictionary_encode()
    found = read_table({"url": column.cast(kind)}, options={"compression": compression})
    assert found.urls == urls(*URLS, URLS[0])


def test_bytes_that_are_no_text_are_kept_in_columns_of_bytes(read_table):
    assert read_table({"url": [b"http://a/\xff"]}).urls == urls(b"http://a/\xff")


def test_urls_are_judged_as_in_every_other_format(read_table):
    table = ["  http://a.org/ ", None, "", "#x", "a.org", "http://", "dns:a.org", "x" * 70_000]
    found = read_table({"url": table})
    assert found.urls == urls("http://a.org/")
    assert found.rejected == {"no-url": 2, "no-scheme": 2, "no-host": 1, "too-long": 1}
    assert found.excluded == {"other-scheme": 1}
    assert [(item.line, item.reason, item.text) for item in found.examples] == [
        (2, "no-url", ""),
        (3, "no-url", ""),
        (4, "no-scheme", "#x"),
        (5, "no-scheme", "a.org"),
        (6, "no-host", "http://"),
    ]


def test_the_other_columns_stay_beside_their_urls(read_table):
    found = read_table(
        {
            "url": ["http://a.org/", "bad", "http://c.org/", "http://d.org/", "http://e.org/"],
            "fetch_status": pa.array([200, 301, None, 404, -9998], pa.int16()),
            "content_digest": ["A", "B", "C", None, "E"],
            "content_mime_type": ["text/html", "x/y", "warc/revisit", None, None],
            "fetch_time": pa.array([0, 1, 1_500_000_000_999, None, None], pa.timestamp("ms")),
            "warc_filename": ["f1", "f2", "f3", None, None],
        },
        group="filename",
    )
    # 1970 is before the web, as in times that are written in digits.
    assert found.of("http://a.org/")[1:7] == (None, 200, b"text/html", b"A", b"f1", False)
    assert found.of("http://c.org/")[1:7] == (1_500_000_000, None, None, b"C", b"f3", True)
    assert found.of("http://d.org/")[1:7] == (None, 404, None, None, None, False)
    assert found.excluded["not-fetched"] == 1


MOMENT = dt.datetime(2017, 7, 14, 2, 40, 5)  # noqa: DTZ001 - in UTC
SECONDS = 1_500_000_005
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
def test_times_may_have_any_type(read_table, name):
    found = read_table({"url": URLS[:1], "fetch_time": TIMES[name]})
    assert found.of(URLS[0]).time == SECONDS


def test_times_of_older_spark_versions_and_dates_are_read(read_table):
    times = [MOMENT, dt.datetime(9999, 12, 31)]  # noqa: DTZ001 - in UTC
    table = {"url": URLS[:2], "date": pa.array(times, pa.timestamp("us"))}
    spark = {"use_deprecated_int96_timestamps": True, "store_schema": False}
    found = read_table(table, options=spark)
    assert [found.of(url).time for url in URLS[:2]] == [SECONDS, None]
    for kind in (pa.date32(), pa.date64()):
        found = read_table({"url": URLS[:2], "date": pa.array([MOMENT.date(), None], kind)})
        assert [found.of(url).time for url in URLS[:2]] == [1_499_990_400, None]


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.date32()])
def test_times_before_1990_and_after_2200_are_mistakes(read_table, kind):
    times = [dt.datetime(year, month, 1) for year, month in [(1989, 12), (1990, 1), (2200, 12)]]  # noqa: DTZ001
    times = [*times, dt.datetime(2201, 1, 1)]  # noqa: DTZ001 - in UTC
    names = [f"http://a/{number}" for number in range(4)]
    found = read_table({"url": names, "date": pa.array(times, pa.timestamp("us")).cast(kind)})
    assert [found.of(name).time is not None for name in names] == [False, True, True, False]


@pytest.mark.parametrize(
    "statuses",
    [
        pa.array([200, None, 404], pa.int64()),
        pa.array([200, None, 404], pa.uint16()),
        pa.array([200, 2**64 - 1, 404], pa.uint64()),
        pa.array([200.0, float("nan"), 404.0]),
        pa.array([200.0, float("inf"), 404.0]),
        pa.array([200.0, 1.5, 404.0]),
        pa.array(["200", "-", "404"]),
        pa.array(["200", None, "404"]).dictionary_encode(),
        pa.array([200, 10**12, 404]),
    ],
)
def test_statuses_may_be_numbers_or_text(read_table, statuses):
    found = read_table({"url": URLS, "status": statuses})
    assert [found.of(url).status for url in URLS] == [200, None, 404]


@pytest.mark.parametrize(
    ("column", "groups"),
    [
        (pa.array([True, False, None]), [b"true", b"false", None]),
        (pa.array([1.0, 2.5, None]), [b"1", None, None]),
        (pa.array([MOMENT.date()] * 3), [b"2017-07-14"] * 3),
        (pa.array([MOMENT] * 3, pa.timestamp("ms")), [b"2017-07-14 02:40:05.000"] * 3),
        (pa.array([MOMENT] * 3, pa.timestamp("us", "UTC")), [b"2017-07-14 02:40:05.000000Z"] * 3),
    ],
)
def test_captures_are_grouped_by_columns_of_any_type(read_table, column, groups):
    found = read_table({"url": URLS, "crawl": column}, group="crawl")
    assert [found.of(url).group for url in URLS] == groups


def test_nested_columns_are_known_by_dotted_names(read_table):
    fetch = pa.array([{"time": MOMENT, "status": 200}, None, {"time": None, "status": 404}])
    url = pa.array([{"url": item, "surtkey": "k"} for item in URLS])
    warc = pa.array([{"filename": "f"}] * 3)
    table = {"url": url, "fetch": fetch, "warc": warc, "crawl": ["c1", "c2", "c3"]}
    found = read_table(table, group="filename")
    assert found.of(URLS[0])[1:3] == (SECONDS, 200)
    assert found.of(URLS[1])[1:3] == (None, None)
    assert found.of(URLS[2])[1:3] == (None, 404)
    assert [found.of(item).group for item in URLS] == [b"f"] * 3
    found = read_table(table, column="url.url", group="fetch.status")
    assert [found.of(item).group for item in URLS] == [b"200", None, b"404"]


def test_the_user_can_say_which_column_holds_the_urls(read_table):
    table = {"seed": URLS, "url": ["http://other.org/"] * 3, "page": URLS}
    assert read_table(table, column="seed").urls == urls(*URLS)
    assert read_table(table, column="3").urls == urls(*URLS)


@pytest.mark.parametrize(
    ("table", "wanted", "message"),
    [
        ({"a": URLS}, {}, "cannot tell which column holds the URLs; there are a"),
        ({"url": URLS}, {"column": "b"}, "has no column b; there are url"),
        ({"url": [1, 2, 3]}, {}, "the column for the URL holds Int64"),
        ({"url": [[1], [2], [3]]}, {}, "the column for the URL holds List"),
        ({"url": URLS, "status": [[1], [2], [3]]}, {}, "the column for the status holds List"),
        ({"url": URLS, "time": [dt.time(1)] * 3}, {}, "the column for the time holds Time"),
        ({"url": URLS}, {"group": "crawl"}, "has no column crawl; there are url"),
        ({"url": URLS}, {"group": "filename"}, "no column that names the WARC file"),
    ],
)
def test_columns_that_cannot_be_used_are_told(read_table, table, wanted, message):
    with pytest.raises(SourceError, match=message):
        read_table(table, **wanted)


def test_two_columns_of_one_name_are_refused(read_table):
    table = pa.Table.from_arrays([pa.array(URLS)] * 3, ["url", "x", "x"])
    with pytest.raises(SourceError, match=r"t\.parquet: column with name 'x' has more than one"):
        read_table(table)


def test_folders_of_the_path_can_be_groups_where_no_column_is(read_table):
    folder = "crawl=CC-MAIN-2023-40/subset=warc%2Fx/t.parquet"
    found = read_table({"url": URLS}, folder, group="crawl")
    assert [found.of(url).group for url in URLS] == [b"CC-MAIN-2023-40"] * 3
    found = read_table({"url": URLS}, folder, group="subset")
    assert [found.of(url).group for url in URLS] == [b"warc/x"] * 3
    inside = {"url": URLS, "crawl": ["x", "y", "z"]}
    found = read_table(inside, folder, group="crawl")
    assert [found.of(url).group for url in URLS] == [b"x", b"y", b"z"]


@pytest.mark.parametrize("table", [{"url": pa.array([], pa.string())}, {"url": pa.nulls(3)}])
def test_a_file_without_urls_gives_none(read_table, table):
    found = read_table(table)
    assert not found.urls
    assert found.rejected.total() == len(table["url"])


def test_names_of_files_are_taken_as_they_are(read_table):
    for name in ("[a]*.parquet", "\udcff.parquet", "a b%20.parquet"):
        assert read_table(make({"url": URLS}), name).urls == urls(*URLS)


# ------------------------------------------------------------------------------ what of it is read


class Elsewhere:
    """The path of a file that is not on this machine, and which bytes of it were read."""

    def __init__(self, path):
        self._path = path
        self.parts, self.is_file, self.stat = path.parts, path.is_file, path.stat
        self.seen = set()

    def __str__(self):
        return f"s3://bucket/{self._path.name}"

    def open(self, **_options):
        file, seen = self._path.open("rb", buffering=0), self.seen

        class Watched(io.RawIOBase):
            def readable(self):
                return True

            def seek(self, place, whence=0):
                return file.seek(place, whence)

            def read(self, size=-1):
                start = file.tell()
                data = file.read(size)
                seen.update(range(start, start + len(data)))
                return data

            def close(self):
                file.close()
                super().close()

        return Watched()

    def was_read(self, chunk):
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        return start in self.seen


@pytest.fixture
def read_elsewhere(tmp_path):
    """Write a table and read it as a file that is not on this machine; return the path too."""

    def run(table, *, options=None, **wishes):
        file = tmp_path / "t.parquet"
        pq.write_table(pa.table(table), file, **(options or {}))
        paths = []

        class StreamElsewhere(Stream):
            def __enter__(self):
                super().__enter__()
                self.path = Elsewhere(file)
                paths.append(self.path)
                return self

        found = read_streams(read_parquet, lambda: StreamElsewhere(str(file)), **wishes)
        return found, paths[0], pq.read_metadata(file)

    return run


def columns_read(path, metadata):
    return {
        metadata.row_group(group).column(column).path_in_schema
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
        if path.was_read(metadata.row_group(group).column(column))
    }


def test_of_a_file_elsewhere_only_what_is_needed_is_fetched(read_elsewhere):
    n_rows = 3000
    chance = random.Random(4)
    table = {
        "more": [chance.randbytes(200) for _ in range(n_rows)],
        "url": [f"http://a/{number}" for number in range(n_rows)],
        "mime": ["text/html"] * n_rows,
        "digest": [str(number) for number in range(n_rows)],
        "other": pa.array([{"x": 1, "y": "z"}] * n_rows),
    }
    found, path, metadata = read_elsewhere(table, options={"row_group_size": 1000})
    assert found.urls == urls(*table["url"])
    assert columns_read(path, metadata) == {"url", "mime", "digest"}
    assert len(path.seen) < metadata.num_rows * 60
    found, path, metadata = read_elsewhere(table, levels=("url",))
    assert found.urls == urls(*table["url"])
    assert columns_read(path, metadata) == {"url", "mime"}


def test_common_crawls_keys_are_read_without_the_urls_where_these_say_no_more(read_elsewhere):
    table = {"url_surtkey": ["org,a)/", "org,b)/x?y=z", "org,c)/"], "url": URLS}
    found, path, metadata = read_elsewhere(table, key_rule=GIVEN)
    assert found.keys == keys(*table["url_surtkey"])
    assert columns_read(path, metadata) == {"url_surtkey"}
    _, path, metadata = read_elsewhere(table, key_rule=RAW)
    assert columns_read(path, metadata) == {"url"}
    # What another program calls a key may be anything.
    other = {"urlkey": table["url_surtkey"], "url": URLS}
    _, path, metadata = read_elsewhere(other, key_rule=GIVEN)
    assert columns_read(path, metadata) == {"url", "urlkey"}


def test_nothing_of_a_file_elsewhere_stays_on_this_machine(read_elsewhere, tmp_path, monkeypatch):
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    read_elsewhere({"url": URLS})
    with pytest.raises(SourceError):
        read_elsewhere({"a": URLS})
    assert list(folder.iterdir()) == []


TLDS = ("ac", "at", "au", "com", "de", "museum", "org", "xn--p1ai")
N_URLS = 4000


def make_index(**other_columns):
    chance = random.Random(3)
    names = sorted(
        (
            f"{chance.choice(['http', 'https'])}://{chance.choice(['www.', '', 'a.b.'])}"
            f"example{chance.randrange(90)}.{chance.choice(TLDS)}"
            f"{chance.choice(['', '', ':8080'])}/{number}"
            for number in range(N_URLS)
        ),
        key=lambda url: canonical_surt(url.encode()),
    )
    hosts = [url.split("/")[2].partition(":")[0] for url in names]
    return {
        "url_surtkey": [canonical_surt(url.encode()).decode() for url in names],
        "url": names,
        "url_host_tld": [host.rpartition(".")[2] for host in hosts],
        "url_host_name": hosts,
        "fetch_status": pa.array([200] * N_URLS, pa.int16()),
        "warc_filename": ["a.warc.gz"] * N_URLS,
        **other_columns,
    }


@pytest.fixture
def read_index(read_elsewhere):
    """Read an index of 40 row groups by a scope, and tell how many of them were read."""

    def run(table, scope, **options):
        scope = parse_scope(scope.encode(), "scope.txt")
        found, path, metadata = read_elsewhere(
            table, options={"row_group_size": 100, **options}, scope=scope
        )
        groups = [metadata.row_group(number).column(1) for number in range(metadata.num_row_groups)]
        return found, sum(map(path.was_read, groups))

    return run


@pytest.mark.parametrize(
    "scope",
    [
        "*.at",
        "at\nmuseum",
        "example7.com",
        "www.example7.com",
        "b.example7.com",
        "https://example7.org/1\nexample8.org/",
        "org,example7,b,a)/",
        "http://(de,example8,",
        "*.at\n!example8.at",
        "xn--p1ai",
    ],
)
def test_row_groups_out_of_scope_are_not_read_but_counted(read_index, scope):
    table = make_index()
    sparing, n_read = read_index(table, scope)
    whole, n_all = read_index({**table, "url_host_tld": pa.nulls(N_URLS)}, scope)
    assert n_read < 20
    assert n_all <= 40
    # Without one of the columns that Common Crawl's index has, nothing is taken for granted.
    del table["url_host_tld"]
    other, n_all = read_index(table, scope)
    assert n_all == 40
    for found in (whole, other):
        assert sparing.urls == found.urls
        assert sparing.excluded == found.excluded
    assert len(sparing.urls) + sparing.excluded["out-of-scope"] == N_URLS


@pytest.mark.parametrize("scope", ["*.at", "example7.com", "zz"])
def test_rows_that_are_not_read_and_rows_that_are_left_out_add_up(tmp_path, scope):
    path = tmp_path / "index.parquet"
    pq.write_table(pa.table(make_index()), path, row_group_size=100)
    settings = Settings(scope=parse_scope(scope.encode(), "scope.txt"))
    batches = []
    collector = Collector(settings, batches.append)
    with Stream(str(path)) as stream:
        for _ in read_parquet(stream, Intake(stream.name, collector), settings):
            pass
    collector.flush()
    n_outside = sum(batch.excluded.get("out-of-scope", 0) for batch in batches)
    assert n_outside + sum(batch.n_captures for batch in batches) == N_URLS


def test_bounds_that_are_no_surts_or_missing_are_not_trusted(read_index):
    keys = [f"http://(com,example,)/{number:04}" for number in range(N_URLS)]
    _, n_read = read_index(make_index(url_surtkey=keys), "zz")
    assert n_read == 40
    _, n_read = read_index(make_index(), "zz", write_statistics=False)
    assert n_read == 40
    _, n_read = read_index(make_index(), "zz")
    assert n_read == 0


@pytest.mark.parametrize("scope", ["!example7.com", "192.0.2.7", "*.at\n192.0.2.7"])
def test_all_is_read_where_hosts_cannot_be_told(read_index, scope):
    _, n_read = read_index(make_index(), scope)
    assert n_read == 40


def test_rows_are_read_in_pieces_and_numbered_through(read_table, monkeypatch):
    names = [f"http://a.org/{k}" if k % 10 else "bad" for k in range(1000)]
    expected = read_table({"url": names}, options={"row_group_size": 300})
    monkeypatch.setattr(parquet, "_PIECE_BYTES", 1000)
    monkeypatch.setattr(parquet, "_SLICE_ROWS", 7)
    for n_rows in (3, 300, 1000):
        found = read_table({"url": names}, options={"row_group_size": n_rows})
        assert found.urls == expected.urls == urls(*(name for name in names if name != "bad"))
        assert [item.line for item in found.examples] == [1, 11, 21, 31, 41]


# ------------------------------------------------------------------------------------------ damage


def test_a_file_without_its_footer_is_damaged_as_a_whole(read_table):
    data = make({"url": URLS})
    for broken in (data[:-1], data[: len(data) // 2], data[:4], data[:-8] + b"\xff" * 4 + b"PAR1"):
        with pytest.raises(DamagedInput, match=r"footer.*missing or wrong.*lost: all of it"):
            read_table(broken)
        found = read_table(broken, keep=True)
        assert not found.urls
        assert len(found.damages) == 1


@pytest.mark.parametrize("piece_bytes", [1000, 1 << 26])
def test_a_page_with_a_wrong_checksum_is_damage_and_the_others_are_kept(
    read_table, monkeypatch, piece_bytes
):
    monkeypatch.setattr(parquet, "_PIECE_BYTES", piece_bytes)
    names = [f"http://a.org/{k}" for k in range(300)]
    options = {"row_group_size": 100, "compression": "none", "use_dictionary": False}
    data = make({"url": names}, write_page_checksum=True, **options)
    broken = data.replace(b"http://a.org/150", b"http://a.org/XXX")
    with pytest.raises(DamagedInput, match=r"row group 2 cannot be read .*lost: rows 101 to 200"):
        read_table(broken)
    found = read_table(broken, keep=True)
    assert found.urls == urls(*names[:100], *names[200:])
    assert [damage.lost for damage in found.damages] == ["rows 101 to 200"]


@pytest.mark.parametrize("piece_bytes", [3000, 1 << 26])
def test_a_page_that_cannot_be_decoded_is_damage_and_the_others_are_kept(
    read_table, monkeypatch, piece_bytes
):
    monkeypatch.setattr(parquet, "_PIECE_BYTES", piece_bytes)
    names = [f"http://a.org/{k}" for k in range(300)]
    data = bytearray(make({"url": names}, row_group_size=100, compression="gzip"))
    column = pq.read_metadata(io.BytesIO(bytes(data))).row_group(1).column(0)
    place = column.dictionary_page_offset + column.total_compressed_size // 2
    data[place : place + 8] = b"\xff" * 8
    with pytest.raises(DamagedInput, match=r"row group 2 cannot be read .*lost: rows 101 to 200"):
        read_table(bytes(data))
    found = read_table(bytes(data), keep=True)
    assert found.urls == urls(*names[:100], *names[200:])


def test_a_file_of_many_broken_row_groups_is_given_up(read_table):
    names = [f"http://a.org/{k:04}" for k in range(400)]
    options = {"row_group_size": 1, "compression": "none", "use_dictionary": False}
    data = make({"url": names}, write_page_checksum=True, **options)
    broken = data.replace(b"org/01", b"org/X1").replace(b"org/02", b"org/X2")
    found = read_table(broken, keep=True)
    assert found.urls == urls(*names[:100])
    assert found.damages[0].lost == "rows 101 to 101"
    assert found.damages[-1].lost == "rows 201 to 400"


@pytest.mark.parametrize("options", [{}, {"write_page_checksum": True, "compression": "zstd"}])
def test_flipped_bytes_never_end_the_process_nor_raise_anything_else(read_table, options):
    nested = pa.array([{"url": url, "surtkey": "k"} for url in URLS])
    warc = pa.array([{"filename": "f"}, None, {"filename": None}])
    columns = {"status": [200, None, 404], "mime": ["text/html", None, "image/png"]}
    data = make({"url": nested, "warc": warc, **columns}, **options)
    rng = random.Random(3)
    n_damaged, messages = 0, []
    for _ in range(400):
        broken = bytearray(data)
        broken[rng.randrange(4, len(data))] = rng.randrange(256)
        try:
            found = read_table(bytes(broken), keep=True, group="filename")
        except SourceError as error:
            messages.append(str(error))
            continue
        n_damaged += bool(found.damages)
        assert all(str(damage).isprintable() for damage in found.damages)
        assert len(found.urls) + found.rejected.total() + found.excluded.total() <= len(URLS)
    assert n_damaged > 100
    assert all(map(str.isprintable, messages))


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_what_polars_breaks_down_at_is_damage(read_table, encoding):
    names = [f"http://a.org/{number}" for number in range(500)]
    options = {"compression": "none", "use_dictionary": False, "column_encoding": encoding}
    data = make({"url": names}, **options)
    rng = random.Random(5)
    n_damaged = 0
    for _ in range(60):
        broken = bytearray(data)
        broken[rng.randrange(4, 500)] = rng.randrange(256)
        found = read_table(bytes(broken), keep=True)
        n_damaged += bool(found.damages)
        assert len(found.urls) + found.rejected.total() + found.excluded.total() <= len(names)
        assert {damage.lost for damage in found.damages} <= {"rows 1 to 500"}
    assert n_damaged


def test_a_footer_of_impossible_numbers_is_damage(read_table):
    data = make({"url": URLS})
    length = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - length : -8]
    huge = b"\xfe\xff\xff\xff\xff\xff\xff\xff\x3f"  # 2^61, as Thrift writes it
    n_tried = 0
    for place in range(length):
        broken = footer[:place] + huge + footer[place + 1 :]
        changed = data[: -8 - length] + broken + len(broken).to_bytes(4, "little") + b"PAR1"
        try:
            found = read_table(changed, keep=True)
        except SourceError:
            continue
        n_tried += bool(found.damages)
        assert len(found.urls) <= len(URLS)
    assert n_tried > length // 2


def test_rows_beyond_measure_are_taken_for_a_bomb(read_table, monkeypatch):
    monkeypatch.setattr(parquet, "_MIN_EXPANDED_ROWS", 10_000)
    data = make({"url": ["http://a/"] * 50_000}, compression="zstd")
    with pytest.raises(DamagedInput, match=r"50,000 rows in .* allow more with --max-expansion"):
        read_table(data, max_expansion=5.0)
    assert len(read_table(data).urls) == 50_000


def test_many_row_groups_take_no_longer_than_their_rows(read_table):
    data = make({"url": [f"http://a/{k}" for k in range(5000)]}, row_group_size=1)
    start = time.process_time()
    assert len(read_table(data).urls) == 5000
    assert time.process_time() - start < 8


def test_what_cannot_be_read_in_any_order_is_told(tmp_path):
    data = make({"url": URLS})
    with pytest.raises(SourceError, match="save it to a file first"):
        read_streams(read_parquet, lambda: Stream("-", open_file=lambda: io.BytesIO(data)))
    packed = tmp_path / "t.parquet.gz"
    packed.write_bytes(gzip.compress(data))
    with pytest.raises(SourceError, match=r"decompress it first"):
        read_streams(read_parquet, lambda: Stream(str(packed)))


def test_an_encrypted_file_is_told(read_table):
    assert looks_like_parquet(b"PARE\0\0")
    with pytest.raises(SourceError, match="is encrypted Parquet"):
        read_table(b"PARE" + b"\0" * 40 + b"PARE")


def test_a_summary_of_other_files_is_passed_over(read_table, tmp_path, caplog):
    part = tmp_path / "part.parquet"
    described = []
    pq.write_table(pa.table({"url": URLS}), part, metadata_collector=described)
    described[0].set_file_path("part.parquet")
    summary = tmp_path / "_metadata"
    pq.write_metadata(pa.schema({"url": pa.string()}), summary, metadata_collector=described)
    caplog.set_level(logging.INFO)
    assert not read_table(summary.read_bytes(), "_metadata").urls
    assert "only describes the files beside it" in caplog.text
    pq.write_metadata(pa.schema({"url": pa.string()}), summary)
    assert not read_table(summary.read_bytes(), "_common_metadata").urls


def test_other_files_are_not_taken_for_parquet():
    for other in (b"", b"PAR", b"http://a.org/", b"PK\x03\x04", b"\x1f\x8b", b" PAR1"):
        assert not looks_like_parquet(other)
    assert looks_like_parquet(make({"url": URLS})[:16])
