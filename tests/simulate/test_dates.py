"""Dates of simulated crawls, and labels that tell them."""

import datetime as dt
import itertools

import numpy as np
import pytest

from crawlgauge.crawl import date_from_label
from crawlgauge.errors import SimulationError
from crawlgauge.simulate.urn_settings import (
    DatePlan,
    change_length,
    choose_dates,
    label_dates,
    years_since_first,
)


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
        ({"n_crawls": 0}, "at least one"),
        ({"months_between": 0}, "Give the dates themselves"),
        ({"first": dt.date(2020, 1, 31)}, "not every month"),
    ],
)
def test_impossible_plans_are_refused(settings, message):
    with pytest.raises(SimulationError, match=message):
        DatePlan(**settings)
