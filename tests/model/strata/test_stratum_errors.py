"""Errors of strata: those of counting where there is only counting."""

import numpy as np
import pytest

from crawlgauge.model.stratum_fits import (
    NEWEST,
    SLOPE,
    TYPICAL,
    fit_strata,
    numbers_of,
    variances_of,
)

N_CRAWLS = 8
DAYS = np.arange(N_CRAWLS) * 183
YEARS = DAYS / 365.25


@pytest.fixture(scope="module")
def alike(simulate):
    """Three hundred hosts that differ by chance only, with their fits."""
    archive = simulate(np.random.default_rng(4), [800] * 300, [0.4] * 300, [0.7] * 300, N_CRAWLS)
    return archive, fit_strata(archive.counts.n_shared, YEARS)


def test_variances_are_those_of_the_simulated_hosts(alike):
    archive, fits = alike
    errors = numbers_of(fits.columns) - np.column_stack(
        [
            np.log(archive.coverage[:, -1]),
            np.log(archive.coverage[:, 1:]).mean(axis=1),
            np.full(300, np.log(0.7)),
        ]
    )
    sizes = np.diagonal(archive.counts.n_shared, axis1=1, axis2=2)
    stated = np.mean([variances_of(fits, k, sizes[k], DAYS, 1.0) for k in range(60)], axis=0)
    for number in (NEWEST, TYPICAL, SLOPE):
        assert stated[number] == pytest.approx(errors[:, number].var(), rel=0.35)


def test_a_sample_is_less_certain_than_the_whole(alike):
    archive, fits = alike
    sizes = np.diagonal(archive.counts.n_shared, axis1=1, axis2=2)
    whole, part = (variances_of(fits, 0, sizes[0], DAYS, rate) for rate in (1.0, 0.1))
    assert (part[[NEWEST, TYPICAL]] > whole[[NEWEST, TYPICAL]]).all()
