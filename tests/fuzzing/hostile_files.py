"""Hostile files: valid ones, changed in the ways in which files break or are made to break."""

import bz2
import gzip
import io
import json
import lzma
import random
import re
import struct
import zipfile
from collections.abc import Callable

import zstandard
from valid_files import VALID, Files

from hostile_urls import make_hostile_urls

__all__ = ["make_hostile"]

_TOKENS = (
    *(b"\0", b"\0" * 64, b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\x80\xbf", b"\xed\xa0\x80"),
    *(
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b"\t",
        b" ",
        b"\x0b",
        b"\x0c",
        b"\x85",
        b'"',
        b'""',
        b"\\",
        b"\\u",
    ),
    *(b"{", b"}", b"[", b"]", b",", b":", b"[" * 3000, b'{"a":' * 3000, b"\\ud800", b"\\u0000"),
    *(
        b"WARC/1.0\r\n",
        b"WARC/1.1\n",
        b"Content-Length: 5\r\n",
        b"\r\n\r\n\r\n",
        b"HTTP/1.1 200\r\n",
    ),
    *(b"filedesc://x 0.0.0.0 2 text/plain 9\n", b" CDX N b a m s k r M S V g\n", b"!meta 0 {}\n"),
    *(b"\x1f\x8b\x08", b"\x1f\x8b\x08\x04", b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"PAR1"),
    *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"\x50\x2a\x4d\x18\xff\xff\xff\xff"),
    *(b"http://", b"dns:", b"://", b"../../../x", b"/", b"\x1b[31m", b"-", b"--", b"NaN", b"null"),
    *(b"\xc2\x85", b"\xe2\x80\xa8"),
    *("\u202e".encode(), "\u0663".encode(), "\ufeff".encode(), b"%00", b"%", b"warc/revisit"),
)
"""Bytes that mean something to some format, end a string or a line, or are no text."""

_CELL = re.compile(rb"[^ \t,\n\r\"{}\[\]]{2,}")
_TIME = re.compile(rb"(?:20140127|2014-01-27).*")
_TIMES = (
    *(b"1990-01-01T00:00:00+99:99", b"2200-12-31T23:59:60Z", b"2000-02-30", b"1989", b"2200-12"),
    *(b"1990-01-01T00:00:00+00:01", b"2014-01-27T17:12:00.5-0130", b"20140127171200999"),
    *(b"99999999999999", b"00000000000000", b"2014", b"2014-01-27T17:12:00+1", b"-"),
)
_CELLS = (
    *(b"http://a.org/", b"https://www.A.org:443/x/../y?b&a#c", b"http://[::1]:80/", b"http://"),
    *(b"http://u:p@a.org", b"ftp://a.org", b"urn:x", b"text/html; charset=x", b"warc/revisit"),
    *(b"http://a.org/robots.txt", b"duplicate:x", b"warcRevisit:x", b"unk", b"true", b"null"),
    *(b"org,a)/", b"(org,a,)/", b"http://a.org/%00%zz", b"http://a.org/" + b"%41" * 999),
)
"""What has a meaning in the place of a field, in most places a wrong one."""

_NUMBERS = (
    *(b"0", b"-1", b"1", b"7", b"00000", b"+5", b"0x10", b"1e999", b"1.5", b"", b"-0", b"9" * 400),
    *(b"255", b"256", b"65535", b"65536", b"2147483647", b"2147483648", b"4294967295"),
    *(b"9223372036854775807", b"9223372036854775808", b"18446744073709551615", b"9" * 19),
    *(b"99999999999999", b"00000000000000", b"20140230250000", b"29990101000000"),
)
"""Numbers at the borders of what machines can hold, or that are none."""

_WORDS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_LONG_BYTES = (5_000, 70_000, 1_100_000, 3_000_000)
"""Beyond the longest URL, and beyond one and several blocks."""
_MANY_BYTES = 2_500_000
"""More than two blocks of repeated content."""
_MANY_PACKED_BYTES = 150_000
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")

_ODD = "odd-urls"

Change = Callable[[bytes, random.Random], bytes]


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _chunk(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = _place(data, rng)
    return start, min(len(data), start + int(2 ** rng.uniform(0, 10)))


def _flip_bits(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8)) if data else 0):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut_end(data: bytes, rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


def _cut_beginning(data: bytes, rng: random.Random) -> bytes:
    return data[_place(data, rng) :]


def _remove(data: bytes, rng: random.Random) -> bytes:
    start, end = _chunk(data, rng)
    return data[:start] + data[end:]


def _duplicate(data: bytes, rng: random.Random) -> bytes:
    start, end = _chunk(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 1, 3, 50)) + data[end:]


