"""ZipNum clusters: their indexes, where their parts are, and how long those must be."""

import contextlib
import gzip
import http.server
import io
import json
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.zipnum import (
    find_blocks,
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
        with Stream(str(path), keep_damaged=keep_damaged) as stream:
            parts = read_cluster(stream)
            assert bool(stream.damages) == keep_damaged
        return parts

    return run


@pytest.mark.parametrize("ending", ["", ".gz", ".cdx.gz", ".cdxj.gz"])
def test_parts_are_found_beside_the_index_with_the_bytes_they_must_have(read, tmp_path, ending):
    assert read(INDEX, f"one{ending}", f"two{ending}") == [
        (tmp_path / f"one{ending}", 375),
        (tmp_path / f"two{ending}", 328),
    ]


def test_a_file_of_locations_leads_to_the_first_path_that_exists(read, tmp_path):
    absolute = str(tmp_path / "there" / "b.gz").encode()
    locations = b"one\tnowhere.gz\tthere/a.gz\tone.gz\r\ntwo\t%b\n" % absolute
    found = read(
        INDEX, "there/a.gz", "there/b.gz", "one.gz", cluster=locations, other=b"one\tone.gz"
    )
    assert [path for path, _ in found] == [
        tmp_path / "there" / "a.gz",
        tmp_path / "there" / "b.gz",
    ]


def test_a_file_of_locations_of_another_name_serves_if_there_is_no_own(read, tmp_path):
    found = read(INDEX, "a.gz", "two.gz", places=b"one\ta.gz\n")
    assert [path for path, _ in found] == [tmp_path / "a.gz", tmp_path / "two.gz"]


def test_missing_parts_are_named(read):
    with pytest.raises(SourceError, match=r"cluster\.idx .* not found .*: two; put them there"):
        read(INDEX, "one.gz")
    index = b"".join(b"org,a)/ 2014\tpart-%02d\t0\t1\n" % number for number in range(32))
    with pytest.raises(SourceError, match=r"part-00, .*, part-29 and 2 more; put"):
        read(index)


@pytest.mark.parametrize("name", [b"x" * 5000, b"a\0b", b"\xff", b"."])
def test_names_that_no_file_can_have_are_missing(read, name):
    with pytest.raises(SourceError, match="not found beside it"):
        read(b"org,a)/ 2014\t" + name + b"\t0\t1\n")


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "..",
        "parts/../../secret",
        "parts/..",
        "/etc/passwd",
        "\\\\server\\share",
        "C:\\secret",
        "file:///etc/passwd",
        "http://127.0.0.1/secret",
        "s3://bucket/secret",
    ],
)
@pytest.mark.parametrize("form", ["lines", "json"])
def test_parts_that_lead_out_of_the_folder_are_refused(read, tmp_path, name, form):
    (tmp_path.parent / "secret").write_bytes(b"x")
    index = b"org,a)/ 2014\t%b\t0\t1\n" % name.encode()
    if form == "json":
        entry = json.dumps({"filename": name, "offset": 0, "length": 1})
        index = JSON_INDEX + f"org,a)/ 2014 {entry}\n".encode()
    with pytest.raises(SourceError, match=r"names a part .* leads out of its folder.*not trust it"):
        read(index, "index.cdx.gz", cluster=b"%b\tindex.cdx.gz\n" % name.encode())


def test_parts_may_lie_in_folders_below_and_have_dots_in_their_names(read, tmp_path):
    (part, other) = read(
        b"org,a)/ 2014\tparts/one..two\t0\t1\norg,b)/ 2014\t..one\t0\t1\n",
        "parts/one..two.gz",
        "..one.gz",
    )
    assert part[0] == tmp_path / "parts" / "one..two.gz"
    assert other[0] == tmp_path / "..one.gz"


def test_locations_that_cannot_be_read_are_passed_over(read, tmp_path):
    found = read(INDEX, "a.gz", "two.gz", cluster=b"one\thdfs://host/one.gz\ta.gz\n")
    assert found[0][0] == tmp_path / "a.gz"


@pytest.fixture
def serve():
    """Serve files on this machine; the address may be written with another host."""
    servers = []

    def start(files):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                content = files.get(self.path)
                self.send_response(200 if content is not None else 404)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(content or b"")

            do_HEAD = do_GET  # noqa: N815 - as the base class calls it

            def log_message(self, *_words):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server.server_port

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_an_index_on_a_server_leads_to_parts_on_the_same_server_only(serve):
    index = b"org,a)/ 2014\tone\t0\t1\n"
    secret = serve({"/secret.gz": b"x"})
    files = {"/a/cluster.idx": index, "/b/one.gz": b"x"}
    port = serve(files)
    name = f"http://127.0.0.1:{port}/a/cluster.idx"
    for place in (f"http://127.0.0.1:{secret}/secret.gz", "/etc/hostname", "file:///etc/hostname"):
        files["/a/cluster.loc"] = f"one\t{place}\n".encode()
        with Stream(name) as stream, pytest.raises(SourceError, match="not found beside it"):
            read_cluster(stream)
    files["/a/cluster.loc"] = b"one\t/b/one.gz\n"
    with Stream(name) as stream:
        ((path, _),) = read_cluster(stream)
    assert str(path) == f"http://127.0.0.1:{port}/b/one.gz"


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
def test_a_cluster_of_impossible_parts_is_refused_in_words_that_can_be_printed(
    read, entry, message
):
    with pytest.raises(SourceError, match=message) as error:
        read(b'!meta 0 {"format": "cdxj-gzip-1.0"}\norg,a)/ 20200101000000 ' + entry + b"\n")
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "piece", [b" ", b"\t", b"a", b" 2014", b"a 2014\t", b"!meta ", b"{", b"\n", b" \n"], ids=repr
)
def test_no_bytes_that_repeat_take_longer_than_others(read, piece):
    start = time.process_time()
    data = piece * (1_000_000 // len(piece))
    looks_like_zipnum_index(data)
    looks_like_zipnum_locations(data)
    with contextlib.suppress(SourceError):
        read(INDEX + data + b"\n", "one", "two")
    assert time.process_time() - start < 8


def test_the_index_of_a_web_archive_collection_is_understood(read, tmp_path):
    assert read(JSON_INDEX, "index.cdx.gz") == [(tmp_path / "index.cdx.gz", 395)]


def test_nothing_is_needed_of_an_index_that_names_no_block(tmp_path):
    path = tmp_path / "index.idx"
    path.write_bytes(JSON_INDEX.partition(b"\n")[0] + b"\n")
    with Stream(str(path)) as stream:
        assert find_blocks(stream, [b"org,iana"], is_alone=False) == []


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
    parts = read(INDEX[:-10], "one", "two", keep_damaged=True)
    assert [n_bytes for _, n_bytes in parts] == [275, 328]


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
        Stream("-", open_file=lambda: io.BytesIO(INDEX)) as stream,
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
