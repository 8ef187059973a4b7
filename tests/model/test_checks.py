import math

import numpy as np
import pytest

from crawlgauge.errors import FitError
from crawlgauge.model.checks import (
    ChangePoint,
    ShortLag,
    check_change_point,
    check_curvature,
    check_population_trend,
    diagnose,
    find_changes,
    run_checks,
)
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.decay import fit_shapes
from crawlgauge.model.estimates import Check, Estimate
from crawlgauge.model.histories.checks import run_history_checks
from crawlgauge.model.histories.data import history_data
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way, refused_fit
from crawlgauge.overlaps.table import MISSING
from crawlgauge.report.words import EXPLANATIONS, explain_check
from crawlgauge.simulate.scenarios import simulate_table

# --------------------------------------------------------------------------------------- all checks


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
    assert [regime[0] for regime in diagnosis.regimes] == [0, 5]
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


# ------------------------------------------------------------------------------------- change-point


N_CHANGE = 9
DAYS_CHANGE = [183 * k for k in range(N_CHANGE)]
SIZES_CHANGE = [2_000_000] * N_CHANGE


@pytest.fixture
def changing(make_urn):
    """Make a table whose pairs across a change share less by a factor."""

    def make(factor, first=4, n=N_CHANGE, coverage=0.4, near=1.0):
        factors = {
            (i, j): (factor if i < first <= j else 1) * (near if j - i == 1 else 1)
            for j in range(n)
            for i in range(j)
        }
        return make_urn(DAYS_CHANGE[:n], SIZES_CHANGE[:n], [coverage] * n, 0.73, factors)

    return make


def find(table, short_lag=None):
    pairs = pair_data(table)
    return find_changes(pairs, fit_two_way(pairs), short_lag)


def check(table):
    return check_change_point(table, find(table))


def test_one_series_is_in_order(changing):
    result = check(changing(1.0))
    assert (result.id, result.status) == ("change-point", "ok")
    assert result.effect == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("first", [3, 5, 6])
def test_a_change_is_found_where_it_is(changing, first):
    (found,) = find(changing(0.75, first))
    assert found.first == first
    assert found.is_certain
    assert found.coefficient == pytest.approx(math.log(0.75), abs=1e-4)


def test_a_change_warns_and_names_the_crawls_and_what_is_done(changing):
    result = check(changing(0.75))
    assert result.status == "warn"
    assert result.effect == pytest.approx(math.log(0.75), abs=1e-4)
    assert "Crawls up to c4 and from c5 on share 25 % fewer URLs" in result.message
    assert "the crawls from c5 on; --regime 1 shows the first ones" in result.message


def test_of_two_changes_neither_hides_the_other(make_urn):
    factors = {
        (i, j): (0.7 if i < 3 <= j else 1) * (0.8 if i < 6 <= j else 1)
        for j in range(N_CHANGE)
        for i in range(j)
    }
    found = find(make_urn(DAYS_CHANGE, SIZES_CHANGE, [0.4] * N_CHANGE, 0.73, factors))
    assert [(change.first, change.is_certain) for change in found] == [(3, True), (6, True)]
    assert [math.exp(change.coefficient) for change in found] == pytest.approx([0.7, 0.8], abs=1e-4)


def test_of_several_changes_the_largest_is_described_and_the_latest_regime_named(changing):
    changes = (
        ChangePoint(first=3, coefficient=math.log(0.6), is_certain=True),
        ChangePoint(first=6, coefficient=math.log(0.9), is_certain=True),
    )
    result = check_change_point(changing(1.0), changes)
    assert result.effect == math.log(0.6)
    assert "Crawls up to c3 and from c4 on share 40 % fewer URLs" in result.message
    assert "There are 2 such changes in all." in result.message
    assert "the crawls from c7 on" in result.message


def test_a_likely_change_that_is_not_certain_is_named_and_not_believed(changing):
    uncertain = ChangePoint(first=4, coefficient=math.log(0.8), is_certain=False)
    result = check_change_point(changing(1.0), (uncertain,))
    assert result.status == "ok"
    assert "No change is certain: the likeliest one, from c5 on" in result.message
    assert "20 % fewer URLs" in result.message