def _move(data: bytes, rng: random.Random) -> bytes:
    start, end = _chunk(data, rng)
    rest = data[:start] + data[end:]
    place = _place(rest, rng)
    return rest[:place] + data[start:end] + rest[place:]


def _insert_token(data: bytes, rng: random.Random) -> bytes:
    place = _place(data, rng)
    return data[:place] + rng.choice(_TOKENS) + data[place:]


def _insert_noise(data: bytes, rng: random.Random) -> bytes:
    place = _place(data, rng)
    return data[:place] + rng.randbytes(rng.choice((1, 10, 1000))) + data[place:]


def _change_number(data: bytes, rng: random.Random) -> bytes:
    found = list(re.finditer(rb"\d+", data))
    if not found:
        return data
    number = rng.choice(found)
    return data[: number.start()] + rng.choice(_NUMBERS) + data[number.end() :]


def _change_word(data: bytes, rng: random.Random) -> bytes:
    """Overwrite some bytes with a number, as lengths stand in binary formats."""
    value, layout = rng.choice(_WORDS), rng.choice(("<B", "<H", "<I", ">I", "<Q"))
    word = struct.pack(layout, value & ((1 << 8 * struct.calcsize(layout)) - 1))
    place = _place(data, rng)
    return data[:place] + word + data[place + len(word) :]


def _swap_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _swap_fields(data: bytes, rng: random.Random) -> bytes:
    pieces = re.split(rb"([ \t,:\n])", data)
    one, other = (rng.randrange(0, len(pieces), 2) for _ in range(2))
    pieces[one], pieces[other] = pieces[other], pieces[one]
    return b"".join(pieces)


def _change_field(data: bytes, rng: random.Random) -> bytes:
    """Put something that has a meaning in the place of a whole field."""
    found = list(_CELL.finditer(data[: 1 << 16]))
    if not found:
        return data
    cell = rng.choice(found)
    values = (*_TIMES, *_CELLS, *_NUMBERS)
    if _TIME.fullmatch(cell[0]) and rng.random() < 0.8:
        values = _TIMES
    return data[: cell.start()] + rng.choice(values) + data[cell.end() :]


def _change_line_ends(data: bytes, rng: random.Random) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"", b"\n\n", b"\0", b"\n\r")))


