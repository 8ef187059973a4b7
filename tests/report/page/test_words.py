"""Sentences are made from the estimates, right in number, and say no more than is known."""

import datetime as dt
import re
from dataclasses import replace
from pathlib import Path

import pytest

from crawlgauge import __version__
from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Agreement, Check, CrawlEstimate, Estimate, Newest
from crawlgauge.model.histories.checks import EXPLANATIONS
from crawlgauge.provenance import Provenance
from crawlgauge.report.page.answer import judge_newest
from crawlgauge.report.page.document import count_verdicts, list_checks
from crawlgauge.report.page.methods import (
    GLOSSARY,
    describe_methods,
    list_citations,
    split_at_terms,
)
from crawlgauge.report.page.prose import (
    describe_agreement,
    describe_crawls,
    describe_paper,
    describe_provenance,
    describe_turnover,
    describe_union,
    list_limits,
    list_readings,
)
from crawlgauge.report.page.safe_text import to_script_json, to_visible
from crawlgauge.report.page.tables import (
    MAX_PAIRS,
    compare_half_lives,
    list_assumptions,
    list_crawls,
    list_estimators,
    list_pairs,
)

DOCS = Path(__file__).parents[3] / "docs"


def between(value, low, high):
    return Estimate(value=value, low=low, high=high, basis="interval")


def with_newest(estimates, coverage, earlier):
    """Give the crawls other coverages."""
    rows = [
        CrawlEstimate(label=row.label, coverage=number, population=row.population)
        for row, number in zip(estimates.per_crawl, [*earlier, coverage], strict=True)
    ]
    newest = Newest(label=rows[-1].label, coverage=coverage, population=estimates.newest.population)
    return replace(estimates, per_crawl=tuple(rows), newest=newest)


def five(value):
    return [Estimate.unknown("first crawl"), *[between(value, value - 0.02, value + 0.02)] * 4]


@pytest.mark.parametrize(
    ("value", "word", "tone"),
    [
        (0.46, "as before", "good"),
        (0.30, "less than before", "look"),
        (0.7, "more than before", "good"),
    ],
)
def test_the_newest_crawl_is_held_against_the_earlier_ones(full, value, word, tone):
    verdict = judge_newest(
        with_newest(full, between(value, value - 0.01, value + 0.01), five(0.46))
    )
    assert (verdict.word, verdict.tone) == (word, tone)


def test_a_difference_within_the_ranges_is_called_none(full):
    verdict = judge_newest(with_newest(full, between(0.44, 0.42, 0.46), five(0.46)))
    assert verdict.word == "about as before"
    assert "a little less than the earlier crawls (46 %), but the ranges meet" in verdict.sentence


def test_without_ranges_a_difference_is_left_open(full):
    verdict = judge_newest(with_newest(full, Estimate(value=0.3), five(0.46)))
    assert (verdict.word, verdict.tone) == ("not settled", "plain")
    assert "less than the earlier crawls (46 %), but without ranges" in verdict.sentence


def test_a_damaged_newest_crawl_asks_for_a_look(full):
    crawls = (*full.crawls[:-1], replace(full.crawls[-1], damaged=True))
    damaged = with_newest(replace(full, crawls=crawls), between(0.46, 0.44, 0.48), five(0.46))
    assert (judge_newest(damaged).tone, judge_newest(damaged).word) == (
        "look",
        "as before, but damaged",
    )


def test_the_newest_crawl_is_not_judged_where_the_answer_is_not_trusted(full, two_crawls):
    refuted = replace(
        full,
        headline=replace(full.headline, estimator="two-way"),
        checks=(Check(id="x", status="fail", effect=1, threshold=0, message="No."),),
    )
    assert judge_newest(refuted).word == "not judged"
    unknown = judge_newest(two_crawls)
    assert unknown.word == "not known"
    assert "two crawls have one time difference only" in unknown.sentence
    assert "It has 1,251,000 URLs, 125,000 % more than the one before." in unknown.sentence


