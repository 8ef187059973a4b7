"""Small files that hold much, and ones that are made to fill the memory, stay within `--memory`.

Peaks are measured from outside, of a whole command.
"""

import gzip
import io
import lzma
import random
import sys
import zipfile

import polars as pl
import pytest
import zstandard
from memory_use import run_measured
from valid_files import VALID

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the peaks")

MEMORY = 256 << 20
"""What commands are told that they may use: the least that they take."""
N_BYTES = 600 << 20
"""More than twice as much."""


def pack(piece, n_bytes=N_BYTES, first=b"", compress=None):
    """Compress a piece again and again, by itself, so that the file is not too small for a bomb."""
    times = -(-(1 << 22) // len(piece))
    unit = (compress or (lambda data: gzip.compress(data, 1, mtime=0)))(piece * times)
    start = b"" if not first else (compress or gzip.compress)(first)
    return start + unit * (n_bytes // (times * len(piece)))


def zip_of(**members):
    """Return a WACZ file that has such members."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name.replace("__", "/").replace("_", "."), data)
    return target.getvalue()


def parquet_of(**columns):
    """Return a Parquet file whose columns are one value, very often."""
    target = io.BytesIO()
    frame = pl.select(**{name: pl.lit(value).repeat_by(1) for name, value in columns.items()})
    pl.concat([frame.explode(pl.all())] * 1).select(
        pl.all().repeat_by(30_000_000).explode()
    ).write_parquet(target, compression="zstd")
    return target.getvalue()


def begin(form):
    """Return a valid beginning of a format."""
    return VALID[form].contents[VALID[form].main]


def deep_xz(data):
    """Compress with a dictionary of a gigabyte, of which the reader needs as much."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    return lzma.compress(data, filters=filters)


LONG = {
    form: (lambda form=form: pack(b"a" * 1000, first=begin(form)))
    for form in ("urls", "csv", "jsonl", "server-json", "cdx", "cdxj", "crawl-log", "warc", "arc")
}
BOMBS = {
    "blank lines": lambda: pack(b"\n", first=begin("cdxj")),
    "blank lines of a list": lambda: pack(b"\n", first=begin("urls")),
    "short lines": lambda: pack(b"a\n", first=begin("cdxj"), n_bytes=4 << 20),
    "empty members": lambda: gzip.compress(b"http://a.org/\n") + gzip.compress(b"") * 300_000,
    "small records": lambda: pack(
        b"WARC/1.0\r\n\r\n\r\n\r\n", first=begin("warc"), n_bytes=8 << 20
    ),
    "spaces in a header": lambda: pack(b" " * 1000, first=b"WARC/1.0\r\nWARC-Type: x"),
    "fields of a header": lambda: pack(b"a: b\r\n", first=b"WARC/1.0\r\n"),
    "one cell": lambda: pack(b"a" * 1000, first=b'url,mime\nhttp://a.org/,"'),
    "columns": lambda: pack(b"a,", first=b"url,mime\nhttp://a.org/,"),
    "columns of a header": lambda: pack(b"a,", first=b"url,"),
    "one array": lambda: pack(b"1,", first=b'{"url": "http://a.org/", "x": ['),
    "arrays in arrays": lambda: pack(b"[", first=b'[["url"],'),
    "one row of a server": lambda: pack(b'"x",', first=b'[["url"],["http://a.org/",'),
    "one tag": lambda: pack(b"a" * 1000, first=b"<urlset><"),
    "one address of a sitemap": lambda: pack(b"a" * 1000, first=b"<urlset><url><loc>http://a.org/"),
    "tags in tags": lambda: pack(b"<a>", first=b"<urlset>"),
    "zstd": lambda: pack(b"\n", first=begin("cdxj"), compress=zstandard.compress),
    "deep xz": lambda: deep_xz(random.Random(1).randbytes(1 << 20) * 500),
    "wacz": lambda: zip_of(indexes__index_cdx=b"\n" * N_BYTES),
    "gzip in wacz": lambda: zip_of(indexes__index_cdx_gz=pack(b"\n", first=begin("cdxj"))),
    "members of wacz": lambda: zip_of(**{f"archive__{k}_warc": b"" for k in range(20_000)}),
    "package of wacz": lambda: zip_of(datapackage_json=b"[" * N_BYTES, archive__a_warc=b""),
    "rows of parquet": lambda: parquet_of(url="http://a.org/"),
    "texts of parquet": lambda: parquet_of(url="http://a.org/" + "a" * 500),
    **{f"long line of {form}": make for form, make in LONG.items()},
}
ALWAYS = ("blank lines", "fields of a header", "deep xz")


@pytest.mark.parametrize(
    "kind",
    [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.slow) for name in BOMBS],
)
def test_no_input_takes_more_memory_than_it_may(tmp_path, kind):
    (tmp_path / "input").write_bytes(BOMBS[kind]())
    words = ["--memory", "256M", "--date", "2021", "--on-damage", "keep", "--levels", "url,content"]
    used = run_measured(tmp_path, "add", "2021-06", "input", *words)
    assert "Traceback" not in used.err
    assert used.code in (0, 1, 4), used.err
    assert used.peak < MEMORY, f"{used.peak / 1e6:,.0f} MB; {used.err}"


ROW = b"x,2020-01-01,100,y,2021-01-01,100,50\n"
TABLE = b"a,date_a,n_a,b,date_b,n_b,n_shared\n"
SMALL = {
    "list": (lambda: pack(b"a\n"), ["add", "x", "@input"]),
    "list of blank lines": (lambda: pack(b"\n"), ["add", "x", "@input"]),
    "list of crawls": (
        lambda: pack(b"x,2020,a\n", first=b"label,date,path\n"),
        ["add", "--from", "input"],
    ),
    "scope": (lambda: pack(b"a.org\n"), ["add", "x", "--scope", "input", "list.txt"]),
    "table": (lambda: pack(ROW, first=TABLE), ["estimate", "input"]),
    "table of long cells": (lambda: pack(b"x" * 100, first=TABLE), ["estimate", "input"]),
    "table in xz": (lambda: lzma.compress(ROW * 20_000_000), ["estimate", "input"]),
    "table as JSON": (lambda: pack(b"[", first=b"{"), ["estimate", "input"]),
    "reference": (lambda: pack(b"a.org\n"), ["recall", "input", "--kind", "host"]),
    "frontier": (lambda: pack(b"7 "), ["anchor", "x", "input", "--kind", "frontier"]),
    "hosts": (lambda: pack(b"a.org\n"), ["anchor", "x", "--draw", "5", "--from", "input"]),
}
MOST = 1500 << 20
"""What is kept as a whole may take several times its 256 MB, however much it would expand to."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", SMALL)
def test_lists_and_tables_of_any_compression_are_bounded(tmp_path, kind):
    make, words = SMALL[kind]
    (tmp_path / "list.txt").write_text("http://a.org/\n")
    run_measured(tmp_path, "add", "2021-06", "list.txt")
    (tmp_path / "input").write_bytes(make())
    used = run_measured(tmp_path, *words)
    assert "Traceback" not in used.err
    assert used.code in (0, 1), used.err
    assert used.peak < MOST, f"{used.peak / 1e6:,.0f} MB; {used.err}"
