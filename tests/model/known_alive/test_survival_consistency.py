"""Survival is consistent exactly where the population is right."""

import numpy as np
import pytest

from crawlgauge.model.known_alive.population import Population
from crawlgauge.model.known_alive.survival_consistency import Consistency, check_survival
from crawlgauge.model.known_alive.windows import Tallies

N_CRAWLS = 9
LAGS = np.subtract.outer(np.arange(N_CRAWLS), np.arange(N_CRAWLS)).T.astype(float)


def make_population(n_alive=10_000.0, young=0.8, settled=0.8):
    """Return a population whose URLs survive their first interval and later ones as told."""
    alive_at_both = np.where(LAGS > 0, n_alive * settled**LAGS, np.nan)
    # A newborn's first interval differs; whoever is known already has passed it.
    newborn = 1 - settled
    for i in range(N_CRAWLS):
        for k in range(i + 1, N_CRAWLS):
            kept = newborn * young + (1 - newborn) * settled
            alive_at_both[i, k] = n_alive * kept * settled ** (k - i - 1)
    alive = np.full(N_CRAWLS, n_alive)
    alive[[0, -1]] = np.nan
    return Population(alive=alive, alive_at_both=alive_at_both, newborn=np.full(N_CRAWLS, newborn))


def make_tallies(shared=1000.0):
    return Tallies(
        by_state=np.full((N_CRAWLS, 1), 4000.0), shared=np.full((N_CRAWLS, N_CRAWLS), shared)
    )


@pytest.mark.parametrize("lags", [0, 1, 2])
def test_one_survival_for_all_is_consistent(lags):
    found = check_survival(make_population(), make_tallies(), lags)
    assert found.excess == pytest.approx(0, abs=1e-12)
    assert found.ratio == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("factor", [0.8, 0.9, 1.1])
def test_a_population_counted_wrong_shows_by_that_factor(factor):
    right = make_population()
    wrong = Population(
        alive=factor * right.alive, alive_at_both=right.alive_at_both, newborn=right.newborn
    )
    # Too few URLs alive seem to survive too well, so those known survive worse in comparison.
    found = check_survival(wrong, make_tallies(), 0)
    assert found.excess == pytest.approx(np.log(factor))


def test_the_error_is_larger_next_to_a_trap_and_with_few_urls():
    right = make_population()
    plain = check_survival(right, make_tallies(), 0).error
    assert check_survival(right, make_tallies(), 1).error > 1.5 * plain
    assert check_survival(right, make_tallies(shared=20.0), 0).error > 1.5 * plain


def test_nothing_is_said_where_too_few_urls_are_shared():
    found = check_survival(make_population(), make_tallies(shared=5.0), 0)
    assert np.isnan(found.excess)
    assert found.ratio == 0


def test_young_urls_that_die_sooner_are_allowed_for():
    """Old URLs outlive younger ones at every age: part of the excess is that of age."""
    base = make_population()
    at_both = base.alive_at_both.copy()
    for i in range(N_CRAWLS):
        for k in range(i + 1, N_CRAWLS):
            at_both[i, k] = 10_000 * np.prod([1 - 0.2 / (1 + age) for age in range(k - i)])
    ageing = Population(alive=base.alive, alive_at_both=at_both, newborn=base.newborn)
    found = check_survival(ageing, make_tallies(), 0)
    plain = np.log(0.9 / 0.8)
    assert abs(found.excess) < plain
    assert found.error > check_survival(base, make_tallies(), 0).error


def test_an_excess_that_cannot_be_told_well_is_no_recommendation():
    """Of two equal ratios the one of the larger error lies farther from what is expected."""
    sharp, blunt = Consistency(excess=0.02, error=0.02), Consistency(excess=0.2, error=0.2)
    assert sharp.ratio == blunt.ratio
    assert blunt.doubt - sharp.doubt == pytest.approx(2 * np.log(10))
    assert Consistency(excess=np.nan, error=np.inf).doubt == 0
