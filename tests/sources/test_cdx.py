"""CDX indexes as archives have them: any legend, none, several, and lines that are broken."""

import contextlib
import gzip
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import keys, read_data, urls

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.keys.rules import GIVEN
from crawlgauge.sources.detect import find_format
from crawlgauge.sources.what_counts import Settings

LEGEND = b" CDX N b a m s k r M S V g\n"
ONE = b"org,a)/ 20140126200624 http://a.org/ text/html 200 AAAA - - 2258 334 a.warc.gz\n"
TWO = b"org,b)/x 20140126200625 https://b.org/x warc/revisit - BBBB - - 99 4334 b.warc.gz\n"
SERVED = b"org,a)/ 20140126200624 http://a.org/ text/html 200 AAAA 2258\n"
OLD = b"http://a.org/ 192.0.2.1 20040708140338 text/html 2635 A.arc 77\n"
TIME = 1390766784


def read(data, **wishes):
    return read_data(data, "x.cdx", format="cdx", **wishes)


def is_cdx(data):
    return find_format(data, Settings(), "x").name == "cdx"


def test_all_fields_of_the_usual_eleven_are_read():
    found = read(LEGEND + ONE + TWO, group="filename")
    assert [row[:7] for row in found.rows] == [
        (b"http://a.org/", TIME, 200, b"text/html", b"AAAA", b"a.warc.gz", False),
        (b"https://b.org/x", TIME + 1, None, None, b"BBBB", b"b.warc.gz", True),
    ]
    assert not found.rejected + found.excluded
    assert read(LEGEND + ONE + TWO, key_rule=GIVEN).keys == keys("org,a)/", "org,b)/x")


@pytest.mark.parametrize(
    "data",
    [
        ONE + TWO,
        LEGEND + LEGEND + ONE + TWO,
        ONE + LEGEND + TWO,
        (LEGEND + ONE + TWO).replace(b"\n", b"\r\n"),
        (LEGEND + ONE + TWO)[:-1],
        (ONE + TWO).replace(b"\n", b"\r\n")[:-1],
        b"\xef\xbb\xbf" + LEGEND + ONE + TWO,
        b"\xef\xbb\xbf" + ONE + TWO,
        b"\n \n" + LEGEND + b"\n\n" + ONE + b"   \n\t\n" + TWO + b"\n",
        (LEGEND + ONE + TWO).replace(b" ", b"\t"),
        b"\xef\xbb\xbf" + (ONE + TWO).replace(b" ", b"\t"),
        (LEGEND + ONE + TWO).replace(b" ", b"|"),
        (LEGEND + ONE + TWO).replace(b"\n", b" \n"),
        gzip.compress(LEGEND + ONE) + gzip.compress(TWO),
        gzip.compress(LEGEND + ONE[:-1]) + gzip.compress(TWO[:-1]),
        gzip.compress(LEGEND + ONE[:40])
        + gzip.compress(ONE[40:] + TWO[:60])
        + gzip.compress(TWO[60:]),
    ],
    ids=[
        *("no legend", "two legends", "legend within", "CRLF", "no last newline"),
        *("CR at the end", "BOM", "BOM, no legend", "blank lines", "tabs", "BOM, tabs", "bars"),
        *("space at line ends", "gzip", "members without last newline", "members cut anywhere"),
    ],
)
def test_every_form_of_the_same_index_is_recognised_and_gives_the_same(data):
    expected = read(LEGEND + ONE + TWO, group="filename").told
    assert read_data(data, group="filename").told == expected


GUESSED = ["NbamskrVg", "NbamskrMVg", "NbamskVg", "NbamskS"]


@pytest.mark.parametrize(
    ("kept", "has_legend"),
    [(kept, False) for kept in GUESSED] + [(kept, True) for kept in [*GUESSED, "bsa", "gkmbaN"]],
)
def test_any_letters_of_a_legend_and_usual_columns_without_one_are_read(kept, has_legend):
    cells = dict(zip("NbamskrMSVg", ONE.split(), strict=True))
    line = b" ".join(cells[letter] for letter in kept) + b"\n"
    data = (" CDX " + " ".join(kept) + "\n").encode() * has_legend + line
    (row,) = read_data(data).rows
    assert row[:3] == (b"http://a.org/", TIME, 200 if "s" in kept else None)
    assert row.digest == (b"AAAA" if "k" in kept else None)
    if "N" in kept:
        assert read(data, key_rule=GIVEN).keys == keys("org,a)/")


