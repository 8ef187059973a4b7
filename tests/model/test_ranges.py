import math

import pytest

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.intervals import Margin
from crawlgauge.model.ranges import from_log, half_life_years, within

TOO_LONG = "longer than this series can tell"


def interval(value, low, high):
    return Estimate(value=value, low=low, high=high, basis="interval")


def test_an_exponential_has_an_interval_of_equal_ratios():
    found = from_log(math.log(0.4), Margin(half_width=math.log(2)), None)
    assert (found.value, found.low, found.high) == pytest.approx((0.4, 0.2, 0.8))
    assert (found.level, found.basis, found.reason) == (0.95, "interval", None)


@pytest.mark.parametrize(
    ("margin", "reason", "expected"),
    [(Margin(reason="few"), None, "few"), (Margin(), "fit", "fit"), (Margin(), None, None)],
)
def test_without_a_margin_the_reason_is_kept(margin, reason, expected):
    found = from_log(0.0, margin, reason)
    assert found == Estimate(value=1.0, reason=expected)


def test_an_unknown_value_has_no_interval_whatever_the_margin():
    found = from_log(math.nan, Margin(half_width=1.0), "not identifiable")
    assert found == Estimate.unknown("not identifiable")


def test_growth_is_the_exponential_minus_one():
    found = from_log(math.log(1.1), Margin(half_width=math.log(1.1)), None, math.expm1)
    assert (found.value, found.low, found.high) == pytest.approx((0.1, 0.0, 0.21))


def test_what_is_impossible_is_cut_from_a_range_and_a_wide_one_tells_nothing():
    assert within(interval(0.9, 0.8, 1.2), most=1.0) == interval(0.9, 0.8, 1.0)
    assert within(interval(50.0, 20.0, 90.0), least=30.0) == interval(50.0, 30.0, 90.0)
    assert within(interval(1.5, 1.1, 2.0), most=1.0).value is None
    assert "factor of ten" in within(interval(0.3, 0.05, 0.9)).why
    assert within(Estimate.unknown("why")) == Estimate.unknown("why")


def test_a_half_life_is_that_of_the_persistence_at_each_end():
    found = half_life_years(interval(0.73, 0.5, 0.9), 5.0)
    assert (found.value, found.low, found.high) == pytest.approx(
        (math.log(0.5) / math.log(0.73), 1.0, math.log(0.5) / math.log(0.9))
    )
    assert (found.level, found.basis, found.reason) == (0.95, "interval", None)


@pytest.mark.parametrize("high", [1.0, 1.3])
def test_a_persistence_that_may_be_one_leaves_the_half_life_without_upper_end(high):
    found = half_life_years(interval(0.8, 0.5, high), 5.0)
    assert found.low == pytest.approx(1.0)
    assert found.high is None
    assert TOO_LONG in found.reason


def test_a_persistence_of_one_or_more_has_no_half_life():
    assert half_life_years(interval(1.1, 0.9, 1.3), 5.0) == Estimate.unknown(TOO_LONG)


def test_a_persistence_without_interval_gives_a_half_life_without():
    found = half_life_years(Estimate(value=0.5, reason="why"), 5.0)
    assert (found.value, found.low, found.basis, found.reason) == (1.0, None, "none", "why")
    assert half_life_years(Estimate.unknown("why"), 5.0) == Estimate.unknown("why")


def test_of_times_much_longer_than_the_series_nothing_is_said():
    assert half_life_years(interval(0.99, 0.98, 0.995), 5.0) == Estimate.unknown(TOO_LONG)
    found = half_life_years(interval(0.9, 0.8, 0.99), 5.0)
    assert found.value > 6
    assert found.high is None
