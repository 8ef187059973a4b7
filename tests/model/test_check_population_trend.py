import math

import pytest

from crawlgauge.model.checks import check_population_trend
from crawlgauge.model.estimates import Estimate


def growth(value, low, high):
    return Estimate(value=value, low=low, high=high, basis="interval")


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (growth(0.20, 0.15, 0.25), "grows: +20 % a year (+15 % a year to +25 % a year)"),
        (growth(-0.20, -0.25, -0.15), "shrinks: −20 % a year"),
    ],
)
def test_a_trend_is_a_finding_and_no_fault(estimate, words):
    check = check_population_trend(estimate, "url")
    assert (check.id, check.status) == ("population-trend", "info")
    assert check.effect == pytest.approx(math.log(1 + estimate.value))
    assert words in check.message


def test_what_crawls_of_constant_size_do_depends_on_the_direction():
    assert "constant size fall in coverage" in (
        check_population_trend(growth(0.2, 0.15, 0.25), "url").message
    )
    assert "constant size rise in coverage" in (
        check_population_trend(growth(-0.2, -0.25, -0.15), "url").message
    )


@pytest.mark.parametrize(
    "estimate",
    [growth(0.20, -0.05, 0.50), growth(0.004, 0.003, 0.005), growth(-0.004, -0.005, -0.003)],
)
def test_an_uncertain_or_an_immaterial_trend_is_none(estimate):
    check = check_population_trend(estimate, "url")
    assert check.status == "ok"
    assert check.message.startswith("The population shows no trend")


def test_without_an_interval_it_is_not_testable_and_says_why():
    reason = "0 degrees of freedom: no interval is possible"
    for estimate in (Estimate(value=0.2, reason=reason), Estimate.unknown(reason)):
        check = check_population_trend(estimate, "url")
        assert (check.status, check.effect) == ("na", None)
        assert reason in check.message
