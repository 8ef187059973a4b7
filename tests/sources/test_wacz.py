"""WACZ files, whole and broken, honest and not."""

import contextlib
import gzip
import hashlib
import io
import json
import logging
import os
import random
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.wacz import looks_like_wacz, open_wacz
from crawlgauge.sources.what_counts import Settings

INDEX = b'org,a)/ 20200101000000 {"url": "http://a.org/"}\n' * 50
WARC = b"WARC/1.0\r\nWARC-Type: warcinfo\r\n\r\n" * 20
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


def describe(files, **changes):
    resources = [
        {"path": name, "bytes": len(data), "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        for name, data in files.items()
    ]
    for resource in resources:
        resource.update(changes.get(resource["path"].rpartition("/")[2].partition(".")[0], {}))
    return json.dumps({"profile": "data-package", "resources": resources}).encode()


def pack(files, package=True, method=STORED):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in files.items():
            file.writestr(zipfile.ZipInfo(name), data, method)
        if package:
            text = describe(files) if package is True else package
            file.writestr(zipfile.ZipInfo("datapackage.json"), text, DEFLATED)
    return target.getvalue()


@pytest.fixture
def read(tmp_path):
    def read_members(data, *, keep=False, max_expansion=500.0, levels=("url",)):
        path = tmp_path / "a.wacz"
        path.write_bytes(data)
        found, damages = {}, []
        settings = Settings(keep_damaged=keep, max_expansion=max_expansion, levels=levels)
        with Stream(str(path), keep_damaged=keep) as stream:
            for member in open_wacz(stream, settings):
                with member:
                    content = []
                    try:
                        content.extend(member.blocks())
                    except DamagedInput as error:
                        member.recover(error)
                    found[member.name.partition("a.wacz")[2]] = b"".join(content)
                    damages += member.damages
            return found, [*stream.damages, *damages]

    return read_members


@pytest.mark.parametrize("method", [STORED, DEFLATED])
@pytest.mark.parametrize("name", ["index.cdx", "index.cdxj", "sub/part-1.CDXJ"])
def test_the_indexes_are_read_where_there_are_any(read, method, name):
    files = {f"indexes/{name}": INDEX, "indexes/index.idx": b"x", "archive/a.warc": WARC}
    assert read(pack(files, method=method)) == ({f"!/indexes/{name}": INDEX}, [])


def test_compressed_indexes_are_decompressed(read):
    files = {"indexes/index.cdx.gz": gzip.compress(INDEX), "archive/a.warc": WARC}
    assert read(pack(files, method=DEFLATED)) == ({"!/indexes/index.cdx.gz": INDEX}, [])


@pytest.mark.parametrize("index", [{}, {"indexes/index.cdx": b""}, {"indexes/index.idx": b"x"}])
def test_without_indexes_the_warc_files_are_read_in_order_of_name(read, index):
    files = {**index, "archive/b.warc.gz": gzip.compress(WARC), "archive/a.warc": WARC}
    found, damages = read(pack({**files, "archive/notes.txt": b"x"}))
    assert list(found.items()) == [("!/archive/a.warc", WARC), ("!/archive/b.warc.gz", WARC)]
    assert damages == []


def test_where_texts_are_wanted_the_warc_files_come_before_the_indexes(read):
    files = {"indexes/index.cdx": INDEX, "archive/a.warc": WARC}
    levels = ("url", "content", "text")
    assert read(pack(files), levels=levels)[0] == {"!/archive/a.warc": WARC}
    assert read(pack({"indexes/index.cdx": INDEX}), levels=levels)[0] == {
        "!/indexes/index.cdx": INDEX
    }


def test_a_missing_datapackage_is_said(read, caplog):
    caplog.set_level(logging.WARNING)
    found, damages = read(pack({"indexes/index.cdx": INDEX}, package=False))
    assert found == {"!/indexes/index.cdx": INDEX}
    assert damages == []
    assert "has no datapackage.json" in caplog.text


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.txt": b"x"}, r"no WACZ: it has no archive/.*unpack it"),
        ({}, "no WACZ"),
        ({"archive/x.txt": b"x"}, "a WACZ without captures"),
        ({"archive/a.warc": b""}, "a WACZ without captures"),
        ({"indexes/index.cdx": INDEX, "../x": b""}, r"called '\.\./x', which leads out"),
        ({"indexes/index.cdx": INDEX, "a/../../x": b""}, "which leads out"),
        ({"indexes/index.cdx": INDEX, "a\\..\\x": b""}, "which leads out"),
        ({"indexes/index.cdx": INDEX, "/etc/passwd": b""}, "which leads out"),
        ({"indexes/index.cdx": INDEX, "C:/x": b""}, "which leads out"),
    ],
)
def test_other_and_dishonest_zip_files_are_refused(read, files, message):
    with pytest.raises(SourceError, match=message):
        read(pack(files, package=False))


