"""One input as blocks: told by content, measured, damage noticed."""

import gzip
import hashlib
import os
import random
from pathlib import Path

import pytest

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import blocks
from crawlgauge.sources.blocks import BlockReader, fingerprint

LINES = b"".join(b"http://example.org/%d\n" % number for number in range(5000))


@pytest.fixture
def make_file(tmp_path):
    def make(data, name="list.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return make


@pytest.mark.parametrize("name", ["list.txt", "list.txt.gz", "list"])
def test_compression_is_told_by_content_not_by_name(make_file, name):
    assert b"".join(BlockReader(make_file(LINES, name)).blocks()) == LINES
    assert b"".join(BlockReader(make_file(gzip.compress(LINES), name)).blocks()) == LINES


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_large_input_comes_in_blocks_of_bounded_size(make_file, monkeypatch, pack):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr(blocks, "_CHUNK_BYTES", 1 << 10)
    found = list(BlockReader(make_file(pack(LINES))).blocks())
    assert b"".join(found) == LINES
    assert len(found) > 3
    assert min(map(len, found[:-1])) >= 1 << 14


def test_many_small_members_come_in_few_blocks(make_file):
    packed = b"".join(gzip.compress(b"http://a.org/%d\n" % k) for k in range(3000))
    assert len(list(BlockReader(make_file(packed)).blocks())) == 1


def test_size_and_checksum_are_those_of_the_file(make_file):
    packed = gzip.compress(LINES)
    path = make_file(packed)
    reader = BlockReader(path)
    for _ in reader.blocks():
        pass
    found = reader.as_input()
    assert (found.name, found.n_bytes) == (path, len(packed))
    assert found.checksum == f"sha256:{hashlib.sha256(packed).hexdigest()}"
    assert fingerprint(path) == found


def test_progress_adds_up_to_the_size_of_the_file(make_file):
    packed = gzip.compress(LINES)
    steps = []
    for _ in BlockReader(make_file(packed), steps.append).blocks():
        pass
    assert sum(steps) == len(packed)
    steps.clear()
    fingerprint(make_file(packed), steps.append)
    assert sum(steps) == len(packed)


def test_before_reading_there_is_no_checksum(make_file):
    with pytest.raises(ValueError, match="nothing has been read"):
        BlockReader(make_file(LINES)).as_input()


def test_an_empty_file_is_empty(make_file):
    assert b"".join(BlockReader(make_file(b"")).blocks()) == b""


def test_standard_input_is_read_and_stays_open(make_file, monkeypatch):
    with Path(make_file(gzip.compress(LINES))).open("rb") as file:
        monkeypatch.setattr("sys.stdin", file)
        assert b"".join(BlockReader("-").blocks()) == LINES
        os.fstat(file.fileno())


def test_damage_says_which_file_where_and_how_much_was_read(make_file):
    rng = random.Random(1)
    data = b"".join(b"http://example.org/%x\n" % rng.getrandbits(64) for _ in range(200_000))
    packed = gzip.compress(data)[:1_000_000]
    path = make_file(packed)
    found = []
    with pytest.raises(DamagedInput) as caught:
        found.extend(BlockReader(path).blocks())
    read = b"".join(found)
    assert data.startswith(read)
    assert len(read) > 1 << 20
    message = str(caught.value)
    assert path in message
    assert "at byte 1,000,000" in message
    assert f"{len(read):,} bytes of text were read" in message
    assert "--on-damage keep" in message


def test_damage_in_a_late_member_tells_its_place_and_not_the_end_of_the_file(make_file):
    good = gzip.compress(LINES)
    path = make_file(good + b"garbage" + good * 100)
    with pytest.raises(DamagedInput, match=r"at byte [\d,]+") as caught:
        list(BlockReader(path).blocks())
    place = int(str(caught.value).split("at byte ")[1].split(":")[0].replace(",", ""))
    assert len(good) <= place < len(good) + blocks._CHUNK_BYTES


@pytest.mark.parametrize("read", [lambda name: list(BlockReader(name).blocks()), fingerprint])
def test_what_cannot_be_opened_is_named(tmp_path, read):
    with pytest.raises(SourceError, match=r"cannot read .*none: No such file"):
        read(str(tmp_path / "none"))
    with pytest.raises(SourceError, match="Is a directory"):
        read(str(tmp_path))


def test_a_disk_that_fails_while_reading_is_an_error(monkeypatch):
    class FailingFile:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def read(self, _):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(blocks, "_open", lambda _: FailingFile())
    with pytest.raises(SourceError, match=r"cannot read list\.txt: Input/output error"):
        list(BlockReader("list.txt").blocks())
