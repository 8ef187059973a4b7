"""Hostile files that a reader once did not stand, made as small as they can be."""

import gzip
import io
import re
import struct
import time
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources import compression
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.reading import ArchiveReader
from crawlgauge.sources.request import Request

CDXJ = b'org,a)/ 20200101000000 {"url": "http://a.org/", "filename": "a.warc"}\n'
DICTIONARY, SKIPPABLE = b"\x5d\x2a\x4d\x18", b"\x50\x2a\x4d\x18"


@pytest.fixture
def read(tmp_path):
    """Write a file, read it as any format, and return the URLs and the damage got over."""

    def run(data, *, keep_damaged=False, group=None, name="input"):
        path = tmp_path / name
        path.write_bytes(data)
        reader = ArchiveReader(
            InputFiles(names=(str(path),), repeated=()),
            Request(group=group),
            keep_damaged=keep_damaged,
        )
        urls = [url for batch in reader.captures() for url in batch.url.to_pylist()]
        return urls, [damage.reason for damage in reader.damages]

    return run


def frame(magic, content):
    """Return a frame of zstd that decompressors pass over, or that holds a dictionary."""
    return magic + struct.pack("<I", len(content)) + content


def test_a_broken_index_in_a_wacz_whose_checksum_is_wrong_too_is_got_over(read):
    packed = gzip.compress(CDXJ, mtime=0)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("indexes/index.cdx.gz", packed)
    data = target.getvalue().replace(packed, packed[:10] + b"\xff" + packed[11:])
    with pytest.raises(DamagedInput, match=r"index\.cdx\.gz is damaged"):
        read(data)
    urls, (reason,) = read(data, keep_damaged=True)
    assert urls == []
    assert reason.startswith("its compressed data are wrong")


def test_what_arrow_says_of_a_broken_footer_can_be_printed(read):
    target = io.BytesIO()
    pq.write_table(pa.table({"url": ["http://a.org/"]}), target)
    whole = target.getvalue()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    messages = []
    for place in range(start, len(whole) - 8):
        for kind in (0x0E, 0x0F):
            try:
                read(whole[:place] + bytes([kind]) + whole[place + 1 :])
            except SourceError as error:
                messages.append(str(error))
    assert any("don't know what type: \N{REPLACEMENT CHARACTER}" in text for text in messages)
    assert all(text.isprintable() for text in messages)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 30, "is wrong (zstd decompressor error"),
        (zstandard.compress(b"http://a.org/" * 9)[:-3], "ends early"),
        (zstandard.compress(bytes(1 << 20)), "is larger than any"),
    ],
    ids=["wrong", "cut", "huge"],
)
def test_a_broken_dictionary_is_damage(read, monkeypatch, content, reason):
    monkeypatch.setattr(compression, "_MAX_DICTIONARY_BYTES", 1 << 17)
    data = frame(DICTIONARY, content) + zstandard.compress(b"http://a.org/\n")
    with pytest.raises(
        DamagedInput, match=re.escape(f"the dictionary that it begins with {reason}")
    ):
        read(data)
    _, damages = read(data, keep_damaged=True)
    assert reason in damages[0]


def test_a_dictionary_serves_after_damage_too(read):
    lines = [b"http://a.org/with-a-long-path/%d\n" % number for number in range(9)]
    dictionary = zstandard.ZstdCompressionDict(
        lines[0] * 3, dict_type=zstandard.DICT_TYPE_RAWCONTENT
    )
    compressor = zstandard.ZstdCompressor(dict_data=dictionary, write_checksum=True)
    frames = [compressor.compress(line) for line in lines]
    frames[4] = frames[4][:-1] + bytes([frames[4][-1] ^ 1])
    urls, damages = read(
        frame(DICTIONARY, dictionary.as_bytes()) + b"".join(frames), keep_damaged=True
    )
    # The first line behind the gap might have been cut.
    assert [url + b"\n" for url in urls] == lines[:4] + lines[6:]
    assert len(damages) == 1


