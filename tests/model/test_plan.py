"""Plans: sizes for a wanted coverage, schedules of a budget, what the next crawl adds."""

import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.errors import FitError
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Check, Estimate, Newest
from crawlgauge.model.plan import plan_crawls, planning_curves, usual_wishes
from crawlgauge.report.plan_blocks import compare_schedules, say_parts
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table

YEARLY = 0.64


def between(value, low, high):
    return Estimate(value=value, low=low, high=high, basis="interval")


def codes(plan):
    return [doubt.code for doubt in plan.doubts]


@pytest.fixture(scope="module")
def drawn():
    """Five half-yearly crawls of an urn of which 73 % live on for a year, the last four known."""
    settings = change_settings(find_scenario("pure"), n_crawls=4, population=100_000)
    return draw_table(settings, seed=3, with_histories=True)


@pytest.fixture(scope="module")
def make_estimates(drawn):
    """Give a function that sets the quantities a plan starts from, in place of estimated ones."""
    estimates = estimate_coverage(drawn)

    def make(*, persistence=None, population=None, union=None, ratio=1.0, **others):
        turnover = persistence or between(0.64, 0.6, 0.68)
        size = population or between(100_000.0, 90_000.0, 110_000.0)
        held = replace(
            estimates.union, coverage=union or between(0.8, 0.75, 0.85), held_ratio=ratio
        )
        return replace(
            estimates,
            **{
                "persistence": turnover,
                "population": size,
                "union": held,
                "growth_per_year": between(0.0, -0.01, 0.01),
                **others,
            },
        )

    return make


@pytest.fixture(scope="module")
def one_date(make_table):
    """Three crawls of one day."""
    return make_table([0, 0, 0], [100, 100, 100], {(0, 1): 40, (0, 2): 40, (1, 2): 40})


@pytest.fixture(scope="module")
def make_series(make_urn):
    """Give a function that makes half-yearly crawls of an urn without noise."""

    def make(n, coverage=0.4, alpha=0.73, size=40_000_000):
        days = np.arange(n) * 183
        return make_urn(days.tolist(), [size] * n, [coverage] * n, alpha)

    return make


def test_the_size_for_a_coverage_is_that_share_of_the_population(make_estimates):
    plan = plan_crawls(make_estimates(), target=0.8)
    n_urls = plan.coverage_target.n_urls
    assert (n_urls.value, n_urls.low, n_urls.high) == pytest.approx((80_000, 72_000, 88_000))
    assert (
        "80 % of the URLs that live needs about 80,000 (72,000 to 88,000)"
        in say_parts(plan)["coverage_target"]
    )


def test_the_next_crawl_lifts_the_union_to_the_target(make_estimates):
    estimates = make_estimates()
    size = plan_crawls(estimates, union_target=0.9, crawls_per_year=2).union_target.n_urls_next
    again = plan_crawls(estimates, budget=2 * size.value, crawls_per_year=2).next_crawl
    assert again.n_urls == size.value
    assert again.union_after.value == pytest.approx(0.9)
    assert again.union_before.value == pytest.approx(0.8 * YEARLY**0.5)
    assert again.gain.value == pytest.approx(0.9 - 0.8 * YEARLY**0.5)
    assert again.n_new.value == pytest.approx(again.gain.value * 100_000)


def test_crawls_of_the_size_to_keep_a_union_keep_it(make_estimates):
    plan = plan_crawls(make_estimates(), union_target=0.9, crawls_per_year=4)
    coverage = plan.union_target.n_urls_each.value / 100_000
    union = 0.1
    for _ in range(200):
        union = coverage + (1 - coverage) * YEARLY**0.25 * union
    assert union == pytest.approx(0.9)


def test_a_target_that_is_met_already_needs_no_crawl(make_estimates):
    plan = plan_crawls(make_estimates(), union_target=0.3)
    assert plan.union_target.n_urls_next.value == 0
    assert "without a further one" in say_parts(plan)["union_target"]


def test_schedules_agree_with_crawling_on_for_a_long_time(make_estimates):
    plan = plan_crawls(make_estimates(), budget=92_000)
    for schedule in plan.schedules:
        coverage, interval = schedule.coverage.value, 1 / schedule.crawls_per_year
        assert schedule.n_urls * schedule.crawls_per_year == pytest.approx(92_000)
        union = 0.0
        for _ in range(500):
            union = coverage + (1 - coverage) * YEARLY**interval * union
        assert schedule.union_after.value == pytest.approx(union)
        moments = [(k + 0.5) / 1000 * interval for k in range(1000)]
        mean = sum(union * YEARLY**moment for moment in moments) / 1000
        assert schedule.union_mean.value == pytest.approx(mean, rel=1e-5)