@pytest.mark.parametrize("more", [b"\n", b" 0cc175b9c0f1b6a831c399e269772661\n"])
def test_lines_that_begin_with_url_and_address_are_recognised_without_legend(more):
    lines = OLD + b"dns:a.org 192.0.2.1 20040708140337 text/dns 61 A.arc 5\n"
    found = read_data(lines.replace(b"\n", more), group="filename")
    assert found.rows[0][:3] == (b"http://a.org/", 1089295418, None)
    assert found.rows[0].digest == (more.strip() or None)
    assert found.column("group") == [b"A.arc"]
    assert (found.excluded, found.rejected) == ({"other-scheme": 1}, {})


def test_a_legend_in_the_middle_changes_what_the_columns_hold():
    other = b" CDX a b g\nhttp://c.org/ 2015 c.warc.gz\n"
    found = read(LEGEND + ONE + other + LEGEND + TWO, group="filename")
    assert found.urls == urls("http://a.org/", "http://c.org/", "https://b.org/x")
    assert found.of("http://c.org/").group == b"c.warc.gz"


def test_lines_without_legend_may_mix_their_usual_lengths():
    nine = b"org,c)/ 20140126200624 http://c.org/ text/html 200 CCCC - 334 c.warc.gz\n"
    fourteen = TWO[:-1] + b" 2258 334 a.warc.gz\n"
    found = read_data(ONE + ONE + nine + fourteen, group="filename")
    assert found.column("group") == [b"a.warc.gz", b"a.warc.gz", b"c.warc.gz", b"b.warc.gz"]
    assert not found.rejected


def test_malformed_lines_are_rejected_with_reason_and_place():
    broken = [
        b"org,a)/ 20140126200624 http://a.org/ text/html 200\n",
        b"org,a)/ 20140126200624 http://a.org/a b text/html 200 AAAA - - 2258 334 a.warc.gz\n",
        b"org,a)/ b 20140126200624 http://a.org/ text/html 200 AAAA - 2258 334 a.warc.gz\n",
        b"org,a)/ 20140126200624 - text/html 200 AAAA - - 2258 334 a.warc.gz\n",
        b"org,a)/ 20140126200624 a.org/ text/html 200 AAAA - - 2258 334 a.warc.gz\n",
        b"rubbish\n",
    ]
    found = read(LEGEND + ONE + b"".join(broken) + TWO)
    assert found.urls == urls("http://a.org/", "https://b.org/x")
    reasons = ["too-few-fields", "too-many-fields", "bad-time", "no-url", "no-scheme"]
    assert found.rejected == {**dict.fromkeys(reasons, 1), "too-few-fields": 2}
    assert [(item.line, item.reason) for item in found.examples] == list(
        enumerate(reasons, start=3)
    )
    assert found.examples[0].offset == len(LEGEND + ONE)


def test_a_url_with_a_space_is_not_taken_for_another_layout():
    line = ONE.replace(b"http://a.org/", b"http://a.org/a b")
    assert read(ONE + ONE + line).rejected == {"bad-status": 1}


def test_a_time_that_cannot_be_read_is_none_and_bytes_of_any_encoding_are_kept():
    line = ONE.replace(b"20140126200624", b"20149926200624").replace(b"a.org/", b"a.org/\xe4\xff")
    assert read(LEGEND + line).rows[0][:2] == (b"http://a.org/\xe4\xff", None)


@pytest.mark.parametrize("data", [b"", b"\n\n", LEGEND, LEGEND[:-1], b"\xef\xbb\xbf"])
def test_nothing_gives_nothing(data):
    assert read(data).told == ([], {}, {})


@pytest.mark.parametrize("n_bytes", [300_000, 3_000_000])
def test_a_very_long_line_is_one_rejection_and_what_follows_is_read(n_bytes):
    long_line = ONE.replace(b" - - ", b" %b - " % (b"x" * n_bytes))
    found = read(LEGEND + ONE + long_line + TWO)
    assert found.urls == urls("http://a.org/", "https://b.org/x")
    assert found.rejected == {"too-long": 1}


