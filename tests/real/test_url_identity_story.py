"""What identity does to the answer, on lists that should come out near full coverage."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import crawlgauge as cg

PAGE = (Path(__file__).parents[2] / "docs" / "url-identity.md").read_text(encoding="utf-8")
IDENTITIES = ("raw", "scheme-free", "surt")


@pytest.fixture(scope="module")
def count(shared_data, tmp_path_factory):
    """Return a function from a series of lists and an identity to the overlaps, counted once."""
    tables = {}

    def counted(name, identity):
        if (name, identity) not in tables:
            store = tmp_path_factory.mktemp("lists") / "store"
            for path in sorted((shared_data / "longitudinal" / name).glob("*.txt.gz")):
                cg.add_crawl(store, path.name.removesuffix(".txt.gz"), path, identity=identity)
            tables[name, identity] = cg.count_overlaps(store)
        return tables[name, identity]

    return counted


def paper_of(table):
    return cg.estimate(replace(table, histories=None)).to_dict()["paper"]


def test_the_citizen_lab_lists_come_out_near_full_coverage(count):
    paper = paper_of(count("citizenlab-test-lists", "surt"))
    assert paper["coverage"] == pytest.approx(1.05, abs=0.02)
    assert paper["persistence"] == pytest.approx(0.91, abs=0.01)


def test_free_programming_books_come_out_near_full_coverage(count):
    assert paper_of(count("free-programming-books", "surt"))["coverage"] == pytest.approx(
        0.99, abs=0.02
    )


def test_each_identity_is_coarser_than_the_one_before(count):
    for name in ("citizenlab-test-lists", "free-programming-books"):
        sizes = [count(name, identity).n_shared.diagonal() for identity in IDENTITIES]
        assert (sizes[0] >= sizes[1]).all()
        assert (sizes[1] >= sizes[2]).all()


@pytest.mark.parametrize("identity", IDENTITIES)
def test_the_page_tells_the_story_as_it_is(identity, count):
    table = count("citizenlab-test-lists", identity)
    paper = paper_of(table)
    labels = [crawl.label for crawl in table.crawls]
    before, after = labels.index("2018-07-01"), labels.index("2019-01-01")
    kept = table.n_shared[before, after] / table.n_shared[before, before]
    row = f"| `{identity}` | {paper['coverage']:.3f} | {paper['persistence']:.3f} | {kept:.0%} |"
    assert row.replace("%", " %") in PAGE


def test_the_page_gives_the_coverage_of_the_other_lists(count):
    told = re.search(r"([\d.]+) with `raw`, ([\d.]+) with `scheme-free` and ([\d.]+) with", PAGE)
    found = [paper_of(count("free-programming-books", identity)) for identity in IDENTITIES]
    assert list(told.groups()) == [f"{paper['coverage']:.3f}" for paper in found]
