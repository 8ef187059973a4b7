"""The command that checks the newest crawl: exit codes, silence, one line of JSON."""

import io
import json
import sys

import pytest

import crawlgauge as cg
from crawlgauge.simulate.urn_settings import DatePlan, UrnSettings


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Overlap tables of five crawls in line, of the same and a halved one, and of four crawls."""
    folder = tmp_path_factory.mktemp("tables")
    plans = {"in-line": (0.4,) * 5, "halved": (0.4,) * 5 + (0.2,), "few": (0.4,) * 4}
    for name, coverage in plans.items():
        settings = UrnSettings(dates=DatePlan(n_crawls=len(coverage)), coverage=coverage)
        table = cg.simulate_table(settings, seed=1, with_histories=False)
        cg.write_overlaps(table, folder / f"{name}.csv")
    return folder


def test_a_crawl_in_line_is_code_0_and_silent_if_asked(run, tables):
    result = run("check", tables / "in-line.csv")
    assert result.code == 0
    assert "is in line with the 4 crawls before it: it covers 40 %" in result.out
    quiet = run("-q", "check", tables / "in-line.csv")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_a_drop_is_code_3_and_told_even_if_silence_is_asked_for(run, tables):
    for words in (["check"], ["-q", "check"]):
        result = run(*words, tables / "halved.csv")
        assert result.code == 3
        assert "covers 20 % of the URLs that it could have reached, 50 % less" in result.out
        assert "The crawl shrank" in " ".join(result.out.split())


def test_what_cannot_be_told_is_code_0_and_said(run, tables):
    result = run("-q", "check", tables / "few.csv")
    assert result.code == 0
    assert "cannot be told: there are 4 crawls" in result.out
    document = json.loads(run("check", tables / "few.csv", "--json").out)
    assert (document["status"], document["measures"]) == ("unknown", {})


@pytest.mark.parametrize(("name", "code"), [("in-line", 0), ("halved", 3)])
def test_json_is_one_line_whatever_is_found(run, tables, name, code):
    result = run("-q", "check", tables / f"{name}.csv", "--json")
    assert result.code == code
    assert result.out.count("\n") == 1
    assert json.loads(result.out)["schema"] == "crawlgauge.check/1"


def test_a_larger_threshold_lets_a_drop_pass(run, tables):
    assert run("check", tables / "halved.csv", "--threshold", "0.6").code == 0
    assert run("check", tables / "halved.csv", "--threshold", "0.4").code == 3
    document = json.loads(
        run("check", tables / "halved.csv", "--json", "--false-alarms", "0.01").out
    )
    assert (document["false_alarms"], document["status"]) == (0.01, "drop")


@pytest.mark.parametrize("options", [("--threshold", "2"), ("--false-alarms", "0")])
def test_settings_out_of_bounds_are_an_error(run, tables, options):
    result = run("check", tables / "in-line.csv", *options)
    assert result.code == 1
    assert result.err.startswith("crawlgauge: error: ")


def test_the_newest_of_an_earlier_time_can_be_checked(run, tables):
    result = run("check", tables / "halved.csv", "--until", "2016-03-01")
    assert result.code == 0
    assert "The newest crawl, 2015-12, is in line with the 4 crawls before it" in " ".join(
        result.out.split()
    )


def test_a_table_may_come_by_standard_input(run, tables, monkeypatch):
    content = io.TextIOWrapper(io.BytesIO((tables / "halved.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", content)
    assert run("check", "-").code == 3


def test_a_store_of_one_crawl_cannot_be_told_and_a_missing_one_is_an_error(run, folder):
    (folder / "urls.txt").write_text("http://example.org/\n")
    assert run("check").code == 1
    assert run("-q", "add", "2020-06", "urls.txt").code == 0
    result = run("check")
    assert result.code == 0
    assert "there is 1 crawl of the present scope" in " ".join(result.out.split())
