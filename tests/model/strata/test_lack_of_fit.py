"""Lack of fit: none where there is only counting, and found where there is more."""

import numpy as np
import pytest

from crawlgauge.model.strata.lack_of_fit import find_lack_of_fit, jackknife
from crawlgauge.model.strata.stratum_errors import (
    NEWEST,
    SLOPE,
    TYPICAL,
    expected_jackknife,
    leave_out,
    numbers_of,
    sampling,
)
from crawlgauge.model.strata.stratum_fits import fit_strata

N_CRAWLS = 8
DAYS = np.arange(N_CRAWLS) * 183
YEARS = DAYS / 365.25
LAGS = np.abs(np.subtract.outer(YEARS, YEARS))


def test_the_jackknife_is_that_of_the_textbook():
    changes = np.array([[0.1, -0.2, 0.4, np.nan]])
    used = changes[0, :3]
    assert jackknife(changes)[0] == pytest.approx(2 / 3 * np.sum((used - used.mean()) ** 2))


@pytest.fixture(scope="module")
def alike(simulate):
    """Three hundred hosts that differ by chance only, with their fits."""
    archive = simulate(np.random.default_rng(4), [800] * 300, [0.4] * 300, [0.7] * 300, N_CRAWLS)
    return archive, fit_strata(archive.counts.n_shared, YEARS)


def test_sampling_variances_are_those_of_the_simulated_hosts(alike):
    archive, fits = alike
    errors = numbers_of(fits.columns) - np.column_stack(
        [
            np.log(archive.coverage[:, -1]),
            np.log(archive.coverage[:, 1:]).mean(axis=1),
            np.full(300, np.log(0.7)),
        ]
    )
    sizes = np.diagonal(archive.counts.n_shared, axis1=1, axis2=2)
    stated = np.mean([sampling(fits, k, sizes[k], DAYS, 1.0).covariance for k in range(60)], axis=0)
    found = np.cov(errors.T)
    for number in (NEWEST, TYPICAL, SLOPE):
        assert stated[number, number] == pytest.approx(found[number, number], rel=0.25)
    assert stated[TYPICAL, SLOPE] == pytest.approx(found[TYPICAL, SLOPE], rel=0.35)


def test_the_jackknife_that_counting_leads_to_is_foretold(alike):
    archive, fits = alike
    changes = leave_out(fits, LAGS)
    sizes = np.diagonal(archive.counts.n_shared, axis1=1, axis2=2)
    foretold = np.mean([expected_jackknife(fits, k, sizes[k], DAYS) for k in range(15)], axis=0)
    for number in (NEWEST, TYPICAL, SLOPE):
        found = jackknife(changes[:, :, number]).mean()
        assert foretold[number] == pytest.approx(found, rel=0.2)


def replicates(rng, n_strata, *, counting=0.01, common=0.0, own=0.0):
    """Draw replicates whose jackknife variance is the sum of the three on the average."""
    scale = np.sqrt(N_CRAWLS / (N_CRAWLS - 1) ** 2)
    of_each = np.sqrt(counting + own) * rng.standard_normal((n_strata, N_CRAWLS))
    return scale * (of_each + np.sqrt(common) * rng.standard_normal(N_CRAWLS))


def test_counting_alone_is_no_lack_of_fit():
    rng = np.random.default_rng(1)
    found = find_lack_of_fit(replicates(rng, 400), np.full(400, 0.01), np.ones(400))
    assert found.common < 0.001
    assert np.median(found.own) < 0.001
    assert found.contradicts.mean() < 0.01


def test_what_strata_have_in_common_is_told_from_what_each_has():
    rng = np.random.default_rng(2)
    drawn = replicates(rng, 400, common=0.09, own=0.02)
    found = find_lack_of_fit(drawn, np.full(400, 0.01), np.ones(400))
    assert 0.02 < found.common < 0.3
    assert np.median(found.own) == pytest.approx(0.02, rel=0.15)
    assert found.n_freedom.max() > 100


def test_a_stratum_that_contradicts_itself_keeps_its_own():
    rng = np.random.default_rng(3)
    drawn = replicates(rng, 50)
    drawn[7] *= 10
    found = find_lack_of_fit(drawn, np.full(50, 0.01), np.ones(50))
    assert np.flatnonzero(found.contradicts).tolist() == [7]
    assert found.own[7] > 0.3
    assert np.delete(found.own, 7).max() < 0.01


def test_strata_that_too_few_crawls_hold_are_taken_to_fit_as_the_others_do():
    rng = np.random.default_rng(4)
    drawn = replicates(rng, 300, own=0.03)
    drawn[0, 2:] = np.nan
    found = find_lack_of_fit(drawn, np.full(300, 0.01), np.ones(300))
    assert found.own[0] == found.own[1]
    none = find_lack_of_fit(np.full((2, 3), np.nan), np.full(2, 0.01), np.ones(2))
    assert (none.common, none.own.tolist()) == (0.0, [0.0, 0.0])


def test_a_single_stratum_has_its_lack_of_fit_in_common_with_itself():
    rng = np.random.default_rng(5)
    found = find_lack_of_fit(replicates(rng, 1, own=0.5), np.full(1, 0.01), np.ones(1))
    assert found.common > 0.05
    assert found.own[0] == 0