@pytest.mark.parametrize("before", [LEGEND + TWO, TWO + TWO])
def test_an_index_that_ends_within_a_line_is_damaged(before):
    data = before + ONE[:60]
    with pytest.raises(
        DamagedInput, match=r"x\.cdx is damaged at byte \d+: it ends in the middle of a line"
    ):
        read(data)
    found = read(data, keep=True)
    assert set(found.urls) == {b"https://b.org/x"}
    assert len(found.damages) == 1


@pytest.mark.parametrize(
    ("key", "url"),
    [
        (b"org,a)/x?y", b"http://a.org/x?y"),
        (b"(org,a,www,)/x", b"http://www.a.org/x"),
        (b"org,a:8080)/(x),y", b"http://a.org:8080/(x),y"),
        (b"192.0.2.1)/", b"http://192.0.2.1/"),
        (b"org,a)", b"http://a.org"),
        (b"a.org/x)y,z", b"http://a.org/x)y,z"),
        (b"http://a.org/", b"http://a.org/"),
    ],
)
def test_an_index_of_keys_only_serves_where_keys_are_wanted(key, url):
    data = b" CDX N b\n" + key + b" 2014\n" + LEGEND + TWO
    found = read(data, key_rule=GIVEN)
    assert (found.urls, found.keys) == (urls(url, "https://b.org/x"), keys(key, "org,b)/x"))
    with pytest.raises(SourceError, match=r"legend Nb\) has no original URLs .* --identity given"):
        read(data)


def test_keys_of_other_schemes_are_left_out_and_records_without_key_rejected():
    found = read(b" CDX A b\ndns:a.org 2014\n- 2014\na.org/ 2014\n", key_rule=GIVEN)
    assert (found.urls, found.keys) == (urls("http://a.org/"), keys("a.org/"))
    assert (found.excluded, found.rejected) == ({"other-scheme": 1}, {"no-url": 1})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a b c\n" * 9, r"x\.cdx is no CDX index .* no legend line.*'a b c'"),
        (b" CDX N b url\n", r"legend line that cannot be understood: 'CDX N b url'"),
        (LEGEND + ONE + b" CDX nonsense\n", r"cannot be understood: 'CDX nonsense'"),
        (b" CDX" + b" a" * 40 + b"\n", r"cannot be understood: .* 39 single letters at most"),
        (b" CDX b m s\n2014 text/html 200\n", r"legend bms\) has neither URLs .* nor keys"),
    ],
)
def test_what_cannot_be_understood_is_an_error_that_says_why(data, message):
    with pytest.raises(SourceError, match=message):
        read(data, key_rule=GIVEN)


@pytest.mark.parametrize("group", ["m", "mime"])
def test_captures_are_cut_by_any_field_of_the_legend(group):
    assert read(LEGEND + ONE, group=group).column("group") == [b"text/html"]


def test_an_unknown_field_to_cut_by_is_an_error_that_names_the_known_ones():
    with pytest.raises(SourceError, match=r"no field 'warc' .*filename \(g\)"):
        read(LEGEND + ONE, group="warc")
    with pytest.raises(SourceError, match=r"no field 'filename' .*compressed-size \(S\)"):
        read(SERVED, group="filename")


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"\n", b"http://a.org/\n", b"WARC/1.0\r\nWARC-Type: warcinfo\r\n"),
        b"filedesc://a.arc 0.0.0.0 20040708140338 text/plain 76\n",
        b"filedesc://a.arc 0.0.0.0 20040708140338 text/plain 200 - - 0 a.arc 76\n",
        b'org,a)/ 20140126200624 {"url": "http://a.org/"}\n',
        b"2014-01-26T20:06:24.123Z 200 225 http://a.org/ - - text/html #1 20140126200624+5 A - -\n",
        b"20140126200624123 200 2258 http://a.org/ - - text/html #001 - sha1:A - -\n",
        b"url,time\nhttp://a.org/,20140126200624\n",
        b"CDX files are nice\n",
    ],
)
def test_other_formats_are_not_claimed(data):
    assert not is_cdx(data)


