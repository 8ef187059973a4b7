"""Settings of the urn are checked when they are made, and can be changed afterwards."""

import datetime as dt

import numpy as np
import pytest

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
    change_settings,
    course_values,
    first_value,
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


def test_the_first_value_of_a_series_is_without_noise():
    assert [first_value(7), first_value((8, 9)), first_value(Course(first=5, noise_sd=1))] == [
        *(7, 8, 5)
    ]


def test_a_given_series_needs_a_number_for_each_crawl():
    with pytest.raises(SimulationError, match="2 numbers were given for 4 crawls"):
        values((1, 2))


IMPOSSIBLE = {
    "above 0 and at most 1": lambda: UrnSettings(persistence=0),
    "persistence is 1.01": lambda: UrnSettings(persistence=1.01),
    "a class with the share": lambda: UrlClass(share=0),
    "a class with the weight": lambda: UrlClass(weight=0),
    "add up to 0.9, not to 1": lambda: UrnSettings(
        classes=(UrlClass(share=0.5), UrlClass(share=0.4))
    ),
    "capture CV of -1": lambda: UrnSettings(capture_cv=-1),
    "below 1": lambda: UrnSettings(reseeded_share=1),
    "contradict": lambda: UrnSettings(avoidance=Avoidance(), reseeded_share=0.1),
    "cannot jump at random": lambda: UrnSettings(population=Course(first=10, noise_sd=0.1)),
    "0 hosts": lambda: UrnSettings(n_hosts=0),
    "no dates": lambda: UrnSettings(dates=()),
    "rising order": lambda: UrnSettings(dates=(dt.date(2021, 1, 1), dt.date(2020, 1, 1))),
    "must be one of 1 to 2": lambda: UrnSettings(
        dates=DatePlan(n_crawls=3), scope_change=ScopeChange(share_common=0.5, from_crawl=3)
    ),
    "the last 0 crawls": lambda: Avoidance(n_crawls=0),
    "probability of avoidance": lambda: Avoidance(probability=0),
    "have in common": lambda: ScopeChange(share_common=1.5),
    "at least two hosts": lambda: HostNoise(n_hosts=1, sd=0.5),
    "cannot be negative": lambda: TableNoise(row_sd=-1),
    "a loss of all": lambda: Course(first=1, growth_per_year=-1),
    "a noise of -1": lambda: Course(first=1, noise_sd=-1),
    "a jump by": lambda: Course(first=1, jump=0),
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
    assert mixed.common_persistence is None
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
