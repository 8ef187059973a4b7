"""Heritrix's crawl.log: columns, annotations, the JSON object, and lines that are broken."""

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import read_data

from crawlgauge.errors import SourceError
from crawlgauge.keys.names import canonical_type
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.what_counts import Settings

LINE = (
    b"2018-11-26T14:27:48.282Z   404        233 http://a.org/x LLE http://a.org/ text/html #002 "
    b"20181126142747555+280 sha1:YQG6T7YO seed.org ip:172.19.0.6"
)
TIME = 1543242467
NAMED = LINE + b' {"contentSize":380,"warcFilename":"A-1.warc.gz","scope":"ACCEPT by rule #1"}'


def read(data, group=None):
    return read_data(data, "crawl.log", format="crawl-log", group=group)


def read_one(line, group=None):
    found = read(line + b"\n", group)
    assert not found.rejected + found.excluded
    (row,) = found.rows
    return row


def is_crawl_log(data):
    return find_format(data, Settings(), "x").name == "crawl-log"


def test_a_line_gives_url_status_media_type_digest_and_when_its_fetch_began():
    row = read_one(LINE)
    assert row[:5] == (b"http://a.org/x", TIME, 404, b"text/html", b"sha1:YQG6T7YO")
    assert row.is_revisit is False


@pytest.mark.parametrize("fetched", [b"-", b"x+280", b"20181326142747555+280", b"+280"])
def test_what_was_not_fetched_has_the_time_of_its_line(fetched):
    row = read_one(LINE.replace(b"20181126142747555+280", fetched))
    assert row.time == TIME + 1


def test_dashes_and_unknown_types_are_missing_and_negative_statuses_tell_of_no_fetch():
    line = (
        b"2006-08-15T09:54:11.455Z     1          - http://a.org/ LRL http://b.org/ no-type #039 "
        b"- - - Q:group-max-all-kb"
    )
    assert read_one(line)[2:5] == (1, None, None)
    assert read_one(LINE.replace(b"text/html", b"unknown")).mime is None
    assert read(line.replace(b"    1", b"-5003")).told == ([], {}, {"not-fetched": 1})


@pytest.mark.parametrize(
    "annotations",
    [
        b"duplicate:digest",
        b"ip:1.2.3.4,duplicate:digest",
        b'duplicate:"144625-158-00005-kb.arc,1495696",content-size:94191',
        b"warcRevisit:notModified,2t",
        b"ip:1.2.3.4,warcRevisit:digest",
        b"two words,duplicate:digest",
        b"two duplicate:digest",
    ],
)
def test_annotations_tell_of_revisits_and_the_media_type_is_kept(annotations):
    for line in (LINE, NAMED):
        row = read_one(line.replace(b"ip:172.19.0.6", annotations))
        assert row.is_revisit is True
        assert row.mime == b"text/html"
    assert read_one(NAMED.replace(b"ip:172.19.0.6", annotations), "filename").is_revisit is True


@pytest.mark.parametrize("word", [b"duplicate", b"notduplicate:x", b"warcRevisit", b"-"])
def test_other_annotations_tell_of_no_revisit(word):
    assert read_one(LINE.replace(b"ip:172.19.0.6", word)).is_revisit is False
    in_json = LINE + b' {"a":"b,duplicate:digest"}'
    assert read_one(in_json).is_revisit is False


@pytest.mark.parametrize("n_columns", range(8, 13))
def test_lines_of_early_versions_have_fewer_columns(n_columns):
    line = b" ".join(LINE.split()[:n_columns])
    row = read_one(line)
    assert row.url == b"http://a.org/x"
    assert row.digest == (b"sha1:YQG6T7YO" if n_columns > 9 else None)
    assert row.time == (TIME if n_columns > 8 else TIME + 1)


def test_without_a_source_tag_the_eleventh_column_holds_the_annotations():
    line = b" ".join(LINE.split()[:10])
    assert read_one(line + b" duplicate:digest").is_revisit is True
    assert read_one(line + b' - {"warcFilename":"A"}', "filename").group == b"A"


