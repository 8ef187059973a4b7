"""CDXJ lines that are made like others: read fast, and always as if they were read closely."""

import gzip

import pytest
from gathered import read_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.sources import cdxj
from crawlgauge.sources.cdxj import read_cdxj
from crawlgauge.sources.cdxj_shapes import CdxjShapes
from crawlgauge.sources.line_kernel import ACCEPTED
from crawlgauge.sources.record_kernel import MIME, STATUS, URL

COMMON_CRAWL = (
    'org,a)/{n} 20230320083513 {{"url": "https://www.a.org/{n}", "mime": "text/html", '
    '"mime-detected": "text/html", "status": "200", "digest": "I7YOT6XBZEJAPTQ7HGU3OXNR7DO6P7ZT", '
    '"length": "5346", "offset": "951{n}", "filename": "crawl-data/CC-MAIN-2017-34/warc.gz"'
)
ENDINGS = ("}", ', "languages": "deu,eng", "charset": "UTF-8"}', ', "redirect": "https://b.org/"}')
PYWB = 'org,a)/{n} 20230320083513 {{"url":"http://a.org/{n}","mime":"text/html","status":"200"}}'
NUMBERS = 'org,a)/{n} 20230320083513 {{"status": 200, "url": "http://a.org/{n}", "offset": {n}}}'


def scan(lines):
    """Return the verdicts on lines after the joints of the first were learnt."""
    shapes = CdxjShapes([b"url", b"mime", b"status"], [URL, MIME, STATUS])
    for line in lines[:8]:
        shapes.learn(line[line.index(b"{") :])
    found = shapes.scan(b"".join(line + b"\n" for line in lines), len(lines), [])
    return found.verdicts.tolist()


@pytest.mark.parametrize("form", [COMMON_CRAWL + "}}", PYWB, NUMBERS])
def test_lines_of_the_same_program_are_never_read_closely(form):
    lines = [form.format(n=n + 1).encode() for n in range(1000)]
    assert scan(lines) == [ACCEPTED] * 1000


def test_members_may_be_there_or_not():
    lines = [(COMMON_CRAWL.format(n=n) + ENDINGS[n * n % 3]).encode() for n in range(1000)]
    assert scan(lines) == [ACCEPTED] * 1000


VALUES = st.sampled_from(
    [
        *(
            '"http://a.org/"',
            '"https://b.org/x y"',
            '"-"',
            '""',
            '"200"',
            '"404"',
            "200",
            "-5",
            "0",
        ),
        *(
            "007",
            "1.5",
            "null",
            "true",
            '{"a": "b"}',
            "[]",
            '"warc/revisit"',
            '"a\\"b"',
            '"\\u00e4"',
        ),
        *('"a\tb"', '"ä"', '"' + "x" * 70 + '"', '"warcfile:a.warc.gz#5"', "9" * 40, '"a', 'b"'),
    ]
)
NAMES = st.sampled_from(
    ["url", "uri", "mime", "status", "hsc", "digest", "filename", "offset", "x" * 40]
)
GLUE = st.sampled_from(
    [(", ", ": "), (",", ":"), (" , ", " : "), ("\t,", ":\t"), ("", ""), (",,", ":")]
)
HEADS = st.sampled_from(
    [
        *("org,a)/ 20140126200624 ", "1,0,0,127)/x 20140126200699 ", "org,a)/ 2014 ", "org,a)/ - "),
        *("CDX N 20140126200624 ", "org,a)/\t20140126200624 ", 'org,"a)/ 20140126200624 ', "!x "),
        *("org,a)/" + "y" * 80 + " 20140126200624 ", "org,a)/ 2014012620062x ", "", "org,a)/  "),
    ]
)
TAILS = st.sampled_from(["}", "}", "}", "}", "} ", "}\r", "", "}}", "]", '"}', "} x"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\n", "\n\n", "\r\n", ""])


@st.composite
def indexes(draw):
    """Draw lines that repeat a few forms, whole and broken ones."""
    forms = draw(st.lists(st.tuples(HEADS, st.lists(NAMES, max_size=5), GLUE, TAILS), min_size=1))
    lines = []
    for head, names, (comma, colon), tail in draw(st.lists(st.sampled_from(forms), max_size=12)):
        members = comma.join(f'"{name}"{colon}{draw(VALUES)}' for name in names)
        lines.append(f"{head}{{{members}{tail}{draw(ENDS)}")
    return [line.encode() for line in lines]


def read(data, **options):
    found = read_bytes(read_cdxj, data, name="x.cdxj", keep_damaged=True, **options)
    return found, found.examples, found.damages


@settings(max_examples=400)
@given(lines=indexes(), group=st.sampled_from([None, "filename", "url"]), as_members=st.booleans())
def test_all_lines_are_read_as_if_they_were_read_closely(lines, group, as_members):
    data = b"".join(map(gzip.compress, lines)) if as_members else b"".join(lines)
    ways = []
    for learns in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            if not learns:
                patch.setattr(cdxj, "_MAX_LEARNT", 0)
            try:
                ways.append(read(data, group=group))
            except Exception as error:  # noqa: BLE001 - whatever it is, it must be the same
                ways.append(str(error))
    assert ways[0] == ways[1]


def test_what_is_learnt_is_bounded():
    shapes = CdxjShapes([b"url"], [URL])
    for number in range(200):
        shapes.learn(b'{"a%d": "b", "url": "http://a.org/"}' % number)
    line = b'org,a)/ 20140126200624 {"a1": "b", "url": "http://a.org/"}\n'
    assert shapes.scan(line * 3, 3, []).verdicts.tolist() == [ACCEPTED] * 3


def test_lines_that_end_with_a_member_are_told_apart():
    line = b'org,a)/ 20140126200624 {"url": "http://a.org/"}'
    shapes = CdxjShapes([b"url"], [URL])
    shapes.learn(line[line.index(b"{") :])
    found = shapes.scan(line * 2 + b"\n" + line, 3, [len(line)])
    assert found.verdicts.tolist() == [ACCEPTED] * 3
    n = len(line)
    assert found.bounds.tolist() == [[0, n], [n, 2 * n], [2 * n + 1, 3 * n + 1]]
    assert found.spans[:, URL].tolist() == [
        [start + line.index(b"http"), start + n - 2] for start in (0, n, 2 * n + 1)
    ]
