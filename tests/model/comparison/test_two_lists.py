"""Capture–recapture of two lists against published numbers, and against hypergeometric draws."""

import math

import numpy as np
import pytest

from crawlgauge.model.comparison import TwoLists
from crawlgauge.model.log_range import LogRange, typical_value


def test_turtles_of_which_ten_are_marked_have_the_size_that_the_formulas_give():
    # 10 marked, 15 caught later, 5 of them marked.
    turtles = TwoLists(n_a=10, n_b=15, n_shared=5)
    assert turtles.lincoln_petersen() == 30
    assert turtles.chapman() == pytest.approx(11 * 16 / 6 - 1)


def test_a_gap_lowers_the_population_by_what_has_died():
    whole = TwoLists(n_a=4000, n_b=3000, n_shared=900)
    carried = TwoLists(n_a=4000, n_b=3000, n_shared=900, kept=0.9)
    assert carried.lincoln_petersen() == pytest.approx(0.9 * whole.lincoln_petersen())
    assert carried.n_union == pytest.approx(0.9 * 4000 + 3000 - 900)


def test_nothing_shared_has_a_lower_end_and_no_upper_one():
    found = TwoLists(n_a=100, n_b=100, n_shared=0).population()
    assert math.isinf(found.up)
    # Fewer than about 3.84 shared URLs are expected then.
    assert 100 * 100 / math.exp(found.value - found.down) == pytest.approx(3.84, rel=0.1)
    assert TwoLists(n_a=100, n_b=100, n_shared=0).lincoln_petersen() is None


def test_no_population_is_smaller_than_what_the_lists_hold():
    found = TwoLists(n_a=90, n_b=80, n_shared=79).population()
    assert math.exp(found.value - found.down) >= 91 - 1e-9


@pytest.mark.parametrize(
    ("population", "n_a", "n_b"), [(1000, 100, 100), (1000, 800, 500), (300, 40, 40)]
)
def test_intervals_hold_the_population_that_lists_are_drawn_from(population, n_a, n_b):
    rng = np.random.default_rng(3)
    hits = 0
    for n_shared in rng.hypergeometric(n_a, population - n_a, n_b, size=400).tolist():
        found = TwoLists(n_a=n_a, n_b=n_b, n_shared=n_shared).population()
        hits += found.value - found.down <= math.log(population) <= found.value + found.up
    assert 0.92 <= hits / 400 <= 0.99


def test_a_typical_value_is_at_least_as_wide_as_its_own_errors_and_its_scatter():
    alike = [LogRange(value=0.0, down=0.2, up=0.2)] * 4
    assert typical_value(alike).up == pytest.approx(0.1)
    apart = [LogRange(value=value, down=0.2, up=0.2) for value in (-1.0, 0.0, 1.0)]
    # Student's t with 2 degrees of freedom is 4.3027 at 97.5 %.
    assert typical_value(apart).up == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)
    assert typical_value(alike[:1]) == alike[0]
    assert typical_value(alike, shared_variance=0.1).up == pytest.approx(
        math.hypot(0.1, 1.959964 * math.sqrt(0.1))
    )


def test_ranges_become_estimates_with_reasons_for_what_is_missing():
    exact = LogRange(value=math.log(0.5)).to_estimate()
    assert (exact.value, exact.low, exact.basis) == (pytest.approx(0.5), None, "none")
    open_end = LogRange(value=0.0, down=1.0, up=math.inf).to_estimate()
    assert open_end.high is None
    assert "too few" in open_end.reason
    capped = LogRange(value=math.log(0.9), down=0.1, up=0.5).to_estimate(most=1.0)
    assert capped.high == 1.0
