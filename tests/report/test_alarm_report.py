"""A check of the newest crawl as text and as JSON."""

import json
import re
from dataclasses import replace

import pytest

import crawlgauge as cg
from crawlgauge.model.newest import judge_newest
from crawlgauge.report.alarm_blocks import to_blocks
from crawlgauge.report.blocks import render_blocks
from crawlgauge.report.result_json import check_document, to_json
from crawlgauge.simulate.urn_settings import DatePlan, UrnSettings

SETTINGS = UrnSettings(dates=DatePlan(n_crawls=7), coverage=(0.4,) * 6 + (0.2,))


def check(settings=SETTINGS, **options):
    table = cg.simulate_table(settings, seed=1, with_histories=False)
    return judge_newest(table, **options)


def test_the_text_gives_the_verdict_the_numbers_and_what_they_mean():
    text = " ".join(render_blocks(to_blocks(check())).split())
    assert text.startswith("The newest crawl, 2016-12, covers 50 % less than the 6 crawls before")
    assert re.search(r"size \(URLs\) 40,000 80,000 \([\d,]+–[\d,]+\) −50 % drop", text)
    assert "population – – " in text
    assert "– novelty: capture histories are needed" in text
    assert "Compared with the 6 crawls from 2013-12 to 2016-06." in text
    assert "overlap: the share of its URLs that 2016-06 holds as well" in text
    assert "A drop is 20 % or more below what was expected" in text
    assert "by chance in at most 5 % of crawls" in text


def test_a_check_that_tells_nothing_is_a_sentence():
    settings = replace(SETTINGS, dates=DatePlan(n_crawls=3), coverage=0.4)
    (block,) = to_blocks(check(settings))
    assert "cannot be told" in block[0].text


def test_coverage_is_that_of_the_estimates_and_at_grade_c_a_range():
    table = cg.simulate_table(SETTINGS, seed=1, with_histories=True)
    fit = cg.estimate(table)
    found = cg.check_newest(fit)
    assert found.to_dict()["measures"]["coverage"]["found"] == fit.estimates.newest.coverage.value
    assert "those of crawlgauge estimate" in " ".join(found.summary().split())
    unsure = replace(fit.estimates, agreement=replace(fit.estimates.agreement, grade="C"))
    check = judge_newest(table, unsure)
    text = " ".join(render_blocks(to_blocks(check)).split())
    assert re.search(r"coverage [\d.]+ % to [\d.]+ % – −\d+ % drop", text)
    assert check_document(check)["grade"] == "C"


def test_warnings_stand_at_the_end():
    shown = render_blocks(to_blocks(replace(check(), warnings=("Mind the gap.",))))
    assert shown.endswith("What to be careful about:\n• Mind the gap.")


def test_the_json_is_one_line_that_begins_with_its_schema_and_the_verdict():
    line = to_json(check_document(check()), indent=None)
    assert "\n" not in line
    document = json.loads(line)
    assert document == check_document(check())
    assert list(document)[:3] == ["schema", "status", "cause"]
    assert document["schema"] == "crawlgauge.check/1"
    assert (document["status"], document["cause"]) == ("drop", "crawl-shrank")
    assert document["newest"]["label"] == "2016-12"
    assert list(document["measures"]) == ["coverage", "size", "population", "overlap", "novelty"]
    size = document["measures"]["size"]
    assert (size["course"], size["found"]) == ("drop", 40_000)
    assert size["expected"]["value"] == pytest.approx(80_000)
    assert document["measures"]["coverage"]["change"]["value"] == pytest.approx(-0.5, abs=0.02)
    assert (document["threshold"], document["false_alarms"]) == (0.2, 0.05)