def _insert_long(data: bytes, rng: random.Random) -> bytes:
    place = _place(data, rng)
    token = rng.choice((b"a", b"\0", b'"', b"\\", b"%41", b" ", b"[", b'{"', b"\xff", b"1", b"/a,"))
    n_bytes = rng.choice(_LONG_BYTES)
    return data[:place] + token * (n_bytes // len(token)) + data[place:]


def _repeat_all(data: bytes, rng: random.Random) -> bytes:
    n_times = rng.choice((2, 3, 10, max(2, _MANY_BYTES // max(len(data), 1))))
    return data * n_times


def _splice(data: bytes, rng: random.Random) -> bytes:
    other = rng.choice(list(rng.choice(list(VALID.values())).contents.values()))
    start, end = _chunk(other, rng)
    place = _place(data, rng)
    piece = rng.choice((other, other[start:end]))
    return data[:place] + piece + rng.choice((data[place:], b""))


_CHANGES: dict[Change, int] = {
    _flip_bits: 6,
    _cut_end: 4,
    _cut_beginning: 2,
    _remove: 5,
    _duplicate: 4,
    _move: 3,
    _insert_token: 8,
    _insert_noise: 3,
    _change_number: 8,
    _change_word: 5,
    _swap_lines: 3,
    _swap_fields: 4,
    _change_field: 10,
    _change_line_ends: 2,
    _insert_long: 1,
    _repeat_all: 1,
    _splice: 3,
}
"""How often each is made."""


def _keep(data: bytes, rng: random.Random) -> bytes:  # noqa: ARG001 - as the others
    return data


def _cut_up(data: bytes, rng: random.Random) -> list[bytes]:
    """Cut somewhere, as members and frames of one compressed file may be."""
    places = sorted(_place(data, rng) for _ in range(rng.choice((1, 2, 10))))
    return [data[a:b] for a, b in zip((0, *places), (*places, len(data)), strict=True)]


def _gzip(data: bytes, rng: random.Random) -> bytes:  # noqa: ARG001 - as the others
    return gzip.compress(data, mtime=0)


def _gzip_members(data: bytes, rng: random.Random) -> bytes:
    # WARC and ARC files have a member for each record, indexes for each block of lines.
    border = rng.choice((rb"(?=WARC/1)", rb"(?<=\n)(?=\S+://)", rb"(?<=\n)"))
    return b"".join(gzip.compress(piece, 1, mtime=0) for piece in re.split(border, data)[:3000])


def _zstd(data: bytes, rng: random.Random) -> bytes:
    compressor = zstandard.ZstdCompressor(
        write_checksum=rng.random() < 0.5, write_content_size=rng.random() < 0.5
    )
    return b"".join(compressor.compress(piece) for piece in _cut_up(data, rng))


def _zstd_with_dictionary(data: bytes, rng: random.Random) -> bytes:
    """Compress as .warc.zst files are: a dictionary in a frame of its own, then the records."""
    content = rng.choice((data[:500], b"", rng.randbytes(50)))
    dictionary = zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    if rng.random() < 0.5:
        content = zstandard.compress(content)
    if rng.random() < 0.3:
        content = _change(content, rng, 1)
    frame = b"\x5d\x2a\x4d\x18" + struct.pack("<I", len(content)) + content
    return frame + b"".join(compressor.compress(piece) for piece in _cut_up(data, rng))


def _bzip2(data: bytes, rng: random.Random) -> bytes:
    return b"".join(bz2.compress(piece, 1) for piece in _cut_up(data, rng))


def _xz(data: bytes, rng: random.Random) -> bytes:
    return b"".join(lzma.compress(piece, preset=0) for piece in _cut_up(data, rng))


_COMPRESSIONS: dict[Change, int] = {
    _keep: 12,
    _gzip: 3,
    _gzip_members: 3,
    _bzip2: 2,
    _xz: 2,
    _zstd: 2,
    _zstd_with_dictionary: 1,
}


def _choose(changes: dict[Change, int], rng: random.Random) -> Change:
    return rng.choices(list(changes), list(changes.values()))[0]


def _change(data: bytes, rng: random.Random, n_changes: int) -> bytes:
    for _ in range(n_changes):
        data = _choose(_CHANGES, rng)(data, rng)
        # Changes one upon the other must not grow without end.
        data = data[: _MANY_PACKED_BYTES if data.startswith(_PACKED) else 3 * _MANY_BYTES]
    return data


def _change_inside(data: bytes, rng: random.Random, n_changes: int) -> bytes:
    """Change what a compressed file or a ZIP file holds, leaving the outside as it should be."""
    if data.startswith(b"\x1f\x8b"):
        return _gzip_members(_change(gzip.decompress(data), rng, n_changes), rng)
    if not data.startswith(b"PK"):
        return _change(data, rng, n_changes)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        infos = {info.filename: info for info in file.infolist()}
        members = {name: file.read(name) for name in infos}
    victim = rng.choice(list(members))
    members[victim] = _change_inside(members[victim], rng, n_changes)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content, infos[name].compress_type)
    return target.getvalue()


def _make_odd_urls(seed: int, rng: random.Random) -> Files:
    """Return a list or an index of URLs that are odd themselves."""
    urls = [url.replace(b"\n", b"%0A") for url in make_hostile_urls(60, seed)]
    if rng.random() < 0.5:
        return Files(main="input", contents={"input": b"\n".join([b"http://a.org/", *urls, b""])})
    line = b'org,a)/ 2014012717120%d {"url": "%b", "status": "200"}\n'
    texts = [json.dumps(url.decode("latin-1"))[1:-1].encode() for url in urls]
    lines = [line % (rng.randrange(10), text) for text in texts]
    return Files(main="input", contents={"input": b"".join(lines)})


def make_hostile(seed: int, form: str | None = None) -> Files:
    """Return a valid file of some format, changed in a few places and perhaps compressed.

    Parameters
    ----------
    seed
        Decides all.
    form
        Name of the format; drawn if not given.
    """
    rng = random.Random(f"hostile-{seed}")
    drawn = rng.choice((*VALID, _ODD))
    valid = _make_odd_urls(seed, rng) if (form or drawn) == _ODD else VALID[form or drawn]
    contents = dict(valid.contents)
    # A cluster breaks in its index, its parts or its locations.
    victim = rng.choice(list(contents))
    change = rng.choice((_change, _change_inside))
    data = change(contents[victim], rng, rng.choice((0, 1, 1, 1, 2, 3, 6)))
    compress = _choose(_COMPRESSIONS, rng)
    if compress is not _keep:
        data = _change(compress(data, rng), rng, rng.choice((0, 0, 0, 1, 1, 2)))
    contents[victim] = data
    return Files(main=valid.main, contents=contents)
