"""The published tests of other canonicalisers: whole URLs, but for a list of differences."""

import json
import re

import pytest

from crawlgauge.keys.surt import canonical_surt

# Which rows are whole URLs under the Internet Archive's rules, by file.
WHOLE_URLS = {
    "ia_surt.tsv": (
        "test_surt",
        "test_surt with_scheme=False",
        "test_surt with_scheme=False,trailing_comma=False",
        "test_surt_query",
        "test_DefaultIAURLCanonicalizer",
        "test_IAURLCanonicalizer",
        "test_options",
    ),
    "wac_IAURLCanonicalizer.tsv": ("testFull", "testStripSessionId"),
    "wac_AggressiveIA.tsv": ("testCanonicalize",),
    "wac_OrdinaryIA.tsv": ("testMisc", "testSchemeCapitals"),
}
N_ROWS = {
    "ia_surt.tsv": 36,
    "wac_IAURLCanonicalizer.tsv": 9,
    "wac_AggressiveIA.tsv": 7,
    "wac_OrdinaryIA.tsv": 10,
}
# By file and URL, non-printing characters escaped: what is expected there, and why not here.
DIFFERENCES = {
    ("wac_OrdinaryIA.tsv", "http://example.org/foo/?"): (
        "http://example.org/foo/",
        "this gentler canonicaliser keeps the slash at the end; the one for index keys does not",
    ),
    ("wac_BasicURLCanonicalizer.tsv", r"http://example.org/\u2028"): (
        "http://example.org/",
        "only ASCII line ends are stray; `surt` too escapes the others",
    ),
    ("wac_BasicURLCanonicalizer.tsv", r"\nhttp://examp\u2029\t\rle.org/         "): (
        "http://example.org/",
        "as above",
    ),
    ("wac_BasicURLCanonicalizer.tsv", "https://....../path/file.txt"): (
        "https:///path/file.txt",
        "what has no host keeps its text",
    ),
}

# Canonicalisers with another form, whose input and output must be one URL for us.
SAME_URL = {
    "ia_surt.tsv": ("test_GoogleURLCanonicalizer",),
    "wac_BasicURLCanonicalizer.tsv": (
        "testGoogleExamples",
        "testHostDots",
        "testSchemeCapitalsPreserved",
        "testStraySpacing",
        "testUnicodeEscaping",
    ),
}


def rows_of(folder, file, rules):
    marks = {r"\t": "\t", r"\n": "\n", r"\r": "\r", r"\\": "\\"}
    for line in (folder / "urls" / file).read_text(encoding="utf-8").split("\n"):
        rule, *cells = line.split("\t")
        if rule in rules:
            yield [re.sub(r"\\[tnr\\]", lambda match: marks[match[0]], cell) for cell in cells]


def as_surt(expected):
    """Write a canonical URL as a SURT, by reversing its host and nothing else."""
    found = re.fullmatch(r"[a-z]+://([^/:]*)(:[0-9]+)?(/.*)", expected)
    if found is None:
        return expected
    return ",".join(reversed(found[1].split("."))) + (found[2] or "") + ")" + found[3]


def known_differences(file):
    return {key: row[0] for key, row in DIFFERENCES.items() if key[0] == file}


def key_of(file, url):
    return file, re.sub(r"[^ -~]", lambda match: match[0].encode("unicode_escape").decode(), url)


@pytest.mark.parametrize("file", WHOLE_URLS)
def test_whole_urls_have_the_published_form(file, shared_data):
    rows = list(rows_of(shared_data, file, WHOLE_URLS[file]))
    assert len(rows) == N_ROWS[file]
    differing = {
        key_of(file, url): expected
        for url, expected in rows
        if canonical_surt(url.encode()).decode() != as_surt(expected)
    }
    assert differing == known_differences(file)


@pytest.mark.parametrize("file", SAME_URL)
def test_urls_that_others_canonicalise_further_are_the_same_to_us(file, shared_data):
    rows = list(rows_of(shared_data, file, SAME_URL[file]))
    assert len(rows) > 30
    differing = {
        key_of(file, url): expected
        for url, expected in rows
        if canonical_surt(url.encode()) != canonical_surt(expected.encode())
    }
    assert differing == known_differences(file)


def test_dot_segments_are_followed_as_published(shared_data):
    rows = list(rows_of(shared_data, "urlcanon_path_dots.tsv", ("special",)))
    assert len(rows) > 300
    for path, expected in rows:
        # To a browser a backslash is a slash; to web archives it is not.
        if "\\" not in path:
            segments = [segment for segment in expected.split("/") if segment]
            wanted = "org,example)/" + "/".join(segments)
            assert canonical_surt(b"http://example.org" + path.encode()) == wanted.encode(), path


def test_the_urls_of_an_idempotence_test_have_a_form(shared_data):
    text = (shared_data / "urls" / "urlcanon_idempotence.json").read_text(encoding="utf-8")
    for url in json.loads(text):
        form = canonical_surt(url.encode())
        assert form
        assert canonical_surt(url.encode() + b"#fragment") == form
