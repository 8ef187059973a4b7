"""ZipNum clusters: their indexes, where their parts are, and how long those must be."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources.byte_stream import ByteStream
from crawlgauge.sources.inputs import InputFiles
from crawlgauge.sources.progress import ReadingProgress
from crawlgauge.sources.reading import ArchiveReader
from crawlgauge.sources.request import Request
from crawlgauge.sources.zipnum import (
    ClusterPart,
    looks_like_zipnum_index,
    looks_like_zipnum_locations,
    read_cluster,
)

INDEX = (
    b"com,example)/ 20140127171200\tone\t0\t275\t1\n"
    b"org,iana)/ 20140127171238\ttwo\t0\t328\t2\n"
    b"org,iana)/x 20140127171239\tone\t275\t100\t3\n"
)
JSON_INDEX = (
    b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n'
    b'com,example)/ 20220118045432 {"offset": 0, "length": 390, "digest": "sha256:51"}\n'
    b'com,example)/x 20220118045433 {"offset": 390, "length": 5}\n'
)


@pytest.fixture
def read(tmp_path):
    """Write an index and other files, and read it."""

    def run(index, *names, keep_damaged=False, **texts):
        path = tmp_path / "cluster.idx"
        path.write_bytes(index)
        for name in names:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(b"x")
        for name, text in texts.items():
            (tmp_path / f"{name}.loc").write_bytes(text)
        with ByteStream(str(path), keep_damaged=keep_damaged) as stream:
            parts = read_cluster(stream).parts
            assert bool(stream.damages) == keep_damaged
        return parts

    return run


@pytest.mark.parametrize("ending", ["", ".gz", ".cdx.gz", ".cdxj.gz"])
def test_parts_are_found_beside_the_index_with_the_bytes_they_must_have(read, tmp_path, ending):
    assert read(INDEX, f"one{ending}", f"two{ending}") == (
        ClusterPart(name="one", path=tmp_path / f"one{ending}", n_bytes=375),
        ClusterPart(name="two", path=tmp_path / f"two{ending}", n_bytes=328),
    )


def test_a_file_of_locations_leads_to_the_first_path_that_exists(read, tmp_path):
    absolute = str(tmp_path / "there" / "b.gz").encode()
    locations = b"one\tnowhere.gz\tthere/a.gz\tone.gz\r\ntwo\t%b\n" % absolute
    found = read(
        INDEX, "there/a.gz", "there/b.gz", "one.gz", cluster=locations, other=b"one\tone.gz"
    )
    assert [part.path for part in found] == [
        tmp_path / "there" / "a.gz",
        tmp_path / "there" / "b.gz",
    ]


def test_a_file_of_locations_of_another_name_serves_if_there_is_no_own(read, tmp_path):
    found = read(INDEX, "a.gz", "two.gz", places=b"one\ta.gz\n")
    assert [part.path for part in found] == [tmp_path / "a.gz", tmp_path / "two.gz"]


def test_missing_parts_are_named(read):
    with pytest.raises(SourceError, match=r"cluster\.idx .* not found .*: two; put them there"):
        read(INDEX, "one.gz")
    index = b"".join(b"org,a)/ 2014\tpart-%02d\t0\t1\n" % number for number in range(12))
    with pytest.raises(SourceError, match=r"part-00, .*, part-09 and 2 more; put"):
        read(index)


@pytest.mark.parametrize("name", [b"x" * 5000, b"a\0b", b"\xff", b"."])
def test_names_that_no_file_can_have_are_missing(read, name):
    with pytest.raises(SourceError, match="not found beside it"):
        read(b"org,a)/ 2014\t" + name + b"\t0\t1\n")


def test_the_index_of_a_web_archive_collection_is_understood(read, tmp_path):
    (part,) = read(JSON_INDEX, "index.cdx.gz")
    assert part == ClusterPart(name="index.cdx.gz", path=tmp_path / "index.cdx.gz", n_bytes=395)


def test_forms_of_line_ends_blank_lines_and_compression_do_not_matter(read):
    expected = read(INDEX, "one", "two")
    for data in (
        INDEX[:-1],
        INDEX.replace(b"\n", b"\r\n"),
        b"\n" + INDEX + b"\n\n",
        gzip.compress(INDEX),
    ):
        assert read(data, "one", "two") == expected


def test_an_index_that_ends_within_a_line_is_damaged(read):
    with pytest.raises(DamagedInput, match=r"cluster\.idx is damaged .* in the middle of a line"):
        read(INDEX[:-10], "one", "two")
    one, two = read(INDEX[:-10], "one", "two", keep_damaged=True)
    assert (one.n_bytes, two.n_bytes) == (275, 328)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (INDEX + b"rubbish\n" + INDEX, r"cluster\.idx, line 4: this is no line .*'rubbish'"),
        (INDEX + b"org,a)/ 2014\tone\t0\t-5\n", r"line 4: this is no line"),
        (b"org,a)/ 2014\tone\t0\t" + b"9" * 30 + b"\n", r"line 1: this is no line"),
        (JSON_INDEX.replace(b'"offset": 0', b'"offset": "x"'), r"lacks filename, offset or length"),
        (JSON_INDEX[65:], r"lacks filename, offset or length"),
    ],
)
def test_a_line_that_cannot_be_understood_is_an_error_that_says_where(read, index, message):
    with pytest.raises(SourceError, match=message):
        read(index, "one", "two", "index.cdx.gz")


def test_an_index_without_a_folder_cannot_be_followed():
    with (
        ByteStream("-", open_file=lambda: io.BytesIO(INDEX)) as stream,
        pytest.raises(SourceError, match="name the index as a file, or the parts themselves"),
    ):
        read_cluster(stream)


@pytest.mark.parametrize("data", [INDEX, INDEX[:20] + INDEX[20:45], INDEX[:-10], JSON_INDEX])
def test_indexes_are_recognised(data):
    assert looks_like_zipnum_index(data)
    assert not looks_like_zipnum_locations(data)


@pytest.mark.parametrize(
    "data",
    [
        b"one\tone.cdx.gz\n",
        b"one\tnowhere\t/data/one.gz\ntwo\ntwo\t/data/two.gz\n",
        b"one\thttp://host.example/one.cdx.gz\r\n",
    ],
)
def test_files_of_locations_are_recognised(data):
    assert looks_like_zipnum_locations(data)
    assert not looks_like_zipnum_index(data)


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"",
            b"\n",
            b"http://a.org/\n",
            b"one\n",
            b"WARC/1.0\r\n",
            b"url\tdate\nhttp://a.org/\t2014\n",
        ),
        b" CDX N b a\norg,a)/ 20140126200624 http://a.org/\n",
        b"\tCDX\tN\tb\ta\norg,a)/\t20140126200624\thttp://a.org/\n",
        b'org,a)/ 20140126200624 {"url": "http://a.org/"}\n',
        b"label\turl\n1\thttp://a.org/x.gz\n2\thttp://a.org/y.gz\n",
        b"http://a.org/\tx.gz\n",
        b'!meta 0 {"format": "other"}\norg,a)/ 2014 {"offset": 0, "length": 390}\n',
    ],
)
def test_other_formats_are_not_claimed(data):
    assert not looks_like_zipnum_index(data)
    assert not looks_like_zipnum_locations(data)


@given(data=st.binary(max_size=200))
def test_no_bytes_break_recognition(data):
    looks_like_zipnum_index(data)
    looks_like_zipnum_index(INDEX + data)
    looks_like_zipnum_locations(data)
    looks_like_zipnum_locations(b"one\tone.gz\n" + data)


@pytest.mark.parametrize("names", [["cluster.idx", "cluster.loc"], ["cluster.idx", "one.gz"]])
def test_an_index_whose_parts_are_inputs_too_is_not_said_to_be_empty(tmp_path, caplog, names):
    line = b'org,a)/ 20140126200624 {"url": "http://a.org/"}\n'
    packed = gzip.compress(line)
    (tmp_path / "one.gz").write_bytes(packed)
    (tmp_path / "cluster.loc").write_bytes(b"one\tone.gz\n")
    (tmp_path / "cluster.idx").write_bytes(b"org,a)/ 20140126200624\tone\t0\t%d\t1\n" % len(packed))
    steps = []
    files = InputFiles(names=tuple(str(tmp_path / name) for name in names), repeated=())
    reader = ArchiveReader(files, Request(), progress=ReadingProgress(steps.append))
    assert [url for batch in reader.captures() for url in batch.url.to_pylist()] == [
        b"http://a.org/"
    ]
    assert "holds no captures" not in caplog.text
    assert all(step.n_captures <= 1 for step in steps)
