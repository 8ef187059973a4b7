"""Sentences are made from the estimates, right in number, and say no more than is known."""

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest

from crawlgauge import __version__
from crawlgauge.model.estimates import Agreement, Check
from crawlgauge.provenance import Provenance
from crawlgauge.report.page.document import (
    MAX_PAIRS,
    count_verdicts,
    describe_methods,
    list_checks,
    list_citations,
    list_crawls,
    list_estimators,
    list_union,
    render_page,
    show_pairs,
    show_provenance,
)
from crawlgauge.report.page.templates import GLOSSARY, split_at_terms, to_script_json, to_visible
from crawlgauge.report.words import EXPLANATIONS

DOCS = Path(__file__).parents[3] / "docs"


def test_checks_come_gravest_first_and_explain_themselves(full):
    checks = tuple(
        Check(id=name, status=status, effect=0.1, threshold=0.03, message=f"{name} says.")
        for name, status in zip(EXPLANATIONS, ["ok", "na", "warn", "info", "fail"], strict=False)
    )
    cards = list_checks(replace(full, checks=checks))
    assert [card.verdict.word for card in cards] == [
        "failed", "caution", "finding", "ok", "not testable",
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
            "Of 4 checks, 2 call for caution, 1 reports a finding and 1 could not be run with this data.",  # noqa: E501
        ),
    ],
)
def test_verdicts_are_counted_in_singular_and_plural(full, statuses, expected):
    checks = tuple(
        Check(id=f"c{k}", status=status, effect=None, threshold=None, message=".")
        for k, status in enumerate(statuses)
    )
    assert count_verdicts(replace(full, checks=checks)) == expected


def text_of(page):
    """Return what a page says, without its tags."""
    body = page[page.index("<main>") : page.index("</main>")]
    plain = html.unescape(re.sub(r"<[^>]+>", "", body))
    return " ".join(plain.replace("\u00a0", " ").replace("\u2060", "").split())


def test_the_three_readings_hold_the_number_only_where_it_can_be_quoted(full, two_crawls):
    assert text_of(render_page(full, ())).count("about 46 %") >= 3
    readings = text_of(render_page(two_crawls, ())).partition("Three ways to read it")[2]
    assert "a share equal to the coverage" in readings


def test_the_limits_fit_the_estimator_the_level_and_the_number_of_crawls(full, three_crawls):
    limits = text_of(render_page(full, ())).partition("What it does not mean")[2]
    for name in (
        "Not of content",
        "Small residuals are no proof",
        "Rising intercepts are no progress",
        "Not comparable with closed estimates",
    ):
        assert name in limits
    assert "crawls say little" not in limits
    few = text_of(render_page(three_crawls, ())).partition("What it does not mean")[2]
    assert "Three crawls say little" in few
    assert "Not of quality" in few
    assert "cannot show it at all" in few


def test_the_half_life_stands_beside_published_ones(full, two_crawls):
    beside = text_of(render_page(full, ())).partition("The half-life beside published ones")[2]
    assert "This archive, 2019 to 20212.2 years (2–2.4 years)" in beside
    assert "German Academic Web, 2013 to 2021about 2.2 years" in beside
    assert "The half-life beside" not in text_of(render_page(two_crawls, ()))


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
    entries = "\n".join(list_citations(full))
    assert "eprint        = {2603.15416}" in entries
    assert f"version = {{{__version__}}}" in entries
    assert "manly1968" not in entries
    rows = (
        replace(full.estimators[0], name="known-alive"),
        replace(full.estimators[0], name="cjs"),
    )
    more = "\n".join(list_citations(replace(full, estimators=rows)))
    assert "manly1968" in more
    assert "cormack1964" in more
    keys = re.findall(r"@\w+\{(\w+),", more)
    assert len(keys) == len(set(keys)) == more.count("@")
    assert more.count("{") == more.count("}")


