"""Settings of the urn are checked when they are made, and can be changed afterwards."""

import datetime as dt
import itertools

import numpy as np
import pytest

from crawlgauge.crawl import date_from_label
from crawlgauge.errors import SimulationError
from crawlgauge.simulate.urn_settings import (
    Avoidance,
    Course,
    DatePlan,
    HostNoise,
    ScopeChange,
    TableNoise,
    UrlClass,
    UrnSettings,
    change_length,
    change_settings,
    choose_dates,
    course_values,
    label_dates,
    years_since_first,
)

YEARS = np.array([0.0, 0.5, 1.0, 2.0])


def values(series):
    return course_values(series, YEARS, np.random.default_rng(1))


def test_a_course_grows_jumps_and_is_noisy():
    assert values(100).tolist() == [100] * 4
    assert values((1, 2, 3, 4)).tolist() == [1, 2, 3, 4]
    assert values(Course(first=100, growth_per_year=0.2)) == pytest.approx(
        [100, 100 * 1.2**0.5, 120, 144]
    )
    assert values(Course(first=100, jump=2)).tolist() == [100, 100, 200, 200]
    drawn = course_values(Course(first=3, noise_sd=0.3), np.zeros(20_000), np.random.default_rng(2))
    assert np.log(drawn / 3).mean() == pytest.approx(0, abs=0.01)
    assert np.log(drawn / 3).std() == pytest.approx(0.3, rel=0.03)


def test_a_given_series_needs_a_number_for_each_crawl():
    with pytest.raises(SimulationError, match="2 numbers were given for 4 crawls"):
        values((1, 2))


IMPOSSIBLE = {
    "above 0 and at most 1": lambda: UrnSettings(persistence=0),
    "persistence is 1.01": lambda: UrnSettings(persistence=1.01),
    "share is 0; it must be above 0 and at most 1": lambda: UrlClass(share=0),
    "weight is 0; it must be above 0$": lambda: UrlClass(weight=0),
    "weight is inf; it must be above 0 and finite": lambda: UrlClass(weight=float("inf")),
    "add up to 0.9, not to 1": lambda: UrnSettings(
        classes=(UrlClass(share=0.5), UrlClass(share=0.4))
    ),
    "capture_cv is -1": lambda: UrnSettings(capture_cv=-1),
    "at least 0 and below 1": lambda: UrnSettings(reseeded_share=1),
    "contradict": lambda: UrnSettings(avoidance=Avoidance(), reseeded_share=0.1),
    "cannot jump at random": lambda: UrnSettings(population=Course(first=10, noise_sd=0.1)),
    "n_hosts is 0": lambda: UrnSettings(n_hosts=0),
    "at least one date": lambda: UrnSettings(dates=()),
    "rising order": lambda: UrnSettings(dates=(dt.date(2021, 1, 1), dt.date(2020, 1, 1))),
    "must be one of 1 to 2": lambda: UrnSettings(
        dates=DatePlan(n_crawls=3), scope_change=ScopeChange(share_common=0.5, from_crawl=3)
    ),
    "n_crawls is 0": lambda: Avoidance(n_crawls=0),
    "probability is 0": lambda: Avoidance(probability=0),
    "share_common is 1.5": lambda: ScopeChange(share_common=1.5),
    "n_hosts is 1; it must be at least 2": lambda: HostNoise(n_hosts=1, sd=0.5),
    "row_sd is -1": lambda: TableNoise(row_sd=-1),
    "growth_per_year is -1": lambda: Course(first=1, growth_per_year=-1),
    "noise_sd is -1": lambda: Course(first=1, noise_sd=-1),
    "jump is 0": lambda: Course(first=1, jump=0),
}


@pytest.mark.parametrize("message", IMPOSSIBLE)
def test_impossible_settings_are_refused_and_said_why(message):
    with pytest.raises(SimulationError, match=message):
        IMPOSSIBLE[message]()


def test_numbers_can_be_changed_and_courses_keep_their_course():
    settings = UrnSettings(
        population=Course(first=1000, growth_per_year=0.1), coverage=(0.2, 0.4), size=500
    )
    changed = change_settings(settings, n_crawls=2, population=50, coverage=0.1, persistence=0.5)
    assert changed.n_crawls == 2
    assert changed.population == Course(first=50, growth_per_year=0.1)
    assert changed.coverage == pytest.approx((0.1, 0.2))
    assert changed.size is None
    assert changed.class_persistences == (0.5,)
    assert change_settings(settings) == settings