def test_an_index_is_recognised_though_a_few_of_its_first_lines_are_broken():
    assert is_cdx(b"rubbish\n" + ONE + TWO + ONE[:30])
    assert read_data(b"rubbish\n" + ONE + TWO).rejected == {"too-few-fields": 1}


# ------------------------------------------------------------------------------ a plain reading

PIECES = [
    *(LEGEND, b" CDX b a\n", b"\tCDX\tN\ta\ts\n", b" CDX N b\n", ONE, TWO, ONE[:-1]),
    *(b"2014 http://b.org/\n", b" ", b" ", b"\t", b"-", b"\n", b"\n", b"\r\n", b"\r", b"2014"),
    *(b"http://c.org/", b"200", b"\xff", b"org,c)/", b"c.org:80/x", b"dns:c", b"metadata://c/"),
    *(b"FTPS://c/", b"CDX", b" CDX", b"a\tb\t", b"a\thttp://d.org/\t200\n", b"x" * 9),
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)), max_size=25)


def judge(url):
    """Return why a URL does not count; None if it does."""
    url = (url or b"").strip()
    if not url:
        return "no-url"
    scheme = re.match(rb"[A-Za-z][A-Za-z0-9+-]*:", url)
    if scheme is None:
        return "no-scheme"
    rest = url[scheme.end() :]
    if not rest.startswith(b"//") or not re.match(rb"(?i)(http|ftp)s?:", url):
        return "other-scheme"
    return "no-host" if not rest[2:3] or rest[2:3] in b"/?# \t\n\v\f\r" else None


def read_line_plainly(line, delimiter, letters):
    """Return the URL and status of a line, or why there is none."""
    line = line.removesuffix(b"\r").strip(b" ")
    if not line.strip():
        return None
    cells = line.split(delimiter)
    if len(cells) == len(letters) + 1 and not cells[-1]:
        del cells[-1]
    if len(cells) != len(letters):
        return "too-few-fields" if len(cells) < len(letters) else "too-many-fields"
    fields = {
        letter: cell for letter, cell in zip(letters, cells, strict=True) if cell not in {b"", b"-"}
    }
    if "b" in fields and not re.match(rb"[0-9]{4}", fields["b"]):
        return "bad-time"
    url, status = fields.get("a"), fields.get("s", b"")
    number = int(status) if re.fullmatch(rb"-?[0-9]{1,5}", status) else None
    reason = judge(url) or ("not-fetched" if number is not None and number <= 0 else None)
    return reason or (url.strip(), number)


def read_plainly(data):
    """Return URLs with statuses, and counts by reason; None if a legend cannot be used."""
    delimiter, letters, captures, counts = b" ", "", [], Counter()
    for line in data.split(b"\n"):
        if re.match(rb"[ \t]*[^A-Za-z0-9\s]?CDX[^A-Za-z0-9\r\n]", line):
            words = line[line.index(b"CDX") + 3 :]
            delimiter = words[:1]
            names = words[1:].rstrip(b" \t\r").split(delimiter)
            if not all(re.fullmatch(rb"[A-DF-NP-SUVX-Za-pr-tvx-z#]", name) for name in names):
                return None
            letters = b"".join(names).decode()
            if "a" not in letters:
                return None
            continue
        found = read_line_plainly(line, delimiter, letters)
        if isinstance(found, str):
            counts[found] += 1
        elif found:
            captures.append(found)
    return sorted(captures, key=repr), counts


@given(pieces=texts)
@settings(max_examples=400)
def test_any_lines_are_read_as_a_plain_reading_of_the_format_reads_them(pieces):
    data = LEGEND + b"".join(pieces) + b"\n"
    expected = read_plainly(data)
    if expected is None:
        with pytest.raises(SourceError, match="legend"):
            read(data)
        return
    found = read(data)
    captures = sorted(((row.url, row.status) for row in found.rows), key=repr)
    assert (captures, found.rejected + found.excluded) == expected


@given(data=st.one_of(st.binary(max_size=300), texts.map(b"".join)))
def test_no_bytes_break_the_reader(data):
    for text in (data, gzip.compress(data)):
        with contextlib.suppress(SourceError):
            read(text, keep=True)
