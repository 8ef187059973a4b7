"""The command ``estimate``: a screenful, all of it, and files."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

import crawlgauge as cg
from crawlgauge.report.blocks import print_blocks, render_blocks
from crawlgauge.report.estimate_blocks import to_blocks

MOST_LINES = 30


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The overlap table of the demo, as a file."""
    path = tmp_path_factory.mktemp("demo") / "overlaps.json"
    cg.write_overlaps(cg.simulate_table("gaw", seed=1), path)
    return path


def test_the_answer_of_the_demo_fits_on_a_screen(run, demo, monkeypatch):
    text = run("estimate", demo).out
    assert len(text.splitlines()) <= MOST_LINES
    monkeypatch.setenv("COLUMNS", "80")
    terminal = io.StringIO()
    fit = cg.estimate(cg.read_overlaps(demo))
    print_blocks(to_blocks(fit.estimates, is_full=False), terminal)
    lines = terminal.getvalue().splitlines()
    # The command adds a line on where to read more.
    assert len(lines) < MOST_LINES
    assert max(map(len, lines)) <= 80
    assert text.startswith("A typical crawl holds about 46 %")
    assert "--full" in text


def test_the_newest_crawls_are_shown_and_the_others_in_a_line(run, demo):
    text = run("estimate", demo).out
    labels = re.findall(r"^(\d{4}-\d\d)  ", text, re.MULTILINE)
    assert labels == ["2018-12", "2019-06", "2019-12", "2020-06", "2020-12"]
    assert "The 10 earlier crawls, from 2013-12 on, hold 46 %." in text


def test_full_shows_every_crawl_estimator_and_check(run, demo):
    text, fit = run("estimate", demo, "--full").out, cg.estimate(cg.read_overlaps(demo))
    for name in (*(row.label for row in fit.estimates.per_crawl), "lincoln-petersen", "curvature"):
        assert name in text
    assert text.rstrip("\n") == fit.summary(full=True)
    assert fit.summary() in run("estimate", demo).out


@pytest.fixture(scope="module")
def doubtful():
    """Estimates of a series that avoids what it captured lately, with a caution."""
    found = cg.estimate(cg.simulate_table("avoid-most", seed=2)).estimates
    return replace(found, warnings=("Be careful.",))


@pytest.mark.parametrize("is_full", [True, False])
def test_cautions_stand_before_crawls_and_estimators(doubtful, is_full):
    text = render_blocks(to_blocks(doubtful, is_full=is_full))
    assert text.index("What to be careful about") < text.index("crawl  ")
    assert ("Estimators side by side" in text) == is_full


def test_a_screen_names_the_gravest_cautions_and_how_many_more_there_are(doubtful):
    warnings = tuple(f"Caution {number}." for number in range(5))
    text = render_blocks(to_blocks(replace(doubtful, warnings=warnings), is_full=False))
    assert "• Caution 2.\n• And 2 more, which the full text names." in text
    assert "Caution 3" not in text


def test_checks_that_found_something_are_named(doubtful):
    text = " ".join(render_blocks(to_blocks(doubtful, is_full=False)).split())
    failed = [check.id for check in doubtful.checks if check.status == "fail"]
    assert failed
    assert f"{len(failed)} failed ({failed[0]}" in text


def test_csv_holds_each_number_with_its_range(run, demo, folder):
    assert run("estimate", demo, "-o", "e.csv").err == "crawlgauge: wrote e.csv\n"
    rows = list(csv.DictReader((folder / "e.csv").read_text(encoding="utf-8").splitlines()))
    fit = cg.estimate(cg.read_overlaps(demo)).estimates
    typical = rows[0]
    assert (typical["quantity"], typical["crawl"]) == ("coverage", "")
    assert float(typical["value"]) == fit.headline.coverage.value
    assert float(typical["low"]) == fit.headline.coverage.low
    newest = [row for row in rows if (row["quantity"], row["crawl"]) == ("population", "2020-12")]
    assert [float(row["high"]) for row in newest] == [fit.newest.population.high]
    unknown = [row for row in rows if (row["quantity"], row["crawl"]) == ("coverage", "2013-12")]
    assert [(row["value"], bool(row["reason"])) for row in unknown] == [("", True)]


def test_json_is_what_json_prints(run, demo, folder):
    run("estimate", demo, "-o", "e.json")
    assert json.loads((folder / "e.json").read_text()) == json.loads(
        run("estimate", demo, "--json").out
    )


def test_tex_is_a_table_whose_text_is_escaped(run, demo, folder):
    run("estimate", demo, "-o", "e.tex")
    text = (folder / "e.tex").read_text(encoding="utf-8")
    body = text.partition("\n")[2]
    assert body.startswith("\\begin{tabular}{llrrr}\n\\toprule\nCrawl & Date & URLs & ")
    assert body.endswith("\\end{tabular}\n")
    assert re.search(
        r"^2020-12 & 2020-12-15 & 92,000 & 46 \\% \(\d+--\d+ \\%\) & ", body, re.MULTILINE
    )
    assert not re.search(r"(?<!\\)[%#_]", body)
    assert "–" not in body


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "e.xlsx"], "-o writes .csv, .json, .tex, and 'e.xlsx' ends in none of them"),
        (["-o", "e.csv", "--json"], "give one of -o and --json"),
        (["--full", "--json"], "give one of --json and --full"),
        (["--explain", "short-lag", "--json"], "give one of --json and --explain"),
        (["--sensitivity", "-o", "e.csv"], "give one of -o and --sensitivity"),
    ],
)
def test_two_ways_at_once_are_refused(run, demo, words, message):
    result = run("estimate", demo, *words)
    assert result.code == 2
    assert message in " ".join(result.err.split())


def test_pairs_and_crawls_apart_give_the_same_as_together(run, folder):
    (folder / "pairs.csv").write_text("a,b,n_shared\nx,y,40\nx,z,30\ny,z,45\n")
    (folder / "crawls.csv").write_text("label,date,n_urls\nx,2020,100\ny,2021,90\nz,2022,95\n")
    rows = ["a,date_a,n_a,b,date_b,n_b,n_shared", "x,2020,100,y,2021,90,40"]
    rows += ["x,2020,100,z,2022,95,30", "y,2021,90,z,2022,95,45"]
    (folder / "together.csv").write_text("\n".join(rows))
    apart = run("estimate", "pairs.csv", "--crawls", "crawls.csv")
    assert (apart.code, apart.out) == (0, run("estimate", "together.csv").out)
    assert "--crawls goes with TABLE or" in run("estimate", "--crawls", "crawls.csv").err