def test_a_persistence_that_nothing_would_use_is_refused():
    mixed = UrnSettings(
        scenario="mix",
        classes=(UrlClass(share=0.5, persistence=0.9), UrlClass(share=0.5, persistence=0.4)),
    )
    with pytest.raises(SimulationError, match="mix every class of URLs has a persistence"):
        change_settings(mixed, persistence=0.5)


def test_settings_know_what_kind_of_urn_they_are():
    assert UrnSettings().is_even
    assert not UrnSettings(capture_cv=0.1).is_even
    assert not UrnSettings(host_noise=HostNoise(n_hosts=3, sd=1)).is_even
    assert UrnSettings(avoidance=Avoidance()).has_memory
    assert UrnSettings(reseeded_share=0.1).has_memory
    assert UrnSettings().is_same_for_all_seeds
    for varying in (
        UrnSettings(coverage=Course(first=0.4, noise_sd=0.1)),
        UrnSettings(dates=DatePlan(irregular=True)),
        UrnSettings(host_noise=HostNoise(n_hosts=3, sd=1)),
    ):
        assert not varying.is_same_for_all_seeds


def random(seed=1):
    return np.random.default_rng(seed)


def test_regular_dates_are_whole_months_apart():
    plan = DatePlan(n_crawls=5, first=dt.date(2019, 11, 15), months_between=4)
    assert [str(date) for date in choose_dates(plan, random())] == [
        *("2019-11-15", "2020-03-15", "2020-07-15", "2020-11-15", "2021-03-15")
    ]


def test_irregular_dates_keep_the_ends_and_are_at_least_two_weeks_apart():
    for seed in range(50):
        plan = DatePlan(n_crawls=9, months_between=1, irregular=True)
        dates = choose_dates(plan, random(seed))
        assert (dates[0], dates[-1]) == (plan.regular_dates()[0], plan.regular_dates()[-1])
        gaps = [(b - a).days for a, b in itertools.pairwise(dates)]
        assert len(dates) == 9
        assert min(gaps) >= 14


def test_irregular_dates_differ_between_seeds_and_not_within_one():
    plan = DatePlan(n_crawls=8, irregular=True)
    assert choose_dates(plan, random(1)) == choose_dates(plan, random(1))
    assert choose_dates(plan, random(1)) != choose_dates(plan, random(2))


def test_two_irregular_crawls_are_the_two_ends():
    plan = DatePlan(n_crawls=2, irregular=True)
    assert choose_dates(plan, random()) == plan.regular_dates()


@pytest.mark.parametrize(
    "dates",
    [
        DatePlan(n_crawls=4).regular_dates(),
        DatePlan(n_crawls=4, first=dt.date(2020, 1, 3)).regular_dates(),
        (dt.date(2020, 1, 15), dt.date(2020, 1, 29)),
        (dt.date(2020, 1, 15),) * 3,
    ],
)
def test_labels_differ_and_tell_their_dates(dates):
    labels = label_dates(dates)
    assert len(set(labels)) == len(dates)
    assert [date_from_label(label) for label in labels] == list(dates)


def test_years_are_of_365_and_a_quarter_days():
    years = years_since_first((dt.date(2020, 1, 1), dt.date(2024, 1, 1)))
    assert years.tolist() == [0, 4]


def test_another_number_of_crawls_keeps_the_first_date_or_takes_the_first_given_dates():
    assert change_length(DatePlan(months_between=3), 4) == DatePlan(n_crawls=4, months_between=3)
    given = (dt.date(2020, 1, 1), dt.date(2021, 1, 1))
    assert change_length(given, 1) == given[:1]
    with pytest.raises(SimulationError, match="3 crawls, but only 2 dates"):
        change_length(given, 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_crawls": 0}, "n_crawls is 0"),
        ({"months_between": 0}, "months_between is 0; it must be at least 1"),
        ({"first": dt.date(2020, 1, 31)}, "not every month"),
    ],
)
def test_impossible_plans_are_refused(settings, message):
    with pytest.raises(SimulationError, match=message):
        DatePlan(**settings)
