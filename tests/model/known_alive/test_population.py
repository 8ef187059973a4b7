"""Counts of URLs alive agree with enumeration of every course that captures can take."""

import itertools

import numpy as np
import pytest

from crawlgauge.model.histories.known_alive import count_alive, fit_windows, state_shares
from crawlgauge.model.histories.window_model import (
    Tallies,
    WindowModel,
    capture_chances,
    count_windows,
    unpack,
)

N_CRAWLS = 5


def state_of(course, crawl, lags):
    """Return the crawls since the last capture; 0 if it was longer ago."""
    earlier = [j for j in range(crawl) if course[j]]
    gap = crawl - earlier[-1] if earlier else lags + 1
    return gap if gap <= lags else 0


def chance_of(course, chances, lags):
    value = np.ones(chances.shape[2])
    for crawl, mark in enumerate(course):
        p = chances[crawl, state_of(course, crawl, lags)]
        value = value * (p if mark else 1 - p)
    return value


@pytest.mark.parametrize("lags", [0, 1, 2, 4])
def test_states_are_those_of_all_courses(lags):
    chances = np.random.default_rng(31).uniform(0.1, 0.8, (N_CRAWLS, lags + 1, 2))
    shares = state_shares(chances, np.zeros(N_CRAWLS))
    by_hand = np.zeros_like(shares)
    for course in itertools.product([False, True], repeat=N_CRAWLS):
        for crawl in range(N_CRAWLS):
            by_hand[crawl, state_of(course, crawl, lags)] += chance_of(course, chances, lags)
    assert shares == pytest.approx(by_hand)


def test_newborn_urls_are_in_no_state_of_the_trap():
    chances = np.random.default_rng(31).uniform(0.1, 0.8, (N_CRAWLS, 3, 2))
    shares = state_shares(chances, np.full(N_CRAWLS, 0.3))
    assert shares.sum(axis=1) == pytest.approx(1)
    assert np.all(shares[1:, 0] >= 0.3)


@pytest.mark.parametrize("lags", [0, 1, 2])
@pytest.mark.parametrize("is_uneven", [False, True])
def test_expected_captures_of_all_courses_give_back_the_population(make_archive, is_uneven, lags):
    """Nobody is born or dies; the captures expected by the model are counted without noise."""
    n_alive = 50_000
    model = WindowModel(trap_lags=lags, is_uneven=is_uneven)
    counts = count_windows(make_archive(35, n_alive=3000, n_crawls=N_CRAWLS, survival=1.0).data)
    vector = fit_windows(model, counts).vector
    chances, share = capture_chances(model, counts, vector), unpack(model, counts, vector)[1].share
    by_state, shared = np.zeros((N_CRAWLS, lags + 1)), np.zeros((N_CRAWLS, N_CRAWLS))
    for course in itertools.product([False, True], repeat=N_CRAWLS):
        number = n_alive * chance_of(course, chances, lags) @ share
        held = np.flatnonzero(course)
        shared[np.ix_(held, held)] += number
        for crawl in held:
            by_state[crawl, state_of(course, crawl, lags)] += number
    alive = count_alive(model, counts, vector, Tallies(by_state=by_state, shared=shared))
    assert alive[1:-1] == pytest.approx(n_alive, rel=0.01)
    assert np.isnan(alive[[0, -1]]).all()


@pytest.mark.parametrize("is_uneven", [False, True])
def test_populations_that_turn_over_are_found(make_archive, is_uneven):
    archive = make_archive(32, n_alive=20_000, survival=0.85)
    counts = count_windows(archive.data)
    fit = fit_windows(WindowModel(trap_lags=0, is_uneven=is_uneven), counts)
    alive = count_alive(fit.model, counts, fit.vector, counts.tallies(0))
    assert alive[1:-1] == pytest.approx(20_000, rel=0.05)


def test_urls_that_are_never_taken_again_are_counted_all_the_same(make_archive):
    archive = make_archive(33, avoidance=(1.0,), coverage=0.3, survival=0.9)
    counts = count_windows(archive.data)
    fit = fit_windows(WindowModel(trap_lags=1, is_uneven=False), counts)
    alive = count_alive(fit.model, counts, fit.vector, counts.tallies(1))
    assert counts.shared[2, 3, 0] == 0
    # Nothing that the last but one captures is captured by the last: only its size speaks for it.
    assert alive[2:-2] == pytest.approx(20_000, rel=0.1)
