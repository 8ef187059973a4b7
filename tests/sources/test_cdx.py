"""CDX indexes as archives have them: any legend, none, several, and lines that are broken."""

import contextlib
import gzip
import re
from collections import Counter
from datetime import datetime

import pytest
from gathered import read_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.sources.cdx import looks_like_cdx, read_cdx

LEGEND = b" CDX N b a m s k r M S V g\n"
ONE = b"org,a)/ 20140126200624 http://a.org/ text/html 200 AAAA - - 2258 334 a.warc.gz\n"
TWO = b"org,b)/x 20140126200625 https://b.org/x warc/revisit - BBBB - - 99 4334 b.warc.gz\n"
SERVED = b"org,a)/ 20140126200624 http://a.org/ text/html 200 AAAA 2258\n"
OLD = b"http://a.org/ 192.0.2.1 20040708140338 text/html 2635 A.arc 77\n"


def read(data, **settings):
    """Read an index and return all columns and counts of all batches."""
    return read_bytes(read_cdx, data, name="x.cdx", **settings)


def test_all_fields_of_the_usual_eleven_are_read():
    found = read(LEGEND + ONE + TWO, group="filename")
    assert found["url"] == [b"http://a.org/", b"https://b.org/x"]
    assert found["key"] == [b"org,a)/", b"org,b)/x"]
    assert found["time"] == [datetime(2014, 1, 26, 20, 6, 24), datetime(2014, 1, 26, 20, 6, 25)]  # noqa: DTZ001
    assert found["status"] == [200, None]
    assert found["revisit"] == [False, True]
    assert found["mime"] == [b"text/html", b"warc/revisit"]
    assert found["digest"] == [b"AAAA", b"BBBB"]
    assert found["group"] == [b"a.warc.gz", b"b.warc.gz"]
    assert not found.rejected + found.excluded


@pytest.mark.parametrize(
    "data",
    [
        LEGEND + ONE + TWO,
        ONE + TWO,
        LEGEND + LEGEND + ONE + TWO,
        ONE + LEGEND + TWO,
        (LEGEND + ONE + TWO).replace(b"\n", b"\r\n"),
        (LEGEND + ONE + TWO)[:-1],
        (ONE + TWO).replace(b"\n", b"\r\n")[:-1],
        b"\xef\xbb\xbf" + LEGEND + ONE + TWO,
        b"\xef\xbb\xbf" + ONE + TWO,
        b"\n \n" + LEGEND + b"\n\n" + ONE + b"   \n" + TWO + b"\n",
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
        *("legend", "no legend", "two legends", "legend within", "CRLF", "no last newline"),
        *("CR at the end", "BOM", "BOM, no legend", "blank lines", "tabs", "BOM, tabs", "bars"),
        *("space at line ends", "gzip", "members without last newline", "members cut anywhere"),
    ],
)
def test_every_form_of_the_same_index_gives_the_same(data):
    found, expected = read(data, group="filename"), read(LEGEND + ONE + TWO, group="filename")
    assert found == expected
    if not data.startswith(b"\x1f"):
        assert looks_like_cdx(data)


GUESSED = ["NbamskrVg", "NbamskrMVg", "NbamskVg", "NbamskS"]


@pytest.mark.parametrize(
    ("kept", "has_legend"),
    [(kept, False) for kept in GUESSED] + [(kept, True) for kept in [*GUESSED, "bsa", "gkmbaN"]],
)
def test_any_letters_of_a_legend_and_usual_columns_without_one_are_read(kept, has_legend):
    cells = dict(zip("NbamskrMSVg", ONE.split(), strict=True))
    line = b" ".join(cells[letter] for letter in kept) + b"\n"
    found = read((" CDX " + " ".join(kept) + "\n").encode() * has_legend + line)
    assert found["url"] == [b"http://a.org/"]
    assert found["key"] == [b"org,a)/" if "N" in kept else None]
    assert found["status"] == [200 if "s" in kept else None]
    assert found["digest"] == [b"AAAA" if "k" in kept else None]


