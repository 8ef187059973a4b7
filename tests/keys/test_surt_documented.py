"""Every example on the page about URL identity is true of the program."""

import csv
import re
from pathlib import Path

import pytest
from readable_rules import canonical_scheme_free

from crawlgauge.keys.rules import RULES
from crawlgauge.keys.surt import canonical_surt

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "url-identity.md").read_text(encoding="utf-8")
ESCAPE = re.compile(rb"\\(?:x([0-9a-f]{2})|([tn]))")


def rows_under(header):
    """Return the cells of all tables that have this header, without their backquotes."""
    tables = re.findall(rf"^{re.escape(header)}\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [
        [re.sub(r"^`|`$", "", cell) for cell in line[2:-2].split(" | ")]
        for table in tables
        for line in table.splitlines()
    ]


def as_bytes(cell):
    def replace(match):
        return (
            bytes.fromhex(match[1].decode()) if match[1] else {b"t": b"\t", b"n": b"\n"}[match[2]]
        )

    return ESCAPE.sub(replace, cell.encode())


def rows_of(name):
    """Return the rows of a table beside the page, without its header."""
    with (DOCS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


SHOWN = [
    row[1:]
    for part in ("around the URL and in the host", "in the path", "in the query")
    for row in rows_under(f"| {part} | URL | form |")
]
LISTED = rows_of("url-identity-examples.csv")
EXAMPLES = [*SHOWN, *(row[2:] for row in LISTED if row[0] == "surt")]
SCHEME_FREE = [
    *rows_under("| URL | scheme-free form |"),
    *(row[2:] for row in LISTED if row[0] == "scheme-free"),
]
DIFFERENCES = rows_of("url-identity-differences.csv")


def test_the_page_has_examples_of_every_part():
    assert len(SHOWN) > 10
    assert len(EXAMPLES) > 80
    assert len(SCHEME_FREE) > 10
    assert len(DIFFERENCES) == 20


@pytest.mark.parametrize(("url", "form"), EXAMPLES)
def test_a_url_has_the_form_that_the_page_shows(url, form):
    assert canonical_surt(as_bytes(url)) == form.encode()


@pytest.mark.parametrize(("url", "theirs", "ours", "reason"), DIFFERENCES)
def test_a_difference_is_one(url, theirs, ours, reason):
    assert canonical_surt(as_bytes(url)) == ours.encode()
    assert theirs != ours
    assert reason


@pytest.mark.parametrize(("url", "form"), SCHEME_FREE)
def test_a_url_has_the_scheme_free_form_that_the_page_shows(url, form):
    assert canonical_scheme_free(as_bytes(url)) == form.encode()


def test_the_page_names_every_identity_with_its_version():
    named = {row[0]: row[1] for row in rows_under("| identity | rule | two URLs are the same if |")}
    assert {name: rule.strip("`") for name, rule in named.items()} == {
        name: str(rule) for name, rule in RULES.items()
    }