def test_published_values_of_a_fixed_budget_are_met(make_estimates):
    """At 0.92 of the population a year and a persistence of 0.73, by an independent program."""
    estimates = make_estimates(
        persistence=Estimate(value=0.73, low=0.7, high=0.76, basis="interval")
    )
    plan = plan_crawls(estimates, budget=92_000)
    means = [(round(s.crawls_per_year), round(s.union_mean.value, 2)) for s in plan.schedules]
    assert means == [(1, 0.84), (2, 0.79), (4, 0.77), (12, 0.75)]
    assert "one crawl a year would hold 84 %" in compare_schedules(plan)


def test_the_union_is_at_the_floor_when_it_is_said_to_be(make_estimates):
    plan = plan_crawls(make_estimates(), floor=0.5)
    years = plan.standstill.after_years
    assert 0.8 * YEARLY**years.value == pytest.approx(0.5)
    assert years.low < years.value < years.high
    assert "less than 50 %" in say_parts(plan)["standstill"]


def test_a_floor_above_the_union_is_lost_already(make_estimates):
    plan = plan_crawls(make_estimates(), floor=0.9)
    assert plan.standstill.after_years.value == 0
    assert "already" in say_parts(plan)["standstill"]


def test_a_time_beyond_ten_times_the_series_is_not_given(make_estimates):
    """Two years of crawls: by 0.97 a year, half of what is held is lost after 15 years."""
    slow = Estimate(value=0.97, low=0.9, high=0.99, basis="interval")
    endless = plan_crawls(make_estimates(persistence=slow), floor=0.2)
    assert endless.standstill.after_years.value is None
    assert "it takes longer than this series can tell" in say_parts(endless)["standstill"]
    nearly = Estimate(value=0.9, low=0.8, high=1.0, basis="interval")
    open_ended = plan_crawls(make_estimates(persistence=nearly), floor=0.5)
    assert open_ended.standstill.after_years.high is None
    assert "at the earliest)" in say_parts(open_ended)["standstill"]


def test_no_more_than_all_live_on_in_a_plan(make_estimates):
    above = Estimate(value=1.09, low=0.9, high=1.2, basis="interval")
    plan = plan_crawls(make_estimates(persistence=above), crawls_per_year=1)
    assert (plan.start.persistence.value, plan.start.persistence.high) == (1, 1)
    assert plan.next_crawl.union_before.value == pytest.approx(0.8)


def test_growth_dilutes_the_archive(make_estimates):
    growing = make_estimates(
        growth_per_year=Estimate(value=0.25, low=0.2, high=0.3, basis="interval")
    )
    crawl = plan_crawls(growing, crawls_per_year=1).next_crawl
    assert crawl.union_before.value == pytest.approx(0.8 * YEARLY / 1.25)


def test_urls_that_are_captured_more_readily_leave_less_to_be_found(make_estimates):
    even, uneven = (
        plan_crawls(make_estimates(ratio=ratio), union_target=0.7) for ratio in (1.0, 1.2)
    )
    known = even.next_crawl.union_before.value
    expected = even.next_crawl.n_urls * (1 - 1.2 * known)
    assert uneven.next_crawl.n_new.value == pytest.approx(expected)
    assert uneven.union_target.n_urls_next.value > even.union_target.n_urls_next.value
    assert "uneven" in codes(uneven)


def test_a_target_out_of_reach_is_not_given_a_size(make_estimates):
    plan = plan_crawls(make_estimates(ratio=1.4), union_target=0.99, crawls_per_year=4)
    assert plan.union_target.n_urls_next.value is None
    assert "no crawl is large enough" in plan.union_target.n_urls_next.reason
    assert "cannot be given" in say_parts(plan)["union_target"]


def test_money_is_counted_by_the_million(make_estimates):
    plan = plan_crawls(
        make_estimates(), target=0.5, union_target=0.9, budget=2e6, cost_per_million=30
    )
    assert plan.cost_per_year == 60
    assert plan.next_crawl.cost == pytest.approx(60 / plan.crawls_per_year)
    assert plan.coverage_target.cost.value == pytest.approx(0.05 * 30)
    each = plan.union_target.n_urls_each.value
    assert plan.union_target.cost_per_year.value == pytest.approx(
        each * plan.crawls_per_year / 1e6 * 30
    )
    assert "at a cost of 1.5" in say_parts(plan)["coverage_target"]


def test_crawls_are_planned_as_often_as_they_were_made(make_estimates, drawn):
    plan = plan_crawls(make_estimates())
    assert plan.crawls_per_year == pytest.approx(2, rel=0.01)
    assert plan.budget == pytest.approx(drawn.crawls[-1].n_urls * plan.crawls_per_year)
    assert [s.is_present for s in plan.schedules].count(True) == 1