def test_more_overlap_across_a_date_is_no_change(changing):
    assert check(changing(1.2)).status == "ok"


def test_a_jump_of_coverage_is_no_change(make_urn):
    coverage = [0.3] * 5 + [0.6] * 4
    assert check(make_urn(DAYS_CHANGE, SIZES_CHANGE, coverage, 0.73)).status == "ok"


def test_an_immaterial_change_does_not_speak_however_certain(changing):
    assert check(changing(0.98)).status == "ok"


def test_a_change_is_found_beside_an_effect_of_short_lags(changing):
    short_lag = ShortLag(
        first_lag=1,
        n_lags=1,
        coefficient=math.log(0.4),
        shares_nothing=False,
        cuts=(),
    )
    table = changing(0.75, near=0.4)
    assert not any(change.is_certain for change in find(table))
    (found,) = find(table, short_lag)
    assert (found.first, found.is_certain) == (4, True)
    assert found.coefficient == pytest.approx(math.log(0.75), abs=1e-4)


def test_three_crawls_are_needed_on_each_side(changing):
    result = check(changing(0.75, first=3, n=5))
    assert (result.status, result.effect) == ("na", None)
    assert "3 or more crawls on each side" in result.message
    assert check(changing(0.75, first=3, n=6)).status == "warn"


def test_nothing_is_looked_for_without_a_fit(changing):
    pairs = pair_data(changing(0.75))
    assert find_changes(pairs, refused_fit(N_CHANGE, "no fit")) == ()


# ------------------------------------------------------------------------------------------ regimes


N_REGIMES = 12
DAYS_REGIMES = [183 * k for k in range(N_REGIMES)]
SIZES_REGIMES = [2_000_000] * N_REGIMES
COVERAGE = [0.3] * 4 + [0.5] * 4 + [0.4] * 4


@pytest.fixture
def series(make_urn):
    """Make a table of regimes: crawls across each change share less by a factor."""

    def make(changes, near=1.0):
        factors = {
            (i, j): math.prod(factor for first, factor in changes.items() if i < first <= j)
            * (near if j - i == 1 else 1)
            for j in range(N_REGIMES)
            for i in range(j)
        }
        return make_urn(DAYS_REGIMES, SIZES_REGIMES, COVERAGE, 0.73, factors)

    return make


def regimes_of(table):
    return [(regime[0], regime[-1]) for regime in diagnose(table).regimes]


def test_a_series_without_change_is_one_regime(series):
    assert regimes_of(series({})) == [(0, N_REGIMES - 1)]


def test_each_change_begins_a_regime(series):
    assert regimes_of(series({4: 0.7})) == [(0, 3), (4, 11)]
    assert regimes_of(series({4: 0.7, 8: 0.8})) == [(0, 3), (4, 7), (8, 11)]


def test_changes_are_found_beside_an_effect_of_short_lags(series):
    assert regimes_of(series({6: 0.7}, near=0.3)) == [(0, 5), (6, 11)]


def test_pairs_across_regimes_become_unknown_and_all_others_stay(series):
    table = series({4: 0.7})
    dropped = diagnose(table).table
    for i in range(N_REGIMES):
        for j in range(N_REGIMES):
            expected = MISSING if (i < 4) != (j < 4) else table.n_shared[i, j]
            assert dropped.n_shared[i, j] == expected
    assert dropped.crawls == table.crawls


def test_the_refit_within_regimes_undoes_the_change(series):
    table = series({4: 0.7, 8: 0.8})
    before, diagnosis = fit_two_way(pair_data(table)), diagnose(table)
    assert math.exp(before.log_persistence) < 0.65
    assert math.exp(diagnosis.fit.log_persistence) == pytest.approx(0.73, abs=1e-4)
    found = [np.exp(np.nanmean(diagnosis.fit.log_coverage[list(r)])) for r in diagnosis.regimes]
    assert found == pytest.approx([0.3, 0.5, 0.4], rel=1e-3)


# ---------------------------------------------------------------------------------------- curvature


N_CURVATURE = 12
DAYS_CURVATURE = [183 * k for k in range(N_CURVATURE)]
COVERAGE_CURVATURE = 0.4


