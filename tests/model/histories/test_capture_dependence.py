"""Expected counts of all histories, computed exactly, show what each departure leaves behind."""

import itertools
import math

import numpy as np
import pytest

from crawlgauge.model.histories.checks import (
    MIN_CRAWLS,
    Scatter,
    compare_events,
    log_odds,
    measure_dependence,
)
from crawlgauge.model.histories.data import HistoryData

N_URLS = 1e6
LONG_AND_SHORT = ((0.5, 0.95, 1.0), (0.5, 0.6, 1.0))


def logit(share):
    return math.log(share / (1 - share))


def expected_histories(n_crawls, policy, kinds=((1.0, 0.85, 1.0),)):
    """Return every history and the URLs expected to have it.

    `policy` gives the probability of capture by the number of crawls since the last capture (None
    if never); `kinds` are shares, survivals from crawl to crawl and factors of the odds of capture.
    Each kind keeps its numbers: as many are born as die.
    """
    masks = list(itertools.product([False, True], repeat=n_crawls))[1:]
    counts = [
        sum(
            share
            * alive(history, survival, lambda since, odds=factor: capture(policy, since, odds))
            for share, survival, factor in kinds
        )
        for history in masks
    ]
    captured = np.array(masks, dtype=np.bool_)
    return HistoryData(
        captured=captured,
        masks=captured @ (np.uint64(1) << np.arange(n_crawls, dtype=np.uint64)),
        counts=N_URLS * np.array(counts),
        years=np.arange(n_crawls) / 2,
    )


def capture(policy, since, factor):
    odds = factor * policy(since) / (1 - policy(since))
    return odds / (1 + odds)


def alive(history, survival, probability):
    """Return how many of one URL alive at any time have a history, over all births and deaths."""
    n = len(history)
    first, last = history.index(True), n - 1 - history[::-1].index(True)
    total = 0.0
    for birth in range(first + 1):
        n_born = 1.0 if birth == 0 else 1 - survival
        for death in range(last + 1, n + 1):
            chance = n_born * survival ** (death - 1 - birth) * (1 - survival if death < n else 1)
            since = None
            for crawl in range(birth, death):
                share = probability(since)
                chance *= share if history[crawl] else 1 - share
                since = 1 if history[crawl] else None if since is None else since + 1
            total += chance
    return total


def even(_since):
    return 0.4


def by_last(near, far, n_lags=1):
    return lambda since: near if since is not None and since <= n_lags else far


def lags(dependence):
    return [odds.value for odds in dependence.by_lag]


@pytest.mark.parametrize("kinds", [((1.0, 0.85, 1.0),), LONG_AND_SHORT], ids=["one", "lifetimes"])
@pytest.mark.parametrize("n_crawls", [6, 8])
def test_even_capture_leaves_nothing_whatever_urls_live_for(kinds, n_crawls):
    dependence = measure_dependence(expected_histories(n_crawls, even, kinds))
    assert lags(dependence) == pytest.approx([0, 0, 0], abs=1e-9)
    assert dependence.memory.value == pytest.approx(0, abs=1e-9)
    assert dependence.scatter.ratio == pytest.approx(0, abs=1e-9)
    assert dependence.captured_share == pytest.approx(0.4)


@pytest.mark.parametrize(("near", "far"), [(0.05, 0.4), (0.55, 0.4)], ids=["avoid", "repeat"])
@pytest.mark.parametrize("kinds", [((1.0, 0.85, 1.0),), LONG_AND_SHORT], ids=["one", "lifetimes"])
def test_a_policy_towards_the_last_crawl_shows_one_crawl_apart_and_nowhere_else(near, far, kinds):
    dependence = measure_dependence(expected_histories(7, by_last(near, far), kinds))
    effect = logit(near) - logit(far)
    assert lags(dependence) == pytest.approx([effect, 0, 0], abs=1e-9)
    assert dependence.memory.value == pytest.approx(effect)


@pytest.mark.parametrize("near", [0.08, 0.55], ids=["avoid", "repeat"])
def test_a_policy_towards_the_last_two_crawls_does_not_reach_three_apart(near):
    dependence = measure_dependence(expected_histories(7, by_last(near, 0.4, n_lags=2)))
    one, two, three = lags(dependence)
    assert math.copysign(1, one) == math.copysign(1, two) == math.copysign(1, near - 0.4)
    assert abs(two) > 0.1
    assert three == pytest.approx(0, abs=1e-9)


def test_lasting_differences_show_at_every_distance_and_are_no_memory():
    kinds = ((0.5, 0.85, 0.4), (0.5, 0.85, 2.5))
    dependence = measure_dependence(expected_histories(7, even, kinds))
    assert min(lags(dependence)) > 0.1
    assert dependence.memory.value == pytest.approx(0, abs=1e-9)


def test_lasting_differences_and_a_policy_are_told_apart():
    kinds = ((0.5, 0.85, 0.4), (0.5, 0.85, 2.5))
    dependence = measure_dependence(expected_histories(7, by_last(0.1, 0.4), kinds))
    assert min(lags(dependence)[1:]) > 0.05
    assert dependence.memory.value == pytest.approx(logit(0.1) - logit(0.4), rel=0.1)