def test_a_huge_frame_that_is_to_be_passed_over_is_not_held(monkeypatch):
    n_held = []
    take = compression.Feed.take
    monkeypatch.setattr(compression.Feed, "take", lambda feed, n: n_held.append(n) or take(feed, n))
    data = frame(SKIPPABLE, bytes(3_000_000)) + zstandard.compress(b"http://a.org/\n")
    with ByteStream("x", open_file=lambda: io.BytesIO(data)) as stream:
        assert b"".join(stream.blocks()) == b"http://a.org/\n"
    assert max(n_held) == 4


def test_a_few_bytes_that_stand_for_many_are_given_out_in_parts():
    data = zstandard.compress(b"\n" * (16 << 20))
    with ByteStream("x", open_file=lambda: io.BytesIO(data)) as stream:
        sizes = [len(block) for block in stream.blocks()]
    assert sum(sizes) == 16 << 20
    assert max(sizes) <= 5 << 20


def test_a_frame_that_is_to_be_passed_over_and_is_cut_is_damage(read):
    with pytest.raises(DamagedInput, match="the file ends before its compressed stream does"):
        read(SKIPPABLE + struct.pack("<I", 1000) + bytes(999))


def test_names_of_members_that_are_no_text_can_be_printed(read):
    line = CDXJ.replace(b'"filename"', b'"na\xe1me"')
    with pytest.raises(SourceError, match=r"has no field 'filename'.*url, na\?me") as error:
        read(line, group="filename")
    assert str(error.value).isprintable()


META = b'!meta 0 {"format": "cdxj-gzip-1.0"}\norg,a)/ 20200101000000 '


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (b'{"filename": "\\ud800", "offset": 0, "length": 1}', r"were not found .*: \?; put"),
        (b'{"filename": "a\\u0000b", "offset": 0, "length": 1}', r"were not found .*: a.b; put"),
        (b'{"filename": "a", "offset": %b, "length": 1}' % (b"9" * 4300), "lacks filename, offset"),
        (b'{"filename": "a", "offset": -5, "length": 1}', "lacks filename, offset or length"),
    ],
    ids=["surrogate", "null", "many-digits", "negative"],
)
def test_a_cluster_of_impossible_parts_is_refused(read, entry, message):
    with pytest.raises(SourceError, match=message) as error:
        read(META + entry + b"\n", name="index.idx")
    assert str(error.value).isprintable()


def test_many_cells_before_a_quote_take_no_longer_than_others(read):
    for n_cells in (1, 300_000):  # the first compiles
        row = b"http://a.org/," + b"a," * n_cells + b'"x"\n'
        start = time.process_time()
        assert read(b"url,other\n" + row) == ([b"http://a.org/"], [])
    # Looking for the quote from each cell took many seconds; once takes some milliseconds.
    assert time.process_time() - start < 1


def test_names_in_a_wacz_that_are_no_text_can_be_printed(read):
    package = b'{"resources": [{"path": "indexes/\\u0000\\ud800\\u202e.cdx.gz", "bytes": 5}]}'
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("indexes/index.cdx", CDXJ)
        file.writestr("datapackage.json", package)
    with pytest.raises(DamagedInput, match=r"!/indexes/\ufffd{3}\.cdx\.gz is damaged") as error:
        read(target.getvalue())
    assert str(error.value).isprintable()


@pytest.mark.parametrize("keep", [False, True])
def test_what_damage_has_made_no_text_is_told_to_be_damaged(read, keep):
    packed = bytearray(gzip.compress(b"http://a.org/\n\0\0" * 9, mtime=0))
    packed[-8] ^= 1
    with pytest.raises(SourceError, match=r"is no text file.* because .* checksum is wrong"):
        read(bytes(packed), keep_damaged=keep)


def test_where_the_beginning_is_lost_the_rest_of_a_line_is_not_taken_for_one(read):
    lines = b"".join(b"http://a.org/%d\n" % number for number in range(9))
    members = [gzip.compress(part, mtime=0) for part in (lines[:20], lines[20:])]
    broken = members[0][:10] + b"\xff" * (len(members[0]) - 10) + members[1]
    urls, (reason,) = read(broken, keep_damaged=True)
    assert urls == lines.split()[2:]
    assert reason.startswith("its compressed data are wrong")
