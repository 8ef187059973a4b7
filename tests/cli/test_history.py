"""The command ``history``: from the store, a table, histories or standard input."""

import json

import pytest

import crawlgauge as cg


@pytest.fixture
def table_file(folder):
    cg.write_overlaps(cg.simulate_table(n_crawls=5, population=2000, seed=1), "table.json")
    return folder / "table.json"


@pytest.mark.usefixtures("three_crawls")
def test_the_store_is_followed(run):
    document = json.loads(run("history", "--json").out)
    second, third = document["crawls"][1:]
    assert (second["kept"]["value"], second["dropped"]["value"]) == (80, 20)
    assert (second["lost"]["value"], second["forgotten"]["value"]) == (20, 0)
    assert (third["new"]["value"], third["recovered"]["value"]) == (20, 0)
    assert "80 % of the URLs are kept" in run("history").out


@pytest.mark.usefixtures("three_crawls")
def test_a_crawl_that_is_left_out_is_not_followed(run):
    document = json.loads(run("history", "--exclude", "2021-06", "--json").out)
    assert [crawl["label"] for crawl in document["crawls"]] == ["2020-12", "2021-12"]
    assert document["crawls"][1]["kept"]["value"] == 60


def test_a_table_and_its_histories_say_the_same(run, table_file, folder):
    document = json.loads(table_file.read_text(encoding="utf-8"))
    rows = "".join(f"{history},{n}\n" for history, n in document["histories"]["rows"])
    (folder / "h.csv").write_text(f"history,count\n{rows}")
    crawls = "".join(f"{crawl['label']},{crawl['date']}\n" for crawl in document["crawls"])
    (folder / "c.csv").write_text(f"label,date\n{crawls}")
    by_table = json.loads(run("history", "table.json", "--json").out)
    by_csv = json.loads(run("history", "--histories", "h.csv", "--crawls", "c.csv", "--json").out)
    assert by_table["crawls"] == by_csv["crawls"]
    assert by_table["capture_frequencies"] == by_csv["capture_frequencies"]


def test_standard_input_is_read(spawn, table_file):
    with table_file.open(encoding="utf-8") as file:
        piped = spawn("history", "-", "--json", stdin=file)
    assert json.loads(piped.out)["crawls"][0]["n_urls"] > 0


def test_a_figure_is_written_beside_the_text(run, table_file, folder):
    result = run("history", table_file, "--figure", "h.svg")
    assert result.code == 0
    assert result.out.startswith("From one crawl to the next")
    assert (folder / "h.svg").read_bytes().startswith(b"<svg")
    wrong = run("history", table_file, "--figure", "h.doc")
    assert (wrong.code, wrong.out) == (1, "")
    assert "the suffix does not name a format" in wrong.err


def test_without_a_store_or_with_an_empty_one_it_says_so(run, three_crawls):  # noqa: ARG001
    assert "there is no store at none" in run("history", "--store", "none").err
    for label in ("2020-12", "2021-06", "2021-12"):
        run("remove", label)
    result = run("history")
    assert result.code == 1
    assert "Traceback" not in result.err


def test_one_crawl_is_no_error(run, make_list):
    run("add", "2021-12", make_list(range(5)))
    result = run("history")
    assert result.code == 0
    assert result.out.startswith("There is nothing to follow yet")
