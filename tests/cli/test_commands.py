"""The commands that show, count, estimate, remove and verify."""

import json
import re
from pathlib import Path

import pytest

import crawlgauge as cg
from crawlgauge.cli.main import command

COMMANDS = sorted(command.commands)


@pytest.mark.usefixtures("three_crawls")
def test_the_store_is_listed(run):
    result = run("list")
    assert result.code == 0
    rows = [line.split() for line in result.out.splitlines()[2:]]
    assert [row[:3] for row in rows] == [
        ["2020-12", "2020-12-15", "100"],
        ["2021-06", "2021-06-15", "100"],
        ["2021-12", "2021-12-15", "100"],
    ]
    document = json.loads(run("list", "--json").out)
    assert [crawl["label"] for crawl in document["crawls"]] == [row[0] for row in rows]


@pytest.mark.usefixtures("three_crawls")
def test_the_store_of_the_environment_is_taken_unless_another_is_named(run, folder, monkeypatch):
    (folder / "crawlgauge.store").rename("elsewhere")
    assert run("list").code == 1
    assert run("list", "--store", "elsewhere").code == 0
    monkeypatch.setenv("CRAWLGAUGE_STORE", str(folder / "elsewhere"))
    assert run("list").code == 0
    assert run("list", "--store", "none").code == 1


@pytest.mark.usefixtures("three_crawls")
def test_a_crawl_is_removed(run):
    assert run("remove", "2021-06").out == "removed 2021-06\n"
    assert json.loads(run("remove", "2021-12", "--json").out) == {"removed": ["2021-12"]}
    assert [crawl["label"] for crawl in json.loads(run("list", "--json").out)["crawls"]] == [
        "2020-12"
    ]
    assert run("remove", "2021-06").code == 1
    run("remove", "2020-12")
    empty = run("list")
    assert (empty.code, "holds no crawls" in empty.out) == (0, True)


@pytest.mark.usefixtures("three_crawls")
def test_verify_says_ok_or_what_is_wrong_with_exit_code_1(run, folder):
    result = run("verify")
    assert (result.code, result.out) == (0, "2020-12: ok\n2021-06: ok\n2021-12: ok\n")
    (path,) = (folder / "crawlgauge.store" / "crawls" / "2021-06").glob("url-*.arrow")
    path.write_bytes(b"x")
    damaged = run("verify")
    assert damaged.code == 1
    assert re.search(r"^2021-06: .* is damaged", damaged.out, re.MULTILINE)
    document = json.loads(run("verify", "--json").out)
    problems = {crawl["label"]: crawl["problem"] for crawl in document["crawls"]}
    assert problems["2021-12"] is None
    assert "is damaged" in problems["2021-06"]


@pytest.mark.usefixtures("three_crawls", "folder")
def test_overlaps_are_shown_and_written_in_every_format(run):
    shown = run("overlaps")
    assert shown.code == 0
    assert "80" in shown.out
    document = json.loads(run("overlaps", "--json").out)
    assert document["n_shared"] == [[100, 80, 60], [80, 100, 80], [60, 80, 100]]
    estimates = set()
    for name in ("table.csv", "table.json", "table.parquet"):
        written = run("overlaps", "-o", name)
        assert (written.code, written.out) == (0, "")
        assert name in written.err
        assert cg.read_overlaps(name).n_shared.tolist() == document["n_shared"]
        estimate = json.loads(run("estimate", name, "--json").out)
        estimates.add(estimate["paper"]["coverage"])
    estimates.add(json.loads(run("estimate", "--json").out)["paper"]["coverage"])
    assert len(estimates) == 1


@pytest.mark.usefixtures("three_crawls")
def test_estimates_are_shown(run):
    result = run("estimate")
    assert result.code == 0
    for label in ("2020-12", "2021-06", "2021-12"):
        assert label in result.out
    assert json.loads(run("estimate", "--json").out)["schema"] == "crawlgauge.estimate/1"


@pytest.mark.usefixtures("three_crawls")
def test_a_table_is_read_from_standard_input(spawn, run):
    run("overlaps", "-o", "table.csv")
    with Path("table.csv").open() as file:
        result = spawn("estimate", "-", "--json", stdin=file)
    assert json.loads(result.out)["paper"]["n_pairs"] == 3


@pytest.mark.usefixtures("three_crawls")
def test_two_crawls_need_a_persistence_from_elsewhere(run):
    run("remove", "2021-06")
    assert run("estimate").code == 0
    with_persistence = json.loads(run("estimate", "--persistence", "0.73", "--json").out)
    assert with_persistence["headline"]["coverage"]["value"] == pytest.approx(0.6 / 0.73, abs=1e-3)


def test_histories_are_read_with_their_crawls(run, folder):
    (folder / "crawls.csv").write_text("label,date\na,2020-01-01\nb,2020-07-01\nc,2021-01-01\n")
    (folder / "histories.csv").write_text(
        "history,count\n100,20\n010,10\n001,20\n110,20\n011,20\n101,3\n111,57\n"
    )
    result = run("estimate", "--histories", "histories.csv", "--crawls", "crawls.csv", "--json")
    assert [crawl["n_urls"] for crawl in json.loads(result.out)["crawls"]] == [100, 107, 100]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "completion"])
def test_the_help_of_each_command_has_examples_and_json(run, name):
    result = run(name, "--help")
    assert (result.code, result.err) == (0, "")
    assert f"crawlgauge {name}" in result.out.split("Examples:")[1]
    assert "--json" in result.out


def test_the_help_names_all_commands_and_exit_codes(run):
    result = run("--help")
    assert result.code == 0
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", result.out, re.MULTILINE)
    assert "2 wrong usage, 3 check found a drop, 4 done" in " ".join(result.out.split())
    assert cg.__version__ in run("--version").out
