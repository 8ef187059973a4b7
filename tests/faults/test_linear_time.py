"""Each reader, parser and canonicaliser of ours takes time in proportion to what it is given.

Of a valid input something is repeated at some place: a byte, a sign, a piece of the input itself.
"""

import bz2
import gzip
import io
import lzma
import random
import re
import zipfile

import pytest
import zstandard
from growth import GrowsFaster, check_growth
from parsers import PARSERS
from reading_checks import choose_wishes, read_all
from valid_files import VALID

from amounts import TIMES
from crawlgauge.errors import CrawlgaugeError

BYTES = tuple(bytes([code]) for code in range(256))
SIGNS = (
    *(
        b" ",
        b"\t",
        b"\r",
        b"\n",
        b"\0",
        b"a",
        b"A",
        b"1",
        b".",
        b",",
        b":",
        b";",
        b"/",
        b"\\",
        b'"',
    ),
    *(b"'", b"-", b"%", b"#", b"?", b"&", b"=", b"@", b"[", b"]", b"{", b"}", b"<", b">", b"\xc3"),
    *(
        b"\r\n",
        b" \n",
        b"\n ",
        b"\n\n",
        b"a ",
        b"a,",
        b'"a",',
        b'\\"',
        b"a=b&",
        b"%41",
        b"%25",
        b"../",
    ),
    *(
        b'{"a":',
        b'{"url": "x"} ',
        b"[[",
        b"a.",
        b"a:",
        b"a: b\r\n",
        b"a:\r\n b\r\n",
        b"<a>",
        b"</a>",
    ),
    *(b"WARC/1.0\r\n", b"\nWARC/1.0", b"HTTP/1.1 200\r\n", b"http://a.org/ ", b"http://", b"www."),
    *(
        b"<b><i>",
        b"<a href='",
        b"<!--",
        b"1\r\na\r\n",
        b";jsessionid=",
        b"(a(",
        b"\xc3\xa9",
        b"xn--",
    ),
    *(
        b"com,example)/ 20140127171200 ",
        b"a.org 20140127171200 ",
        b"# a\n",
        b"!",
        b"\x1f\x8b\x08\0",
    ),
)
N_BYTES = 1 << 14
"""In the tests that always run."""
N_LARGE = 1 << 16
MANY = max(1, round(8 * TIMES))


def vary(data, signs, n_pieces, seed):
    """Yield where in a sample something is repeated, and what: pieces of the sample itself, too."""
    rng = random.Random(seed)
    borders = [0, len(data), *(found.end() for found in re.finditer(rb"\w+|\W", data))]
    pieces = [data, *(data[slice(*sorted(rng.sample(borders, 2)))] for _ in range(n_pieces))]
    for sign in (*rng.sample(signs, min(len(signs), 40 * n_pieces)), *filter(None, pieces)):
        yield rng.choice(borders), sign


def check_all(check, data, signs, n_pieces, seed):
    """Check each variation; name all that take too long."""
    slow = []
    for place, sign in vary(data, signs, n_pieces, seed):

        def make(size, place=place, sign=sign):
            return data[:place] + sign * (size // len(sign)) + data[place:]

        try:
            check(make)
        except GrowsFaster as error:
            slow.append(f"{sign[:60]!r} behind {data[max(0, place - 30) : place]!r}: {error}")
    assert slow == []


# ------------------------------------------------------------------------------------------ readers


def check_reader(form, name, make, folder, largest):
    """Check a reader with one of the files of an input, of which something is repeated."""
    files = VALID[form]
    for other, data in files.contents.items():
        (folder / other).write_bytes(data)
    # Contents and texts too, and cuts: the most that is done with an input.
    wishes = choose_wishes(10) | {"scope": None}

    def run(size):
        (folder / name).write_bytes(make(size))
        read_all(folder / files.main, keep=True, **wishes)

    check_growth(run, largest)


READERS = [(form, name) for form, files in VALID.items() for name in files.contents]


@pytest.mark.parametrize(("form", "name"), READERS)
@pytest.mark.parametrize(
    ("signs", "n_pieces", "largest"),
    [(SIGNS, 1, N_BYTES), pytest.param((*SIGNS, *BYTES), MANY, N_LARGE, marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def test_every_reader_takes_time_in_proportion(tmp_path, form, name, signs, n_pieces, largest):
    data = VALID[form].contents[name]

    def check(make):
        check_reader(form, name, make, tmp_path, largest)

    check_all(check, data, signs, n_pieces, f"{form}/{name}/{n_pieces}")


def _zip(n_members):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for number in range(n_members):
            file.writestr(f"archive/{number}.warc.gz", b"")
    return target.getvalue()


PACKED = {
    "gzip": gzip.compress(b"http://a.org/\n", mtime=0),
    "gzip of nothing": gzip.compress(b"", mtime=0),
    "gzip in gzip": gzip.compress(gzip.compress(b"http://a.org/\n", mtime=0), mtime=0),
    "bzip2": bz2.compress(b"http://a.org/\n"),
    "xz": lzma.compress(b"http://a.org/\n"),
    "zstd": zstandard.compress(b"http://a.org/\n"),
    "skipped frame": b"\x50\x2a\x4d\x18\x04\0\0\0abcd",
    "dictionary": b"\x5d\x2a\x4d\x18\x04\0\0\0abcd",
    "cut gzip": gzip.compress(b"http://a.org/\n" * 3, mtime=0)[:-9],
    "cut zstd": zstandard.compress(b"http://a.org/\n" * 3)[:-3],
}


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("first", [b"", gzip.compress(b"http://b.org/\n", mtime=0)])
def test_members_of_compressed_files_take_time_in_proportion(tmp_path, kind, first):
    def run(size):
        unit = PACKED[kind]
        (tmp_path / "input").write_bytes(first + unit * (size // len(unit)))
        read_all(tmp_path / "input", keep=True, **choose_wishes(0))

    check_growth(run, 4 * N_LARGE)


def test_members_of_wacz_files_take_time_in_proportion(tmp_path):
    def run(size):
        (tmp_path / "input.wacz").write_bytes(_zip(size // 100))
        read_all(tmp_path / "input.wacz", keep=True, **choose_wishes(0))

    check_growth(run, 4 * N_LARGE)


# ---------------------------------------------------------------- canonicalisers and other parsers


@pytest.mark.parametrize("kind", PARSERS)
@pytest.mark.parametrize(
    ("signs", "n_pieces", "largest"),
    [(SIGNS, 1, N_BYTES), pytest.param((*SIGNS, *BYTES), MANY, N_LARGE, marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def test_every_parser_takes_time_in_proportion(tmp_path, kind, signs, n_pieces, largest):
    data, parse = PARSERS[kind]

    def check(make):
        def run(size):
            try:
                parse(make(size), tmp_path)
            except CrawlgaugeError:
                return

        check_growth(run, largest)

    check_all(check, data, signs, n_pieces, kind)