def test_two_files_of_one_name_are_refused(read):
    data = pack({"indexes/index.cdx": INDEX, "indexes/index.cdy": WARC}, package=False)
    with pytest.raises(SourceError, match=r"two files called 'indexes/index.cdx'"):
        read(data.replace(b"index.cdy", b"index.cdx"))


def test_files_that_lie_over_each_other_are_refused(read):
    data = bytearray(pack({"indexes/a.cdx": INDEX, "indexes/b.cdx": INDEX}, package=False))
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, second + 42, 40)
    with pytest.raises(SourceError, match="lie over each other"):
        read(bytes(data))


def test_encrypted_files_are_refused(read):
    data = bytearray(pack({"indexes/index.cdx": INDEX}, package=False))
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(SourceError, match=r"indexes/index.cdx is damaged.*is encrypted"):
        read(bytes(data))


def test_a_cut_file_is_damaged_as_a_whole(read):
    data = pack({"indexes/index.cdx": INDEX})
    for cut in (4, len(data) // 2, len(data) - 1):
        with pytest.raises(DamagedInput, match=r"directory at its end.*lost: all of it"):
            read(data[:cut])
        found, damages = read(data[:cut], keep=True)
        assert found == {}
        assert len(damages) == 1


def test_a_wrong_checksum_is_damage_after_all_has_been_given_out(read):
    for package in (True, False):
        data = pack({"indexes/index.cdx": INDEX}, package)
        broken = data.replace(b"http://a.org/", b"http://b.org/", 1)
        with pytest.raises(DamagedInput, match=r"a.wacz!/indexes/index.cdx .* checksum is wrong"):
            read(broken)
        found, (damage,) = read(broken, keep=True)
        assert found["!/indexes/index.cdx"].count(b"http://a.org/") == 49
        assert len(found["!/indexes/index.cdx"]) == len(INDEX)
        assert damage.file.endswith("a.wacz!/indexes/index.cdx")


def noise(n_bytes):
    return random.Random(7).randbytes(n_bytes)


def test_wrong_compressed_data_are_damage_and_other_files_are_kept(read):
    files = {"archive/a.warc": noise(200_000), "archive/b.warc": WARC}
    data = bytearray(pack(files, package=False, method=DEFLATED))
    middle = 100_000
    data[middle : middle + 50] = b"\xff" * 50
    with pytest.raises(DamagedInput, match=r"a.wacz!/archive/a.warc is damaged"):
        read(bytes(data))
    found, damages = read(bytes(data), keep=True)
    assert found["!/archive/b.warc"] == WARC
    assert files["archive/a.warc"].startswith(found["!/archive/a.warc"][:60_000])
    assert len(found["!/archive/a.warc"]) >= 60_000
    assert len(damages) == 1


def test_of_compressed_data_that_break_all_is_given_out_that_stands_before(read):
    rng = random.Random(3)
    index = b"".join(b"org,a)/%x\n" % rng.getrandbits(64) for _ in range(4000))
    data = bytearray(pack({"indexes/index.cdx": index}, method=DEFLATED))
    place = len(data) // 2
    data[place : place + 9] = b"\xff" * 9
    found, damages = read(bytes(data), keep=True)
    (content,) = found.values()
    assert len(content) > len(index) // 3
    assert content.startswith(index[: len(index) // 3])
    assert damages


def test_a_file_of_which_nothing_can_be_read_is_damage(read):
    files = {"archive/a.warc": noise(500), "archive/b.warc": WARC}
    data = bytearray(pack(files, package=False, method=DEFLATED))
    # Deflate knows no blocks of this type.
    data[30 + len("archive/a.warc")] = 0x07
    with pytest.raises(DamagedInput, match=r"archive/a.warc is damaged at byte 0"):
        read(bytes(data))
    found, damages = read(bytes(data), keep=True)
    assert found == {"!/archive/b.warc": WARC}
    assert [damage.lost for damage in damages] == ["all of it"]


def test_a_file_that_does_not_begin_where_it_should_is_damage(read):
    data = bytearray(pack({"archive/a.warc": WARC, "archive/b.warc": WARC}, package=False))
    data[data.index(b"PK\x03\x04", 10)] = 0
    found, damages = read(bytes(data), keep=True)
    assert found == {"!/archive/a.warc": WARC}
    assert "it cannot be unpacked (Bad magic number" in damages[0].reason


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bytes": 7}, r"index.cdx is damaged: it has .* bytes, and datapackage.json says 7"),
        ({"hash": "sha256:" + "0" * 64}, "its sha256 is not the one that datapackage.json states"),
        ({"hash": "md5:" + "0" * 32}, "its md5 is not the one"),
        ({"hash": None, "stats": {"hash": "0" * 64}, "hashing": "sha256"}, "its sha256 is not"),
        ({"path": "indexes/other.cdx"}, r"other.cdx is damaged: datapackage.json lists it, but"),
    ],
)
def test_a_datapackage_that_says_otherwise_is_damage(read, changes, message):
    files = {"indexes/index.cdx": INDEX}
    data = pack(files, describe(files, index=changes))
    with pytest.raises(DamagedInput, match=message):
        read(data)
    found, damages = read(data, keep=True)
    assert found == {"!/indexes/index.cdx": INDEX}
    assert len(damages) == 1


@pytest.mark.parametrize(
    "changes", [{"hash": "crc9:12"}, {"hash": "sha256:12"}, {"hash": 5}, {"bytes": "many"}]
)
def test_what_a_datapackage_says_in_unknown_ways_is_not_compared(read, changes):
    files = {"indexes/index.cdx": INDEX}
    assert read(pack(files, describe(files, index=changes)))[1] == []


def test_what_holds_no_captures_is_not_compared(read):
    files = {"indexes/index.cdx": INDEX, "pages/pages.jsonl": b"x"}
    data = pack(files, describe(files, pages={"bytes": 7, "hash": "sha256:" + "0" * 64}))
    assert read(data) == ({"!/indexes/index.cdx": INDEX}, [])


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"resources": 1}', b"\xff", b"[" * 100_000])
def test_a_datapackage_that_is_none_is_damage(read, text):
    data = pack({"indexes/index.cdx": INDEX}, text)
    with pytest.raises(DamagedInput, match=r"datapackage.json is damaged: it cannot be understood"):
        read(data)
    assert read(data, keep=True)[0] == {"!/indexes/index.cdx": INDEX}


