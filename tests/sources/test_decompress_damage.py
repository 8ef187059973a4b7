"""Damaged compressed inputs: all that stands before a break is given out, and where it is, told."""

import bz2
import gzip
import io
import lzma
import random
import struct
import zlib

import pytest
import zstandard
from linear_time import check_linear_time
from test_decompress import DICTIONARY, LINES, PACKERS, SKIPPABLE, Dribble, make_members

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import decompress
from crawlgauge.sources.decompress import Stream


def read(data, *, keep=True, n_bytes=1 << 30):
    """Return all that can be read, the members, and the damage; readers use `recover` like this."""
    found = []
    with Stream("x.gz", open_file=lambda: Dribble(data, n_bytes), keep_damaged=keep) as stream:
        while True:
            try:
                found.extend(stream.blocks())
                break
            except DamagedInput as error:
                if not stream.recover(error):
                    break
        assert stream.n_read == sum(map(len, found))
        return b"".join(found), stream.take_members(1 << 62), stream.damages


def refuse(data):
    """Return the damage that stops the reading, and what was read before."""
    found = []
    with (
        pytest.raises(DamagedInput) as caught,
        Stream("x.gz", open_file=lambda: io.BytesIO(data)) as stream,
    ):
        found.extend(stream.blocks())
    return caught.value.damage, b"".join(found)


def number_lines(start, stop):
    rng = random.Random(start)
    return b"".join(b"%d %x\n" % (k, rng.getrandbits(64)) for k in range(start, stop))


def count_same(read, data):
    """Return how many first bytes are the same."""
    pairs = enumerate(zip(read, data, strict=False))
    return next((k for k, (one, other) in pairs if one != other), min(len(read), len(data)))


def test_damage_says_which_file_where_and_how_much_was_read():
    data = number_lines(0, 200_000)
    packed = gzip.compress(data)[:1_000_000]
    damage, found = refuse(packed)
    assert data.startswith(found)
    assert len(found) > 1 << 20
    assert (damage.file, damage.byte) == ("x.gz", 1_000_000)
    assert damage.lost == f"all after the first {len(found):,} bytes of content"


@pytest.mark.parametrize("n_before", [0, 1, 3])
def test_a_stream_cut_short_anywhere_is_broken_at_its_end(n_before):
    lines = LINES[:1000]
    header = b"\x1f\x8b\x08\x1c\0\0\0\0\0\3" + b"\x04\0ab\0\0" + b"list.txt\0" + b"a note\0"
    whole = header + gzip.compress(lines, mtime=0)[10:]
    for n_left in range(2, len(whole)):
        data = whole * n_before + whole[:n_left]
        damage, found = refuse(data)
        assert damage.reason == "the file ends before its compressed stream does"
        assert damage.byte == len(data)
        assert (lines * (n_before + 1)).startswith(found)
        assert len(found) >= n_before * len(lines)


@pytest.mark.parametrize("kind", PACKERS)
def test_what_is_cut_short_is_kept_up_to_there(kind):
    packed = PACKERS[kind](number_lines(0, 5000))
    damage, _ = refuse(packed[:-5])
    assert damage.byte == len(packed) - 5
    _, _, (damage,) = read(packed[:-5])
    assert damage.lost.startswith("all ")
    assert damage.lost.endswith(", with the line that breaks off there")


@pytest.mark.parametrize("kind", PACKERS)
def test_a_corrupt_member_costs_only_itself_when_keeping(kind):
    parts = [number_lines(k, k + 1000) for k in range(0, 5000, 1000)]
    packed = [bytearray(PACKERS[kind](part)) for part in parts]
    middle = len(packed[2]) // 2
    packed[2][middle : middle + 40] = random.Random(1).randbytes(40)
    data = b"".join(packed)
    refuse(data)
    found, _, (damage,) = read(data)
    for k in (0, 1, 3, 4):
        assert parts[k] in found
    start, stop = (sum(map(len, packed[:k])) for k in (2, 3))
    assert start <= damage.byte <= stop
    assert f"byte {stop:,}, where reading went on, and up to two lines" in damage.lost


@pytest.mark.parametrize("place", [-8, -4], ids=["checksum", "length"])
def test_a_wrong_trailer_is_broken_and_what_was_decompressed_is_given_out(place):
    packed = bytearray(gzip.compress(LINES))
    packed[place] ^= 1
    damage, found = refuse(bytes(packed))
    assert "Incorrect checksum found), so that what was read since byte 0" in damage.reason
    assert found == LINES


@pytest.mark.parametrize("garbage", [b"x", b"garbage", b"\x1f", b"\x1f\x8b", b"<html>" * 100])
@pytest.mark.parametrize("padding", [b"", b"\0\0"])
def test_something_else_after_the_stream_is_broken(garbage, padding):
    damage, found = refuse(gzip.compress(LINES) + padding + garbage)
    assert found == LINES
    assert damage.byte >= len(gzip.compress(LINES))


