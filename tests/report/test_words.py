import pytest

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, growth_per_year, percent, span
from crawlgauge.report.words import explain_ranges, with_range


@pytest.mark.parametrize(
    ("phrase", "value", "low", "high", "text"),
    [
        (percent, 0.462, 0.448, 0.476, "46 % (45–48 %)"),
        (percent, 0.01, 0.00001, 0.02, "1.0 % (0.0010–2.0 %)"),
        (percent, 0.00002, 0.00001, 0.00003, "0.0020 % (0.0010–0.0030 %)"),
        (span, 2.21, 2.14, 2.41, "2.2 years (2.1–2.4 years)"),
        (span, 2.21, 2.205, 2.214, "2.2 years"),
        (span, 1.1, 0.91, 1.3, "1.1 years (11 months to 1.3 years)"),
        (count, 2.17e8, 2.1e8, 2.25e8, "217 million (210–225 million)"),
        (count, 1e9, 9e8, 1.2e9, "1 billion (900 million to 1.2 billion)"),
        (count, 1500, 1400, 1700, "1,500 (1,400–1,700)"),
        (count, 900_000, 850_000, 1_200_000, "900,000 (850,000 to 1.2 million)"),
        (growth_per_year, 0.012, -0.021, 0.043, "+1.2 % a year (−2.1 to +4.3 % a year)"),
    ],
)
def test_a_unit_that_both_ends_share_is_named_once(phrase, value, low, high, text):
    estimate = Estimate(value=value, low=low, high=high, basis="interval")
    assert with_range(estimate, phrase) == text


def test_kinds_of_ranges_are_told_apart_by_the_numbers_they_belong_to():
    band = Estimate(value=0.5, low=0.4, high=0.6, level=0.9, basis="empirical-band")
    interval = Estimate(value=0.5, low=0.4, high=0.6, basis="interval")
    numbers = [("coverage", band), ("population", band), ("growth", interval), ("coverage", band)]
    assert explain_ranges(numbers) == [
        "In brackets for coverage and population: ranges calibrated on simulations.",
        "In brackets for growth: 95 % intervals.",
    ]


def test_a_reason_for_all_missing_ranges_is_said_once_and_unknown_values_do_not_count():
    point = Estimate(value=0.5, reason="0 degrees of freedom")
    numbers = [("coverage", point), ("growth", Estimate.unknown("not finite")), ("x", point)]
    assert explain_ranges(numbers) == ["No ranges: 0 degrees of freedom."]


def test_numbers_without_range_and_reason_need_no_explanation():
    assert explain_ranges([("coverage", Estimate(value=0.5))]) == []