def test_records_are_rejected_or_left_out_by_reason_with_their_place():
    lines = [
        b"metadata://netarkivet.dk/crawl/logs/crawl.log?jobid=6 1.2.3.4 2012 text/plain 4",
        b"",
        b"2005-05-06T11:47:28.465Z   200         14 http://tooshortline/",
        LINE.replace(b"http://a.org/x", b"000nourl000"),
        LINE.replace(b"http://a.org/x", b"dns:a.org"),
        LINE.replace(b" 233 ", b" xyz "),
        b"metadata://netarkivet.dk/ 1.2.3.4 2012 http://a.org/ with as many words as a line",
        LINE,
    ]
    found = read(b"\n".join(lines))
    assert found.urls == [b"http://a.org/x"] * 2
    assert found.rejected == {"too-few-fields": 1, "no-scheme": 1}
    assert found.excluded == {"other-scheme": 1}
    assert [(item.line, item.reason) for item in found.examples] == [
        (3, "too-few-fields"),
        (4, "no-scheme"),
    ]
    assert found.examples[0].offset == len(lines[0]) + 2
    assert found.examples[0].text == lines[2].decode()


@pytest.mark.parametrize("n_bytes", [300_000, 5_000_000])
def test_a_very_long_line_is_one_rejection(n_bytes):
    found = read(LINE + b"\n" + LINE + b"x" * n_bytes + b"\n" + LINE + b"\r\n")
    assert (len(found.rows), found.rejected) == (2, {"too-long": 1})


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("filename", b"A-1.warc.gz"),
        ("source", b"seed.org"),
        ("path", b"LLE"),
        ("referrer", b"http://a.org/"),
        ("thread", b"#002"),
        ("annotations", b"ip:172.19.0.6"),
    ],
)
def test_captures_can_be_grouped_by_warc_file_or_column(group, expected):
    assert read_one(NAMED, group).group == expected
    assert read_one(b" ".join(LINE.split()[:8]), group).group == (
        expected if group in {"path", "referrer", "thread"} else None
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (rb'{"warcFilename":"a\u002db\"c"}', b'a-b"c'),
        (b'{"warcFilename": "spaced"}', b"spaced"),
        (b'{"x":{"warcFilename":"inner"},"warcFilename":"outer"}', b"outer"),
        (b'{"x":{"warcFilename":"inner"}}', None),
        (b'{"warcFilename":"first","warcFilename":"last"}', b"last"),
        (b'{"x":"{","warcFilename":"brace"}', b"brace"),
        (b'{"warcFilename":7}', None),
        (b'{"warcFilename":"cut', None),
        (b'{"warcFilename', None),
        (b"[1]", None),
        (b"{", None),
    ],
)
def test_the_file_name_is_read_as_json_says(text, expected):
    assert read_one(LINE + b" " + text, "filename").group == expected


def test_an_unknown_group_is_refused_with_those_that_exist():
    with pytest.raises(SourceError, match=r"no field 'colour'; there are filename, time, status"):
        read(LINE, "colour")


def test_a_log_is_known_by_its_lines():
    assert is_crawl_log(NAMED)
    assert is_crawl_log(b"cut line\n\n" + LINE)
    assert is_crawl_log(b"metadata://netarkivet.dk/ 1.2.3.4 2012 text/plain 4\n" + LINE)
    for other in (
        b"",
        b"http://a.org/\n",
        b" CDX N b a m s k r M S V g\norg,a)/ 20130101000000 http://a.org/ text/html 200 - - - 1",
        b'org,a)/ 20130101000000 {"url": "http://a.org/"}\n',
        b"url,time,status\nhttp://a.org/,2018-11-26T14:27:48Z,200\n",
        b"2018-11-26T14:27:48Z 200 1 http://a.org/\n",
        b"WARC/1.0\r\nWARC-Type: warcinfo\r\n",
        b"\0" * 1000,
        LINE.replace(b"#002", b"002"),
    ):
        assert not is_crawl_log(other)


