"""One input as blocks: its compression told by content, measured, bounded."""

import bz2
import gzip
import hashlib
import io
import itertools
import lzma
import os
import random
import struct
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.errors import Damage, DamagedInput, SourceError
from crawlgauge.sources.decompress import BLOCK_BYTES, Stream, fingerprint, read_whole

LINES = b"".join(b"http://example.org/%d\n" % number for number in range(5000))
PACKERS = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bzip2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    # As the command line tool writes it; without its checksum a changed letter goes unnoticed.
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}
DICTIONARY, SKIPPABLE = b"\x5d\x2a\x4d\x18", b"\x50\x2a\x4d\x18"


class Dribble(io.BytesIO):
    """A file that gives out few bytes at a time, as pipes and networks do."""

    def __init__(self, data, n_bytes):
        super().__init__(data)
        self._n_bytes = n_bytes

    def read(self, n_bytes):
        return super().read(min(n_bytes, self._n_bytes))


def open_bytes(data, n_bytes=1 << 30, **options):
    return Stream("x", open_file=lambda: Dribble(data, n_bytes), **options)


def read_bytes(data, n_bytes=1 << 30):
    with open_bytes(data, n_bytes) as stream:
        return b"".join(stream.blocks())


@pytest.fixture
def make_file(tmp_path):
    def make(data, name="list.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return make


@pytest.mark.parametrize("name", ["list.txt", "list.txt.gz", "list"])
def test_compression_is_told_by_content_not_by_name(make_file, name):
    for data in (LINES, gzip.compress(LINES)):
        with Stream(make_file(data, name)) as stream:
            assert b"".join(stream.blocks()) == LINES


@pytest.mark.parametrize("kind", PACKERS)
def test_each_compression_is_read_whole_and_member_by_member(kind):
    parts = [b"%d\n" % number * 1000 for number in range(5)]
    packed = [PACKERS[kind](part) for part in parts]
    with open_bytes(b"".join(packed)) as stream:
        assert b"".join(stream.blocks()) == b"".join(parts)
        starts = [0, *itertools.accumulate(map(len, parts))]
        places = [0, *itertools.accumulate(map(len, packed))]
        assert stream.take_members(starts[3]) == list(zip(starts, places, strict=True))[:3]
        assert stream.take_members(1 << 62) == list(zip(starts, places, strict=True))[3:5]
        assert stream.take_members(1 << 62) == []


@given(
    members=st.lists(st.binary(max_size=300), min_size=1, max_size=5),
    n_padding=st.integers(0, 40),
    n_bytes=st.integers(2, 200),
)
def test_any_number_of_members_cut_anywhere_gives_their_contents(members, n_padding, n_bytes):
    packed = b"".join(gzip.compress(member) + b"\0" * n_padding for member in members)
    assert read_bytes(packed, n_bytes) == b"".join(members)


def make_member(content, *, flags=0, fields=b"", level=6):
    """Make a gzip member, with a header of any shape."""
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
    header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + fields
    if flags & 2:
        header += (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
    trailer = zlib.crc32(content).to_bytes(4, "little") + len(content).to_bytes(4, "little")
    return header + deflate.compress(content) + deflate.flush() + trailer


def make_members(seed):
    """Return contents of all sizes, and their members with what may stand between."""
    chance = random.Random(seed)
    sizes = [0, 1, 50, 3000, 32_700, 33_000, 200_000, 1_500_000]
    contents, packed = [], []
    for number in range(150):
        size = chance.choices(sizes, [3, 3, 40, 40, 3, 3, 2, 1])[0]
        content = chance.randbytes(size) if number % 3 else b"page %d " % number * (size // 8)
        contents.append(content)
        shape = chance.randrange(6)
        if shape == 0:
            packed.append(make_member(content, flags=8 | 2, fields=b"name.html\0"))
        elif shape == 1:
            extra = b"\x08\0" + chance.randbytes(8)
            packed.append(make_member(content, flags=4 | 16, fields=extra + b"note\0", level=1))
        else:
            packed.append(make_member(content) + bytes(chance.choice([0, 0, 0, 7])))
    return contents, packed


@pytest.mark.parametrize("n_bytes", [1 << 30, 10_007, 997])
def test_small_and_large_gzip_members_in_any_order_are_told_with_their_places(n_bytes):
    contents, packed = make_members(1)
    data = b"".join(packed)
    with open_bytes(data, n_bytes) as stream:
        assert b"".join(stream.blocks()) == b"".join(contents) == gzip.decompress(data)
        members = stream.take_members(1 << 62)
    assert [start for start, _ in members] == [0, *itertools.accumulate(map(len, contents[:-1]))]
    assert [place for _, place in members] == [0, *itertools.accumulate(map(len, packed[:-1]))]


@pytest.mark.parametrize("kind", ["plain", *PACKERS])
def test_a_large_input_comes_in_blocks_that_are_neither_large_nor_many(kind):
    data = b"".join(b"http://example.org/%x\n" % (k * 2654435761) for k in range(300_000))
    packed = PACKERS.get(kind, bytes)(data)
    with open_bytes(packed) as stream:
        beginning = stream.beginning()
        assert beginning == stream.beginning() == data[: len(beginning)]
        sizes = [len(block) for block in stream.blocks()]
    assert sum(sizes) == len(data) > 6 << 20
    assert 1 << 20 <= sizes[0] <= 2 << 20
    assert max(sizes[1:]) <= 2 << 20
    assert len(sizes) < 16 * len(data) / BLOCK_BYTES


def test_many_small_members_come_in_few_blocks():
    packed = b"".join(gzip.compress(b"http://a.org/%d\n" % k) for k in range(3000))
    with open_bytes(packed) as stream:
        assert len(list(stream.blocks())) == 1


def test_members_that_nobody_asks_for_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("crawlgauge.sources.decompress._MAX_MEMBERS", 1000)
    empty = gzip.compress(b"", mtime=0)
    with open_bytes(empty * 20_000 + gzip.compress(b"end", mtime=0)) as stream:
        assert list(stream.blocks()) == [b"end"]
        members = stream.take_members(1 << 62)
    assert len(members) < 20_000
    assert members[-1] == (0, 20_000 * len(empty))


def test_size_and_checksum_are_those_of_the_file(make_file):
    packed = gzip.compress(LINES)
    path = make_file(packed)
    with Stream(path) as stream:
        assert stream.beginning()
        found = stream.finish(through="index")
    assert (found.name, found.n_bytes, found.through) == (path, len(packed), "index")
    assert found.checksum == f"sha256:{hashlib.sha256(packed).hexdigest()}"
    assert fingerprint(path).checksum == found.checksum


def test_progress_adds_up_to_the_size_of_the_file(make_file):
    packed = gzip.compress(LINES)
    steps = []
    with Stream(make_file(packed), on_bytes=steps.append) as stream:
        list(stream.blocks())
    assert sum(steps) == len(packed)
    steps.clear()
    fingerprint(make_file(packed), steps.append)
    assert sum(steps) == len(packed)


def test_before_reading_there_is_no_checksum(make_file):
    with pytest.raises(ValueError, match="not open"):
        Stream(make_file(LINES)).finish()


def test_nothing_and_an_empty_member_are_empty():
    assert read_bytes(b"") == read_bytes(gzip.compress(b"")) == b""


def test_standard_input_is_read_and_stays_open(make_file, monkeypatch):
    with Path(make_file(gzip.compress(LINES))).open("rb") as file:
        monkeypatch.setattr("sys.stdin", file)
        with Stream("-") as stream:
            assert b"".join(stream.blocks()) == LINES
            assert stream.path is None
        os.fstat(file.fileno())


@pytest.mark.parametrize("read", [lambda name: Stream(name).__enter__(), fingerprint])
def test_what_cannot_be_opened_is_named(tmp_path, read):
    with pytest.raises(SourceError, match=r"cannot read .*none: No such file"):
        read(str(tmp_path / "none"))
    with pytest.raises(SourceError, match="Is a directory"):
        read(str(tmp_path))


@pytest.mark.parametrize("n_good", [0, 1])
def test_a_disk_that_fails_while_reading_is_an_error_and_no_damage(n_good):
    class FailingFile(io.BytesIO):
        def __init__(self):
            self.n_left = n_good

        def read(self, _):
            self.n_left -= 1
            if self.n_left < 0:
                raise OSError(5, "Input/output error")
            return gzip.compress(LINES)[:50]

    with (
        pytest.raises(SourceError, match=r"^cannot read list\.txt: Input/output error$") as caught,
        Stream("list.txt", open_file=FailingFile, keep_damaged=True) as stream,
    ):
        list(stream.blocks())
    assert not isinstance(caught.value, DamagedInput)


@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_zstd_dictionary_at_the_head_serves_all_records(is_compressed):
    chance = random.Random(1)
    samples = [b"%d %x\n" % (k, chance.getrandbits(64)) * 20 for k in range(300)]
    dictionary = zstandard.train_dictionary(2000, samples)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    content = dictionary.as_bytes()
    content = zstandard.compress(content) if is_compressed else content
    frame = DICTIONARY + struct.pack("<I", len(content)) + content
    assert read_bytes(frame + b"".join(map(compressor.compress, samples))) == b"".join(samples)


def test_a_huge_zstd_frame_that_is_to_be_passed_over_is_not_held():
    frame = SKIPPABLE + struct.pack("<I", 30_000_000)
    data = frame + bytes(30_000_000) + zstandard.compress(b"http://a.org/\n")
    tracemalloc.start()
    try:
        assert read_bytes(data) == b"http://a.org/\n"
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", PACKERS)
def test_what_expands_beyond_sense_is_stopped_early_in_little_memory_and_can_be_allowed(
    kind, monkeypatch
):
    monkeypatch.setattr("crawlgauge.sources.decompress._MIN_EXPANDED_BYTES", 1 << 20)
    n_expanded = 1 << 27
    packed = PACKERS[kind](b"\n" * n_expanded)
    tracemalloc.start()
    try:
        with open_bytes(packed, keep_damaged=True) as stream:
            with pytest.raises(DamagedInput, match=r"than 500 times .* --max-expansion") as caught:
                for _ in stream.blocks():
                    pass
            assert stream.n_read < n_expanded
            assert not stream.recover(caught.value)
        assert tracemalloc.get_traced_memory()[1] < 150 << 20
    finally:
        tracemalloc.stop()
    with open_bytes(packed, max_expansion=1e9) as stream:
        assert sum(map(len, stream.blocks())) == n_expanded


def test_so_many_damages_are_told_that_they_fit_into_memory_and_all_are_counted():
    def damage(place):
        return Damage(file="x", byte=place, reason="odd", lost=f"line {place}")

    with open_bytes(LINES, keep_damaged=True) as stream:
        start = time.process_time()
        for place in range(100_000):
            stream.report(damage(place))
        assert time.process_time() - start < 10
    assert len(stream.damages) == 1000
    assert stream.damages[998] == damage(998)
    assert stream.damages[999].reason == "99,001 further places are damaged"
    with pytest.raises(DamagedInput), open_bytes(LINES) as stream:
        stream.report(damage(1))


@pytest.mark.parametrize("kind", ["plain", *PACKERS])
def test_a_small_file_is_read_at_once_unless_it_is_larger_than_it_may_be(make_file, kind):
    path = make_file(PACKERS.get(kind, bytes)(LINES))
    assert read_whole(path, max_bytes=len(LINES)) == LINES
    with pytest.raises(SourceError, match=r"list\.txt holds more than 1,000 bytes of content"):
        read_whole(path, max_bytes=1000)


@pytest.mark.parametrize("kind", PACKERS)
def test_a_small_file_that_is_a_bomb_is_refused_in_little_memory(make_file, kind):
    path = make_file(PACKERS[kind](b"\n" * (1 << 27)))
    tracemalloc.start()
    try:
        with pytest.raises(SourceError, match="holds more than 1,000,000 bytes"):
            read_whole(path, max_bytes=1_000_000)
        assert tracemalloc.get_traced_memory()[1] < 150 << 20
    finally:
        tracemalloc.stop()


def test_a_small_file_that_is_damaged_is_refused(make_file):
    with pytest.raises(DamagedInput, match="ends before its compressed stream does"):
        read_whole(make_file(gzip.compress(LINES)[:-9]), max_bytes=1 << 20)
