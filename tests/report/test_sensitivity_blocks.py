"""What is said of changes: in order, with what they are compared with, and nothing left out."""

from dataclasses import replace

import pytest

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.sensitivity import Movement, Movements
from crawlgauge.report import result_json
from crawlgauge.report.blocks import render_blocks
from crawlgauge.report.sensitivity_blocks import to_blocks

COVERAGE = Estimate(value=0.46, low=0.44, high=0.48, basis="interval")


def move(kind, subject, value, before=0.46, **others):
    return Movement(
        kind=kind,
        change=f"changed {subject}",
        subject=subject,
        coverage=Estimate.unknown("too little") if value is None else Estimate(value=value),
        persistence=Estimate(value=0.73),
        coverage_before=before,
        persistence_before=0.73,
        estimator="histories",
        **others,
    )


@pytest.fixture
def movements():
    return Movements(
        coverage=COVERAGE,
        persistence=Estimate(value=0.73),
        estimator="histories",
        level="url",
        movements=(
            move("identity", "raw", 0.23),
            *(move("crawl", f"c{k}", 0.46 * (1.02 - k / 1000)) for k in range(12)),
            move("crawl", "short", None),
        ),
        part_rate=0.25,
        reading_rate=1 / 16,
        verdict="The verdict.",
        meanings=("A meaning.",),
        not_tried=("regimes: there is one",),
    )


def text_of(movements):
    return " ".join(render_blocks(to_blocks(movements)).split())


def test_the_verdict_comes_first_then_meanings_then_the_table(movements):
    text = text_of(movements)
    order = ["The verdict.", "• A meaning.", "changed raw 23 % −50 %", "changed c0 47 % +2 %"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_many_crawls_are_summed_up_and_other_changes_never(movements):
    text = text_of(movements)
    assert "changed c7 " in text
    assert "changed c8 " not in text
    assert "Leaving out one of 4 further crawls moves the coverage by 1.2 % at most." in text
    still = tuple(replace(movement, coverage=COVERAGE) for movement in movements.movements[1:12])
    text = text_of(replace(movements, movements=still))
    assert "Leaving out one of 3 further crawls moves the coverage by less than 0.1 %." in text


def test_what_it_rests_on_and_what_is_missing_is_said(movements):
    text = text_of(movements)
    assert "Each part holds 1 in 4 of the URLs." in text
    assert "read again in a sample of 1 in 16, and compared with the 46 % that they give" in text
    assert "– changed short: too little" in text
    assert "Not tried: regimes: there is one." in text


def test_another_estimator_is_named(movements):
    other = replace(movements.movements[0], estimator="two-way")
    text = text_of(replace(movements, movements=(other, *movements.movements[1:])))
    assert "By another estimator than the headline's (histories): changed raw." in text
    assert "another estimator" not in text_of(movements)


def test_the_json_has_all_changes_in_order(movements):
    document = result_json.sensitivity_document(movements)
    assert document["schema"] == "crawlgauge.sensitivity/1"
    assert len(document["movements"]) == 14
    first, last = document["movements"][0], document["movements"][-1]
    assert first["coverage_moves"] == pytest.approx(-0.5)
    assert (last["coverage"]["value"], last["coverage_moves"]) == (None, None)
