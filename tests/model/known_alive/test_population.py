"""Counts of URLs alive agree with enumeration of every course that captures can take."""

import itertools

import numpy as np
import pytest

from crawlgauge.model.known_alive.families import Even, LogNormal, TwoClasses
from crawlgauge.model.known_alive.fitting import fit_windows
from crawlgauge.model.known_alive.parameters import WindowModel
from crawlgauge.model.known_alive.population import (
    alive_at,
    both_captured,
    capture_chances,
    count_alive,
    lags_between,
    state_shares,
)
from crawlgauge.model.known_alive.windows import Tallies, count_windows

N_CRAWLS = 5


def state_of(course, crawl, lags, since=0):
    """Return the crawls since the last capture from `since` on; 0 if it was longer ago."""
    earlier = [j for j in range(since, crawl) if course[j]]
    gap = crawl - earlier[-1] if earlier else lags + 1
    return gap if gap <= lags else 0


def chance_of(course, chances, lags):
    value = np.ones(chances.shape[2])
    for crawl, mark in enumerate(course):
        p = chances[crawl, state_of(course, crawl, lags)]
        value = value * (p if mark else 1 - p)
    return value


@pytest.fixture(params=[0, 1, 2])
def urn(request):
    """Random chances for two kinds of URL, all alive from the first crawl on."""
    rng = np.random.default_rng(31)
    lags = request.param
    chances = rng.uniform(0.1, 0.8, (N_CRAWLS, lags + 1, 2))
    nodes = TwoClasses(log_odds=0.4).nodes(np.array([1.0]))
    return lags, chances, nodes


def test_states_are_those_of_all_courses(urn):
    lags, chances, _ = urn
    shares = state_shares(chances, np.zeros(N_CRAWLS))
    by_hand = np.zeros_like(shares)
    for course in itertools.product([False, True], repeat=N_CRAWLS):
        for crawl in range(N_CRAWLS):
            by_hand[crawl, state_of(course, crawl, lags)] += chance_of(course, chances, lags)
    assert shares == pytest.approx(by_hand)


def test_newborn_urls_are_in_no_state_of_the_trap(urn):
    _, chances, _ = urn
    shares = state_shares(chances, np.full(N_CRAWLS, 0.3))
    assert shares.sum(axis=1) == pytest.approx(1)
    assert np.all(shares[1:, 0] >= 0.3)


def test_both_captured_is_the_sum_over_all_courses(urn):
    lags, chances, nodes = urn
    shares = state_shares(chances, np.zeros(N_CRAWLS))
    found = both_captured(chances, shares, nodes, 0.0, np.zeros((N_CRAWLS, N_CRAWLS)))
    by_hand = np.zeros((N_CRAWLS, N_CRAWLS))
    for course in itertools.product([False, True], repeat=N_CRAWLS):
        weight = chance_of(course, chances, lags) @ nodes.share
        for i, k in itertools.combinations(np.flatnonzero(course).tolist(), 2):
            by_hand[i, k] += weight
    later = np.triu_indices(N_CRAWLS, k=1)
    assert found[later] == pytest.approx(by_hand[later])


def test_kinds_that_die_sooner_weigh_less_at_longer_lags(urn):
    _, chances, nodes = urn
    shares = state_shares(chances, np.zeros(N_CRAWLS))
    lags = np.abs(np.subtract.outer(np.arange(N_CRAWLS), np.arange(N_CRAWLS))).astype(float)
    # The second kind stands at −1: a hazard of −0.5 per lag is e^(−0.5) for it.
    tilted = both_captured(chances, shares, nodes, -0.5, lags)
    survival = np.stack([np.ones_like(lags), np.exp(-0.5 * lags)], axis=-1)
    single = [
        both_captured(chances[..., [g]], shares[..., [g]], Even().nodes(np.empty(0)), 0.0, lags)
        for g in range(2)
    ]
    weight = nodes.share * survival
    expected = (weight * np.stack(single, axis=-1)).sum(axis=-1) / weight.sum(axis=-1)
    later = np.triu_indices(N_CRAWLS, k=1)
    assert tilted[later] == pytest.approx(expected[later])


def test_expected_captures_give_back_the_population(urn):
    lags, chances, nodes = urn
    n_alive = 50_000
    shares = state_shares(chances, np.zeros(N_CRAWLS))
    by_state = n_alive * (shares * chances) @ nodes.share
    tallies = Tallies(by_state=by_state, shared=np.diag(by_state.sum(axis=1)))
    for crawl in range(N_CRAWLS):
        found = alive_at(crawl, tallies, chances, nodes.share, shares)
        assert found == pytest.approx(n_alive), (lags, crawl)


def test_urls_that_are_never_taken_again_are_counted_all_the_same():
    chances = np.full((N_CRAWLS, 2, 1), 0.3)
    chances[:, 1] = 1e-9
    shares = state_shares(chances, np.zeros(N_CRAWLS))
    by_state = 10_000 * (shares * chances)[..., 0]
    by_state[:, 1] = 0
    tallies = Tallies(by_state=by_state, shared=np.diag(by_state.sum(axis=1)))
    for crawl in range(1, N_CRAWLS):
        assert alive_at(crawl, tallies, chances, np.ones(1), shares) == pytest.approx(10_000)


@pytest.mark.parametrize("family", [Even(), LogNormal(low_tail=0.35)])
def test_populations_and_their_turnover_are_found(make_archive, family):
    archive = make_archive(32, n_alive=20_000, survival=0.85)
    counts = count_windows(archive.data)
    fit = fit_windows(WindowModel(family=family, trap_lags=0), counts)
    found = count_alive(fit.model, counts, fit.vector, counts.tallies(0))
    assert found.alive[1:-1] == pytest.approx(20_000, rel=0.05)
    assert found.newborn[2:-1] == pytest.approx(0.15, abs=0.03)
    assert found.alive_at_both[1, 4] == pytest.approx(20_000 * 0.85**3, rel=0.05)
    assert np.isnan(found.alive[[0, -1]]).all()


def test_turnover_is_found_where_neighbouring_crawls_share_nothing(make_archive):
    archive = make_archive(33, avoidance=(1.0,), coverage=0.3, survival=0.9)
    counts = count_windows(archive.data)
    fit = fit_windows(WindowModel(family=Even(), trap_lags=1), counts)
    found = count_alive(fit.model, counts, fit.vector, counts.tallies(1))
    assert counts.shared[2, 3, 0] == 0
    # The first crawl's chances are not known, and are felt two crawls on. Nothing that the last
    # but one captures is captured by the last: only its size speaks for it.
    assert found.newborn[4:-1] == pytest.approx(0.1, abs=0.03)
    assert found.alive[2:-2] == pytest.approx(20_000, rel=0.1)


def test_chances_of_the_last_crawl_can_be_set(make_archive):
    counts = count_windows(make_archive(34, n_crawls=6, n_alive=2000).data)
    fit = fit_windows(WindowModel(family=Even(), trap_lags=0, link="logit"), counts)
    assert capture_chances(fit.model, counts, fit.vector, last=0.0)[-1, 0, 0] == 0.5
    assert lags_between(counts)[0].tolist() == [0, 1, 2, 3, 4, 5]