def test_the_old_layout_for_arc_files_is_recognised_without_legend():
    found = read(
        OLD + b"dns:a.org 192.0.2.1 20040708140337 text/dns 61 A.arc 5\n", group="filename"
    )
    assert found["url"] == [b"http://a.org/"]
    assert found["group"] == [b"A.arc"]
    assert found["time"] == [datetime(2004, 7, 8, 14, 3, 38)]  # noqa: DTZ001
    assert found.excluded == {"other-scheme": 1}
    assert looks_like_cdx(OLD)


def test_a_legend_in_the_middle_changes_what_the_columns_hold():
    other = b" CDX a b g\nhttp://c.org/ 2015 c.warc.gz\n"
    found = read(LEGEND + ONE + other + LEGEND + TWO, group="filename")
    assert found["url"] == [b"http://a.org/", b"http://c.org/", b"https://b.org/x"]
    assert found["key"] == [b"org,a)/", None, b"org,b)/x"]
    assert found["group"] == [b"a.warc.gz", b"c.warc.gz", b"b.warc.gz"]


def test_lines_without_legend_may_mix_their_usual_lengths():
    nine = b"org,c)/ 20140126200624 http://c.org/ text/html 200 CCCC - 334 c.warc.gz\n"
    fourteen = TWO[:-1] + b" 2258 334 a.warc.gz\n"
    found = read(ONE + ONE + nine + fourteen, group="filename")
    assert found["group"] == [b"a.warc.gz", b"a.warc.gz", b"c.warc.gz", b"b.warc.gz"]
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
    assert found["url"] == [b"http://a.org/", b"https://b.org/x"]
    reasons = ["too-few-fields", "too-many-fields", "bad-time", "no-url", "no-scheme"]
    assert found.rejected == {**dict.fromkeys(reasons, 1), "too-few-fields": 2}
    assert [item.reason for item in found.examples] == reasons
    assert [item.line for item in found.examples] == [3, 4, 5, 6, 7]
    assert found.examples[0].offset == len(LEGEND + ONE)


def test_a_url_with_a_space_is_not_taken_for_another_layout():
    line = ONE.replace(b"http://a.org/", b"http://a.org/a b")
    assert read(ONE + ONE + line).rejected == {"bad-status": 1}


def test_a_time_that_cannot_be_read_is_null_and_bytes_of_any_encoding_are_kept():
    line = ONE.replace(b"20140126200624", b"20149926200624").replace(b"a.org/", b"a.org/\xe4\xff")
    found = read(LEGEND + line)
    assert found["url"] == [b"http://a.org/\xe4\xff"]
    assert found["time"] == [None]


@pytest.mark.parametrize("data", [b"", b"\n\n", LEGEND, LEGEND[:-1], b"\xef\xbb\xbf"])
def test_nothing_gives_nothing(data):
    assert read(data)["url"] == []


def test_a_very_long_line_is_one_rejection_and_what_follows_is_read():
    long_line = b"org,a)/ 20140126200624 http://a.org/" + b"x" * 3_000_000 + ONE[22:]
    found = read(LEGEND + ONE + long_line + TWO)
    assert found["url"] == [b"http://a.org/", b"https://b.org/x"]
    assert found.rejected == {"too-long": 1}


@pytest.mark.parametrize("before", [LEGEND + TWO, TWO + TWO])
def test_an_index_that_ends_within_a_line_is_damaged(before):
    data = before + ONE[:60]
    with pytest.raises(
        DamagedInput, match=r"x\.cdx is damaged at byte \d+: it ends in the middle of a line"
    ):
        read(data)
    found = read(data, keep_damaged=True)
    assert set(found["url"]) == {b"https://b.org/x"}
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
    found = read(data)
    assert found["key"] == [key, b"org,b)/x"]
    assert found["url"] == [url, b"https://b.org/x"]
    with pytest.raises(SourceError, match=r"legend Nb\) has no original URLs .* --identity given"):
        read(data, fields=frozenset({"time"}))


