import math

import numpy as np
import pytest

from crawlgauge.model.histories.dependence import compare_events, no_odds

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
    odds = compare_events(COUNTS, EVENTS[:, 0], EVENTS[:, 1], among=~EVENTS[:, 2])
    assert math.exp(odds.log_ratio) == pytest.approx(40 * 22 / (30 * 10))
    assert odds.error(COUNTS) == pytest.approx(math.sqrt(1 / 40 + 1 / 22 + 1 / 30 + 1 / 10))


def test_tables_of_strata_are_pooled_as_mantel_and_haenszel_do():
    assert compare(COUNTS).log_ratio == pytest.approx(stratified(COUNTS))


def test_the_gain_of_a_history_is_the_slope_in_its_count():
    odds = compare(COUNTS)
    step = 1e-4
    for history in range(8):
        more, fewer = COUNTS.copy(), COUNTS.copy()
        more[history] += step
        fewer[history] -= step
        slope = (stratified(more) - stratified(fewer)) / (2 * step)
        assert odds.log_gain[history] == pytest.approx(slope, rel=1e-5, abs=1e-9)


def test_the_error_is_that_of_repeated_samples():
    rng = np.random.default_rng(5)
    samples = rng.poisson(COUNTS, size=(2000, 8)).astype(np.float64)
    spread = np.std([stratified(sample) for sample in samples])
    assert compare(COUNTS).error(COUNTS) == pytest.approx(spread, rel=0.06)


def test_a_url_in_two_tables_counts_once():
    """The same comparison twice has the same ratio, and no smaller error."""
    odds = compare(COUNTS)
    twice = odds + odds
    assert twice.log_ratio == pytest.approx(odds.log_ratio)
    assert twice.error(COUNTS) == pytest.approx(odds.error(COUNTS))


def test_histories_that_do_not_count_add_nothing():
    among = EVENTS[:, 2]
    odds = compare(COUNTS, among)
    assert np.all(odds.log_gain[~among] == 0)
    assert math.exp(odds.log_ratio) == pytest.approx(25 * 70 / (35 * 18))


def test_without_any_url_in_both_or_any_table_the_ratio_is_unknown():
    nothing = no_odds(8)
    assert not nothing.is_known
    assert math.isnan(nothing.log_ratio)
    assert math.isnan(nothing.error(COUNTS))
    never = compare(np.where(EVENTS[:, 0] & EVENTS[:, 1], 0.0, COUNTS))
    assert (never.together, never.is_known) == (0.0, False)
    assert (nothing + compare(COUNTS)).log_ratio == pytest.approx(stratified(COUNTS))


def test_too_many_events_to_be_alike_in_are_refused():
    with pytest.raises(ValueError, match="13 events make too many tables"):
        compare_events(COUNTS, EVENTS[:, 0], EVENTS[:, 1], among=EVERY, given=(EVERY,) * 13)