SPACES = b" \t\n\v\f\r"
PIECES = [
    *LINE.split(),
    *[b" ", b"  ", b"\t", b"\n", b"\r\n", b"\v", b"-", b",", b"{", b"}", b"\\", b'"', b":", b"\0"],
    *[b'{"warcFilename":"A"}', b'"warcFilename"', b'"warcFilename":"', b"warcFilename", b"\xff"],
    *[b"duplicate:", b"warcRevisit:x", b"no-type", b"unknown", b"metadata://x", b"dns:a", b"+1"],
    *[LINE, NAMED, LINE + b"\n", NAMED + b"\n", b"#", b"http://", b"a.org", b"2018"],
]


def twin(line):
    """Return URL, status, media type, digest, revisit, file name; or the reason why not."""
    text = line.strip(SPACES)
    if not text or text.startswith(b"metadata://"):
        return None
    tokens = list(re.finditer(rb"[^ \t\v\f\r]+", text))[:12]
    if len(tokens) == 12 and tokens[11][0].startswith(b"{"):
        tokens.pop()
    if len(tokens) < 8:
        return "too-few-fields"
    words = [None if token[0] == b"-" else token[0] for token in tokens]
    url = words[3] or b""
    scheme = re.match(rb"[A-Za-z][A-Za-z0-9+-]*:", url)
    if url == b"":
        return "no-url"
    if not scheme:
        return "no-scheme"
    is_web = scheme[0].lower() in (b"http:", b"https:", b"ftp:", b"ftps:")
    if not is_web or not url[scheme.end() :].startswith(b"//"):
        return "other-scheme"
    if re.match(rb"//([/?#]|$)", url[scheme.end() :]):
        return "no-host"
    status = int(words[1]) if words[1] and re.fullmatch(rb"-?\d{1,5}", words[1]) else None
    if status is not None and status <= 0:
        return "not-fetched"
    mime = canonical_type(words[6] or b"") or None
    digest = words[9] if len(words) > 9 else None
    is_revisit, name = False, None
    if len(tokens) > 10:
        region = text[tokens[-1].start() :]
        brace = re.search(rb"(?<=[ \t\v\f\r])\{", region)
        annotations = region[: brace.start()] if brace else region
        items = re.split(rb"[, \t\v\f\r]", annotations)
        is_revisit = any(item.startswith((b"duplicate:", b"warcRevisit:")) for item in items)
        name = find_name(region[brace.start() :]) if brace else None
    return url, status, mime, digest, is_revisit, name


def find_name(text):
    try:
        value = json.loads(text).get("warcFilename")
    except ValueError:
        return None
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_any_sequence_of_pieces_is_read_as_by_plain_python(pieces):
    check_with_twin(b"".join(pieces))


@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=6, max_size=18), max_size=4))
def test_any_sequence_of_columns_is_read_as_by_plain_python(lines):
    check_with_twin(b"\n".join(b" ".join(line) for line in lines))


@given(st.binary(max_size=300))
def test_any_bytes_are_read_as_by_plain_python(data):
    check_with_twin(b"\n" + data)  # Lest they begin as what is compressed, packed or encoded does.


def check_with_twin(data):
    found = read(data, "filename")
    expected = [record for line in data.split(b"\n") if (record := twin(line)) is not None]
    rows = [(*row[:1], *row[2:5], row.is_revisit, row.group) for row in found.rows]
    # What is grouped by files is all read by the reader; the scanner finds the same.
    assert rows == [item for item in expected if isinstance(item, tuple)]
    reasons = Counter(item for item in expected if isinstance(item, str))
    assert found.rejected + found.excluded == reasons
    scanned = read(data)
    without = sorted((row._replace(group=None) for row in found.rows), key=repr)
    assert scanned.told == (without, found.rejected, found.excluded)