def test_keys_of_other_schemes_are_left_out_and_records_without_key_rejected():
    found = read(b" CDX A b\ndns:a.org 2014\n- 2014\na.org/ 2014\n")
    assert (found["url"], found["key"]) == ([b"http://a.org/"], [b"a.org/"])
    assert (found.excluded, found.rejected) == ({"other-scheme": 1}, {"no-url": 1})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a b c\n" * 9, r"x\.cdx is no CDX index .* no legend line.*'a b c'"),
        (b" CDX N b url\n", r"legend line that cannot be understood: 'CDX N b url'"),
        (LEGEND + ONE + b" CDX nonsense\n", r"cannot be understood: 'CDX nonsense'"),
        (b" CDX b m s\n2014 text/html 200\n", r"legend bms\) has neither URLs .* nor keys"),
    ],
)
def test_what_cannot_be_understood_is_an_error_that_says_why(data, message):
    with pytest.raises(SourceError, match=message):
        read(data)


@pytest.mark.parametrize("group", ["m", "mime"])
def test_captures_are_cut_by_any_field_of_the_legend(group):
    assert read(LEGEND + ONE, group=group)["group"] == [b"text/html"]


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
        b"org,a)/ 20140126200624\tpart\t0\t275\t1\n",
        b"2014-01-26T20:06:24.123Z 200 225 http://a.org/ - - text/html #1 20140126200624+5 A - -\n",
        b"20140126200624123 200 2258 http://a.org/ - - text/html #001 - sha1:A - -\n",
        b"url,time\nhttp://a.org/,20140126200624\n",
        b"CDX files are nice\n",
    ],
)
def test_other_formats_are_not_claimed(data):
    assert not looks_like_cdx(data)


def test_an_index_is_recognised_though_a_few_of_its_first_lines_are_broken():
    assert looks_like_cdx(b"rubbish\n" + ONE + TWO + ONE[:30])
    assert read(b"rubbish\n" + ONE + TWO).rejected == {"too-few-fields": 1}


PIECES = [
    *(
        LEGEND,
        b" CDX b a\n",
        b"\tCDX\tN\ta\ts\n",
        b" CDX N b\n",
        ONE,
        TWO,
        ONE[:-1],
        b"2014 http://b.org/\n",
    ),
    *(
        b" ",
        b" ",
        b"\t",
        b"-",
        b"\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"2014",
        b"http://c.org/",
        b"200",
        b"\xff",
    ),
    *(
        b"org,c)/",
        b"c.org:80/x",
        b"dns:c",
        b"metadata://c/",
        b"FTPS://c/",
        b"CDX",
        b" CDX",
        b"a\tb\t",
        b"a\thttp://d.org/\t200\n",
        b"x" * 9,
    ),
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)), max_size=25)


def judge(url):
    """Return why a URL does not count; None if it does."""
    url = (url or b"").strip(b" \t\n\v\f\r")
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
    if not line.strip(b" \t\n\v\f\r"):
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
    url = fields.get("a")
    return judge(url) or (url.strip(b" \t\n\v\f\r"), fields.get("s"))


def read_plainly(data):
    """Return URLs, statuses and counts by reason; None if a legend cannot be used."""
    delimiter, letters, urls, statuses, counts = b" ", "", [], [], Counter()
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
            urls.append(found[0])
            statuses.append(
                int(found[1]) if re.fullmatch(rb"-?[0-9]{1,5}", found[1] or b"") else None
            )
    return urls, statuses, counts


@given(pieces=texts)
@settings(max_examples=600)
def test_any_lines_are_read_as_a_plain_reading_of_the_format_reads_them(pieces):
    data = LEGEND + b"".join(pieces) + b"\n"
    expected = read_plainly(data)
    if expected is None:
        with pytest.raises(SourceError, match="legend"):
            read(data, fields=frozenset({"status"}))
        return
    urls, statuses, counts = expected
    found = read(data, fields=frozenset({"status"}))
    assert (found["url"], found["status"]) == (urls, statuses)
    assert found.rejected + found.excluded == counts


@given(data=st.one_of(st.binary(max_size=300), texts.map(b"".join)))
@settings(max_examples=400)
def test_no_bytes_break_the_reader(data):
    looks_like_cdx(data)
    for text in (data, gzip.compress(data)):
        with contextlib.suppress(SourceError):
            read(text, keep_damaged=True)
