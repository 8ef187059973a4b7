import math

import pytest

from crawlgauge.model.checks import diagnose, run_checks
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimate

N = 10
DAYS = [183 * k for k in range(N)]
SIZES = [2_000_000] * N
ORDER = ["lack-of-fit", "short-lag", "curvature", "change-point", "population-trend"]
STEADY = Estimate(value=0.0, low=-0.01, high=0.01, basis="interval")
GROWING = Estimate(value=0.2, low=0.1, high=0.3, basis="interval")


@pytest.fixture
def urn(make_urn):
    def make(factors=None, n=N):
        return make_urn(DAYS[:n], SIZES[:n], [0.4] * n, 0.73, factors)

    return make


def pairs_where(condition, factor):
    return {(i, j): factor for j in range(N) for i in range(j) if condition(i, j)}


def statuses(table, growth=STEADY):
    return {check.id: check.status for check in run_checks(diagnose(table), growth)}


def test_an_exact_urn_passes_all_checks_in_their_order(urn):
    assert statuses(urn()) == dict.fromkeys(ORDER, "ok")
    assert list(statuses(urn())) == ORDER


def test_growth_is_a_finding_among_passed_checks(urn):
    assert statuses(urn(), GROWING) == {**dict.fromkeys(ORDER, "ok"), "population-trend": "info"}


def test_avoidance_fails_and_keeps_curvature_from_being_tested(urn):
    found = statuses(urn(pairs_where(lambda i, j: j - i == 1, 0.2)))
    assert found["short-lag"] == "fail"
    assert found["curvature"] == "na"
    assert found["change-point"] == "ok"


def test_after_a_change_the_pairs_within_regimes_are_judged(urn):
    """Across the change pairs lie far off; without them nothing is wrong any more."""
    table = urn(pairs_where(lambda i, j: i < 5 <= j, 0.6))
    assert statuses(table) == {**dict.fromkeys(ORDER, "ok"), "change-point": "warn"}
    diagnosis = diagnose(table)
    assert [regime.first for regime in diagnosis.regimes] == [0, 5]
    assert math.exp(diagnosis.fit.log_persistence) == pytest.approx(0.73, abs=1e-4)
    headline = estimate_coverage(table).headline.coverage
    assert headline.value == pytest.approx(0.4, rel=1e-3)


def test_avoidance_and_a_change_are_both_found(urn):
    def factor(i, j):
        return (0.7 if i < 5 <= j else 1) * (0.3 if j - i == 1 else 1)

    factors = {(i, j): factor(i, j) for j in range(N) for i in range(j)}
    found = statuses(urn(factors))
    assert (found["short-lag"], found["change-point"]) == ("fail", "warn")


def test_a_series_without_a_finding_is_estimated_from_the_table_itself(urn):
    table = urn()
    diagnosis = diagnose(table)
    assert diagnosis.table is table
    assert diagnosis.short_lag is None


@pytest.mark.parametrize("n", [2, 3])
def test_two_and_three_crawls_can_test_nothing_and_say_why(urn, n):
    checks = run_checks(diagnose(urn(n=n)), Estimate.unknown("too few crawls"))
    assert {check.status for check in checks} == {"na"}
    assert all(check.message.startswith("Not testable") for check in checks)


def test_crawls_that_share_nothing_at_all_are_diagnosed_without_a_fit(make_table):
    nothing = {(i, j): 0 for j in range(5) for i in range(j)}
    checks = run_checks(
        diagnose(make_table(DAYS[:5], [1000] * 5, nothing)), Estimate.unknown("no fit")
    )
    assert {check.status for check in checks} == {"na"}


def test_every_message_is_one_paragraph_that_ends_in_a_sentence(urn):
    tables = [
        urn(),
        urn(n=3),
        urn(pairs_where(lambda i, j: j - i == 1, 0.2)),
        urn(pairs_where(lambda i, j: j - i == 1, 1.2)),
        urn(pairs_where(lambda i, j: i < 5 <= j, 0.6)),
    ]
    for table in tables:
        for check in run_checks(diagnose(table), GROWING):
            assert check.message.endswith(".")
            assert "\n" not in check.message
            assert "  " not in check.message
