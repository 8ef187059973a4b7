import pytest

from crawlgauge.errors import FitError
from crawlgauge.model.checks import diagnose, run_checks
from crawlgauge.model.estimates import Check, Estimate
from crawlgauge.model.explanations import EXPLANATIONS, explain_check, find_explanation
from crawlgauge.model.histories.checks import run_history_checks
from crawlgauge.model.histories.data import history_data
from crawlgauge.simulate.simulation import simulate_table


@pytest.fixture(scope="module")
def checks(make_urn):
    days = [183 * k for k in range(8)]
    factors = {(k, k + 1): 0.5 for k in range(7)}
    table = make_urn(days, [1_000_000] * 8, [0.4] * 8, 0.73, factors)
    by_pairs = run_checks(diagnose(table), Estimate.unknown("no interval"))
    simulated = simulate_table(n_crawls=6, population=2000, seed=1)
    data = history_data(simulated)
    return (*by_pairs, *run_history_checks(data, diagnose(simulated)))


def test_every_check_is_explained(checks):
    assert {check.id for check in checks} == set(EXPLANATIONS)


@pytest.mark.parametrize("check_id", EXPLANATIONS)
def test_an_explanation_has_all_its_parts_in_sentences(check_id):
    explanation = find_explanation(check_id)
    assert explanation.question.endswith("?")
    for part in (explanation.meaning, explanation.computation, explanation.advice):
        assert part.endswith(".")
        assert "  " not in part


@pytest.mark.parametrize("check_id", EXPLANATIONS)
def test_an_explanation_states_the_threshold_that_the_check_uses(checks, check_id):
    (check,) = (check for check in checks if check.id == check_id)
    assert f"{check.threshold:g}" in find_explanation(check_id).computation


def test_the_finding_follows_the_question(checks):
    headings = dict(explain_check("short-lag", checks))
    assert list(headings) == [
        "short-lag",
        "What it found here",
        "What it means",
        "How it is computed",
        "What to do",
    ]
    found = headings["What it found here"]
    assert found.startswith("fail (do not trust the number, effect −0.693, threshold 0.03). ")
    assert found.endswith(next(check.message for check in checks if check.id == "short-lag"))


def test_a_check_without_an_effect_shows_none():
    check = Check(id="curvature", status="na", effect=None, threshold=None, message="Too few.")
    found = dict(explain_check("curvature", [check]))["What it found here"]
    assert found == "na (not testable with this data). Too few."


def test_without_results_only_the_explanation_is_given():
    assert "What it found here" not in dict(explain_check("curvature", ()))


def test_an_unknown_check_is_refused_with_those_that_there_are():
    with pytest.raises(FitError, match="no check 'curvatur'; the checks are lack-of-fit, short"):
        explain_check("curvatur", ())