def test_a_bomb_is_damage(read, monkeypatch):
    monkeypatch.setattr("crawlgauge.sources.decompress._MIN_EXPANDED_BYTES", 1 << 16)
    data = pack({"archive/a.warc": b"\n" * 5_000_000}, method=DEFLATED)
    with pytest.raises(DamagedInput, match=r"more than 500 times its size.*--max-expansion"):
        read(data)
    assert len(read(data, max_expansion=2000)[0]["!/archive/a.warc"]) == 5_000_000


@pytest.mark.parametrize(
    "files",
    [
        {"indexes/index.cdx": b"\n" * (1 << 27)},
        {"archive/a.warc": bytes(1 << 27)},
        {"archive/a.warc.gz": gzip.compress(bytes(1 << 27))},
        {"indexes/index.cdx": INDEX, "datapackage.json": b"[" + b"{}," * (20 << 20)},
        {
            "indexes/index.cdx": INDEX,
            "datapackage.json": b'{"resources": [' + b"{}," * (1 << 20) + b"{}]}",
        },
    ],
    ids=["index", "archive", "twice compressed", "package", "small package"],
)
def test_bombs_take_little_memory_until_they_are_refused(tmp_path, files, monkeypatch):
    monkeypatch.setattr("crawlgauge.sources.decompress._MIN_EXPANDED_BYTES", 1 << 22)
    path = tmp_path / "a.wacz"
    path.write_bytes(pack(files, package=False, method=DEFLATED))
    tracemalloc.start()
    try:
        with Stream(str(path), keep_damaged=True) as stream:
            for member in open_wacz(stream, Settings(keep_damaged=True)):
                with member:
                    with contextlib.suppress(DamagedInput):
                        for _ in member.blocks():
                            pass
                    assert member.n_read < 1 << 26
        # A document of four megabytes may take a hundred as Python has it.
        assert tracemalloc.get_traced_memory()[1] < 120 << 20
    finally:
        tracemalloc.stop()


