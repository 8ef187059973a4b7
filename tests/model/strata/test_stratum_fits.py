"""The two-way model of strata: exact on exact counts, and right on the average on small ones."""

import numpy as np
import pytest

from crawlgauge.model.pairs import PairData
from crawlgauge.model.strata import NEWEST, SLOPE, TYPICAL, find_numbers, fit_strata, pool
from crawlgauge.model.two_way import fit_two_way

# --------------------------------------------------------------------------------------------- fits


YEARS = np.array([0.0, 0.5, 1.1, 1.4, 2.0, 2.6])


def test_counts_without_chance_give_coverage_and_persistence_back(expected_shared):
    log_coverage = np.log([0.5, 0.4, 0.6, 0.3, 0.5, 0.2])
    shared = expected_shared([9e8, 8e8, 7e8, 9e8, 6e8, 9e8], log_coverage, np.log(0.7), YEARS)
    fits = fit_strata(shared[None], YEARS)
    assert np.isnan(fits.level[0, 0])
    assert fits.level[0, 1:] == pytest.approx(log_coverage[1:], abs=1e-6)
    assert fits.slope[0] == pytest.approx(np.log(0.7), abs=1e-6)


def test_large_counts_agree_with_the_two_way_model_of_the_whole(expected_shared):
    rng = np.random.default_rng(5)
    shared = expected_shared(np.full(6, 10**7), np.log(np.full(6, 0.4)), np.log(0.7), YEARS)
    noise = np.triu(np.exp(0.05 * rng.standard_normal(shared.shape)), k=1)
    shared = np.rint(shared * (noise + noise.T + np.eye(6))).astype(int)
    start, end = np.triu_indices(6, k=1)
    pairs = PairData(
        days=np.rint(YEARS * 365.25).astype(int),
        n_counted=shared.diagonal(),
        n_urls=shared.diagonal(),
        start=start,
        end=end,
        n_shared=shared[start, end].astype(float),
        relative_error=np.zeros(start.size),
        weight=np.ones(start.size),
        zeros=np.empty((0, 2), dtype=int),
        n_missing=0,
        sample_rate=1.0,
    )
    whole = fit_two_way(pairs)
    fits = fit_strata(shared[None], pairs.years)
    # Counts are fitted here and logarithms there, which differ by the square of the noise.
    assert fits.level[0, 1:] == pytest.approx(whole.log_coverage[1:], abs=0.01)
    assert fits.slope[0] == pytest.approx(whole.log_persistence, abs=0.01)


def test_pairs_that_share_nothing_do_not_spoil_the_others(simulate):
    """Hardly any URL lives for two years, and yet neighbouring crawls share some forty."""
    rng = np.random.default_rng(8)
    archive = simulate(rng, [1200] * 200, [0.4] * 200, [0.05] * 200, 7)
    shared = archive.counts.n_shared
    assert np.mean(shared[:, *np.triu_indices(7, k=1)] == 0) > 0.2
    fits = fit_strata(shared, np.arange(7) * 183 / 365.25)
    assert fits.slope.mean() == pytest.approx(np.log(0.05), abs=0.05)
    assert np.nanmean(fits.level) == pytest.approx(np.log(0.4), abs=0.03)


def test_a_crawl_that_holds_nothing_of_a_stratum_has_no_coverage_and_disturbs_no_other(
    expected_shared,
):
    shared = expected_shared(np.full(6, 10**8), np.log(np.full(6, 0.4)), np.log(0.7), YEARS)
    shared[3], shared[:, 3] = 0, 0
    fits = fit_strata(shared[None], YEARS)
    assert np.flatnonzero(np.isnan(fits.level[0])).tolist() == [0, 3]
    assert np.nanmax(fits.level) == pytest.approx(np.log(0.4), abs=1e-6)


def test_two_crawls_have_no_persistence():
    fits = fit_strata(np.array([[[100, 40], [40, 100]]]), np.array([0.0, 1.0]))
    assert np.isnan(fits.slope[0])
    assert np.isnan(fits.level).all()


def test_crawls_of_one_date_tell_about_each_other():
    shared = np.array([[[1000, 400, 200], [400, 800, 200], [200, 200, 1000]]])
    level = fit_strata(shared, np.array([0.0, 0.0, 1.0])).level[0]
    whole = fit_strata(shared[:, :, [1, 0, 2]][:, [1, 0, 2]], np.array([0.0, 0.0, 1.0])).level[0]
    assert level == pytest.approx(whole[[1, 0, 2]], nan_ok=True)


# ------------------------------------------------------------------------------------------- errors


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


# ---------------------------------------------------------------------------------- partial pooling


def test_strata_that_differ_by_chance_only_are_all_moved_to_their_mean():
    rng = np.random.default_rng(2)
    pooled, errors = pool(0.1 * rng.standard_normal(500), np.full(500, 0.01))
    assert np.abs(pooled).max() < 0.05
    assert errors.max() < 0.001


def test_three_strata_are_not_pooled_and_a_fourth_is_at_their_mean():
    values = np.array([-1.0, -0.9, -1.1, np.nan])
    pooled, errors = pool(values, np.array([0.5, 0.5, 0.5, np.nan]))
    assert pooled.tolist() == pytest.approx([-1.0, -0.9, -1.1, -1.0])
    assert errors.tolist() == [0.5, 0.5, 0.5, np.inf]


def test_without_any_estimate_all_are_alike():
    pooled, errors = pool(np.full(3, np.nan), np.full(3, np.nan))
    assert pooled.tolist() == [0, 0, 0]
    assert np.isinf(errors).all()


def test_pooling_moves_uncertain_strata_to_the_mean_and_leaves_certain_ones():
    rng = np.random.default_rng(3)
    n = 400
    truth = -1 + 0.5 * rng.standard_normal(n)
    variances = np.where(np.arange(n) % 2, 1e-6, 1.0)
    values = truth + np.sqrt(variances) * rng.standard_normal(n)
    values[0] = np.nan
    pooled, errors = pool(values, variances)
    assert np.abs(pooled - values)[1::2].max() < 1e-4
    before, after = (np.mean((each[2::2] - truth[2::2]) ** 2) for each in (values, pooled))
    assert after < 0.35 * before
    assert after == pytest.approx(errors[2::2].mean(), rel=0.3)
    assert errors[0] == pytest.approx(0.25, rel=0.2)
