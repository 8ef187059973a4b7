"""Streams of many small gzip members, such as WARC files: read many at a time, all the same."""

import gzip
import io
import random
import zlib
from dataclasses import replace

import pytest

from crawlgauge.errors import DamagedInput
from crawlgauge.sources import byte_stream, compression
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.gzip_member import SMALL_BYTES


def pack(content, *, flags=0, fields=b"", level=6):
    """Make a gzip member, with a header of any shape."""
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
    header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6)
    trailer = zlib.crc32(content).to_bytes(4, "little") + len(content).to_bytes(4, "little")
    return header + fields + deflate.compress(content) + deflate.flush() + trailer


def read(data, *, keep=True):
    """Return content, members and damage, with `recover` as readers use it."""
    found, members = [], []
    with ByteStream("x.gz", open_file=lambda: io.BytesIO(data), keep_damaged=keep) as stream:
        while True:
            try:
                for block in stream.blocks():
                    found.append(block)
                    members += stream.take_members(stream.n_read).tolist()
                break
            except DamagedInput as error:
                if not stream.recover(error):
                    break
        members += stream.take_members(1 << 62).tolist()
        return b"".join(found), members, [str(damage) for damage in stream.damages]


@pytest.fixture
def read_closely(monkeypatch):
    """Read each member by itself."""
    gzip_kind = replace(compression.find_compression(b"\x1f\x8b"), open_small=None)

    def read_so(data):
        with monkeypatch.context() as patch:
            patch.setattr(byte_stream, "find_compression", lambda _: gzip_kind)
            return read(data)

    return read_so


def make_members(seed):
    """Return contents of all sizes, and their members with what may stand between."""
    chance = random.Random(seed)
    sizes = [0, 1, 50, 3000, SMALL_BYTES - 20, SMALL_BYTES + 1, 200_000, 1_500_000]
    contents, packed = [], []
    for number in range(150):
        size = chance.choices(sizes, [3, 3, 40, 40, 3, 3, 2, 1])[0]
        content = chance.randbytes(size) if number % 3 else b"page %d " % number * (size // 8)
        contents.append(content)
        shape = chance.randrange(6)
        if shape == 0:
            packed.append(pack(content, flags=8, fields=b"name.html\0"))
        elif shape == 1:
            packed.append(pack(content, flags=4, fields=b"\x08\0" + chance.randbytes(8), level=1))
        else:
            packed.append(pack(content) + bytes(chance.choice([0, 0, 0, 7])))
    return contents, packed


@pytest.mark.parametrize("seed", range(4))
def test_members_of_all_sizes_are_read_as_by_themselves(read_closely, seed):
    contents, packed = make_members(seed)
    data = b"".join(packed)
    content, members, damages = read(data)
    assert content == b"".join(contents) == gzip.decompress(data)
    assert damages == []
    assert members == [
        [sum(map(len, contents[:number])), sum(map(len, packed[:number]))]
        for number in range(len(packed))
    ]
    assert read_closely(data) == (content, members, damages)


@pytest.mark.parametrize("seed", range(30))
def test_damage_costs_and_says_what_it_does_when_members_are_read_by_themselves(read_closely, seed):
    chance = random.Random(seed)
    _, packed = make_members(seed % 3)
    data = bytearray(b"".join(packed))
    for _ in range(chance.choice([1, 1, 2, 5])):
        place = chance.randrange(len(data))
        if chance.random() < 0.6:
            data[place] ^= 1 << chance.randrange(8)
        elif chance.random() < 0.5:
            del data[place : place + chance.randrange(1, 3000)]
        else:
            data[place:place] = chance.randbytes(chance.randrange(1, 300))
    data = bytes(data[: chance.choice([None, chance.randrange(len(data))])])
    assert read(data) == read_closely(data)


def test_what_is_at_hand_as_a_whole_is_opened_without_going_through_it_twice(monkeypatch):
    """Else nothing of this page would tell whether it is done at all."""
    opened = []
    original = byte_stream.find_compression(b"\x1f\x8b")

    def count(feed):
        opened.append(original.open_small(feed))
        return opened[-1]

    monkeypatch.setattr(
        byte_stream, "find_compression", lambda _: replace(original, open_small=count)
    )
    small = b"".join(pack(b"%d" % number * 300) for number in range(5000))
    assert len(read(small)[1]) == 5000
    assert sum(map(len, opened)) > 4990
    opened.clear()
    large = b"".join(pack(random.Random(number).randbytes(300_000)) for number in range(20))
    assert len(read(large)[1]) == 20
    assert len(opened) == 1