@pytest.mark.parametrize("flip", [1, 16, 128])
@pytest.mark.parametrize("kind", ["gzip", "xz"])
def test_a_flipped_bit_in_the_middle_of_a_small_file_leaves_all_before_it(kind, flip):
    data = number_lines(0, 8000)
    packed = bytearray(PACKERS[kind](data))
    place = len(packed) // 2
    packed[place] ^= flip
    before = zlib.decompressobj(31) if kind == "gzip" else lzma.LZMADecompressor()
    whole = before.decompress(bytes(packed[:place]))
    found, _, (damage,) = read(bytes(packed))
    # What a few bytes before it stand for may go with it.
    assert count_same(found, data) > len(whole) - 100
    assert len(whole) > len(data) / 3
    assert damage.byte > place - 32


def test_a_break_in_a_large_file_loses_nothing_that_stands_well_before_it():
    data = number_lines(0, 100_000)
    packed = bytearray(gzip.compress(data))
    place = len(packed) * 3 // 4
    packed[place : place + 8] = b"\xff" * 8
    found, _, _ = read(bytes(packed))
    assert count_same(found, data) > len(data) * 0.6


def test_a_flipped_bit_costs_no_other_block_of_bzip2_that_stands_before_it():
    data = number_lines(0, 80_000)
    packed = bytearray(bz2.compress(data, 9))
    packed[len(packed) * 3 // 4] ^= 1
    found, _, _ = read(bytes(packed))
    assert len(found) > len(data) // 3
    # Nothing wrong is given out, as each block has a checksum.
    assert data.startswith(found)


@pytest.mark.parametrize("seed", range(30))
def test_damage_costs_and_says_what_it_does_when_members_are_read_one_by_one(seed, monkeypatch):
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
    found = read(data)
    monkeypatch.setattr(decompress, "_inflate_small_members", lambda _feed: ([], []))
    assert read(data) == found


def test_what_cannot_be_understood_for_damage_is_told_with_the_damage():
    packed = bytearray(gzip.compress(LINES))
    packed[-8] ^= 1

    def understand(data, **options):
        with Stream("x", open_file=lambda: io.BytesIO(data), **options) as stream:
            raise SourceError(f"{stream.beginning()[:4]} is odd")

    for keep in (False, True):
        with pytest.raises(SourceError, match=r"is odd\. That may be because .* checksum found"):
            understand(bytes(packed), keep_damaged=keep)
    with pytest.raises(SourceError, match=r"is odd$"):
        understand(gzip.compress(LINES))


def frame(magic, content):
    """Return a frame of zstd that decompressors pass over, or that holds a dictionary."""
    return magic + struct.pack("<I", len(content)) + content


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 30, "its compressed data are wrong"),
        (zstandard.compress(b"http://a.org/" * 9)[:-3], "ends before its compressed stream does"),
        (zstandard.compress(bytes(1 << 20)), "it is larger than any"),
    ],
    ids=["wrong", "cut", "huge"],
)
def test_a_broken_dictionary_is_damage(monkeypatch, content, reason):
    monkeypatch.setattr("crawlgauge.sources.decompress._MAX_DICTIONARY_BYTES", 1 << 17)
    data = frame(DICTIONARY, content) + zstandard.compress(b"http://a.org/\n")
    damage, _ = refuse(data)
    assert damage.reason.startswith("the dictionary that it begins with cannot be used")
    assert reason in damage.reason


def test_a_dictionary_serves_after_damage_too():
    lines = [b"http://a.org/with-a-long-path/%d\n" % number for number in range(9)]
    dictionary = zstandard.ZstdCompressionDict(
        lines[0] * 3, dict_type=zstandard.DICT_TYPE_RAWCONTENT
    )
    compressor = zstandard.ZstdCompressor(dict_data=dictionary, write_checksum=True)
    frames = [compressor.compress(line) for line in lines]
    frames[4] = frames[4][:-1] + bytes([frames[4][-1] ^ 1])
    found, _, damages = read(frame(DICTIONARY, dictionary.as_bytes()) + b"".join(frames))
    assert found.splitlines(keepends=True) == lines[:4] + lines[5:]
    assert len(damages) == 1


def test_a_frame_that_is_to_be_passed_over_and_is_cut_is_damage():
    damage, _ = refuse(SKIPPABLE + struct.pack("<I", 1000) + bytes(999))
    assert damage.reason == "the file ends before its compressed stream does"


@pytest.mark.parametrize("unit", [b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08\0", b"\0", b"BZh9", b"\xff"])
def test_junk_behind_a_stream_takes_time_with_its_size(unit):
    packed = gzip.compress(LINES)
    check_linear_time(lambda n_bytes: read(packed + b"x" + unit * (n_bytes // len(unit))), 200_000)
