"""Each check of capture histories, and all of them together."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from crawlgauge.model.checks import ShortLag, check_short_lag, diagnose
from crawlgauge.model.histories.checks import (
    CaptureDependence,
    LogOdds,
    Scatter,
    check_heterogeneous_capture,
    check_novelty,
    check_overdispersion,
    check_past_future,
    find_cause,
    measure_dependence,
    measure_novelty,
    resolve_short_lag,
    run_history_checks,
)
from crawlgauge.model.histories.data import history_data
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import HostNoise, change_settings
from crawlgauge.simulate.urn_table import draw_table

IDS = ("heterogeneous-capture", "past-future", "novelty", "overdispersion")
CALM = Scatter(ratio=1.0, n_freedom=9)
UNKNOWN = LogOdds()


def draw(name="pure", seed=1, **changes):
    settings = change_settings(
        find_scenario(name), **{"n_crawls": 8, "population": 200_000, **changes}
    )
    return draw_table(settings, seed=seed, with_histories=True)


def draw_data(name="pure", seed=1, **changes):
    return history_data(draw(name, seed, **changes))


def dependence(one, two, three, memory=UNKNOWN, ratio=1.0):
    """Make a result by hand; each is a value with an error of 0.02, a pair, or what is given."""
    odds = [
        item
        if isinstance(item, LogOdds)
        else LogOdds(value=item[0], error=item[1])
        if isinstance(item, tuple)
        else LogOdds(value=item, error=0.02)
        for item in (one, two, three, memory)
    ]
    return CaptureDependence(
        by_lag=tuple(odds[:3]),
        memory=odds[3],
        scatter=Scatter(ratio=ratio, n_freedom=9),
        captured_share=0.46,
    )


# -------------------------------------------------------------------------------- all of them


def run(name="pure", **changes):
    table = draw(name, **changes)
    return {check.id: check for check in run_history_checks(history_data(table), diagnose(table))}


@pytest.fixture(scope="module")
def checks():
    return run()


def test_checks_come_in_the_order_in_which_they_should_be_read(checks):
    assert tuple(checks) == IDS


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


# ------------------------------------------------------------------------- heterogeneous-capture


@pytest.fixture(scope="module")
def data():
    return draw_data(population=60_000)


def check_capture(data, level="url"):
    return check_heterogeneous_capture(data, measure_dependence(data), level)


def test_even_capture_is_in_order(data):
    result = check_capture(data)
    assert (result.id, result.status) == ("heterogeneous-capture", "ok")
    assert abs(result.effect) < 0.02
    assert "capture is even" in result.message


def test_uneven_capture_warns_with_the_odds_and_what_they_do_to_shares():
    result = check_capture(draw_data("capture-gamma-strong", population=1_000_000))
    assert result.status == "warn"
    assert result.effect == pytest.approx(0.83, abs=0.05)
    assert "2.3 times as high if a crawl two crawls away captured them too (80 % where 63 %" in (
        result.message
    )
    assert "coverage from overlaps is too high" in result.message


@pytest.mark.parametrize("name", ["reseed", "avoid-most", "survival-mix", "scope-change"])
def test_neither_policies_nor_lifetimes_nor_scope_are_taken_for_it(name):
    result = check_capture(draw_data(name, population=1_000_000))
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
    assert "is within the scatter" in result.message
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
    never = LogOdds(is_never=True)
    result = check_heterogeneous_capture(data, dependence(never, never, (0.3, 0.05)), "url")
    assert (result.status, result.effect) == ("warn", 0.3)


def test_too_imprecise_a_ratio_is_not_judged(data):
    for two in (UNKNOWN, LogOdds(value=2.0, error=0.6)):
        result = check_heterogeneous_capture(data, dependence(two, two, two), "url")
        assert (result.status, result.effect) == ("na", None)
        assert "too few are seen both before and after" in result.message


def test_a_few_hundred_urls_are_not_enough():
    statuses = {
        check_capture(draw_data("capture-gamma-mild", seed, population=300, n_crawls=6)).status
        for seed in range(10)
    }
    assert statuses <= {"ok", "na"}


def test_five_crawls_are_too_few_to_tell():
    result = check_capture(draw_data(n_crawls=5))
    assert (result.status, result.effect) == ("na", None)
    assert "6 or more crawls, and there are 5" in result.message


def test_the_words_name_what_is_compared(data):
    assert "Among contents known" in check_capture(data, level="content").message


# ----------------------------------------------------------------------------------- past-future


def check_past(data, scatter=CALM, level="url", *, is_uneven=False, is_bent=False):
    return check_past_future(data, scatter, level, is_uneven=is_uneven, is_bent=is_bent)


@pytest.mark.parametrize(
    "name",
    [
        "pure",
        "population-growth",
        "size-noise",
        "coverage-jump",
        "avoid-all",
        "avoid-most",
        "avoid-two",
        "reseed",
        "scope-change",
    ],
)
def test_without_lasting_differences_the_past_says_nothing_about_the_future(name):
    result = check_past(draw_data(name, population=1_000_000))
    assert (result.id, result.status) == ("past-future", "ok")
    assert abs(result.effect) < 0.02


@pytest.mark.parametrize("name", ["capture-gamma-mild", "core-periphery", "survival-mix"])
def test_lasting_differences_warn_whatever_they_are_of(name):
    result = check_past(draw_data(name, population=1_000_000))
    assert result.status == "warn"
    assert f"{math.exp(result.effect):.2g} times the odds of being seen again" in result.message


def test_the_effect_is_that_of_the_tables_of_each_crawl():
    data = draw_data("survival-mix", n_crawls=6, population=60_000)
    together = apart = 0.0
    for crawl in range(1, 5):
        before = data.captured[:, :crawl].any(axis=1)
        after = data.captured[:, crawl + 1 :].any(axis=1)
        n = np.array(
            [
                data.counts[data.captured[:, crawl] & (before == a) & (after == b)].sum()
                for a in (True, False)
                for b in (True, False)
            ]
        )
        together += n[0] * n[3] / n.sum()
        apart += n[1] * n[2] / n.sum()
    assert check_past(data).effect == pytest.approx(math.log(together / apart))


def test_the_words_follow_what_else_was_found():
    data = draw_data("survival-mix", population=1_000_000)
    assert "see heterogeneous-capture" in check_past(data, is_uneven=True, is_bent=True).message
    bent = check_past(data, is_bent=True).message
    assert "some live longer than others, unless a part is hardly ever captured" in bent
    assert "Manly–Parr estimate needs no rate of decay" in bent
    assert "does not decide between them" in check_past(data).message


def test_a_past_within_the_scatter_is_not_believed():
    data = draw_data("capture-gamma-mild", population=60_000)
    assert check_past(data).status == "warn"
    result = check_past(data, Scatter(ratio=100.0, n_freedom=3))
    assert (result.status, result.effect > 0.1) == ("ok", True)


def test_an_immaterial_effect_does_not_speak_however_certain():
    settings = replace(find_scenario("pure"), population=1_000_000_000, capture_cv=0.2)
    data = history_data(draw_table(settings, seed=1, with_histories=True))
    result = check_past(data)
    assert result.status == "ok"
    assert 0.05 < result.effect < 0.1


def test_few_urls_or_crawls_are_not_enough():
    result = check_past(draw_data(population=300, coverage=0.1))
    assert (result.status, result.effect) == ("na", None)
    assert "too few URLs are seen in several crawls" in result.message
    result = check_past(draw_data(n_crawls=5), scatter=None)
    assert (result.status, result.effect) == ("na", None)
    assert "6 or more crawls" in result.message


def test_the_words_of_past_future_name_what_is_compared():
    assert (
        "Of the texts of a crawl"
        in check_past(draw_data("survival-mix", population=1_000_000), level="text").message
    )
    assert "Of the texts of a crawl" in check_past(draw_data(), level="text").message


# --------------------------------------------------------------------------------------- novelty


def check_new(table, scatter=CALM, level="url"):
    return check_novelty(history_data(table), diagnose(table), scatter, level)


def measure(table):
    """Return the found and the expected share of new URLs, and the logarithm of their ratio."""
    found, expected, _ = measure_novelty(history_data(table), diagnose(table))
    return found, expected, np.log(expected / found)


@pytest.mark.parametrize("name", ["pure", "population-growth", "size-noise", "coverage-jump"])
def test_in_an_urn_as_much_is_new_as_the_pairs_say(name):
    table = draw(name, population=100_000_000)
    *_, log_ratio = measure(table)
    assert np.isnan(log_ratio[:2]).all()
    assert log_ratio[2:] == pytest.approx(0, abs=1e-3)
    result = check_new(table)
    assert (result.id, result.status) == ("novelty", "ok")


def test_shares_are_those_of_the_urn_with_its_true_numbers():
    """What earlier crawls hold of the living URLs: U = c + (1 − c)·persistence·U."""
    found, expected_by_pairs, _ = measure(draw(population=100_000_000))
    held, expected = 0.46, []
    for _ in range(7):
        held *= 0.73**0.5
        expected.append(1 - held)
        held = 0.46 + 0.54 * held
    assert found[2:] == pytest.approx(np.array(expected[1:]), abs=1e-3)
    assert expected_by_pairs[2:] == pytest.approx(np.array(expected[1:]), abs=2e-3)


def test_errors_are_those_of_repeated_archives():
    tables = [draw(seed=seed, population=20_000, n_crawls=6) for seed in range(150)]
    diagnosis = diagnose(tables[0])
    measured = [measure_novelty(history_data(table), diagnosis) for table in tables]
    spread = np.std([np.log(expected / found)[2:] for found, expected, _ in measured], axis=0)
    stated = np.mean([error[2:] for *_, error in measured], axis=0)
    assert stated == pytest.approx(spread, rel=0.2)


def test_more_new_urls_than_expected_mean_that_the_archive_holds_less():
    table = draw("capture-gamma-strong")
    result = check_new(table)
    assert result.status == "warn"
    assert result.effect == pytest.approx(-0.22, abs=0.02)
    assert result.message.startswith("Crawls find more new URLs than the overlaps")
    assert "hold less of the living URLs" in result.message
    found, _, log_ratio = measure(table)
    crawl = int(np.nanargmax(np.abs(log_ratio)))
    assert f"of crawl {table.crawls[crawl].label}, no earlier one holds" in result.message
    assert f"{100 * found[crawl]:.0f} %, where" in result.message


def test_fewer_new_urls_than_expected_mean_that_it_holds_more():
    result = check_new(draw("avoid-most"))
    assert result.effect > 0.15
    assert result.message.startswith("Crawls find fewer new URLs")
    assert "hold more of the living URLs" in result.message


def test_after_a_change_of_scope_new_is_what_no_crawl_since_holds():
    table = draw("scope-change", n_crawls=12)
    found, _, log_ratio = measure(table)
    assert np.flatnonzero(np.isnan(log_ratio)).tolist() == [0, 1, 6, 7]
    held = 0.73**0.5 * (0.46 + 0.54 * 0.46 * 0.73**0.5)
    assert found[8] == pytest.approx(1 - held, abs=0.01)
    assert check_new(table).status == "ok"


def test_the_histories_of_a_sample_are_compared_with_their_own_overlaps():
    whole, sample = draw(population=100_000_000), draw(seed=2, population=20_000)
    diagnosis = diagnose(replace(whole, histories=None))
    result = check_novelty(history_data(sample), diagnosis, CALM, "url")
    assert result.status == "ok"
    *_, own = measure(sample)
    found, expected, _ = measure_novelty(history_data(sample), diagnosis)
    assert np.log(expected / found)[2:] == pytest.approx(own[2:], abs=0.01)


def test_new_urls_within_the_scatter_are_not_believed():
    table = draw("capture-gamma-mild", population=60_000)
    assert check_new(table).status == "warn"
    assert check_new(table, Scatter(ratio=16.0, n_freedom=3)).status == "ok"


def test_few_urls_leave_it_quiet():
    statuses = {check_new(draw(seed=seed, population=300)).status for seed in range(10)}
    assert statuses == {"ok"}


def test_in_a_sample_without_shared_urls_nothing_is_expected():
    """Every URL of the sample is in one crawl only."""
    whole = draw()
    histories = history_data(whole)
    alone = replace(histories, counts=np.where(histories.captured.sum(axis=1) == 1, 9.0, 0.0))
    result = check_novelty(alone, diagnose(whole), CALM, "url")
    assert (result.status, result.effect) == ("na", None)
    assert "too few URLs are new, or shared" in result.message


def test_five_crawls_are_too_few_to_expect_new_urls():
    result = check_new(draw(n_crawls=5), scatter=None)
    assert (result.status, result.effect) == ("na", None)
    assert "6 or more crawls" in result.message


def test_where_no_model_can_be_fitted_nothing_is_expected():
    result = check_new(draw("avoid-all", n_crawls=6))
    assert (result.status, result.effect) == ("na", None)
    assert "to which the two-way model can be fitted" in result.message


def test_the_words_of_novelty_name_what_is_compared():
    assert "new contents as" in check_new(draw(), level="content").message
    assert "new texts than" in check_new(draw("core-always"), level="text").message


# -------------------------------------------------------------------------------- overdispersion


def draw_six(name="pure", seed=1, hosts=None, **changes):
    settings = change_settings(
        find_scenario(name), **{"n_crawls": 6, "population": 60_000, **changes}
    )
    if hosts is not None:
        settings = replace(settings, host_noise=HostNoise(n_hosts=hosts, sd=0.5))
    return history_data(draw_table(settings, seed=seed, with_histories=True))


def check_bunches(data, found=(), level="url"):
    return check_overdispersion(data, found, level)


def pearson(data):
    """Maximise the likelihood of the recaptures numerically, and return chi-square and cells."""
    n = data.n_crawls
    seen = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            between = data.captured[:, i + 1 : j].any(axis=1)
            rows = data.captured[:, i] & data.captured[:, j] & ~between
            seen[i, j] = data.counts[rows].sum()

    def shares(logits):
        survival, coverage = np.split(1 / (1 + np.exp(-logits)), [n - 1])
        coverage = np.append(coverage, 1.0)
        table = np.zeros((n, n))
        for i in range(n - 1):
            left = 1.0
            for j in range(i + 1, n):
                table[i, j] = left * survival[j - 1] * coverage[j - 1]
                left *= survival[j - 1] * (1 - coverage[j - 1])
        return table

    def loss(logits):
        table = shares(logits)[:-1]
        never = np.append(data.sizes[:-1] - seen[:-1].sum(axis=1), [])
        inside = seen[:-1][table > 0] @ np.log(table[table > 0])
        return -(inside + never @ np.log(1 - table.sum(axis=1))) / data.n_urls

    best = optimize.minimize(loss, np.zeros(2 * n - 3), method="BFGS", options={"gtol": 1e-9})
    expected = shares(best.x) * data.sizes[:, None]
    cells = np.triu_indices(n, 1)
    return float(np.sum((seen - expected)[cells] ** 2 / expected[cells])), expected[cells].mean()


def test_independent_urls_scatter_as_they_should():
    result = check_bunches(draw_six())
    assert (result.id, result.status) == ("overdispersion", "ok")
    assert result.effect < 0.01
    assert "no more than those of independent URLs" in result.message


def test_the_effect_follows_from_the_chi_square_of_the_likeliest_model():
    data = draw_six("host-noise")
    chi_square, mean = pearson(data)
    assert chi_square / 6 > 2.8
    assert check_bunches(data).effect == pytest.approx(
        math.sqrt((chi_square / 6 - 1) / mean), rel=1e-3
    )
    ratio = f"{chi_square / 6:.2g}"
    assert check_bunches(data).message.startswith(
        f"The counts vary {ratio} times as much as those of ind"
    )


def test_the_ratio_grows_with_the_number_of_urls_and_the_effect_does_not():
    data = draw_six("host-noise", population=200_000)
    larger = replace(data, counts=100 * data.counts)
    assert check_bunches(larger).effect == pytest.approx(check_bunches(data).effect, rel=0.05)
    assert "20 times as much" not in check_bunches(larger).message


def test_bunches_are_a_finding_and_large_ones_a_warning():
    result = check_bunches(draw_six("host-noise", population=200_000))
    assert result.status == "info"
    assert "Coverage is not biased by it" in result.message
    assert check_bunches(draw_six("host-noise", hosts=10, population=200_000)).status == "warn"


def test_immaterial_scatter_does_not_speak_however_certain():
    """Bunches of a hundred URLs each, among so many that counts vary by a thousandth."""
    data = draw_six(population=10_000_000)
    result = check_bunches(replace(data, counts=100 * data.counts))
    assert result.status == "ok"
    assert 0 < result.effect < 0.01


def test_survival_that_differs_by_interval_and_scope_are_allowed_for():
    assert check_bunches(draw_six("scope-change", n_crawls=8, population=1_000_000)).status == "ok"
    assert check_bunches(draw_six("population-growth", n_crawls=8)).status == "ok"


def test_what_others_found_is_not_taken_for_bunches():
    result = check_bunches(draw_six("avoid-most"), found=("past-future", "short-lag"))
    assert (result.status, result.effect) == ("na", None)
    assert "what past-future and short-lag found makes counts depart" in result.message
    assert "(2,4" in result.message


def test_where_nothing_is_left_over_it_is_not_tested():
    for data in (draw_six(n_crawls=4), draw_six("avoid-all"), draw_six(population=40)):
        result = check_bunches(data)
        assert (result.status, result.effect) == ("na", None)
        assert "five or more crawls" in result.message


@pytest.mark.parametrize("population", [300, 3_000])
def test_with_few_urls_chance_is_not_taken_for_bunches(population):
    spoken = [
        check_bunches(draw_six(seed=seed, n_crawls=12, population=population)).status
        for seed in range(100)
    ]
    assert sum(status != "ok" for status in spoken) <= 3


def test_the_words_of_overdispersion_name_what_is_compared():
    assert "independent contents" in check_bunches(draw_six(), level="content").message


# ------------------------------------------------------------------------------------- short-lag

EXCESS = ShortLag(
    first_lag=1,
    n_lags=1,
    coefficient=0.1,
    shares_nothing=False,
    cuts=(0.46, 0.45, 0.47),
)


def examine(table, level="url"):
    """Return what pairs found, what they say, and the cause and the check by histories."""
    diagnosis = diagnose(table)
    by_pairs = check_short_lag(
        diagnosis.pairs, diagnosis.fit, diagnosis.short_lag, diagnosis.shapes, level
    )
    dependence = measure_dependence(history_data(table))
    cause = find_cause(dependence, diagnosis.short_lag)
    resolved = resolve_short_lag(by_pairs, dependence, diagnosis.short_lag, level)
    return diagnosis.short_lag, by_pairs, cause, resolved


@pytest.mark.parametrize(("name", "n_lags"), [("avoid-most", 1), ("avoid-two", 2)])
def test_avoidance_is_shown_with_the_crawls_it_looks_back_over(name, n_lags):
    _, by_pairs, cause, resolved = examine(draw(name))
    assert (cause.cause, cause.n_lags) == ("avoidance", n_lags)
    assert (resolved.status, resolved.effect) == (by_pairs.status, by_pairs.effect)
    assert f"{math.exp(cause.log_odds):.2g} times those of others" in resolved.message
    assert "capture histories would settle it" not in resolved.message
    assert resolved.message.startswith(by_pairs.message.split(";")[0])


def test_odds_of_capture_after_a_capture_are_those_of_the_policy():
    """Nine of ten URLs of the last crawl are passed over; the rest is drawn like all others."""
    _, _, cause, _ = examine(draw("avoid-most", population=2_000_000))
    table = draw("avoid-most", population=2_000_000)
    data = history_data(table)
    n_last = float(data.sizes[6]) * 0.73**0.5
    share = 0.3 * 2_000_000 / (2_000_000 - 0.9 * n_last)
    odds = 0.1 * share / (1 - 0.1 * share) / (share / (1 - share))
    assert cause.log_odds == pytest.approx(math.log(odds), abs=0.05)


def test_where_no_url_is_captured_twice_in_a_row_it_is_said_so():
    _, _, cause, resolved = examine(draw("avoid-all"))
    assert cause.log_odds == -math.inf
    assert "none that the last crawl captured are captured again" in resolved.message


def test_re_seeding_is_told_from_mixed_lifetimes():
    found, _, cause, resolved = examine(draw("reseed"))
    assert not found.is_avoidance
    assert (cause.cause, cause.n_lags) == ("re-seeding", 1)
    assert "coverage from all pairs is too high" in resolved.message
    assert "(--min-lag 2) it is about 47 %" in resolved.message
    assert "cannot tell these apart" not in resolved.message


def test_mixed_lifetimes_are_told_from_re_seeding():
    table = draw("survival-mix-extreme", seed=3, population=60_000)
    found, by_pairs, cause, resolved = examine(table)
    assert not found.is_avoidance
    assert (cause.cause, cause.n_lags) == ("mixed-lifetimes", 0)
    assert "cannot tell these apart" in by_pairs.message
    assert "cannot tell these apart" not in resolved.message
    assert "coverage from all pairs is too low" in resolved.message


def test_lasting_differences_are_no_policy():
    for name in ("capture-gamma-strong", "core-always", "core-periphery", "core-long-lived"):
        assert examine(draw(name))[2] is None


def test_avoidance_that_lasting_differences_hide_is_found():
    cause = find_cause(dependence(0.2, 0.6, 0.5, -0.4), None)
    assert (cause.cause, cause.n_lags, cause.log_odds) == ("avoidance", 1, -0.4)


def test_avoidance_of_two_crawls_shows_at_two_even_if_one_is_not_certain():
    wide = LogOdds(value=-0.5, error=0.4)
    cause = find_cause(dependence(wide, -1.0, 0.0, UNKNOWN), None)
    assert (cause.cause, cause.n_lags, cause.log_odds) == ("avoidance", 2, -1.0)
    assert find_cause(dependence(-1.0, -1.0, -1.0, 0.0), None).n_lags == 3


def test_an_excess_is_put_down_to_lifetimes_only_if_re_seeding_would_have_been_seen():
    assert find_cause(dependence(0.0, 0.0, 0.0, 0.0), EXCESS).cause == "mixed-lifetimes"
    vague = LogOdds(value=0.0, error=0.2)
    assert find_cause(dependence(0.0, 0.0, 0.0, vague), EXCESS) is None
    assert find_cause(dependence(0.0, 0.0, 0.0, UNKNOWN), EXCESS) is None


def test_where_most_is_captured_an_excess_has_odds_still():
    nearly_all = replace(dependence(0.0, 0.0, 0.0, 0.0), captured_share=0.97)
    assert find_cause(nearly_all, EXCESS).cause == "mixed-lifetimes"


def test_too_little_shared_is_never_put_down_to_re_seeding():
    avoiding = replace(EXCESS, coefficient=-0.5)
    assert find_cause(dependence(0.5, 0.0, 0.0, 0.5), avoiding) is None


def test_a_policy_that_pairs_do_not_show_is_added():
    _, by_pairs, cause, _ = examine(draw("pure"))
    assert (by_pairs.status, cause) == ("ok", None)
    resolved = resolve_short_lag(by_pairs, dependence(0.5, 0.0, 0.0, 0.5), None, "text")
    assert resolved.status == "warn"
    assert "among texts known to be alive" in resolved.message


def test_without_a_cause_or_with_too_few_crawls_the_check_stays_as_it_is():
    _, by_pairs, _, resolved = examine(draw("pure"))
    assert resolved == by_pairs
    _, by_pairs, cause, resolved = examine(draw("avoid-most", n_crawls=5))
    assert cause is None
    assert resolved == by_pairs