def test_what_is_never_captured_twice_in_a_row_is_said_so():
    data = expected_histories(7, by_last(1e-12, 0.4))
    data = HistoryData(
        captured=data.captured,
        masks=data.masks,
        counts=np.where(data.counts < 1, 0.0, data.counts),
        years=data.years,
    )
    one, two, _ = measure_dependence(data).by_lag
    assert (one.is_never, one.is_known) == (True, False)
    assert (two.is_never, two.is_known) == (False, True)
    assert not measure_dependence(data).memory.is_known


def test_errors_are_those_of_repeated_samples():
    data = expected_histories(6, even)
    rng = np.random.default_rng(11)
    found = []
    for _ in range(200):
        sample = HistoryData(
            captured=data.captured,
            masks=data.masks,
            counts=rng.poisson(data.counts / 100).astype(np.float64),
            years=data.years,
        )
        dependence = measure_dependence(sample)
        odds = (*dependence.by_lag, dependence.memory)
        found.append([*(item.value / item.error for item in odds), dependence.scatter.ratio])
    found = np.array(found)
    assert np.std(found[:, :4], axis=0) == pytest.approx(1, abs=0.15)
    assert found[:, 4].mean() == pytest.approx(1, abs=0.15)


def test_urls_in_bunches_scatter_as_many_times_more():
    data = expected_histories(8, even)
    rng = np.random.default_rng(3)
    ratios = []
    for _ in range(50):
        bunches = 9.0 * rng.poisson(data.counts / 90)
        sample = HistoryData(
            captured=data.captured, masks=data.masks, counts=bunches, years=data.years
        )
        ratios.append(measure_dependence(sample).scatter.ratio)
    assert np.mean(ratios) == pytest.approx(9, rel=0.2)


def test_fewer_than_six_crawls_are_too_few():
    assert MIN_CRAWLS == 6
    assert measure_dependence(expected_histories(5, even)) is None


def test_what_is_certain_depends_on_the_scatter_and_how_well_it_is_known():
    assert Scatter(ratio=0.3, n_freedom=3).is_certain(2.4, 1.0, 0.01)
    assert not Scatter(ratio=0.3, n_freedom=3).is_certain(2.3, 1.0, 0.01)
    # Four times the variance, of which three parts are known from many or few pairs.
    assert Scatter(ratio=4.0, n_freedom=1000).is_certain(4.7, 1.0, 0.01)
    assert not Scatter(ratio=4.0, n_freedom=3).is_certain(4.7, 1.0, 0.01)
    assert not Scatter(ratio=1.0, n_freedom=3).is_certain(math.nan, math.nan, 0.01)


# ------------------------------------------------------------------------------ pooled odds ratios

EVENTS = np.array([[k >> bit & 1 for bit in (2, 1, 0)] for k in range(8)], dtype=np.bool_)
COUNTS = np.array([40.0, 25.0, 30.0, 35.0, 10.0, 18.0, 22.0, 70.0])
EVERY = np.ones(8, dtype=np.bool_)


def stratified(counts):
    """Mantel and Haenszel by hand: one table for each value of the third event."""
    together = apart = 0.0
    for value in (False, True):
        n = {
            (a, b): counts[np.all(~(EVENTS ^ np.array([a, b, value])), axis=1)].sum()
            for a in (False, True)
            for b in (False, True)
        }
        total = sum(n.values())
        together += n[True, True] * n[False, False] / total
        apart += n[True, False] * n[False, True] / total
    return math.log(together / apart)


def compare(counts, among=EVERY):
    return compare_events(counts, EVENTS[:, 0], EVENTS[:, 1], among=among, given=(EVENTS[:, 2],))


def test_one_table_has_its_odds_ratio_and_the_textbook_error():
    odds = log_odds(compare_events(COUNTS, EVENTS[:, 0], EVENTS[:, 1], among=~EVENTS[:, 2]), COUNTS)
    assert math.exp(odds.value) == pytest.approx(40 * 22 / (30 * 10))
    assert odds.error == pytest.approx(math.sqrt(1 / 40 + 1 / 22 + 1 / 30 + 1 / 10))


def test_tables_of_strata_are_pooled_as_mantel_and_haenszel_do():
    assert log_odds(compare(COUNTS), COUNTS).value == pytest.approx(stratified(COUNTS))


def test_the_error_is_that_of_repeated_samples():
    rng = np.random.default_rng(5)
    samples = rng.poisson(COUNTS, size=(2000, 8)).astype(np.float64)
    spread = np.std([stratified(sample) for sample in samples])
    assert log_odds(compare(COUNTS), COUNTS).error == pytest.approx(spread, rel=0.06)


def test_a_url_in_two_tables_counts_once():
    """The same comparison twice has the same ratio, and no smaller error."""
    odds, twice = log_odds(compare(COUNTS), COUNTS), log_odds(2 * compare(COUNTS), COUNTS)
    assert twice.value == pytest.approx(odds.value)
    assert twice.error == pytest.approx(odds.error)


def test_histories_that_do_not_count_add_nothing():
    among = EVENTS[:, 2]
    odds = compare(COUNTS, among)
    assert np.all(odds[:, 1:][:, ~among] == 0)
    assert math.exp(log_odds(odds, COUNTS).value) == pytest.approx(25 * 70 / (35 * 18))


def test_without_any_url_in_both_the_ratio_is_unknown():
    counts = np.where(EVENTS[:, 0] & EVENTS[:, 1], 0.0, COUNTS)
    never = log_odds(compare(counts), counts)
    assert (never.is_never, never.is_known) == (True, False)
    assert math.isnan(never.error)
    assert not log_odds(np.zeros((2, 9)), COUNTS).is_never
