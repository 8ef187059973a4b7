"""URL lists as people have them, and files that are something else."""

import gzip
import re
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from readings import read_bytes, read_data, urls

from crawlgauge.errors import SourceError
from crawlgauge.sources.urls import MAX_URL_BYTES, read_url_list

A, B = b"http://a.org/", b"https://b.org/x?y=z#part"


def read(data, **wishes):
    return read_data(data, "list.txt", **wishes)


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
def test_every_usual_form_of_a_list_gives_its_urls(data):
    found = read(data)
    assert found.urls == urls(A, B)
    assert not found.rejected + found.excluded


def test_lines_are_rejected_or_left_out_by_reason():
    found = read(
        b"example.org/page\nexample.org:8080/\nwww.a.org\n//a.org/\n/path\n3a://x/\n"
        b"http://\nhttp:///path\nhttp://?query\nhttp://#part\n"
        b"dns:example.org\nmailto:a@b.org\nmetadata:x\nhttp:/a.org\nftp://a.org/file\n"
    )
    assert found.rejected == {"no-scheme": 6, "no-host": 4}
    assert found.excluded == {"other-scheme": 4}
    assert found.urls == urls("ftp://a.org/file")


def test_bytes_of_any_encoding_are_kept_as_they_are():
    names = [
        b"http://a.org/\xe4",
        "http://ä.org/ü".encode(),
        b"http://a.org/\xe2\x80",
        b"http://\xc2",
    ]
    assert read(b"\n".join(names)).urls == urls(*names)


@pytest.mark.parametrize("line", [b"http://c.org/ 200", b"http://c.org/a b", b"http://c.org/\t5"])
def test_lines_of_several_fields_among_others_are_rejected(line):
    found = read(A + b"\n" + line + b"\n" + B)
    assert (found.urls, found.rejected) == (urls(A, B), {"several-fields": 1})
    assert (found.examples[0].line, found.examples[0].offset) == (2, len(A) + 1)


@pytest.mark.parametrize(
    "mark",
    [
        b"\0",
        b"\1",
        b"\x1b[31m",
        b"\x1f",
        b"\x7f",
        "\x85".encode(),
        "\u2028".encode(),
        b"\xe2\x80\xa9",
    ],
)
def test_control_characters_and_line_ends_of_other_systems_are_rejected(mark):
    found = read(A + b"\n" + b"#" * (1 << 17) + b"\nhttp://c.org/" + mark + b"x\n" + B)
    assert (found.urls, found.rejected) == (urls(A, B), {"control-character": 1})


@pytest.mark.parametrize("end", [b"\r", b"\v", b"\f", "\x85".encode(), "\u2028".encode()])
def test_lists_whose_lines_end_otherwise_give_no_false_url(end):
    found = read(end.join([A, B, A]))
    assert not found.urls
    assert found.rejected.total() == 1


TABLES = [
    b"http://a.org/ 192.0.2.1 20040708140338 text/html 2635\n" * 3,
    b"http://a.org/\t200\n" * 3,
    b"# url status\n" + b"http://a.org/ 200\n" * 2 + A + b"\n",
]


@pytest.mark.parametrize("data", TABLES)
def test_lines_of_several_fields_that_are_of_no_known_format_are_refused(data):
    with pytest.raises(SourceError, match=r"list\.txt .* several fields, such as 'http.* --column"):
        read(data, format="urls")


def test_a_rejected_line_is_told_with_file_line_offset_and_readable_text():
    found = read(b"\xef\xbb\xbf" + A + b"\n  bad\x1b[31m\xff" + b"y" * 100 + b"  \n")
    (example,) = found.examples
    assert example.file.endswith("list.txt")
    assert (example.line, example.offset) == (2, 3 + len(A) + 1 + 2)
    assert example.reason == "control-character"
    assert example.text.startswith("bad\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}yyy")
    assert example.text.endswith("y…")
    assert example.text.isprintable()


def test_the_longest_line_is_taken_and_one_byte_more_is_not():
    longest = A.ljust(MAX_URL_BYTES, b"x")
    found = read(longest + b"\r\n" + longest + b"x\n" + B)
    assert found.urls == urls(longest, B)
    assert found.rejected == {"too-long": 1}
    assert found.examples[0].offset == MAX_URL_BYTES + 2


@pytest.mark.parametrize("n_bytes", [MAX_URL_BYTES + 1, 1 << 20, 5_000_000])
@pytest.mark.parametrize("after", [b"", b"\n", b"\n" + B, b"\r\n\r\n" + B + b"\nbad\n"])
def test_a_line_over_several_blocks_is_one_rejection(n_bytes, after):
    long_line = b"http://long.org/".ljust(n_bytes, b"x")
    found = read(A + b"\n" + long_line + after)
    assert found.urls == (urls(A, B) if B in after else [A])
    assert found.rejected["too-long"] == 1
    first, *others = found.examples
    assert (first.line, first.offset, first.reason) == (2, len(A) + 1, "too-long")
    assert first.text == "http://long.org/" + "x" * 64 + "…"
    assert [(item.line, item.offset) for item in others] == (
        [(5, len(A) + 1 + n_bytes + 4 + len(B) + 1)] if b"bad" in after else []
    )


