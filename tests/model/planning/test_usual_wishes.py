"""What is planned for where nothing is wished for."""

import pytest

from crawlgauge.model.estimates import Estimate, Newest
from crawlgauge.model.plan import Wishes, usual_wishes


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
    assert (wishes.target, wishes.union_target) == (target, union_target)
    assert wishes.floor == pytest.approx(floor)


def test_above_all_round_numbers_nothing_is_left_to_wish_for(make_estimates):
    wishes = at(make_estimates, 0.995, 0.999)
    assert (wishes.target, wishes.union_target) == (None, None)


def test_what_is_not_known_is_planned_for_from_the_beginning(make_estimates):
    unknown = Estimate.unknown("not identifiable")
    newest = Newest(label="c4", coverage=unknown, population=unknown)
    wishes = usual_wishes(make_estimates(newest=newest, union=unknown))
    assert (wishes.target, wishes.union_target, wishes.floor) == (0.8, 0.9, 0.5)


def test_no_wish_is_an_empty_one():
    assert Wishes().is_empty
    assert not Wishes(floor=0.3).is_empty
