"""The band adds up what is in doubt, and the grade is read from it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.known_alive.band import Band, Doubts, draw_band, grade_band
from crawlgauge.model.known_alive.blending import Blend
from crawlgauge.model.known_alive.candidates import SamplingError

NO_BLEND = Blend(difference=math.nan, weight=0.0)
NO_DOUBTS = Doubts(
    trap_lags=0,
    shape_sd=0.0,
    uneven_effect=0.0,
    uneven_potential=0.0,
    consistency=0.0,
    blend=NO_BLEND,
    run_gap=0.0,
    newest_variance=0.0,
)
EXACT = SamplingError(per_crawl=np.zeros(5), typical=0.0)


def make_band(width):
    ends = np.full(5, width)
    return Band(below=width, above=width / 2, crawl_below=ends, crawl_above=ends)


def test_where_nothing_is_in_doubt_a_floor_remains():
    band = draw_band(NO_DOUBTS, EXACT)
    assert (band.below, band.above) == pytest.approx((0.05, 0.05))
    assert band.crawl_below == pytest.approx(2 * math.hypot(0.025, 0.03))


@pytest.mark.parametrize(
    ("change", "below", "above"),
    [
        ({"shape_sd": 0.1}, 0.1, 0.1),
        ({"trap_lags": 2}, math.hypot(0.04, 0.08), 0.04),
        ({"uneven_effect": 0.3}, 0.105, 0.036),
        ({"uneven_potential": -0.2}, 0.1, 0.0),
        ({"uneven_potential": 3.0}, 0.25, 0.0),
        ({"consistency": 2.0}, 0.1, 0.0),
        ({"consistency": -2.0}, 0.0, 0.06),
        ({"blend": Blend(difference=0.3, weight=0.1)}, 0.15, 0.15),
        ({"blend": Blend(difference=0.3, weight=0.0)}, 0.0, 0.0),
    ],
)
def test_each_doubt_widens_the_side_it_belongs_to(change, below, above):
    band = draw_band(replace(NO_DOUBTS, **change), EXACT)
    assert band.below == pytest.approx(2 * math.hypot(0.025, below))
    assert band.above == pytest.approx(2 * math.hypot(0.025, above))


def test_sampling_widens_both_sides_up_to_a_limit():
    band = draw_band(NO_DOUBTS, SamplingError(per_crawl=np.full(5, 0.1), typical=0.04))
    assert band.below == band.above == pytest.approx(2 * math.hypot(0.025, 0.04))
    assert band.crawl_above == pytest.approx(2 * math.hypot(0.025, 0.04, 0.1, 0.03))
    runaway = draw_band(NO_DOUBTS, SamplingError(per_crawl=np.full(5, 9.0), typical=9.0))
    assert runaway.below == pytest.approx(2 * math.hypot(0.025, 0.6))


def test_the_newest_crawl_adds_its_extrapolation():
    band = draw_band(replace(NO_DOUBTS, newest_variance=0.04), EXACT)
    assert band.crawl_below[-1] == pytest.approx(2 * math.hypot(0.025, 0.03, 0.2))
    assert band.crawl_below[-2] == pytest.approx(2 * math.hypot(0.025, 0.03))


@pytest.mark.parametrize(("width", "grade"), [(0.15, "A"), (0.2, "B"), (0.35, "B"), (0.4, "C")])
def test_the_grade_is_that_of_the_wider_side(width, grade):
    found, reason = grade_band(make_band(width), NO_DOUBTS, 50_000, 8)
    assert found == grade
    assert f"{math.exp(width):.2f}" in reason


def test_few_urls_are_never_trusted():
    grade, reason = grade_band(make_band(0.05), NO_DOUBTS, 999, 8)
    assert grade == "C"
    assert "999 distinct URLs" in reason


@pytest.mark.parametrize(("weight", "grade"), [(0.3, "C"), (0.0, "A")])
def test_a_level_far_off_is_not_trusted_if_it_has_a_say(weight, grade):
    doubts = replace(NO_DOUBTS, blend=Blend(difference=-0.5, weight=weight))
    assert grade_band(make_band(0.1), doubts, 50_000, 8)[0] == grade


@pytest.mark.parametrize(
    ("n_crawls", "lags", "grade"), [(6, 2, "C"), (7, 2, "A"), (5, 1, "A"), (5, 0, "A")]
)
def test_a_trap_of_two_crawls_needs_seven_crawls_to_be_trusted(n_crawls, lags, grade):
    found, reason = grade_band(make_band(0.1), replace(NO_DOUBTS, trap_lags=lags), 50_000, n_crawls)
    assert found == grade
    assert ("crawls" in reason) == (grade == "C")


def test_runs_of_captures_reach_up_to_the_other_reading_and_are_not_trusted():
    doubts = replace(NO_DOUBTS, run_gap=0.2)
    band = draw_band(doubts, EXACT)
    assert (band.below, band.above) == pytest.approx((0.05, 0.2))
    assert band.crawl_above == pytest.approx(0.2)
    grade, reason = grade_band(band, doubts, 50_000, 8)
    assert grade == "C"
    assert "long runs" in reason
    assert "1.22" in reason