@pytest.fixture
def decaying(make_table):
    """Make a table whose overlaps follow a given decay by years."""

    def make(alive, n=N_CURVATURE, size=2_000_000):
        overlaps = {
            (i, j): round(
                size * COVERAGE_CURVATURE * alive((DAYS_CURVATURE[j] - DAYS_CURVATURE[i]) / 365.25)
            )
            for j in range(n)
            for i in range(j)
        }
        return make_table(DAYS_CURVATURE[:n], [size] * n, overlaps)

    return make


def mixed(share, slow, fast):
    return lambda years: share * slow**years + (1 - share) * fast**years


def examine_curvature(table, short_lag=None, level="url"):
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    return check_curvature(pairs, fit, fit_shapes(pairs, fit), short_lag, level)


def test_steady_decay_is_in_order(decaying):
    result = examine_curvature(decaying(lambda years: 0.73**years))
    assert (result.id, result.status) == ("curvature", "ok")
    assert result.effect == pytest.approx(0, abs=0.005)
    assert "would change coverage by less than 1 %" in result.message


@pytest.mark.parametrize("mixture", [(0.5, 0.9, 0.45), (0.7, 0.85, 0.1)])
def test_mixed_lifetimes_warn_with_a_range_that_holds_the_truth(decaying, mixture):
    table = decaying(mixed(*mixture))
    result = examine_curvature(table)
    assert result.status == "warn"
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    shapes = [math.exp(shape.log_typical) for shape in fit_shapes(pairs, fit)]
    assert math.exp(fit.log_typical) < 0.9 * COVERAGE_CURVATURE
    assert max(shapes) > 0.99 * COVERAGE_CURVATURE
    assert result.effect == pytest.approx(math.log(max(shapes) / min(shapes)))
    assert f"{100 * min(shapes):.0f} % (one steady rate) to {100 * max(shapes):.0f} %" in (
        result.message
    )
    assert "Report the range, not one number" in result.message


def test_a_range_of_more_than_twice_fails(decaying):
    result = examine_curvature(decaying(lambda years: math.exp(-((2 * years) ** 0.35))))
    assert result.status == "fail"
    assert result.effect > math.log(2)
    assert "too wide for any one number" in result.message


def test_decay_that_speeds_up_does_not_speak(decaying):
    assert (
        examine_curvature(decaying(lambda years: math.exp(-((0.2 * years) ** 1.5)))).status == "ok"
    )


def test_an_immaterial_bend_does_not_speak_however_certain(decaying):
    result = examine_curvature(decaying(mixed(0.5, 0.75, 0.71), size=2_000_000_000))
    assert result.status == "ok"
    assert 0 < result.effect < 0.03


def test_after_an_effect_of_short_lags_no_shape_is_tried(decaying):
    found = ShortLag(
        first_lag=1,
        n_lags=2,
        coefficient=-1.0,
        shares_nothing=False,
        cuts=(0.4,),
    )
    result = examine_curvature(decaying(mixed(0.5, 0.9, 0.45)), short_lag=found)
    assert (result.status, result.effect) == ("na", None)
    assert "--min-lag 3" in result.message


def test_four_crawls_are_too_few_to_tell(decaying):
    result = examine_curvature(decaying(mixed(0.5, 0.9, 0.45), n=4))
    assert (result.status, result.effect) == ("na", None)
    assert result.message.startswith("Not testable")


def test_the_words_name_what_is_compared(decaying):
    assert (
        "long-lived texts"
        in examine_curvature(decaying(mixed(0.5, 0.9, 0.45)), level="text").message
    )


# --------------------------------------------------------------------------------- population-trend


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


# ------------------------------------------------------------------------------------- explanations


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
    explanation = EXPLANATIONS[check_id]
    assert explanation.question.endswith("?")
    for part in (explanation.meaning, explanation.computation, explanation.advice):
        assert part.endswith(".")
        assert "  " not in part


@pytest.mark.parametrize("check_id", EXPLANATIONS)
def test_an_explanation_states_the_threshold_that_the_check_uses(checks, check_id):
    (check,) = (check for check in checks if check.id == check_id)
    assert f"{check.threshold:g}" in EXPLANATIONS[check_id].computation


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
