"""URL lists as people have them, and files that are something else."""

import gzip

import pyarrow as pa
import pytest

from crawlgauge.errors import SourceError
from crawlgauge.sources import byte_stream
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.records import MAX_URL_BYTES

A, B = b"http://a.org/", b"https://b.org/x?y=z#part"


@pytest.mark.parametrize(
    "data",
    [
        A + b"\n" + B + b"\n",
        A + b"\n" + B,
        A + b"\r\n" + B + b"\r\n",
        A + b"\r\n" + B + b"\r",
        b"\xef\xbb\xbf" + A + b"\n" + B,
        b"\n\n" + A + b"\n  \t\n# comment\n  # another\n  " + B + b"  \n\n",
        gzip.compress(A + b"\n") + gzip.compress(B + b"\n"),
    ],
    ids=["newlines", "no last one", "CRLF", "no last LF", "BOM", "blanks and comments", "gzip"],
)
def test_every_usual_form_of_a_list_gives_its_urls(read_file, data):
    found = read_file(data)
    assert found.urls == [A, B]
    assert not found.rejected
    assert not found.excluded


def test_lines_are_rejected_or_left_out_by_reason(read_file):
    found = read_file(
        b"example.org/page\nexample.org:8080/\nwww.a.org\n//a.org/\n/path\n3a://x/\n"
        b"http://\nhttp:///path\nhttp://?query\nhttp://#part\nhttp:// a.org/\n"
        b"dns:example.org\nmailto:a@b.org\nmetadata:x\nhttp:/a.org\nftp://a.org/file\n"
    )
    assert found.rejected == {"no-scheme": 6, "no-host": 5}
    assert found.excluded == {"other-scheme": 4}
    assert found.urls == [b"ftp://a.org/file"]


def test_bytes_of_any_encoding_are_kept_as_they_are(read_file):
    urls = [b"http://a.org/\xe4", "http://ä.org/ü".encode(), b"http://a.org/a b"]
    assert read_file(b"\n".join(urls)).urls == urls


def test_a_rejected_line_is_told_with_file_line_offset_and_readable_text(read_file):
    found = read_file(b"\xef\xbb\xbf" + A + b"\n  bad\x1b[31m\xff" + b"y" * 100 + b"  \n")
    (example,) = found.examples
    assert (example.file, example.line, example.offset) == ("list.txt", 2, 3 + len(A) + 1 + 2)
    assert example.reason == "no-scheme"
    assert example.text.startswith("bad\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}yyy")
    assert example.text.endswith("y…")
    assert example.text.isprintable()


def test_lines_and_offsets_are_right_over_several_blocks(read_file, monkeypatch):
    monkeypatch.setattr(byte_stream, "BLOCK_BYTES", 100)
    monkeypatch.setattr(byte_stream, "_CHUNK_BYTES", 30)
    lines = [b"bad line %d" % k if k % 7 == 0 else b"http://a.org/%d" % k for k in range(1, 200)]
    data = b"\n".join(lines)
    found = read_file(data)
    assert len(found.urls) == sum(line.startswith(b"http") for line in lines)
    assert len(found.examples) == 28
    for example in found.examples:
        assert lines[example.line - 1] == example.text.encode()
        assert data[example.offset :].startswith(example.text.encode() + b"\n")


def test_the_longest_line_is_taken_and_one_byte_more_is_not(read_file):
    longest = A.ljust(MAX_URL_BYTES, b"x")
    found = read_file(longest + b"\r\n" + longest + b"x\n" + B)
    assert found.urls == [longest, B]
    assert found.rejected == {"too-long": 1}
    assert found.examples[0].offset == MAX_URL_BYTES + 2


@pytest.mark.parametrize("n_bytes", [MAX_URL_BYTES + 1, 1 << 20, 5_000_000])
@pytest.mark.parametrize("after", [b"", b"\n", b"\n" + B, b"\r\n\r\n" + B + b"\nbad\n"])
def test_a_line_over_several_blocks_is_one_rejection(read_file, n_bytes, after):
    long_line = b"http://long.org/".ljust(n_bytes, b"x")
    found = read_file(A + b"\n" + long_line + after)
    assert found.urls == ([A, B] if B in after else [A])
    assert found.rejected["too-long"] == 1
    first, *others = found.examples
    assert (first.line, first.offset, first.reason) == (2, len(A) + 1, "too-long")
    assert first.text == "http://long.org/" + "x" * 64 + "…"
    assert [(item.line, item.offset) for item in others] == (
        [(5, len(A) + 1 + n_bytes + 4 + len(B) + 1)] if b"bad" in after else []
    )


def test_two_long_lines_are_two_rejections(read_file):
    long_line = b"x" * 3_000_000 + b"\n"
    found = read_file(long_line + A + b"\n" + long_line + B)
    assert found.urls == [A, B]
    assert [(item.line, item.offset) for item in found.examples] == [(1, 0), (3, 3_000_015)]


@pytest.mark.parametrize("line", [b"#" + b"x" * 3_000_000, b" " * 3_000_000], ids=["#", "blank"])
def test_a_comment_and_a_blank_line_are_passed_over_whatever_their_length(read_file, line):
    found = read_file(A + b"\n" + line + b"\n" + B)
    assert found.urls == [A, B]
    assert not found.rejected


OTHER_FILES = {
    "UTF-16 without mark": ("http://a.org/\n".encode("utf-16-le"), "no text file"),
    "binary": (b"\x7fELF\0\0\0", "no text file"),
    "NUL after lines": (A + b"\n\0\0\0", "no text file"),
}


@pytest.mark.parametrize("what", OTHER_FILES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_of_another_kind_is_refused_by_name(read_file, what, pack):
    data, message = OTHER_FILES[what]
    with pytest.raises(SourceError, match=message) as caught:
        read_file(pack(data))
    assert "list.txt" in str(caught.value)


def test_a_byte_order_mark_is_recognised(scan):
    marked = b"\xef\xbb\xbf" + A
    assert scan(marked).urls == [A]
    assert scan(marked[:3], marked[3:]).urls == [A]


def test_nothing_gives_nothing(read_file, scan):
    assert read_file(b"").urls == []
    assert scan().urls == []


def test_a_batch_checks_its_columns():
    urls = pa.array([A, B])
    with pytest.raises(TypeError, match="url must be binary, not string"):
        Captures(url=pa.array(["http://a.org/"]))
    with pytest.raises(ValueError, match="differ in length"):
        Captures(url=urls, status=pa.array([200], pa.int32()))
    batch = Captures(url=urls, status=pa.array([200, 404], pa.int32()), rejected={"no-host": 1})
    with pytest.raises(TypeError):
        batch.rejected["no-host"] = 2