def test_what_lies_beyond_twice_the_observed_range_is_warned_of(make_estimates):
    assert codes(plan_crawls(make_estimates())) == ["even-assumed"]
    assert "larger-crawl" in codes(plan_crawls(make_estimates(), target=0.95))
    assert "longer-interval" in codes(plan_crawls(make_estimates(), crawls_per_year=0.2))
    assert "shorter-interval" in codes(plan_crawls(make_estimates(), crawls_per_year=12))
    assert "longer-time" in codes(plan_crawls(make_estimates(), floor=0.05))


FAILED = Check(id="short-lag", status="fail", effect=1.0, threshold=0.1, message="Avoids.")
UNKNOWN = Estimate.unknown("not identifiable: 12 URLs are too few")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"checks": (FAILED,)}, "the check short-lag failed, so that the model does not hold"),
        ({"population": UNKNOWN}, r"not known \(12 URLs are too few\): further crawls of the same"),
        ({"persistence": UNKNOWN}, "how many live on is not known .* three dates or more"),
        ({"half_life_years": UNKNOWN}, "hardly any are seen to disappear: crawls over a longer"),
        (
            {"population": Estimate(value=6e5, low=1e5, high=2e6, basis="interval")},
            "its range is wider than a factor of ten",
        ),
    ],
)
def test_nothing_is_planned_from_what_is_not_known_or_does_not_hold(
    make_estimates, changes, message
):
    with pytest.raises(FitError, match=message):
        plan_crawls(make_estimates(**changes))


def test_without_a_coverage_nothing_is_planned(make_estimates):
    estimates = make_estimates()
    headline = replace(estimates.headline, coverage=UNKNOWN, estimator=None)
    with pytest.raises(FitError, match="the coverage is not known"):
        plan_crawls(replace(estimates, headline=headline))


def test_at_grade_c_only_ranges_are_planned_with(make_estimates):
    grade = replace(make_estimates().agreement, grade="C")
    plan = plan_crawls(make_estimates(agreement=grade), target=0.8, union_target=0.9, floor=0.5)
    n_urls = plan.coverage_target.n_urls
    assert (n_urls.value, n_urls.low, n_urls.high) == (None, 72_000, 88_000)
    assert "needs between 72,000 and 88,000 of them" in say_parts(plan)["coverage_target"]
    assert "about" not in f"{compare_schedules(plan)} {say_parts(plan)['next_crawl']}"
    assert codes(plan)[0] == "range-only"
    sure = plan_crawls(make_estimates(), target=0.8).coverage_target.n_urls
    assert (sure.low, sure.high) == (n_urls.low, n_urls.high)


def test_of_a_range_that_reaches_to_nothing_only_the_bound_is_said(make_estimates):
    held = Estimate(value=0.95, low=0.8, high=1.0, basis="interval")
    constant = Estimate(value=0.99, low=0.9, high=1.0, basis="interval")
    plan = plan_crawls(make_estimates(union=held, persistence=constant))
    crawl = plan.next_crawl
    assert crawl.n_new.low < 0.1 * crawl.n_new.high
    assert "would find at most " in say_parts(plan)["next_crawl"]


def test_pairs_alone_give_the_union_of_the_model_without_a_range(make_series):
    estimates = estimate_coverage(make_series(6))
    plan = plan_crawls(estimates, crawls_per_year=2)
    union, survival = 0.4, 0.73 ** (183 / 365.25)
    for _ in range(5):
        union = 0.4 + 0.6 * survival * union
    before = plan.next_crawl.union_before
    assert before.value == pytest.approx(union * 0.73**0.5, rel=1e-4)
    assert before.low is None
    assert "without capture histories" in before.reason


def test_crawls_of_one_date_tell_nothing_of_turnover(one_date):
    with pytest.raises(FitError, match="how many live on is not known"):
        plan_crawls(estimate_coverage(one_date), crawls_per_year=2, target=0.5)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"target": 80}, "the target is 80; it is a share"),
        ({"union_target": 1.0}, "the union target is 1.0"),
        ({"floor": 0.0}, "the floor is 0.0"),
        ({"budget": -5}, "the budget is -5; give a number above 0"),
        ({"crawls_per_year": 0}, "the number of crawls a year is 0"),
        ({"cost_per_million": math.nan}, "the cost of a million URLs is nan"),
    ],
)
def test_wishes_out_of_bounds_are_refused(make_estimates, wish, message):
    with pytest.raises(FitError, match=message):
        plan_crawls(make_estimates(), **wish)


def test_the_size_of_the_next_crawl_may_be_given_apart_from_the_budget(make_estimates):
    plan = plan_crawls(make_estimates(), size=60_000, budget=92_000, crawls_per_year=2)
    assert (plan.next_crawl.n_urls, plan.budget) == (60_000, 92_000)
    assert plan.next_crawl.coverage.value == pytest.approx(0.6)
    before = 0.8 * YEARLY**0.5
    assert plan.next_crawl.union_after.value == pytest.approx(before + 0.6 * (1 - before))
    assert all(s.n_urls * s.crawls_per_year == pytest.approx(92_000) for s in plan.schedules)


