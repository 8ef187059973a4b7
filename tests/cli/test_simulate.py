"""The command ``simulate``: what it prints, writes and refuses."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import crawlgauge as cg
from crawlgauge.cli.main import command
from crawlgauge.simulate.scenarios import SCENARIOS


def run(*words):
    return CliRunner().invoke(command, ["simulate", *map(str, words)])


def test_scenarios_are_listed_with_a_summary():
    lines = run("urn", "--list").output.splitlines()
    assert [line.split()[0] for line in lines] == list(SCENARIOS)
    rows = json.loads(run("urn", "--list", "--json").output)
    assert rows[0] == {"scenario": "pure", "summary": "the urn itself, all assumptions hold"}


def test_a_scenario_is_described_with_its_changes_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = run("urn", "--scenario", "avoid-two", "--population", 5000, "--describe").output
    assert "a crawl could reach: 5,000." in text
    document = json.loads(run("urn", "--describe", "--json").output)
    assert document["scenario"] == "gaw"
    assert document["description"].startswith("gaw: 15 crawls")
    assert list(tmp_path.iterdir()) == []


FORMS = {
    "url-lists": ["2013-12.txt.gz", "2014-06.txt.gz", "2014-12.txt.gz"],
    "cdxj": ["2013-12.cdxj.gz", "2014-06.cdxj.gz", "2014-12.cdxj.gz"],
    "crawl-log": ["2013-12.crawl.log", "2014-06.crawl.log", "2014-12.crawl.log"],
    "warc": ["2013-12.warc.gz", "2014-06.warc.gz", "2014-12.warc.gz"],
    "store": ["crawlgauge.store"],
    "table": ["overlaps.json"],
}


@pytest.mark.parametrize("form", FORMS)
def test_an_archive_is_written_in_every_form_and_what_was_written_is_printed(form, tmp_path):
    words = ["urn", "--as", form, "--crawls", 3, "--population", 500, "-o", tmp_path / "out"]
    result = run(*words)
    assert result.exit_code == 0, result.output
    summary, *paths = result.output.splitlines()
    assert "3 crawls of the scenario gaw, of a typical coverage of 0.46" in summary
    assert paths == [str(tmp_path / "out" / name) for name in (*FORMS[form], "truth.json")]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(
        [*FORMS[form], "truth.json"]
    )


def test_json_tells_files_and_truth(tmp_path):
    result = run("urn", "--crawls", 2, "--population", 500, "-o", tmp_path / "out", "--json")
    document = json.loads(result.output)
    assert document["form"] == "url-lists"
    assert len(document["files"]) == 2
    assert document["truth"] == json.loads((tmp_path / "out" / "truth.json").read_text())


def test_main_numbers_can_be_changed(tmp_path):
    words = ["--population", 4000, "--coverage", 0.25, "--persistence", 0.5, "--crawls", 4]
    run("urn", *words, "--seed", 9, "-o", tmp_path / "out", "--as", "table")
    truth = json.loads((tmp_path / "out" / "truth.json").read_text())
    assert (truth["seed"], truth["persistence"], truth["population"]) == (9, 0.5, 4000)
    assert [crawl["n_urls"] for crawl in truth["crawls"]] == [1000] * 4


def test_the_web_is_simulated_too(tmp_path):
    assert "gaw-web" in run("web", "--list").output
    assert run("web", "--describe").output.strip()
    words = ["--pages", 1500, "--crawls", 2, "--budget", 0.3, "-o", tmp_path / "out"]
    result = run("web", *words, "--as", "table")
    assert result.exit_code == 0, result.output
    table = cg.read_overlaps(tmp_path / "out" / "overlaps.json")
    truth = json.loads((tmp_path / "out" / "truth.json").read_text())
    assert [crawl.n_urls for crawl in table.crawls] == [c["n_urls"] for c in truth["crawls"]]
    assert truth["crawls"][0]["coverage"] == pytest.approx(0.3, abs=0.02)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    result = run("urn", "-o", tmp_path)
    assert result.exit_code == 2
    assert "not empty; name another folder" in result.output


def test_same_seed_same_bytes_in_other_processes_and_with_other_workers(tmp_path):
    contents = []
    for workers, hash_seed in ((1, "1"), (3, "2")):
        folder = tmp_path / hash_seed
        subprocess.run(
            [
                *(sys.executable, "-m", "crawlgauge", "simulate", "urn", "--as", "crawl-log"),
                *("--scenario", "host-noise", "--crawls", "2", "--population", "800"),
                *("-o", folder, "--workers", str(workers)),
            ],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
        )
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert contents[0] == contents[1]
