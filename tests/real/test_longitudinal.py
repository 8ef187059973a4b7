"""Real series of URL lists and published overlaps, through the whole program."""

import json
from dataclasses import replace

import pytest

import crawlgauge as cg
from crawlgauge.cli import main


@pytest.fixture(scope="module")
def lists_fit(shared_data, tmp_path_factory):
    """Add all snapshots of the Citizen Lab test lists and estimate."""
    store = tmp_path_factory.mktemp("lists") / "store"
    for path in sorted((shared_data / "longitudinal" / "citizenlab-test-lists").glob("*.txt.gz")):
        cg.add_crawl(store, path.name.removesuffix(".txt.gz"), path, identity="raw")
    return cg.estimate(cg.count_overlaps(store))


def test_the_lists_give_the_known_line(lists_fit):
    found = lists_fit.to_dict()
    assert len(found["crawls"]) == 24
    assert round(found["paper"]["coverage"], 3) == 1.244
    assert round(found["paper"]["persistence"], 3) == 0.733


def test_lists_that_hold_everything_are_not_given_a_single_number(lists_fit):
    """Histories cannot tell a URL that is off the list for a while from one that was missed."""
    headline = lists_fit.estimates.headline
    assert lists_fit.estimates.agreement.grade == "C"
    assert headline.statement.startswith("A typical crawl holds between ")
    assert headline.coverage.high > 0.99


def test_coverage_above_one_is_reported_as_it_is_and_called_impossible(lists_fit):
    by_pairs = cg.estimate(replace(lists_fit.table, histories=None))
    found = by_pairs.to_dict()
    assert found["headline"]["coverage"]["value"] > 1
    assert max(crawl["coverage"]["value"] or 0 for crawl in found["per_crawl"]) > 1
    assert any("above 100 %" in text and "impossible" in text for text in found["warnings"])
    assert "above 100 %" in " ".join(by_pairs.summary().split())


@pytest.fixture(scope="module")
def commoncrawl(shared_data):
    return shared_data / "commoncrawl" / "overlaps_2013-2016.csv"


def test_common_crawl_gives_the_known_numbers(commoncrawl, capsys):
    assert main._run(["estimate", str(commoncrawl), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    paper = found["paper"]
    shown = [round(paper[name], 3) for name in ("coverage", "persistence", "r_squared")]
    assert shown == [0.776, 0.733, 0.807]
    assert (paper["n_pairs"], paper["direction"]) == (325, "forward")
    (two_way,) = [item for item in found["estimators"] if item["name"] == "two-way"]
    assert round(two_way["persistence"], 3) == 0.728
    assert round(found["headline"]["coverage"]["value"], 3) == 0.775
    assert cg.estimate(cg.read_overlaps(commoncrawl)).to_dict()["paper"] == paper
