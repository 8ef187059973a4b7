import pytest

from crawlgauge.model.checks import diagnose
from crawlgauge.model.explanations import HISTORY_CHECKS
from crawlgauge.model.histories.checks import run_history_checks
from crawlgauge.model.histories.data import history_data
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table

IDS = ("heterogeneous-capture", "past-future", "novelty", "overdispersion")


def run(name="pure", **changes):
    settings = change_settings(
        find_scenario(name), **{"n_crawls": 8, "population": 200_000, **changes}
    )
    table = draw_table(settings, seed=1, with_histories=True)
    return {check.id: check for check in run_history_checks(history_data(table), diagnose(table))}


@pytest.fixture(scope="module")
def checks():
    return run()


def test_checks_come_in_the_order_in_which_they_should_be_read(checks):
    assert tuple(checks) == IDS == tuple(spec.id for spec in HISTORY_CHECKS)


def test_mixed_lifetimes_are_named_where_capture_is_even_and_decay_is_bent():
    message = run("survival-mix")["past-future"].message
    assert "some live longer than others" in message
    assert "see curvature" in message


def test_uneven_capture_is_named_in_past_future_and_silences_overdispersion():
    found = run("core-long-lived")
    assert "see heterogeneous-capture" in found["past-future"].message
    assert found["overdispersion"].status == "na"
    assert "what heterogeneous-capture and past-future found" in found["overdispersion"].message


def test_a_policy_of_the_crawler_silences_overdispersion():
    assert "what short-lag found" in run("reseed")["overdispersion"].message


def test_with_few_crawls_every_check_says_so():
    found = run(n_crawls=4)
    assert {check.status for check in found.values()} == {"na"}
    assert all(check.message.startswith("Not testable: ") for check in found.values())


@pytest.mark.parametrize("spec", HISTORY_CHECKS, ids=IDS)
def test_the_result_has_the_threshold_that_is_told(checks, spec):
    assert checks[spec.id].threshold == spec.threshold
