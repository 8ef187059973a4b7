"""A plan as text and as JSON, and what all crawls together hold."""

import json
from dataclasses import replace

import pytest

import crawlgauge as cg
from crawlgauge.model.estimates import Estimate
from crawlgauge.report.estimate_blocks import to_text


@pytest.fixture(scope="module")
def fit():
    table = cg.simulate_table("pure", n_crawls=4, population=200_000, seed=3, with_histories=True)
    return cg.estimate(table)


def words(text):
    return " ".join(text.split())


def test_without_wishes_the_useful_questions_are_answered(fit):
    text = words(cg.plan(fit).summary())
    assert "• A crawl that is to hold 80 % of the URLs that live needs about 160,000" in text
    assert "• For all crawls together to hold 90 % of the URLs that live, the next one" in text
    assert "• A further crawl of 92,000 URLs 6 months after the newest would find" in text
    assert "• If no crawl is added, all crawls together hold less than 50 %" in text
    assert "184,000 URLs a year, in the long run:" in text
    assert "Planned from a population of " in text
    assert "In brackets: 95 % intervals." in text


def test_only_what_is_wished_for_is_answered(fit):
    plan = cg.plan(fit, floor=0.4).result
    assert (plan.coverage_target, plan.union_target) == (None, None)
    assert plan.standstill.floor == 0.4


def test_the_table_marks_what_is_done_now_what_is_planned_and_what_is_untried(fit):
    text = cg.plan(fit, crawls_per_year=3).summary()
    rows = {line.split()[0]: line for line in text.split("\n") if line[:1] == " " and "%" in line}
    assert rows["2"].endswith("as now, untried")
    assert rows["3"].endswith("as planned")
    assert rows["1"].endswith("untried")
    assert rows["12"].endswith("%)")


def test_a_crawl_of_more_than_there_is_holds_all(fit):
    text = cg.plan(fit, budget=2_000_000, crawls_per_year=1).summary()
    (row,) = [line for line in text.split("\n") if "2 million" in line and "all" in line]
    assert row.split()[3] == "all"


def test_money_is_shown_where_it_is_known(fit):
    text = words(cg.plan(fit, target=0.8, cost_per_million=1000).summary())
    assert "184,000 URLs a year at a cost of 184" in text
    assert "of them, at a cost of 160" in text


def test_the_json_holds_the_plan_and_what_it_starts_from(fit):
    made = cg.plan(fit, target=0.8, size=150_000)
    document = json.loads(made.to_json())
    assert document == made.to_dict()
    assert list(document)[:3] == ["schema", "level", "start"]
    assert document["newest"]["label"] == fit.estimates.crawls[-1].label
    assert document["schema"] == "crawlgauge.plan/1"
    assert document["start"]["population"]["value"] == fit.estimates.population.value
    assert document["coverage_target"]["n_urls"]["low"] < 160_000
    assert document["next_crawl"]["n_urls"] == 150_000
    assert document["union_target"] is None
    assert [row["is_present"] for row in document["schedules"]].count(True) == 1
    assert document["provenance"]["crawlgauge"] == cg.__version__


def test_two_crawls_are_told_why_there_is_no_plan():
    table = cg.simulate_table(n_crawls=2, seed=1, with_histories=False)
    with pytest.raises(cg.FitError, match="two crawls give only coverage × persistence"):
        cg.plan(cg.estimate(table))


def test_at_grade_c_the_table_has_ranges_without_numbers(fit):
    estimates = replace(fit.estimates, agreement=replace(fit.estimates.agreement, grade="C"))
    text = words(cg.plan(replace(fit, estimates=estimates)).summary())
    assert "Planned from a population of 19" in text
    assert " to 20" in text
    assert "%)" not in text
    assert "needs about" not in text


def test_the_estimates_say_what_all_crawls_together_hold(fit):
    union = fit.estimates.union
    text = words(fit.summary(full=True))
    assert f"All crawls {union.n_distinct:,} different URLs, " in text
    assert "of those alive at the newest crawl" in text
    assert "of what all crawls hold was gone at the newest crawl" in text
    assert "URLs were alive during a crawl, but are in none" in text


def test_a_share_of_the_union_that_is_not_known_gives_its_reason(fit):
    unknown = replace(fit.estimates.union, dead_share=Estimate.unknown("the scope changed"))
    text = words(to_text(replace(fit.estimates, union=unknown)))
    assert "Dead unknown (the scope changed)" in text


def test_without_a_union_nothing_is_said_of_it():
    table = cg.simulate_table(n_crawls=4, seed=1, with_histories=False)
    assert "All crawls " not in cg.estimate(table).summary()