def test_leads_say_what_is_known_and_why_not(full, two_crawls, three_crawls):
    assert list_crawls(full).lead == "Half of the URLs are gone after 2.2 years (2–2.4 years)"
    assert "Persistence: unknown (two crawls" in text_of(render_page(two_crawls, ()))
    assert "do not shrink with time" in text_of(render_page(three_crawls, ()))
    assert "half-life 2.2 years, R² 0.95" in text_of(render_page(full, ()))
    assert "No line can be drawn" in text_of(render_page(two_crawls, ()))
    assert list_estimators(full).blocks[0][0].text.startswith("Grade A: All estimators agree")
    plain = replace(full, agreement=Agreement(spread=None, grade="none", reason="all assume it"))
    assert list_estimators(plain).blocks[0][0].text.startswith("All assume it. ")
    told = list_union(full).blocks[0]
    assert told[0].text.startswith("262,000,000 different URLs")
    assert told[-1].text == full.union.caution
    assert list_union(two_crawls).blocks == ()


def provenance_of(estimates):
    return [item.text for item in next(show_provenance(estimates))[1:]]


def test_provenance_names_damage_sample_and_settings(full, two_crawls):
    text = " ".join(provenance_of(full))
    assert "counted on 2026-01-02T03:04:05Z" in text
    assert "Damage: part of the input of 2020-12 could not be read" in text
    assert "a sample of 961,000 or more URLs" in text
    assert provenance_of(two_crawls)[1] == "No input was damaged."
    hostile = replace(full, provenance=Provenance(settings={"a\x1b": "\u202eb"}))
    assert "a\\u001b = \\u202eb" in " ".join(provenance_of(hostile))


def test_tables_hold_all_crawls_pairs_and_estimators(full):
    _, (crawls, *_), (reason, *_), *_ = list_crawls(full).blocks
    assert [row[0] for row in crawls.rows] == [crawl.label for crawl in full.crawls]
    assert crawls.values[0][3] is None
    assert reason.text == "2019-06: first crawl"
    assert len(show_pairs(full)[1].rows) == 15
    estimators = list_estimators(full).blocks[1][0]
    assert [row[0] for row in estimators.rows] == ["two-way", "chao"]
    assert estimators.rows[1][-1] == "a closed population"


def test_the_headline_comes_first_and_closed_estimators_last(full):
    names = ("chao", "two-way", "histories")
    rows = tuple(replace(full.estimators[0], name=name) for name in names)
    table = list_estimators(replace(full, estimators=rows)).blocks[1][0]
    assert [row[0] for row in table.rows] == ["histories (the headline)", "two-way", "chao"]


def test_of_very_many_pairs_those_farthest_from_the_fit_are_shown(full):
    pairs = tuple(
        replace(full.residuals[0], b=f"b{k}", log_r=k / 1000) for k in range(MAX_PAIRS + 1)
    )
    title, table = show_pairs(replace(full, residuals=pairs))
    assert len(table.rows) == 50
    assert table.rows[-1][1] == f"b{MAX_PAIRS}"
    assert "all 436 are in the downloads" in title.text


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
    assert [(text, term) for text, term in pieces if term] == [
        ("Capture histories", "capture history"),
        ("coverage", "coverage"),
        ("half-lives", "half-life"),
    ]
    assert "".join(text for text, _ in pieces).endswith("and coverage do not.")


def test_json_in_a_page_cannot_end_its_element():
    text = to_script_json({"x": "</script><!--&\u2028\u2029", "y": [1, None]})
    assert not set("<>&\u2028\u2029") & set(text)
    assert to_visible("a\u2028b") == "a\\u2028b"
    with pytest.raises(ValueError, match="JSON"):
        to_script_json({"x": float("nan")})


def test_the_page_is_headed_by_the_archives_name_its_crawls_and_the_date(full):
    text = text_of(render_page(full, (), title="Our <b>archive</b>"))
    assert text.startswith(
        "Our <b>archive</b> How much of the crawlable web does it hold? 6 crawls"
    )
    assert "June 2019 to December 2021" in text
    assert re.search(r"Report of \d+ \w+ \d{4}, crawlgauge", text)
    unnamed = text_of(render_page(full, ()))
    assert unnamed.startswith("How much of the crawlable web does this archive hold? 6 crawls")
