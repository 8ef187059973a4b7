"""Errors of strata: those of counting where there is only counting."""

import numpy as np
import pytest

from crawlgauge.model.stratum_fits import NEWEST, SLOPE, TYPICAL, find_numbers

N_CRAWLS = 8
DAYS = np.arange(N_CRAWLS) * 183


@pytest.fixture(scope="module")
def alike(simulate):
    """Three hundred hosts that differ by chance only."""
    return simulate(np.random.default_rng(4), [800] * 300, [0.4] * 300, [0.7] * 300, N_CRAWLS)


def test_variances_are_those_of_the_simulated_hosts(alike):
    values, variances = find_numbers(alike.counts.n_shared, DAYS, 1.0)
    truth = np.log(alike.coverage)
    errors = values - np.column_stack(
        [truth[:, -1], truth[:, 1:].mean(axis=1), np.full(300, np.log(0.7))]
    )
    for number in (NEWEST, TYPICAL, SLOPE):
        assert variances[:, number].mean() == pytest.approx(errors[:, number].var(), rel=0.35)


def test_a_sample_is_less_certain_than_the_whole(alike):
    first = alike.counts.n_shared[:1]
    whole, part = (find_numbers(first, DAYS, rate)[1][0] for rate in (1.0, 0.1))
    assert (part[[NEWEST, TYPICAL]] > whole[[NEWEST, TYPICAL]]).all()
