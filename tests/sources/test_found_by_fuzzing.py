"""Hostile files that a reader once did not stand, made as small as they can be."""

import gzip
import io
import struct
import zipfile

import polars as pl
import pytest
import zstandard
from linear_time import check_linear_time
from readings import read_data, urls

from crawlgauge.errors import DamagedInput, SourceError

CDXJ = b'org,a)/ 20200101000000 {"url": "http://a.org/", "filename": "a.warc"}\n'


def pack(**members):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    return target.getvalue()


def test_a_broken_index_in_a_wacz_whose_checksum_is_wrong_too_is_got_over():
    packed = gzip.compress(CDXJ, mtime=0)
    data = pack(**{"indexes/index.cdx.gz": packed})
    data = data.replace(packed, packed[:10] + b"\xff" + packed[11:])
    with pytest.raises(DamagedInput, match=r"index\.cdx\.gz is damaged"):
        read_data(data)
    found = read_data(data, keep=True)
    assert found.urls == []
    (damage,) = found.damages
    assert damage.reason.startswith("its compressed data are wrong")


def test_what_is_said_of_a_broken_footer_can_be_printed():
    target = io.BytesIO()
    pl.DataFrame({"url": ["http://a.org/"]}).write_parquet(target)
    whole = target.getvalue()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    messages = []
    for place in range(start, len(whole) - 8):
        for kind in (0x0E, 0x0F):
            try:
                read_data(whole[:place] + bytes([kind]) + whole[place + 1 :])
            except SourceError as error:
                messages.append(str(error))
    assert len(messages) > 100
    assert all(text.isprintable() for text in messages)


def test_a_dictionary_serves_after_damage_too():
    lines = [b"http://a.org/with-a-long-path/%d\n" % number for number in range(9)]
    dictionary = zstandard.ZstdCompressionDict(
        lines[0] * 3, dict_type=zstandard.DICT_TYPE_RAWCONTENT
    )
    compressor = zstandard.ZstdCompressor(dict_data=dictionary, write_checksum=True)
    frames = [compressor.compress(line) for line in lines]
    frames[4] = frames[4][:-1] + bytes([frames[4][-1] ^ 1])
    content = dictionary.as_bytes()
    data = b"\x5d\x2a\x4d\x18" + struct.pack("<I", len(content)) + content + b"".join(frames)
    found = read_data(data, keep=True)
    # The first line behind the gap might have been cut.
    assert [url + b"\n" for url in found.urls] == lines[:4] + lines[6:]
    assert len(found.damages) == 1


def test_names_of_members_that_are_no_text_can_be_printed():
    line = CDXJ.replace(b'"filename"', b'"na\xe1me"')
    with pytest.raises(SourceError, match=r"has no field 'filename'.*url, na\?me") as error:
        read_data(line, group="filename")
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
def test_a_cluster_of_impossible_parts_is_refused(entry, message):
    with pytest.raises(SourceError, match=message) as error:
        read_data(META + entry + b"\n", "index.idx")
    assert str(error.value).isprintable()


def test_many_cells_before_a_quote_take_no_longer_than_others():
    def run(n_cells):
        row = b"http://a.org/," + b"a," * n_cells + b'"x"\n'
        assert read_data(b"url,other\n" + row).urls == urls("http://a.org/")

    check_linear_time(run, 100_000)


def test_names_in_a_wacz_that_are_no_text_can_be_printed():
    package = b'{"resources": [{"path": "indexes/\\u0000\\ud800\\u202e.cdx.gz", "bytes": 5}]}'
    data = pack(**{"indexes/index.cdx": CDXJ, "datapackage.json": package})
    with pytest.raises(DamagedInput, match=r"!/indexes/\ufffd{3}\.cdx\.gz is damaged") as error:
        read_data(data)
    assert str(error.value).isprintable()


@pytest.mark.parametrize("keep", [False, True])
def test_what_damage_has_made_no_text_is_told_to_be_damaged(keep):
    packed = bytearray(gzip.compress(b"http://a.org/\n\0\0" * 9, mtime=0))
    packed[-8] ^= 1
    with pytest.raises(SourceError, match=r"is no text file.* because .*ncorrect checksum"):
        read_data(bytes(packed), keep=keep)


def test_where_the_beginning_is_lost_the_rest_of_a_line_is_not_taken_for_one():
    lines = b"".join(b"http://a.org/%d\n" % number for number in range(9))
    members = [gzip.compress(part, mtime=0) for part in (lines[:20], lines[20:])]
    broken = members[0][:10] + b"\xff" * (len(members[0]) - 10) + members[1]
    found = read_data(broken, keep=True)
    assert found.urls == lines.split()[2:]
    (damage,) = found.damages
    assert damage.reason.startswith("its compressed data are wrong")


@pytest.mark.parametrize("time", ["1990-01-01T00:00:00+14:00", "2200-12-31T23:59:60"])
def test_a_time_that_its_zone_leads_out_of_all_years_is_none(time):
    found = read_data(f'{{"url": "http://a.org/", "time": "{time}"}}\n'.encode())
    assert found.column("time") == [None]