def test_checks_come_gravest_first_and_explain_themselves(full):
    checks = tuple(
        Check(id=name, status=status, effect=0.1, threshold=0.03, message=f"{name} says.")
        for name, status in zip(EXPLANATIONS, ["ok", "na", "warn", "info", "fail"], strict=False)
    )
    cards = list_checks(replace(full, checks=checks))
    assert [card.verdict.word for card in cards] == [
        "failed", "look", "finding", "ok", "not testable",
    ]  # fmt: skip
    assert all(card.question.endswith("?") for card in cards)
    headings = [heading for heading, _ in cards[0].explanations]
    assert headings == ["What it means", "How it is computed", "What to do"]
    assert cards[0].effect == "Effect +0.100, threshold 0.03"


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], "So few crawls leave nothing to check."),
        (["ok"], "The one check is ok."),
        (["ok", "ok"], "All 2 checks are ok."),
        (["na", "na"], "None of 2 checks could be run with this data."),
        (["fail", "ok", "ok"], "Of 3 checks, 1 says not to trust the number and 2 are ok."),
        (
            ["warn", "warn", "info", "na"],
            "Of 4 checks, 2 ask for a look, 1 is a finding and no fault and 1 could not be run with this data.",  # noqa: E501
        ),
    ],
)
def test_verdicts_are_counted_in_singular_and_plural(full, statuses, expected):
    checks = tuple(
        Check(id=f"c{k}", status=status, effect=None, threshold=None, message=".")
        for k, status in enumerate(statuses)
    )
    assert count_verdicts(replace(full, checks=checks)) == expected


def test_the_three_readings_hold_the_number_only_where_it_can_be_quoted(full, two_crawls):
    readings = list_readings(full)
    assert len(readings) == 3
    assert all("about 46 %" in reading.text for reading in readings)
    assert not any("%" in reading.text for reading in list_readings(two_crawls))


def test_the_limits_fit_the_estimator_the_level_and_the_number_of_crawls(full, three_crawls):
    headings = [remark.heading for remark in list_limits(full)]
    assert "Not of content" in headings
    assert "Small residuals are no proof" in headings
    assert "Rising intercepts are no progress" in headings
    assert "Not comparable with closed estimates" in headings
    assert not any("crawls say little" in heading for heading in headings)
    few = {remark.heading: remark.text for remark in list_limits(three_crawls)}
    assert "Three crawls say little" in few
    assert "Not of quality" in few
    assert "cannot show it at all" in few["Weighted by the way the crawler works"]


def test_the_half_life_stands_beside_published_ones(full, two_crawls):
    shown = [list(row[:2]) for row in compare_half_lives(full).grid.rows]
    assert shown == [
        ["This archive, 2019 to 2021", "2.2 years (2–2.4 years)"],
        ["German Academic Web, 2013 to 2021", "about 2.2 years"],
        ["Web pages in general", "about 2 years"],
    ]
    assert compare_half_lives(two_crawls).grid.rows[0][1] == "not known"


def test_the_paragraph_on_methods_names_version_data_numbers_and_settings(full):
    text = describe_methods(full)
    assert f"crawlgauge {__version__}" in text
    assert "6 crawls between 15 June 2019 and 15 December 2021" in text
    assert (
        "61,480,112 to 104,250,000 URLs each, counted in 1 of them in a hash sample of 1.6 %"
        in text
    )
    assert "of 15 pairs against the time difference, coverage is 0.461" in text
    assert "46 % (43–48 %) (a range calibrated on simulations" in text
    assert "73 % (71–75 %) live on for a year" in text
    assert "The checks of its assumptions found nothing: short-lag." in text
    assert "Settings: level = url, sample = 0.015625." in text


def test_the_paragraph_does_not_quote_what_is_not_to_be_trusted(full, two_crawls):
    refuted = replace(
        full,
        headline=replace(full.headline, estimator="two-way"),
        checks=(Check(id="x", status="fail", effect=1, threshold=0, message="No."),),
    )
    text = describe_methods(refuted)
    assert "a coverage that the checks tell not to trust" in text
    assert "43–48" not in text
    assert "fired: x." in text
    assert "cannot be estimated" in describe_methods(two_crawls)


def test_citations_are_bibtex_and_follow_the_estimators(full):
    entries = list_citations(full)
    assert "eprint        = {2603.15416}" in entries
    assert f"version = {{{__version__}}}" in entries
    assert "manly1968" not in entries
    rows = (
        replace(full.estimators[0], name="known-alive"),
        replace(full.estimators[0], name="cjs"),
    )
    more = list_citations(replace(full, estimators=rows))
    assert "manly1968" in more
    assert "cormack1964" in more
    keys = re.findall(r"@\w+\{(\w+),", more)
    assert len(keys) == len(set(keys)) == more.count("@")
    assert more.count("{") == more.count("}")


