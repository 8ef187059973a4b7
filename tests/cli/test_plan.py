"""The command that plans crawls."""

import json

import pytest

import crawlgauge as cg


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "overlaps.json"
    cg.write_overlaps(cg.simulate_table(n_crawls=4, seed=2, with_histories=True), path)
    return path


def test_a_plan_is_made_without_any_option(run, table):
    result = run("plan", table)
    assert result.code == 0
    assert "needs about 159,000 (156,000 to 163,000)" in " ".join(result.out.split())
    assert "a year, in the long run:" in result.out


def test_options_say_what_to_plan(run, table):
    words = ["--target", "0.7", "--size", "120000", "--budget", "300000", "--floor", "0.4"]
    document = json.loads(
        run("plan", table, *words, "--cost-per-million", "20", "--interval", "3", "--json").out
    )
    assert document["coverage_target"]["target"] == 0.7
    assert document["next_crawl"]["n_urls"] == 120_000
    assert document["next_crawl"]["after_years"] == 0.25
    assert (document["budget"], document["crawls_per_year"]) == (300_000, 4)
    assert document["cost_per_year"] == pytest.approx(6)
    assert document["standstill"]["floor"] == 0.4
    assert document["union_target"] is None
    each = json.loads(run("plan", table, "--union-target", "0.9", "--per-year", "1", "--json").out)
    assert each["union_target"]["n_urls_each"]["value"] > 0
    assert each["crawls_per_year"] == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--per-year", "2", "--interval", "6"], 2, "give one of --per-year and --interval"),
        (["--interval", "0"], 2, "--interval is 0; give a number of months above 0"),
        (["--target", "80"], 1, "the target is 80.0; it is a share"),
        (["--size", "-5"], 1, "the size of the next crawl is -5.0; give a number above 0"),
        (["--target", "much"], 2, "'much' is not a share; write it as 0.8 or 80%"),
    ],
)
def test_impossible_wishes_are_refused(run, table, words, code, message):
    result = run("plan", table, *words)
    assert result.code == code
    assert message in result.err


def test_one_crawl_and_no_store_are_errors(run, folder):
    assert run("plan").code == 1
    (folder / "urls.txt").write_text("http://example.org/\n")
    run("-q", "add", "2020-06", "urls.txt")
    result = run("plan")
    assert result.code == 1
    assert "there is only one crawl" in result.err
