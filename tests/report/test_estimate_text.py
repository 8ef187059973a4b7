import dataclasses

import pytest

from crawlgauge.model.estimates import Check, CrawlEstimate, Estimate
from crawlgauge.report.estimate_blocks import to_text

CASES = ["full", "two_crawls", "three_crawls"]
SCREEN = 40


@pytest.mark.parametrize("case", CASES)
def test_the_output_is_the_golden_one(case, request, golden):
    estimates = request.getfixturevalue(case)
    assert to_text(estimates) == golden(f"estimate_{case}.txt")


@pytest.mark.parametrize("case", CASES)
def test_what_fits_on_a_screen_begins_alike_and_is_shorter(case, request):
    estimates = request.getfixturevalue(case)
    brief, whole = to_text(estimates, is_full=False), to_text(estimates)
    assert brief.split("\n\n")[0] == whole.split("\n\n")[0]
    assert len(brief.splitlines()) <= min(SCREEN, len(whole.splitlines()))


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_printed_and_no_line_is_untidy(case, request, capfd):
    lines = to_text(request.getfixturevalue(case)).split("\n")
    assert capfd.readouterr() == ("", "")
    assert all(line == line.rstrip() and len(line) <= 100 for line in lines)
    assert not any("nan" in line.lower().split() or "None" in line for line in lines)


def test_the_answer_comes_first_and_whole(full):
    answer = to_text(full).split("\n\n")[0]
    assert " ".join(answer.split("\n")) == full.headline.statement


@pytest.mark.parametrize("unit", ["%", "million", "years"])
def test_a_number_stays_on_the_line_of_its_unit(full, unit):
    statement = "x" * 84 + f" 46 {unit}."
    headline = dataclasses.replace(full.headline, statement=statement)
    lines = to_text(dataclasses.replace(full, headline=headline)).split("\n")
    assert lines[:2] == ["x" * 84, f"46 {unit}."]


def test_the_parts_stand_in_order(full):
    text = to_text(full)
    parts = ["A typical crawl", "What to be", "crawl  ", "Persistence", "The published method"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_every_warning_is_a_bullet_and_no_word_is_lost(full):
    _, _, cautions = to_text(full).partition("What to be careful about:\n")
    cautions = cautions.partition("\n\n")[0]
    bullets = [" ".join(bullet.split()) for bullet in cautions.split("• ")[1:]]
    assert bullets == list(full.warnings)


def test_without_warnings_there_is_no_list_of_them(two_crawls):
    assert "careful" not in to_text(two_crawls)


def test_checks_stand_by_gravity_and_those_without_findings_in_brief(full):
    checks = [
        Check(id=status, status=status, effect=1.0, threshold=0.1, message=f"It is {status}.")
        for status in ("ok", "info", "warn", "fail", "na")
    ]
    text = to_text(dataclasses.replace(full, checks=tuple(checks)))
    assert (
        "• failed (fail): It is fail.\n• caution (warn): It is warn.\n"
        "• finding (info): It is info.\n• ok: ok\n• not testable: na"
    ) in text


def test_crawls_with_the_same_reason_share_a_line(two_crawls):
    assert "– 2019-06 and 2019-12: " in to_text(two_crawls)


def test_coverage_and_population_may_be_missing_for_different_reasons(three_crawls):
    row = CrawlEstimate(
        label="2020-06",
        coverage=Estimate.unknown("not finite"),
        population=Estimate.unknown("its size is not known"),
    )
    per_crawl = (*three_crawls.per_crawl[:2], row)
    text = to_text(dataclasses.replace(three_crawls, per_crawl=per_crawl))
    assert "– 2020-06 (coverage): not finite\n" in text
    assert "– 2020-06 (population): its size is not known\n" in text


def test_a_value_without_its_range_stands_alone(full):
    text = to_text(dataclasses.replace(full, persistence=Estimate(value=0.731)))
    assert "Persistence  73 % of the URLs live on for a year\n" in text


def test_long_notes_are_numbered_under_the_table_and_equal_ones_once(full):
    note = "extrapolated from what the crawls before it show of the population's growth"
    per_crawl = tuple(dataclasses.replace(row, note=note) for row in full.per_crawl)
    text = to_text(dataclasses.replace(full, per_crawl=per_crawl))
    assert text.count("  [1]\n") == 6
    assert text.count(f"\n[1] {note}\n") == 1


def test_a_paper_fit_without_degrees_of_freedom_says_so(three_crawls):
    paper = dataclasses.replace(three_crawls.paper, r_squared=None)
    assert "R² unknown" in to_text(dataclasses.replace(three_crawls, paper=paper))


def test_labels_and_reasons_with_braces_or_percent_signs_are_shown_as_they_are(two_crawls):
    unknown = Estimate.unknown("{0} %s {}")
    text = to_text(dataclasses.replace(two_crawls, persistence=unknown))
    assert "unknown ({0} %s {})" in text