def test_leads_say_what_is_known_and_why_not(full, two_crawls, three_crawls):
    assert describe_crawls(full).startswith("6 crawls, 15 June 2019 to 15 December 2021, of ")
    assert "Half of them are gone after 2.2 years" in describe_turnover(full)
    assert "Persistence is not known: two crawls" in describe_turnover(two_crawls)
    assert "do not shrink with time" in describe_turnover(three_crawls)
    assert "R² = 0.95" in describe_paper(full)
    assert "No line can be drawn" in describe_paper(two_crawls)
    assert describe_agreement(full).startswith("Grade A: all estimators agree")
    plain = replace(full, agreement=Agreement(spread=None, grade="none", reason="all assume it"))
    assert describe_agreement(plain).startswith("All assume it. ")
    told = describe_union(full)
    assert told[0].startswith("All crawls together hold 262,000,000 different URLs")
    assert told[1] == full.union.caution
    assert describe_union(two_crawls) == ()


def test_provenance_names_damage_sample_and_settings(full, two_crawls):
    text = " ".join(describe_provenance(full))
    assert "counted on 2026-01-02T03:04:05Z" in text
    assert "Damage: part of the input of 2020-12 could not be read" in text
    assert "a sample of 961,000 or more URLs" in text
    assert describe_provenance(two_crawls)[1] == "Damage: none was met."
    hostile = replace(full, provenance=Provenance(settings={"a\x1b": "\u202eb"}))
    assert "a\\u001b = \\u202eb" in " ".join(describe_provenance(hostile))


def test_tables_hold_all_crawls_pairs_and_estimators(full):
    crawls = list_crawls(full)
    assert [row[0] for row in crawls.grid.rows] == [crawl.label for crawl in full.crawls]
    assert crawls.grid.values[0][3] is None
    assert crawls.grid.rows[0][5] == "not identifiable: first crawl"
    assert len(list_pairs(full).grid.rows) == 15
    assert [row[0] for row in list_estimators(full).grid.rows] == ["two-way", "chao"]
    assert [name for name, _ in list_assumptions(full)] == ["two-way", "chao"]


def test_the_headline_comes_first_and_closed_estimators_last(full):
    names = ("chao", "two-way", "histories")
    rows = tuple(replace(full.estimators[0], name=name) for name in names)
    table = list_estimators(replace(full, estimators=rows))
    assert [row[0] for row in table.grid.rows] == ["histories (the headline)", "two-way", "chao"]


def test_of_very_many_pairs_those_farthest_from_the_fit_are_shown(full):
    pairs = tuple(
        replace(full.residuals[0], b=f"b{k}", log_r=k / 1000) for k in range(MAX_PAIRS + 1)
    )
    table = list_pairs(replace(full, residuals=pairs))
    assert len(table.grid.rows) == 100
    assert table.grid.rows[0][1] == f"b{MAX_PAIRS}"
    assert "all 1,001 are in the downloads" in table.caption


def test_the_glossary_is_that_of_the_documentation():
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^(\S.*)\n((?:  .*\n)+)", text.split("```")[1], re.MULTILINE))
    plain = {
        term: re.sub(r"[`*$]|\{term\}|<.*?>", "", " ".join(body.split()))
        for term, body in entries.items()
    }
    for term, definition in GLOSSARY.items():
        assert plain[term].startswith(definition), term


def test_words_are_marked_where_they_first_occur():
    pieces = split_at_terms("Capture histories show coverage; half-lives and coverage do not.")
    assert [(piece.text, piece.term) for piece in pieces if piece.term] == [
        ("Capture histories", "capture history"),
        ("coverage", "coverage"),
        ("half-lives", "half-life"),
    ]
    assert "".join(piece.text for piece in pieces).endswith("and coverage do not.")


def test_json_in_a_page_cannot_end_its_element():
    text = to_script_json({"x": "</script><!--&\u2028\u2029", "y": [1, None]})
    assert not set("<>&\u2028\u2029") & set(text)
    assert to_visible("a\u2028b") == "a\\u2028b"
    with pytest.raises(ValueError, match="JSON"):
        to_script_json({"x": float("nan")})


def test_a_crawl_of_one_day_is_written_in_full(full):
    crawl = Crawl(label="x", date=dt.date(2020, 2, 1), n_urls=10)
    text = describe_crawls(replace(full, crawls=(crawl, crawl)))
    assert text == "2 crawls, 1 February 2020 to 1 February 2020, of 10 URLs on average"