def test_two_long_lines_are_two_rejections():
    long_line = b"x" * 3_000_000 + b"\n"
    found = read(long_line + A + b"\n" + long_line + B)
    assert found.urls == urls(A, B)
    assert [(item.line, item.offset) for item in found.examples] == [(1, 0), (3, 3_000_015)]


@pytest.mark.parametrize("line", [b"#" + b"x" * 3_000_000, b" " * 3_000_000], ids=["#", "blank"])
def test_a_comment_and_a_blank_line_are_passed_over_whatever_their_length(line):
    assert read(A + b"\n" + line + b"\n" + B).told == read(A + b"\n" + B).told


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("http://a.org/\n".encode("utf-16-le"), "no text file"),
        ("\ufeffhttp://a.org/\n".encode("utf-16"), "is UTF-16 text; convert it to UTF-8"),
        (b"\x7fELF\0\0\0", "no text file"),
        (A + b"\n\0\0\0", "no text file"),
    ],
    ids=["UTF-16 without mark", "UTF-16", "binary", "NUL after lines"],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_of_another_kind_is_refused_by_name(data, message, pack):
    with pytest.raises(SourceError, match=rf"list\.txt .*{message}"):
        read(pack(data))


def test_nothing_gives_nothing():
    assert read(b"").told == read(b"\xef\xbb\xbf").told == ([], {}, {})


# ------------------------------------------------------------------------------ a plain reading

PIECES = [
    *(b"http://", b"https://", b"HTTP://", b"dns:", b"mailto:", b"a+b-1://", b"ftps://", b"FTP://"),
    *(b"ios-app://", b"1a://", b"://", b"http:", b"http:/", b"/", b"?", b"#", b":", b".", b"a"),
    *(b"example.org", b"x" * 15, b" ", b"\t", b"\v", b"\f", b"\r", b"\r\n", b"\n", b"\n", b"\n\n"),
    *(b"\0", b"\xff", b"\xc3\xa4", b"\xc2\x85", b"\xe2\x80\xa8", b"\x7f"),
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)), max_size=40)
cuts = st.lists(st.integers(0, 400), max_size=8)


def judge(text):
    """Return what a trimmed line is: None for a URL."""
    if not text or text.startswith(b"#"):
        return "skipped"
    if len(text) > MAX_URL_BYTES:
        return "too-long"
    if len(text.split()) > 1:
        return "several-fields"
    if re.search(rb"[\0-\x1f\x7f]|\xc2\x85|\xe2\x80[\xa8\xa9]", text):
        return "control-character"
    scheme = re.match(rb"[A-Za-z][A-Za-z0-9+-]*:", text)
    if scheme is None:
        return "no-scheme"
    rest = text[scheme.end() :]
    is_web = scheme[0].lower() in (b"http:", b"https:", b"ftp:", b"ftps:")
    if not rest.startswith(b"//") or not is_web:
        return "other-scheme"
    return "no-host" if not rest[2:3] or rest[2:3] in b"/?#" else None


def read_plainly(data):
    """Return URLs, counts by verdict, and line, offset and reason of each rejected line."""
    names, counts, rejected, offset = [], Counter(), [], 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        text = line.strip()
        verdict = judge(text)
        if verdict is None:
            names.append(text)
        elif verdict != "skipped":
            counts[verdict] += 1
            if verdict != "other-scheme":
                indent = len(line) - len(line.lstrip())
                rejected.append((number, offset + indent, verdict))
        offset += len(line) + 1
    return sorted(names), counts, rejected[:5]


@given(pieces=texts, cuts=cuts, n_bytes=st.sampled_from([20, MAX_URL_BYTES - 2, MAX_URL_BYTES]))
@example(pieces=[b"#", b"x" * 30, b"\nhttp://a.org/\n"], cuts=[50], n_bytes=MAX_URL_BYTES)
@example(pieces=[b" " * 30, b"\nhttp://a.org/\n"], cuts=[50], n_bytes=MAX_URL_BYTES)
@example(pieces=[b"http://a.org/", b" " * 30, b"\n"], cuts=[60], n_bytes=MAX_URL_BYTES)
@settings(max_examples=300)
def test_any_lines_are_read_as_a_plain_reading_reads_them_however_they_are_cut(
    pieces, cuts, n_bytes
):
    """Lines of about the greatest length among them, that no block holds whole."""
    first = b"# " + b"x" * (1 << 17) + b"\n" + (A + b"\n") * 50  # what is told by the beginning
    last = b"".join(pieces)
    data = first + last + last[:1] * n_bytes + last
    places = [len(first) + place + n * n_bytes for place in cuts for n in (0, 1)]
    found = read_bytes(read_url_list, data, cuts=places)
    examples = [(item.line, item.offset, item.reason) for item in found.examples]
    assert (found.urls, found.rejected + found.excluded, examples) == read_plainly(data)
