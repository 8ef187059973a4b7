"""The command ``strata``: from a store of several hosts to the table, JSON, CSV and figure."""

import csv
import json
import random

import pytest

import crawlgauge as cg

LABELS = ("2019-06", "2019-12", "2020-06", "2020-12", "2021-06")


def crawl_hosts(rng, label, folder):
    """Write a list of a crawl: 300 URLs a host, of which a tenth is new in each crawl."""
    number = LABELS.index(label)
    lines = []
    for host, coverage in (("good.example.org", 0.8), ("bad.example.org", 0.25)):
        alive = range(40 * number, 40 * number + 400)
        lines += [f"https://{host}/{k}\n" for k in alive if rng.random() < coverage]
    lines += [f"https://small{k}.example.net/\n" for k in range(9)]
    path = folder / f"{label}.txt"
    path.write_text("".join(lines))
    return path


@pytest.fixture
def hosts(run, folder):
    """Fill the store with five crawls of two hosts and some small ones."""
    rng = random.Random(5)
    for label in LABELS:
        assert run("add", label, crawl_hosts(rng, label, folder)).code == 0


@pytest.mark.usefixtures("hosts")
def test_hosts_are_listed_with_what_is_missing_most_first(run):
    result = run("strata", "--min-shared", "20")
    assert result.code == 0
    lines = result.out.splitlines()
    names = [line.split()[0] for line in lines if ".example" in line and "%" in line]
    assert names[:2] == ["bad.example.org", "good.example.org"]
    assert "other hosts [9]" in result.out
    assert "public suffix list of" in result.out


@pytest.mark.usefixtures("hosts")
def test_json_has_all_hosts_and_near_the_truth(run):
    document = json.loads(run("strata", "--min-shared", "20", "--json").out)
    assert document["schema"] == "crawlgauge.strata/1"
    found = {row["name"]: row for row in document["strata"]}
    bad, good = (found[f"{name}.example.org"]["coverage"] for name in ("bad", "good"))
    assert good["value"] / bad["value"] == pytest.approx(3.2, rel=0.2)
    assert bad["low"] < 0.25 < bad["high"]
    assert good["low"] < 0.8 < good["high"]
    assert document["own_sum"] == pytest.approx(0.525, abs=0.1)
    assert document["provenance"]["settings"]["by"] == "host"
    assert document["provenance"]["settings"]["public_suffix_list"] == document["suffix_list"]
    assert [entry["name"] for entry in document["provenance"]["inputs"]] == list(LABELS)


@pytest.mark.usefixtures("hosts")
def test_hosts_add_up_to_what_is_estimated_of_all(run):
    estimate = json.loads(run("estimate", "--json").out)
    for by in ("host", "domain", "mime"):
        document = json.loads(run("strata", "--by", by, "--min-shared", "20", "--json").out)
        total = sum(row["population"]["value"] for row in document["strata"])
        assert total == pytest.approx(estimate["newest"]["population"]["value"])
        assert document["post_stratified"]["coverage"] == estimate["newest"]["coverage"]


@pytest.mark.usefixtures("hosts")
def test_domains_tlds_and_media_types_are_other_ways_to_divide(run):
    domains = json.loads(run("strata", "--by", "domain", "--min-shared", "5", "--json").out)
    assert {row["name"] for row in domains["strata"]} == {"example.org", "example.net"}
    tlds = json.loads(run("strata", "--by", "tld", "--min-shared", "5", "--json").out)
    assert {row["name"] for row in tlds["strata"]} == {"org", "net"}
    assert tlds["suffix_list"] is None
    for by, unknown in (("mime", "(no media type)"), ("status", "(no status)")):
        (only,) = json.loads(run("strata", "--by", by, "--json").out)["strata"]
        assert only["name"] == unknown


@pytest.mark.usefixtures("hosts")
def test_csv_and_figure_are_written(run, folder):
    result = run("strata", "-o", "hosts.csv", "--figure", "hosts.svg", "--min-shared", "20")
    assert (result.code, result.out) == (0, "")
    rows = list(csv.DictReader((folder / "hosts.csv").read_text().splitlines()))
    assert {row["host"] for row in rows} == {"bad.example.org", "good.example.org", "other hosts"}
    assert "bad.example.org" in (folder / "hosts.svg").read_text()


@pytest.mark.usefixtures("hosts")
def test_crawls_can_be_left_out(run):
    document = json.loads(run("strata", "--since", "2019-12", "--exclude", "2020-06", "--json").out)
    assert [crawl["label"] for crawl in document["crawls"]] == ["2019-12", "2020-12", "2021-06"]
    assert run("strata", "--exclude", "1999").err.startswith(
        "crawlgauge: error: there is no crawl 1999 to exclude"
    )
    assert "no crawl is left" in run("strata", "--until", "1999-01-01").err


@pytest.mark.usefixtures("hosts")
def test_two_crawls_give_sizes_and_the_reason(run):
    result = run("strata", "--since", "2020-12")
    assert result.code == 0
    assert "two crawls give only coverage × persistence" in " ".join(result.out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--top", "none"], "neither a number above 0 nor all"),
        (["--top", "0"], "neither a number above 0 nor all"),
        (["-o", "hosts.xlsx"], "does not end in .csv"),
        (["-o", "hosts.csv", "--json"], "give one of -o FILE.csv and --json"),
        (["--by", "colour"], "colour"),
    ],
)
def test_wrong_usage_is_told(run, words, message):
    result = run("strata", *words)
    assert result.code == 2
    assert message in result.err


@pytest.mark.usefixtures("hosts")
def test_a_store_that_is_missing_or_damaged_is_told(run, folder):
    assert "there is no store at" in run("strata", "--store", "nowhere").err
    (path,) = (folder / "crawlgauge.store" / "crawls" / "2020-06").glob("attributes-*.arrow")
    path.write_bytes(path.read_bytes()[:-40])
    result = run("strata")
    assert result.code == 1
    assert "is damaged" in result.err


@pytest.mark.usefixtures("hosts")
def test_python_gives_the_same(run):
    strata = cg.estimate_strata("crawlgauge.store", by="host", min_shared=20)
    assert strata.to_json() == run("strata", "--min-shared", "20", "--json").out.rstrip("\n")
    assert (
        strata.summary(top=2).rstrip()
        == run("strata", "--min-shared", "20", "--top", "2").out.rstrip()
    )
    assert strata.figure().name == "strata-host"
    with pytest.raises(cg.OverlapError, match="at least 1 URL, not 0"):
        cg.estimate_strata("crawlgauge.store", min_shared=0)


def test_what_holds_for_all_hosts_is_said_once(run, folder):
    run("add", LABELS[0], crawl_hosts(random.Random(5), LABELS[0], folder))
    result = run("strata")
    assert result.code == 0
    assert " ".join(result.out.split()).count("one crawl tells nothing of coverage") == 1
