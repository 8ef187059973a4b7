"""Whether the newest crawl is in line, and what has changed if it is not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from crawlgauge.errors import FitError
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.newest import (
    MIN_EARLIER,
    check_newest_crawl,
    compare_levels,
    judge_newest,
    predict_next,
)
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way
from crawlgauge.model.window import keep_crawls
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import Course, DatePlan, UrnSettings, change_settings
from crawlgauge.simulate.urn_table import draw_table

N = 8
WOBBLE = np.array([1.0, 1.04, 0.97, 0.99, 1.05, 1.0, 0.95, 1.02])


@cache
def draw(last_size=1.0, last_population=1.0, *, growth=0.0, histories=False, n=N, coverage=0.4):
    """Draw crawls that vary by a few per cent, the newest one changed."""
    population = 500_000 * np.exp(growth * np.arange(n) / 2)
    size = coverage * 500_000 * WOBBLE[:n]
    size[-1] *= last_size
    population[-1] *= last_population
    settings = UrnSettings(
        dates=DatePlan(n_crawls=n),
        population=tuple(population.tolist()),
        coverage=tuple((size / population).tolist()),
    )
    return draw_table(settings, seed=5, with_histories=histories)


@pytest.fixture(scope="module")
def estimates():
    """What is known of the crawls before the newest one, which is the same in most tests."""
    return estimate_coverage(draw())


def test_a_crawl_like_the_others_is_in_line(estimates):
    check = check_newest_crawl(draw(), estimates)
    assert (check.status, check.cause, check.has_drop) == ("in-line", None, False)
    assert check.measure("coverage").found == pytest.approx(0.408, rel=0.01)
    assert check.measure("coverage").expected.value == pytest.approx(0.4, rel=0.03)
    assert {measure.course for measure in check.measures} == {"in-line", "unknown"}
    assert check.statement.startswith(
        "The newest crawl, 2017-06, is in line with the 7 crawls before it: it covers 41 %, and "
    )
    assert check.compared_with == tuple(c.label for c in draw().crawls[:-1])


def test_a_halved_crawl_is_a_drop_and_said_to_have_shrunk():
    check = judge_newest(draw(last_size=0.5), estimate_coverage(draw(last_size=0.5)))
    assert (check.status, check.cause) == ("drop", "crawl-shrank")
    courses = {measure.name: measure.course for measure in check.measures}
    assert courses == {
        "coverage": "drop",
        "size": "drop",
        "population": "in-line",
        "overlap": "in-line",
        "novelty": "unknown",
    }
    coverage = check.measure("coverage")
    assert coverage.found == pytest.approx(0.204, rel=0.01)
    assert coverage.change.value == pytest.approx(-0.49, abs=0.03)
    assert coverage.change.low < -0.49 < coverage.change.high < 0
    assert coverage.chance < 0.001
    assert "The crawl shrank: it has 102,000 URLs, where " in check.statement


def test_coverage_and_population_are_those_of_the_estimates():
    table = draw(histories=True)
    estimates = estimate_coverage(table)
    check = check_newest_crawl(table, estimates)
    for name in ("coverage", "population"):
        measure, own = check.measure(name), getattr(estimates.newest, name)
        assert (measure.found, measure.low, measure.high) == (own.value, own.low, own.high)
        expected = own.value / (1 + measure.change.value)
        assert measure.expected.value == pytest.approx(expected)


def test_at_grade_c_changes_are_known_but_nothing_is_expected_of_the_level(estimates):
    unsure = replace(estimates, agreement=replace(estimates.agreement, grade="C"))
    check, sure = judge_newest(draw(), unsure), judge_newest(draw(), estimates)
    coverage = check.measure("coverage")
    assert coverage.change == sure.measure("coverage").change
    assert coverage.expected.value is None
    assert (coverage.low, coverage.high) == (
        estimates.newest.coverage.low,
        estimates.newest.coverage.high,
    )
    assert "its coverage is " in check.statement
    assert check.warnings[0].startswith("The coverage has grade C: its range is known")


def test_no_coverage_above_all_is_found_or_expected(estimates):
    newest = replace(
        estimates.newest,
        coverage=Estimate(value=1.04, low=0.97, high=1.1, basis="interval"),
        population=Estimate(value=196_000.0, low=185_000.0, high=210_000.0, basis="interval"),
    )
    check = judge_newest(draw(last_size=0.9), replace(estimates, newest=newest))
    coverage = check.measure("coverage")
    assert (coverage.found, coverage.high, coverage.expected.value) == (1, 1, 1)
    impossible = replace(newest, coverage=Estimate(value=2.7, low=1.5, high=4.8, basis="interval"))
    unknown = judge_newest(draw(), replace(estimates, newest=impossible))
    assert unknown.measure("coverage").found is None
    assert unknown.measure("coverage").change.value is not None


def test_a_crawl_that_holds_the_same_as_another_is_named():
    table = draw()
    twice = keep_crawls(table, [0, 1, 2, 3, 4, 5, 6])
    n_shared = twice.n_shared.copy()
    n_shared[5] = n_shared[3]
    n_shared[:, 5] = n_shared[:, 3]
    crawls = list(twice.crawls)
    crawls[5] = replace(crawls[5], n_urls=crawls[3].n_urls)
    repeated = replace(twice, crawls=tuple(crawls), n_shared=n_shared)
    warnings = judge_newest(repeated).warnings
    assert warnings[0] == (
        f"{crawls[5].label} holds the same URLs as {crawls[3].label}: was a file added twice?"
    )
    assert judge_newest(twice).warnings == ()


def test_a_web_that_doubled_is_a_drop_but_no_shrunk_crawl():
    check = judge_newest(draw(last_population=2.0, histories=True))
    assert (check.status, check.cause) == ("drop", "web-grew-or-went-elsewhere")
    courses = {measure.name: measure.course for measure in check.measures}
    assert courses == {
        "coverage": "drop",
        "size": "in-line",
        "population": "rise",
        "overlap": "drop",
        "novelty": "rise",
    }
    assert check.measure("population").change.value == pytest.approx(1.0, abs=0.08)
    assert check.measure("overlap").change.value == pytest.approx(-0.5, abs=0.03)
    assert "The crawl did not shrink (it has " in check.statement
    assert " of its URLs are new to the archive, where " in check.statement
    assert "Overlaps cannot tell these apart" in check.statement


def test_novelty_is_counted_and_what_was_expected_is_what_an_unchanged_web_shows():
    grown = judge_newest(draw(last_population=2.0, histories=True)).measure("novelty")
    table = draw(histories=True)
    unchanged = judge_newest(table).measure("novelty")
    newest = 1 << (N - 1)
    n_new = dict(zip(table.histories.masks.tolist(), table.histories.counts.tolist(), strict=True))
    assert unchanged.found == n_new[newest] / table.crawls[-1].n_urls
    assert grown.expected.value == pytest.approx(unchanged.found, abs=0.03)
    assert grown.found > unchanged.found + 0.3


def test_overlap_is_that_with_the_crawl_before_and_expected_as_in_an_unchanged_web():
    table = draw(last_population=2.0)
    check = judge_newest(table)
    overlap = check.measure("overlap")
    assert check.overlap_with == table.crawls[-2].label
    assert overlap.found == pytest.approx(table.n_shared[-2, -1] / table.crawls[-1].n_urls)
    before = draw()
    assert overlap.expected.value == pytest.approx(
        before.n_shared[-2, -1] / before.crawls[-1].n_urls, rel=0.05
    )


def test_a_crawl_that_shrank_while_the_web_grew_is_said_to_be_both():
    check = judge_newest(draw(last_size=0.6, last_population=1.7))
    assert (check.status, check.cause) == ("drop", "both")
    assert "The crawl shrank (it has " in check.statement
    assert " of its URLs were in 2016-12 as well, where " in check.statement


def test_a_crawl_in_a_trap_covers_as_much_but_has_less_in_common_with_earlier_ones():
    """Twice as large, of which half are URLs that nobody could have met before."""
    check = judge_newest(draw(last_size=2.0, last_population=2.0))
    assert check.measure("coverage").course == "in-line"
    assert (check.status, check.cause) == ("drop", "web-grew-or-went-elsewhere")
    assert "has less in common with earlier crawls than" in check.statement


def test_a_smaller_crawl_of_a_smaller_web_is_a_drop_of_size_alone():
    table = draw(last_size=0.6)
    n_shared = table.n_shared.copy()
    n_shared[:-1, -1] = n_shared[-1, :-1] = n_shared[:-1, -1] / 0.6
    check = judge_newest(replace(table, n_shared=n_shared))
    assert check.measure("coverage").course == "in-line"
    assert (check.status, check.cause) == ("drop", "crawl-shrank")
    assert "is smaller than the 7 crawls before it suggest" in check.statement


def test_steady_growth_of_the_web_is_in_line_and_said():
    check = judge_newest(draw(growth=0.25))
    assert check.status == "in-line"
    assert "The trend is allowed for: coverage falls by 2" in check.statement
    assert "as what could be reached grows (+2" in check.statement


def test_growth_does_not_hide_a_shrunk_crawl():
    assert judge_newest(draw(0.5, growth=0.25)).cause == "crawl-shrank"


def test_a_larger_crawl_is_no_drop():
    check = judge_newest(draw(last_size=2.0))
    assert check.status == "in-line"
    assert {check.measure("coverage").course, check.measure("size").course} == {"rise"}
    assert "It covers more than was expected: " in check.statement
    assert "It is larger than was expected: it has " in check.statement


def test_the_threshold_is_the_least_drop_that_is_told():
    table = draw(last_size=0.72)
    drop = -judge_newest(table).measure("coverage").change.value
    assert 0.2 < drop < 0.3
    assert judge_newest(table, threshold=drop - 0.01).has_drop
    assert not judge_newest(table, threshold=drop + 0.01).has_drop


def test_fewer_false_alarms_ask_for_a_larger_drop():
    table = draw(last_size=0.78)
    chance = judge_newest(table, threshold=0.0).measure("coverage").chance
    assert judge_newest(table, threshold=0.0, false_alarms=2.1 * chance).has_drop
    strict = judge_newest(table, threshold=0.0, false_alarms=1e-9)
    assert not strict.has_drop


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_with_fewer_than_five_crawls_it_cannot_be_told(n):
    check = check_newest_crawl(draw(n=n))
    assert (check.status, check.measures, check.compared_with) == ("unknown", (), ())
    said = "there is 1 crawl" if n == 1 else f"there are {n} crawls"
    assert f"cannot be told: {said} of the present scope, and it takes 5 or more." in (
        check.statement
    )


def test_five_crawls_are_enough_for_a_halved_one():
    assert judge_newest(draw(last_size=0.5 / WOBBLE[4], n=5)).cause == "crawl-shrank"


def test_without_estimates_changes_are_known_but_no_levels():
    check = judge_newest(draw(last_size=0.5))
    coverage = check.measure("coverage")
    assert (check.cause, coverage.found, coverage.expected.value) == ("crawl-shrank", None, None)
    assert coverage.change.value == pytest.approx(-0.49, abs=0.03)
    assert "covers 49 % less than the 7 crawls before it suggest." in check.statement


def test_a_crawl_that_shares_nothing_with_any_other_is_a_drop():
    table = draw()
    n_shared = table.n_shared.copy()
    n_shared[-1, :-1] = n_shared[:-1, -1] = 0
    check = check_newest_crawl(replace(table, n_shared=n_shared))
    assert (check.status, check.cause) == ("drop", "web-grew-or-went-elsewhere")
    assert (check.measure("coverage").found, check.measure("overlap").found) == (0, 0)
    assert check.measure("coverage").change.value == -1
    assert check.measure("population").found is None
    assert "It shares nothing with any earlier crawl" in check.statement


def test_a_crawl_whose_overlaps_are_not_known_is_unknown_unless_its_size_tells():
    for last_size, status in ((1.0, "unknown"), (0.3, "drop")):
        table = draw(last_size=last_size)
        n_shared = table.n_shared.copy()
        n_shared[-1, :-1] = n_shared[:-1, -1] = -1
        check = judge_newest(replace(table, n_shared=n_shared))
        assert check.status == status
        assert check.measure("coverage").course == "unknown"
        assert check.overlap_with is None


def test_after_a_change_of_scope_only_crawls_since_then_are_compared():
    settings = change_settings(find_scenario("scope-change"), n_crawls=14, population=400_000)
    table = draw_table(settings, seed=2, with_histories=False)
    check = check_newest_crawl(table)
    assert check.status == "in-line"
    assert check.compared_with == tuple(crawl.label for crawl in table.crawls[7:-1])
    assert "The scope of the crawls seems to have changed" in check.warnings[0]
    short = check_newest_crawl(keep_crawls(table, list(range(11))))
    assert short.status == "unknown"
    assert "there are 4 crawls of the present scope" in short.statement


def test_a_damaged_newest_crawl_is_named_as_a_possible_reason():
    table = draw(last_size=0.5)
    crawls = (*table.crawls[:-1], replace(table.crawls[-1], damaged=True))
    check = judge_newest(replace(table, crawls=crawls))
    assert "Part of the input of 2017-06 was damaged and left out" in check.warnings[0]


def test_where_a_check_of_the_estimates_failed_the_level_is_called_into_doubt(estimates):
    failed = replace(estimates.checks[0], status="fail")
    check = judge_newest(draw(), replace(estimates, checks=(failed, *estimates.checks[1:])))
    assert "The check lack-of-fit failed" in check.warnings[0]


@pytest.mark.parametrize("scenario", ["avoid-most", "survival-mix", "core-long-lived", "reseed"])
def test_what_the_crawler_does_with_known_urls_raises_no_alarm_and_hides_none(scenario):
    settings = change_settings(find_scenario(scenario), n_crawls=9, population=400_000)
    assert not judge_newest(draw_table(settings, seed=4)).has_drop
    first = settings.coverage.first if isinstance(settings.coverage, Course) else settings.coverage
    halved = replace(settings, coverage=(*(first,) * 8, first / 2))
    assert judge_newest(draw_table(halved, seed=4)).cause == "crawl-shrank"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"false_alarms": 0.0}, "a share of 0.0 false alarms; it must be above 0 and below 0.5"),
        ({"false_alarms": 0.7}, "a share of 0.7 false alarms"),
        ({"threshold": 1.0}, "the threshold is 1.0; it is the least drop worth an alarm"),
        ({"threshold": -0.1}, "the threshold is -0.1"),
    ],
)
def test_settings_out_of_bounds_are_refused(options, message):
    with pytest.raises(FitError, match=message):
        check_newest_crawl(draw(), **options)


def test_a_measure_that_there_is_not_is_a_key_error():
    with pytest.raises(KeyError, match="weight"):
        judge_newest(draw()).measure("weight")


# ------------------------------------------------- levels of coverage that can be compared

COVERAGE = [0.3, 0.4, 0.35, 0.45, 0.3, 0.38, 0.33, 0.2]
SIZES = [80_000_000 * c for c in COVERAGE]
DAYS = [0, 170, 380, 540, 730, 900, 1100, 1270]


def differences(levels):
    """Levels are known up to a constant: what counts is how they differ."""
    return levels[1:] - levels[1]


TRUTH = np.log(COVERAGE[1:]) - np.log(COVERAGE[1])


def test_levels_of_an_urn_differ_as_its_coverages_do(make_urn):
    levels = compare_levels(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73)))
    assert np.isnan(levels[0])
    assert differences(levels) == pytest.approx(TRUTH, abs=1e-6)


@pytest.mark.parametrize("factor", [0.1, 0.6, 1.3])
def test_what_short_lags_do_to_overlaps_does_not_change_how_levels_differ(make_urn, factor):
    """The crawler passes over, or returns to, what it captured in the last two crawls."""
    pairs = [(i, j) for j in range(8) for i in range(j)]
    factors = {pair: factor for pair in pairs if pair[1] - pair[0] == 1}
    factors |= {pair: factor**0.5 for pair in pairs if pair[1] - pair[0] == 2}
    data = pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors))
    assert differences(compare_levels(data)) == pytest.approx(TRUTH, abs=1e-6)
    assert np.abs(differences(fit_two_way(data).log_coverage) - TRUTH).max() > 0.05


def test_uneven_capture_raises_all_levels_alike(make_urn):
    factors = {(i, j): 1.8 for j in range(8) for i in range(j)}
    levels = compare_levels(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors)))
    assert differences(levels) == pytest.approx(TRUTH, abs=1e-6)


def test_mixed_lifetimes_change_how_levels_differ_little(make_table):
    def survival(years):
        return (0.9**years + 0.45**years) / 2

    overlaps = {
        (i, j): round(SIZES[i] * COVERAGE[j] * survival((DAYS[j] - DAYS[i]) / 365.25))
        for j in range(8)
        for i in range(j)
    }
    data = pair_data(make_table(DAYS, SIZES, overlaps))
    assert differences(compare_levels(data)) == pytest.approx(TRUTH, abs=0.015)
    assert np.abs(differences(fit_two_way(data).log_coverage) - TRUTH).max() > 0.03


def test_missing_and_empty_pairs_are_done_without(make_urn):
    factors = {(0, 7): None, (2, 3): None, (4, 6): 0}
    levels = compare_levels(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors)))
    assert differences(levels) == pytest.approx(TRUTH, abs=1e-6)


def test_where_neighbours_share_nothing_the_others_tell(make_urn):
    factors = {(j - 1, j): 0 for j in range(1, 8)}
    levels = compare_levels(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors)))
    assert np.isnan(levels[:2]).all()
    assert levels[2:] - levels[2] == pytest.approx(TRUTH[1:] - TRUTH[1], abs=1e-6)


def test_too_few_pairs_tell_nothing(make_urn):
    two = pair_data(make_urn(DAYS[:2], SIZES[:2], COVERAGE[:2], 0.73))
    assert np.isnan(compare_levels(two)).all()
    nothing = make_urn(
        DAYS[:4], SIZES[:4], COVERAGE[:4], 0.73, {(i, j): None for j in range(4) for i in range(j)}
    )
    assert np.isnan(compare_levels(pair_data(nothing))).all()


def test_three_crawls_are_told_apart_without_effects_of_short_lags(make_urn):
    three = pair_data(make_urn(DAYS[:3], SIZES[:3], COVERAGE[:3], 0.73))
    levels = compare_levels(three)
    assert levels[2] - levels[1] == pytest.approx(np.log(0.35 / 0.4), abs=1e-6)


# --------------------------------------- what earlier crawls suggest of the next

YEARS = np.arange(8) / 2
STEADY = np.array([0.02, -0.05, 0.04, 0.0, -0.03, 0.05, -0.02, 0.01])


def integrate(years, values, next_year, value):
    """The same by brute force: sum over a grid of levels, trends and scatters."""
    level, slope, scatter = np.meshgrid(
        np.linspace(-0.3, 0.3, 61),
        np.linspace(-1.2, 1.2, 161),
        np.geomspace(0.01, max(0.3, 2 * values.std(ddof=1)), 40),
        indexing="ij",
    )
    # A level trend is a possibility by itself; the others share as much weight among them.
    prior = stats.norm.pdf(slope, scale=0.3) * (2.4 / 160) + (np.abs(slope) < 1e-9)
    log_likelihood = sum(
        stats.norm.logpdf(value, level + slope * (year - years.mean()), scatter)
        for year, value in zip(years, values, strict=True)
    )
    weight = prior * np.exp(log_likelihood)
    expected = level + slope * (next_year - years.mean())
    return np.sum(weight * stats.norm.cdf(value, expected, scatter)) / weight.sum()


def test_the_chance_is_that_of_an_integral_over_levels_trends_and_scatters():
    years, values = YEARS[:5], STEADY[:5]
    found = predict_next(years, values, 2.5).chance_below(-0.1)
    assert found == pytest.approx(integrate(years, values, 2.5, -0.1), rel=0.01)


def test_a_quantile_is_where_that_share_lies_below():
    prediction = predict_next(YEARS, STEADY, 4.0)
    for share in (0.01, 0.3, 0.975):
        assert prediction.chance_below(prediction.quantile(share)) == pytest.approx(share, abs=1e-3)


def test_a_steady_series_is_predicted_to_stay():
    prediction = predict_next(YEARS, STEADY, 4.0)
    assert prediction.expected == pytest.approx(0.0, abs=0.02)
    assert prediction.scatter == pytest.approx(STEADY.std(ddof=1), rel=0.3)
    assert prediction.n_earlier == 8


@pytest.mark.parametrize("rate", [-0.4, -0.15, 0.3])
def test_a_trend_that_shows_is_followed(rate):
    prediction = predict_next(YEARS, STEADY + rate * YEARS, 4.0)
    assert prediction.expected == pytest.approx(4 * rate, abs=0.06)
    assert prediction.trend == pytest.approx(rate, abs=0.04)


def test_the_more_crawls_scatter_the_wider_the_prediction():
    widths = [
        np.ptp([predict_next(YEARS, factor * STEADY, 4.0).quantile(q) for q in (0.05, 0.95)])
        for factor in (0.5, 1, 4)
    ]
    assert widths[0] < widths[1] < widths[2]


def test_the_numbers_may_be_known_to_scatter_by_counting_alone():
    known = predict_next(YEARS, 0.1 * STEADY, 4.0, least_scatter=0.2)
    assert known.scatter >= 0.2
    assert predict_next(YEARS, 0.1 * STEADY, 4.0).scatter < 0.03


def test_crawls_before_the_last_twelve_do_not_count():
    years = np.arange(20) / 2
    values = np.where(years < 4, 3.0, 0.0)
    prediction = predict_next(years, values, 10.0)
    assert prediction.n_earlier == 12
    assert prediction.expected == pytest.approx(0.0, abs=1e-9)


def test_unknown_numbers_are_left_out_and_three_known_ones_are_needed():
    values = np.where(np.arange(8) < 5, np.nan, STEADY)
    assert predict_next(YEARS, values, 4.0).n_earlier == MIN_EARLIER == 3
    assert predict_next(YEARS[:7], values[:7], 4.0) is None


def test_crawls_of_one_day_have_no_trend():
    prediction = predict_next(np.zeros(4), STEADY[:4], 0.0)
    assert prediction.expected == pytest.approx(STEADY[:4].mean())
    assert prediction.trend == 0
