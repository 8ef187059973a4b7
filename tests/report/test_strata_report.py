"""Strata in words, as JSON, as CSV and as a chart."""

import csv
import datetime as dt
import io
import json
from dataclasses import replace

import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.strata import Strata, StratumEstimate, Whole
from crawlgauge.report import result_json, strata_blocks
from crawlgauge.report.blocks import render_blocks
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.questions import draw_strata
from crawlgauge.report.strata_blocks import to_blocks


def between(value, low, high):
    return Estimate(value=value, low=low, high=high, basis="interval")


def make_stratum(name, n_urls, coverage, n_pooled=0):
    population = n_urls / coverage
    return StratumEstimate(
        name=name,
        n_pooled=n_pooled,
        n_urls=n_urls,
        n_crawls=6,
        coverage=between(coverage, 0.9 * coverage, 1.1 * coverage),
        population=between(population, population / 1.1, population / 0.9),
        missing=between(population - n_urls, population / 1.1 - n_urls, population / 0.9 - n_urls),
        persistence=between(0.73, 0.7, 0.76),
        typical_coverage=between(coverage, 0.9 * coverage, 1.1 * coverage),
    )


GONE = Estimate.unknown("the newest crawl holds nothing of it: gone, or missed")


@pytest.fixture
def strata():
    gone = replace(
        make_stratum("gone.example", 1, 0.5),
        n_urls=0,
        coverage=GONE,
        population=GONE,
        missing=GONE,
    )
    return Strata(
        by="host",
        noun=("host", "hosts"),
        crawls=(
            Crawl(label="2020-06", date=dt.date(2020, 6, 15), n_urls=9),
            Crawl(label="2020-12", date=dt.date(2020, 12, 15), n_urls=9),
        ),
        sample_rate=0.125,
        n_distinct=75,
        n_pooled=72,
        min_shared=30,
        strata=(
            make_stratum("large.example", 4000, 0.15),
            make_stratum("=cmd|' /C calc'!A0", 3000, 0.4),
            make_stratum("other hosts", 2000, 0.6, n_pooled=72),
            gone,
        ),
        post_stratified=Whole(
            coverage=between(0.25, 0.24, 0.26), population=between(3.6e4, 3.5e4, 3.7e4)
        ),
        own_sum=0.3,
        statement="1 of 2 hosts is covered below 20 %.",
        warnings=("gone.example: in earlier crawls.",),
        suffix_list="2026-10-23",
    )


def test_the_text_has_the_answer_the_table_and_all_that_must_be_said(strata):
    text = render_blocks(to_blocks(strata))
    assert text.startswith("1 of 2 hosts is covered below 20 %.\n")
    assert "large.example       4,000  15 % (14–16 %)" in " ".join(text.splitlines())
    assert "other hosts [72]" in text
    assert "72 of 75 hosts share fewer than 30 URLs" in " ".join(text.split())
    assert "gone.example: the newest crawl holds nothing of it: gone, or missed." in text
    assert "sample of 1 in 8 URLs" in text
    assert "public suffix list of 2026-10-23" in text
    assert "what crawlgauge estimate gives: coverage 25 % (24–26 %)" in " ".join(text.split())
    assert "which alone would add up to 30 %" in " ".join(text.split())
    assert "In brackets: 95 % intervals." in text
    assert "• gone.example: in earlier crawls." in text


def test_the_table_is_cut_where_the_user_wants_and_says_so(strata):
    text = render_blocks(to_blocks(strata, top=1))
    assert "3 more, of which less is missing: crawlgauge strata --top all." in text
    assert "other hosts [72]" not in text
    assert "more, of which" not in render_blocks(to_blocks(strata, top=None))


def test_names_break_no_line_and_long_ones_keep_their_end(strata):
    odd = make_stratum("a\x1b[31m\nb.example", 10, 0.5)
    long = make_stratum("x" * 60 + ".example.org", 10, 0.5)
    text = render_blocks(to_blocks(replace(strata, strata=(odd, long))))
    assert "a\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}b.example" in text
    assert "\x1b" not in text
    assert "…xxx" in text
    assert "xxx.example.org" in text
    assert "x" * 60 not in text


def test_json_has_the_schema_first_and_every_stratum(strata):
    document = json.loads(result_json.to_json(result_json.strata_document(strata)))
    assert next(iter(document)) == "schema"
    assert document["schema"] == "crawlgauge.strata/1"
    assert [row["name"] for row in document["strata"]] == [s.name for s in strata.strata]
    first, last = document["strata"][0], document["strata"][-1]
    assert first["coverage"]["value"] == 0.15
    assert set(first["coverage"]) == {"value", "low", "high", "level", "basis", "reason"}
    assert last["coverage"]["reason"].startswith("the newest crawl holds nothing")
    assert document["suffix_list"] == "2026-10-23"
    assert document["post_stratified"]["coverage"]["value"] == 0.25
    assert document["own_sum"] == 0.3


def test_csv_has_a_row_for_each_stratum_and_no_formulas(strata):
    rows = list(csv.DictReader(io.StringIO(strata_blocks.to_csv(strata))))
    assert [row["host"] for row in rows] == [
        "large.example",
        "'=cmd|' /C calc'!A0",
        "other hosts",
        "gone.example",
    ]
    assert float(rows[0]["missing"]) == pytest.approx(4000 / 0.15 - 4000, rel=1e-5)
    assert float(rows[0]["persistence_low"]) == 0.7
    assert rows[2]["n_pooled"] == "72"
    assert rows[3]["coverage"] == ""


def test_the_chart_has_a_dot_and_a_range_for_each_known_stratum(strata):
    chart = draw_strata(strata)
    assert isinstance(chart, Chart)
    assert [row[0] for row in chart.rows] == [s.name for s in strata.strata[:3]]
    assert chart.title == "Coverage of hosts by crawl 2020-12"
    assert "Dashed: the sum of all, 25 % (24–26 %)." in chart.caption
    svg = chart.to_json()
    assert "coverage_high" in svg


def test_a_chart_of_nothing_says_why(strata):
    nothing = draw_strata(replace(strata, strata=strata.strata[-1:]))
    assert isinstance(nothing, NoChart)
    assert nothing.reason == "the coverage of no host is known"
