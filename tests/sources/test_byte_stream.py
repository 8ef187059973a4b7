"""One input as blocks: told by content, measured, damage noticed."""

import bz2
import gzip
import hashlib
import lzma
import os
import random
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from crawlgauge.damage import Damage
from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import byte_stream, expansion, member_decompressor
from crawlgauge.sources.byte_stream import ByteStream, fingerprint

LINES = b"".join(b"http://example.org/%d\n" % number for number in range(5000))


def read_into(found, name):
    with ByteStream(name) as stream:
        for block in stream.blocks():
            found.append(block)


def read_all(name, **options):
    with ByteStream(name, **options) as stream:
        return list(stream.blocks())


@pytest.fixture
def make_file(tmp_path):
    def make(data, name="list.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return make


@pytest.mark.parametrize("name", ["list.txt", "list.txt.gz", "list"])
def test_compression_is_told_by_content_not_by_name(make_file, name):
    assert b"".join(read_all(make_file(LINES, name))) == LINES
    assert b"".join(read_all(make_file(gzip.compress(LINES), name))) == LINES


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_large_input_comes_in_blocks_of_bounded_size(make_file, monkeypatch, pack):
    monkeypatch.setattr(byte_stream, "BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr(byte_stream, "_CHUNK_BYTES", 1 << 10)
    found = read_all(make_file(pack(LINES)))
    assert b"".join(found) == LINES
    assert len(found) > 3
    assert len(found[0]) >= 1 << 14
    assert min(map(len, found[:-1])) >= 1 << 11


def test_many_small_members_come_in_few_blocks(make_file):
    packed = b"".join(gzip.compress(b"http://a.org/%d\n" % k) for k in range(3000))
    assert len(read_all(make_file(packed))) == 1


def test_size_and_checksum_are_those_of_the_file(make_file):
    packed = gzip.compress(LINES)
    path = make_file(packed)
    with ByteStream(path) as stream:
        assert stream.beginning()
        found = stream.finish()
    assert (found.name, found.n_bytes) == (path, len(packed))
    assert found.checksum == f"sha256:{hashlib.sha256(packed).hexdigest()}"
    assert fingerprint(path) == found


def test_progress_adds_up_to_the_size_of_the_file(make_file):
    packed = gzip.compress(LINES)
    steps = []
    read_all(make_file(packed), on_bytes=steps.append)
    assert sum(steps) == len(packed)
    steps.clear()
    fingerprint(make_file(packed), steps.append)
    assert sum(steps) == len(packed)


def test_before_reading_there_is_no_checksum(make_file):
    with pytest.raises(ValueError, match="not open"):
        ByteStream(make_file(LINES)).finish()


def test_an_empty_file_is_empty(make_file):
    assert b"".join(read_all(make_file(b""))) == b""


def test_standard_input_is_read_and_stays_open(make_file, monkeypatch):
    with Path(make_file(gzip.compress(LINES))).open("rb") as file:
        monkeypatch.setattr("sys.stdin", file)
        assert b"".join(read_all("-")) == LINES
        os.fstat(file.fileno())


def test_damage_says_which_file_where_and_how_much_was_read(make_file):
    rng = random.Random(1)
    data = b"".join(b"http://example.org/%x\n" % rng.getrandbits(64) for _ in range(200_000))
    packed = gzip.compress(data)[:1_000_000]
    path = make_file(packed)
    found = []
    with pytest.raises(DamagedInput) as caught:
        read_into(found, path)
    read = b"".join(found)
    assert data.startswith(read)
    assert len(read) > 1 << 20
    message = str(caught.value)
    assert path in message
    assert "at byte 1,000,000" in message
    assert f"lost: all after the first {len(read):,} bytes of content" in message
    assert "--on-damage keep" in message


def test_damage_in_a_late_member_tells_its_place_and_not_the_end_of_the_file(make_file):
    good = gzip.compress(LINES)
    path = make_file(good + b"garbage" + good * 100)
    with pytest.raises(DamagedInput, match=r"at byte [\d,]+") as caught:
        read_all(path)
    place = int(str(caught.value).split("at byte ")[1].split(":")[0].replace(",", ""))
    assert len(good) <= place < len(good) + byte_stream._CHUNK_BYTES


@pytest.mark.parametrize("read", [read_all, fingerprint])
def test_what_cannot_be_opened_is_named(tmp_path, read):
    with pytest.raises(SourceError, match=r"cannot read .*none: No such file"):
        read(str(tmp_path / "none"))
    with pytest.raises(SourceError, match="Is a directory"):
        read(str(tmp_path))


def test_a_disk_that_fails_while_reading_is_an_error():
    class FailingFile:
        def close(self):
            pass

        def read(self, _):
            raise OSError(5, "Input/output error")

    with pytest.raises(SourceError, match=r"cannot read list\.txt: Input/output error"):
        read_all("list.txt", open_file=FailingFile)


PACKERS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    # As the command line tool writes it; without its checksum a changed letter goes unnoticed.
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}


N_EXPANDED = 1 << 27


def number_lines(start, stop):
    rng = random.Random(start)
    return b"".join(b"%d %x\n" % (k, rng.getrandbits(64)) for k in range(start, stop))


def read_kept(path):
    """Read all that can be read, and what was damaged."""
    found = []
    with ByteStream(path, keep_damaged=True) as stream:
        while True:
            try:
                found.extend(stream.blocks())
            except DamagedInput as error:
                if not stream.recover(error):
                    break
            else:
                break
        return b"".join(found), stream.damages


@pytest.mark.parametrize("kind", PACKERS)
def test_each_compression_is_read_whole_and_member_by_member(make_file, kind):
    parts = [number_lines(k, k + 1000) for k in range(0, 5000, 1000)]
    packed = [PACKERS[kind](part) for part in parts]
    with ByteStream(make_file(b"".join(packed))) as stream:
        assert b"".join(stream.blocks()) == b"".join(parts)
        sizes = [len(part) for part in parts]
        first, *others = stream.take_members(sum(sizes)).tolist()
        assert first == [0, 0]
        assert [start for start, _ in others] == [sum(sizes[:k]) for k in range(1, 5)]
        assert [place for _, place in others] == [sum(map(len, packed[:k])) for k in range(1, 5)]
        assert not stream.take_members(sum(sizes)).size


@pytest.mark.parametrize("kind", PACKERS)
def test_a_corrupt_member_costs_only_itself_when_keeping(make_file, kind):
    parts = [number_lines(k, k + 1000) for k in range(0, 5000, 1000)]
    packed = [bytearray(PACKERS[kind](part)) for part in parts]
    middle = len(packed[2]) // 2
    packed[2][middle : middle + 40] = random.Random(1).randbytes(40)
    path = make_file(b"".join(packed))
    with pytest.raises(DamagedInput, match="is damaged at byte"):
        read_all(path)
    read, damages = read_kept(path)
    for k in (0, 1, 3, 4):
        assert parts[k] in read
    (damage,) = damages
    start, stop = (sum(map(len, packed[:k])) for k in (2, 3))
    assert start <= damage.byte <= stop
    assert f"byte {stop:,}, where reading went on, and up to two lines" in damage.lost


@pytest.mark.parametrize("kind", PACKERS)
def test_a_stream_cut_short_is_damage_at_its_end(make_file, kind):
    packed = PACKERS[kind](number_lines(0, 5000))
    path = make_file(packed[: len(packed) - 5])
    with pytest.raises(DamagedInput, match=f"at byte {len(packed) - 5:,}: the file ends before"):
        read_all(path)
    _, (damage,) = read_kept(path)
    assert damage.lost.startswith("all ")
    assert damage.lost.endswith(", with the line that breaks off there")


def count_same(read, data):
    """Return how many first bytes are the same."""
    pairs = enumerate(zip(read, data, strict=False))
    return next((k for k, (one, other) in pairs if one != other), min(len(read), len(data)))


@pytest.mark.parametrize("flip", [1, 16, 128])
@pytest.mark.parametrize("kind", ["gzip", "xz"])
def test_a_flipped_bit_in_the_middle_of_a_small_file_leaves_all_before_it(make_file, kind, flip):
    data = number_lines(0, 8000)
    packed = bytearray(PACKERS[kind](data))
    place = len(packed) // 2
    assert len(packed) < 1 << 17
    packed[place] ^= flip
    before = zlib.decompressobj(31) if kind == "gzip" else lzma.LZMADecompressor()
    whole = before.decompress(bytes(packed[:place]))
    read, (damage,) = read_kept(make_file(bytes(packed)))
    # What a few bytes before it stand for may go with it.
    assert count_same(read, data) > len(whole) - 100
    assert len(whole) > len(data) / 3
    assert damage.byte > place - 32


def test_a_flipped_bit_costs_no_other_block_of_bzip2_that_stands_before_it(make_file):
    data = number_lines(0, 40_000)
    packed = bytearray(bz2.compress(data, 1))
    packed[len(packed) * 3 // 4] ^= 1
    read, _ = read_kept(make_file(bytes(packed)))
    assert len(read) > len(data) // 2
    # Nothing wrong is given out, as each block has a checksum.
    assert data.startswith(read)


def test_of_a_member_that_is_too_large_to_be_held_only_the_last_chunk_is_lost(
    make_file, monkeypatch
):
    monkeypatch.setattr(member_decompressor, "_MAX_HELD_BYTES", 1 << 14)
    monkeypatch.setattr(byte_stream, "_CHUNK_BYTES", 1 << 12)
    data = number_lines(0, 8000)
    packed = bytearray(lzma.compress(data))
    place = len(packed) // 2
    packed[place] ^= 1
    whole = lzma.LZMADecompressor().decompress(bytes(packed[: place - (1 << 12)]))
    read, _ = read_kept(make_file(bytes(packed)))
    assert read.startswith(whole)


def refuse(path, **options):
    with ByteStream(path, **options) as stream:
        raise SourceError(f"{stream.beginning()[:4]} is odd")


@pytest.mark.parametrize("keep", [False, True])
def test_what_cannot_be_understood_for_damage_is_told_with_the_damage(make_file, keep):
    packed = bytearray(gzip.compress(LINES))
    packed[-8] ^= 1
    path = make_file(bytes(packed))
    with pytest.raises(SourceError, match=r"is odd\. That may be because .* checksum is wrong"):
        refuse(path, keep_damaged=keep)
    with pytest.raises(SourceError, match=r"is odd$"):
        refuse(make_file(gzip.compress(LINES)))


def test_a_zstd_dictionary_at_the_head_serves_all_records(make_file):
    samples = [number_lines(k, k + 20) for k in range(300)]
    dictionary = zstandard.train_dictionary(2000, samples)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    head = dictionary.as_bytes()
    for content in (head, zstandard.compress(head)):
        frame = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
        path = make_file(frame + b"".join(map(compressor.compress, samples)))
        assert b"".join(read_all(path)) == b"".join(samples)


@pytest.mark.parametrize("kind", PACKERS)
def test_what_expands_beyond_sense_is_stopped_and_can_be_allowed(make_file, monkeypatch, kind):
    monkeypatch.setattr(expansion, "_MIN_EXPANDED_BYTES", 1 << 20)
    path = make_file(PACKERS[kind](b"\n" * N_EXPANDED))
    with pytest.raises(DamagedInput, match=r"more than 500 times .* --max-expansion"):
        read_all(path)
    with ByteStream(path, keep_damaged=True) as stream:
        blocks = stream.blocks()
        with pytest.raises(DamagedInput) as caught:
            list(blocks)
        assert stream.n_read < N_EXPANDED
        assert not stream.recover(caught.value)
    assert len(b"".join(read_all(path, max_expansion=1e9))) == N_EXPANDED


def test_the_beginning_is_given_again(make_file):
    with ByteStream(make_file(gzip.compress(LINES))) as stream:
        assert stream.beginning() == stream.beginning() == LINES
        assert b"".join(stream.blocks()) == LINES


def test_so_many_damages_are_told_that_they_fit_into_memory_and_all_are_counted(make_file):
    def damage(place):
        return Damage(file="x", byte=place, reason="odd", lost="not known yet")

    with ByteStream(make_file(LINES), keep_damaged=True) as stream:
        for place in range(3000):
            stream.report(damage(place))
            stream.amend(damage(place), f"line {place}")
    assert len(stream.damages) == 1000
    assert stream.damages[998] == replace(damage(998), lost="line 998")
    assert stream.damages[999].reason == "2,001 further places are damaged"
    with pytest.raises(DamagedInput), ByteStream(make_file(LINES)) as stream:
        stream.report(damage(1))
