import math

import pytest

from crawlgauge.model.histories.checks import check_heterogeneous_capture
from crawlgauge.model.histories.data import history_data
from crawlgauge.model.histories.dependence import (
    CaptureDependence,
    LogOdds,
    Scatter,
    measure_dependence,
)
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table

UNKNOWN = LogOdds(value=math.nan, error=math.nan)


def draw(name="pure", seed=1, **changes):
    settings = change_settings(find_scenario(name), **{"n_crawls": 8, **changes})
    return history_data(draw_table(settings, seed=seed, with_histories=True))


@pytest.fixture(scope="module")
def data():
    return draw()


def check(data, level="url"):
    return check_heterogeneous_capture(data, measure_dependence(data), level)


def dependence(one, two, three, ratio=1.0):
    """Make a result by hand; a lag is its value and error, or what is given."""
    odds = [
        lag if isinstance(lag, LogOdds) else LogOdds(value=lag[0], error=lag[1])
        for lag in (one, two, three)
    ]
    return CaptureDependence(
        by_lag=tuple(odds),
        memory=UNKNOWN,
        scatter=Scatter(ratio=ratio, n_freedom=9),
        captured_share=0.4,
    )


def test_even_capture_is_in_order(data):
    result = check(data)
    assert (result.id, result.status) == ("heterogeneous-capture", "ok")
    assert abs(result.effect) < 0.02
    assert "capture is even" in result.message


def test_uneven_capture_warns_with_the_odds_and_what_they_do_to_shares():
    result = check(draw("capture-gamma-strong", population=1_000_000))
    assert result.status == "warn"
    assert result.effect == pytest.approx(0.83, abs=0.05)
    assert "2.3 times as high if a crawl two crawls away captured them too (80 % where 63 %" in (
        result.message
    )
    assert "coverage from overlaps is too high" in result.message


@pytest.mark.parametrize("name", ["reseed", "avoid-most", "survival-mix", "scope-change"])
def test_neither_policies_nor_lifetimes_nor_scope_are_taken_for_it(name):
    result = check(draw(name, population=1_000_000))
    assert result.status == "ok"
    assert abs(result.effect) < 0.05


def test_an_immaterial_difference_does_not_speak_however_certain(data):
    certain = dependence((0.04, 1e-3), (0.04, 1e-3), (0.04, 1e-3))
    result = check_heterogeneous_capture(data, certain, "url")
    assert (result.status, result.effect) == ("ok", 0.04)


def test_a_difference_within_the_scatter_is_named_and_not_believed(data):
    scattered = dependence((0.3, 0.05), (0.3, 0.05), (0.3, 0.05), ratio=25.0)
    result = check_heterogeneous_capture(data, scattered, "url")
    assert result.status == "ok"
    assert "1.3 times the odds" in result.message
    assert "does not stand out from the scatter" in result.message
    calm = dependence((0.3, 0.05), (0.3, 0.05), (0.3, 0.05))
    assert check_heterogeneous_capture(data, calm, "url").status == "warn"


def test_what_is_not_carried_on_to_three_crawls_is_a_policy_towards_the_last_two(data):
    repeating = dependence((0.5, 0.01), (0.5, 0.01), (0.0, 0.02))
    result = check_heterogeneous_capture(data, repeating, "url")
    assert (result.status, result.effect) == ("ok", 0.0)
    assert "three crawls away" in result.message
    uneven = dependence((0.5, 0.01), (0.5, 0.01), (0.15, 0.02))
    result = check_heterogeneous_capture(data, uneven, "url")
    assert (result.status, result.effect) == ("warn", 0.5)


def test_avoidance_of_two_crawls_does_not_hide_lasting_differences(data):
    avoiding = dependence((-1.0, 0.05), (-1.0, 0.05), (0.3, 0.05))
    result = check_heterogeneous_capture(data, avoiding, "url")
    assert (result.status, result.effect) == ("warn", 0.3)
    never = LogOdds(value=math.nan, error=math.nan, is_never=True)
    result = check_heterogeneous_capture(data, dependence(never, never, (0.3, 0.05)), "url")
    assert (result.status, result.effect) == ("warn", 0.3)


def test_too_imprecise_a_ratio_is_not_judged(data):
    for two in (UNKNOWN, LogOdds(value=2.0, error=0.6)):
        result = check_heterogeneous_capture(data, dependence(two, two, two), "url")
        assert (result.status, result.effect) == ("na", None)
        assert "too few are seen both before and after" in result.message


def test_a_few_hundred_urls_are_not_enough():
    statuses = {
        check(draw("capture-gamma-mild", seed, population=300, n_crawls=6)).status
        for seed in range(10)
    }
    assert statuses <= {"ok", "na"}


def test_five_crawls_are_too_few_to_tell():
    result = check(draw(n_crawls=5))
    assert (result.status, result.effect) == ("na", None)
    assert "6 or more crawls, and there are 5" in result.message


def test_the_words_name_what_is_compared(data):
    assert "Among contents known" in check(data, level="content").message