def test_the_newest_crawl_alone_is_at_the_floor_before_all_together_are(make_estimates, drawn):
    plan = plan_crawls(make_estimates(), floor=0.3)
    standstill = plan.standstill
    newest = drawn.crawls[-1].n_urls / 100_000
    assert newest * YEARLY**standstill.newest_after_years.value == pytest.approx(0.3)
    assert standstill.newest_after_years.value < standstill.after_years.value
    assert "The newest crawl alone does so after about" in say_parts(plan)["standstill"]
    lost = plan_crawls(make_estimates(), floor=0.6)
    assert "holds less than that today" in say_parts(lost)["standstill"]


def test_a_best_frequency_that_needs_larger_crawls_than_any_is_said_to(make_estimates):
    plan = plan_crawls(make_estimates())
    assert "It takes crawls of " in compare_schedules(plan)
    assert "and the largest so far has 46,000" in compare_schedules(plan)
    small = plan_crawls(make_estimates(), budget=40_000)
    assert "the largest so far" not in compare_schedules(small)


def test_schedules_of_more_than_twice_the_largest_crawl_are_warned_of(make_estimates):
    plan = plan_crawls(make_estimates(), budget=300_000)
    (beyond,) = [doubt.numbers for doubt in plan.doubts if doubt.code == "larger-schedules"]
    assert beyond == pytest.approx((1, 2), rel=0.01)


def test_where_few_crawls_would_hold_all_more_of_them_are_better(make_estimates):
    plan = plan_crawls(make_estimates(), budget=400_000)
    best = max(plan.schedules, key=lambda schedule: schedule.union_mean.value)
    assert best.crawls_per_year > 1
    assert "fewer and larger ones would find no more than there is" in compare_schedules(plan)


def test_coverage_rises_with_the_size_of_a_crawl_up_to_twice_the_largest(make_estimates, drawn):
    points = planning_curves(make_estimates()).coverage_by_size
    assert points[0].value == 0
    assert points[-1].x == 2 * max(crawl.n_urls for crawl in drawn.crawls)
    for point in points:
        assert point.value == pytest.approx(min(1, point.x / 100_000))
        assert point.low <= point.value <= point.high <= 1


def test_the_union_by_frequency_is_that_of_the_schedules(make_estimates):
    estimates = make_estimates()
    curves, plan = planning_curves(estimates), plan_crawls(estimates)
    assert (curves.budget, curves.crawls_per_year) == (plan.budget, plan.crawls_per_year)
    assert curves.union_by_frequency[-1].x == pytest.approx(12)
    monthly = next(s for s in plan.schedules if s.crawls_per_year == 12)
    assert curves.union_by_frequency[-1].value == pytest.approx(monthly.union_mean.value)


def test_where_nothing_can_be_planned_there_are_no_curves(make_estimates, one_date):
    unknown = Estimate.unknown("not identifiable")
    assert planning_curves(make_estimates(population=unknown)) is None
    assert planning_curves(make_estimates(persistence=unknown)) is None
    assert planning_curves(estimate_coverage(one_date)) is None


def share(value):
    return Estimate(value=value, low=value - 0.01, high=value + 0.01, basis="interval")


def at(make_estimates, coverage, union):
    population = share(100_000.0)
    newest = Newest(label="c4", coverage=share(coverage), population=population)
    return usual_wishes(make_estimates(newest=newest, union=share(union)))


@pytest.mark.parametrize(
    ("coverage", "union", "target", "union_target", "floor"),
    [
        (0.3, 0.6, 0.8, 0.9, 0.5),
        (0.78, 0.87, 0.9, 0.95, 0.5),
        (0.97, 0.98, 0.99, 0.99, 0.5),
        (0.2, 0.4, 0.8, 0.9, 0.2),
    ],
)
def test_the_next_round_number_is_planned_for(
    make_estimates, coverage, union, target, union_target, floor
):
    wishes = at(make_estimates, coverage, union)
    assert (wishes["target"], wishes["union_target"]) == (target, union_target)
    assert wishes["floor"] == pytest.approx(floor)


def test_above_all_round_numbers_nothing_is_left_to_wish_for(make_estimates):
    wishes = at(make_estimates, 0.995, 0.999)
    assert (wishes["target"], wishes["union_target"]) == (None, None)


def test_what_is_not_known_is_planned_for_from_the_beginning(make_estimates):
    unknown = Estimate.unknown("not identifiable")
    newest = Newest(label="c4", coverage=unknown, population=unknown)
    wishes = usual_wishes(make_estimates(newest=newest, union=unknown))
    assert (wishes["target"], wishes["union_target"], wishes["floor"]) == (0.8, 0.9, 0.5)