def test_names_that_are_no_text_can_be_printed(read):
    package = b'{"resources": [{"path": "indexes/\\u0000\\ud800\\u202e.cdx.gz", "bytes": 5}]}'
    with pytest.raises(DamagedInput, match=r"!/indexes/\ufffd{3}\.cdx\.gz is damaged") as error:
        read(pack({"indexes/index.cdx": INDEX}, package))
    assert str(error.value).isprintable()


def test_a_broken_index_whose_checksum_is_wrong_too_is_got_over(read):
    packed = gzip.compress(INDEX, mtime=0)
    data = pack({"indexes/index.cdx.gz": packed}, package=False)
    data = data.replace(packed, packed[:10] + b"\xff" + packed[11:])
    with pytest.raises(DamagedInput, match=r"index\.cdx\.gz is damaged"):
        read(data)
    found, (damage,) = read(data, keep=True)
    assert found == {"!/indexes/index.cdx.gz": b""}
    assert damage.reason.startswith("its compressed data are wrong")


@pytest.mark.parametrize("number", [5, 24])
def test_a_disk_that_fails_is_an_error_and_no_damage(tmp_path, monkeypatch, number):
    path = tmp_path / "a.wacz"
    path.write_bytes(pack({"indexes/index.cdx": INDEX}))

    class FailingFile(io.BytesIO):
        def seek(self, *_):
            raise OSError(number, os.strerror(number))

    with Stream(str(path), keep_damaged=True) as stream:
        monkeypatch.setattr(Path, "open", lambda *_: FailingFile())
        with pytest.raises(OSError, match=os.strerror(number)):
            list(open_wacz(stream, Settings(keep_damaged=True)))
        assert stream.damages == []


def test_content_beyond_the_stated_size_is_damage(read):
    data = bytearray(pack({"indexes/index.cdx": INDEX}, package=False, method=DEFLATED))
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 24, 10)
    with pytest.raises(DamagedInput, match="its checksum is wrong"):
        read(bytes(data))


def test_what_cannot_be_read_in_any_order_is_told(tmp_path):
    data = pack({"indexes/index.cdx": INDEX})
    with Stream("-", open_file=lambda: io.BytesIO(data)) as stream:
        assert looks_like_wacz(stream.beginning())
        with pytest.raises(SourceError, match="save it to a file first"):
            list(open_wacz(stream, Settings()))
    packed = tmp_path / "a.wacz.gz"
    packed.write_bytes(gzip.compress(data))
    with Stream(str(packed)) as stream, pytest.raises(SourceError, match="decompress it first"):
        list(open_wacz(stream, Settings()))


def test_nothing_is_extracted(read, tmp_path):
    read(pack({"indexes/index.cdx": INDEX, "archive/a.warc": WARC}))
    assert [path.name for path in tmp_path.iterdir()] == ["a.wacz"]


@pytest.mark.parametrize("method", [STORED, DEFLATED])
def test_flipped_bytes_are_noticed_or_change_nothing(read, method):
    files = {"indexes/index.cdx": INDEX, "archive/a.warc": WARC}
    data = pack(files, method=method)
    rng = random.Random(11)
    for _ in range(300):
        broken = bytearray(data)
        place = rng.randrange(4, len(data))
        broken[place] ^= 1 << rng.randrange(8)
        try:
            found, damages = read(bytes(broken))
        except SourceError:
            continue
        assert damages == []
        # A changed name in the directory may hide the index; then the WARC file is read.
        assert found in ({"!/indexes/index.cdx": INDEX}, {"!/archive/a.warc": WARC}), place


def test_other_files_are_not_taken_for_wacz():
    for other in (b"", b"PK", b"http://a.org/", b"PAR1", b"\x1f\x8b", b"WARC/1.0"):
        assert not looks_like_wacz(other)
