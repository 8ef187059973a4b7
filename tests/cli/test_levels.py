"""Levels on the command line: a site that moves is lost by its URLs and kept by its contents."""

import base64
import hashlib
import json
import random

import pytest

import crawlgauge as cg

N_PAGES = 3000
KEPT = 0.93
CAPTURED = 0.6
HTTPS = (0, 0, 0.4, 0.8, 1, 1)
"""Which share of the site has moved to https at each crawl."""


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    """Write the indexes of a site that moves from http to https, and has a mirror in part."""
    rng = random.Random(11)
    folder = tmp_path_factory.mktemp("site")
    alive, n_born = list(range(N_PAGES)), N_PAGES
    paths = []
    for number, share in enumerate(HTTPS):
        date = f"{2014 + number // 2}-{(6, 12)[number % 2]:02d}"
        alive = [page for page in alive if rng.random() < KEPT]
        alive += range(n_born, n_born + N_PAGES - len(alive))
        n_born = max(alive) + 1
        lines = []
        for page in alive:
            scheme = "https" if random.Random(page).random() < share else "http"
            hosts = [f"{scheme}://www.example.org"]
            hosts += ["http://mirror.example.net"] * (page % 10 == 0)
            digest = hashlib.sha1(b"%d" % page, usedforsecurity=False).digest()
            for host in hosts:
                if rng.random() < CAPTURED:
                    line = {"url": f"{host}/{page}", "status": "200"}
                    line["digest"] = base64.b32encode(digest).decode()
                    lines.append(f"- {date.replace('-', '')}15000000 {json.dumps(line)}\n")
        path = folder / f"{date}.cdxj"
        path.write_text("".join(lines))
        paths.append(path)
    return paths


@pytest.fixture(scope="module")
def store(indexes, tmp_path_factory):
    """Return the path of a store of the crawls of that site, by URL and by content."""
    store = tmp_path_factory.mktemp("levels") / "store"
    for path in indexes:
        cg.add_crawl(store, path.stem, path, identity="raw", levels="url,content")
    return store


def test_contents_show_that_a_site_has_moved_and_not_died(store, run):
    by_content = json.loads(run("estimate", "--store", store, "--level", "content", "--json").out)
    assert by_content["level"] == "content"
    truth, persistence = KEPT**2, by_content["persistence"]
    assert persistence["low"] < truth < persistence["high"]
    assert abs(persistence["value"] - truth) < 0.02
    # A tenth of the contents have two chances to be captured.
    coverage = 0.9 * CAPTURED + 0.1 * (1 - (1 - CAPTURED) ** 2)
    assert abs(by_content["paper"]["coverage"] - coverage) < 0.03
    by_url = json.loads(run("estimate", "--store", store, "--json").out)
    assert (by_url["level"], by_url["persistence"]["value"] < 0.7) == ("url", True)


def test_the_estimate_by_content_says_what_sets_it_apart_from_urls(store, run):
    text = run("estimate", "--store", store, "--level", "content").out
    assert "URLs and contents compared:" in text
    words = " ".join(text.split())
    assert "More contents than URLs are found again from one crawl to the next" in words
    assert "have only moved, such as from http to https" in words
    assert "URLs for each of its contents: mirrors" in words


def test_list_and_overlaps_name_the_level(store, run):
    assert "contents" in run("list", "--store", store).out.splitlines()[0]
    (first, *_) = json.loads(run("list", "--store", store, "--json").out)["crawls"]
    assert [level["level"] for level in first["levels"]] == ["url", "content"]
    assert first["levels"][1]["key_rule"] == "digest/1"
    shown = run("overlaps", "--store", store, "--level", "content")
    assert "compared by their contents (identity: digest/1)" in shown.out
    table = json.loads(run("overlaps", "--store", store, "--level", "content", "--json").out)
    assert (table["level"], table["key_rule"]) == ("content", "digest/1")


def test_a_table_keeps_its_level_and_another_is_refused(store, run):
    words = ("overlaps", "--store", store, "--level", "content", "-o", "contents.csv")
    assert run(*words).code == 0
    assert cg.read_overlaps("contents.csv").level == "content"
    shown = run("estimate", "contents.csv", "--level", "content")
    assert (shown.code, "compared:" in shown.out) == (0, False)
    refused = run("estimate", "contents.csv", "--level", "url")
    assert refused.code == 2
    assert "the table is of level content, not url" in refused.err


def test_a_crawl_without_contents_is_named(indexes, run):
    run("add", "2014-06", indexes[0], "--levels", "url,content")
    run("add", "2014-12", indexes[1])
    failed = run("estimate", "--level", "content")
    assert failed.code == 1
    assert "'2014-12' has no set of level content" in failed.err
    assert "--replace --levels url,content" in failed.err


@pytest.mark.slow
def test_report_and_figures_are_made_by_content(store, run, folder):
    assert run("report", "--store", store, "--level", "content", "-o", "report.html").code == 0
    assert "contents" in (folder / "report.html").read_text(encoding="utf-8")
    assert run("figures", "--store", store, "--level", "content", "-o", "figures").code == 0
    assert "contents" in (folder / "figures" / "captions.md").read_text(encoding="utf-8")


def test_what_a_level_lacks_is_said(folder, run):
    lines = [
        '- 20210615000000 {"url": "http://a.org/1", "status": "200", "digest": "-"}\n',
        '- 20210615000000 {"url": "http://a.org/2", "status": "200", "digest": "sha1:%s"}\n'
        % ("B" * 31 + "A"),
    ]
    (folder / "a.cdxj").write_text("".join(lines))
    out = " ".join(run("add", "2021-06", "a.cdxj", "--levels", "url,content").out.split())
    assert "1 content of 1 capture (not counted: 1 without a digest)" in out
    assert run("add", "x", "a.cdxj", "--levels", "content").code == 1
    assert run("overlaps", "--level", "contents").code == 2
