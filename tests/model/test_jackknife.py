import numpy as np
import pytest

from crawlgauge.model.growth import log_growth
from crawlgauge.model.intervals import delete_each_crawl, jackknife_variance
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way
from crawlgauge.overlaps.table import OverlapTable

DAYS = [0, 150, 150, 400, 500, 900, 1300]
SIZES = [20_000, 30_000, 25_000, 40_000, 15_000, 30_000, 25_000]


@pytest.fixture
def noisy(make_urn):
    """Seven crawls, two of one date, one pair missing and one that shares nothing."""
    rng = np.random.default_rng(8)
    factors = {(i, j): rng.uniform(0.7, 1.3) for j in range(7) for i in range(j)}
    factors |= {(1, 4): None, (0, 3): 0}
    return make_urn(DAYS, SIZES, [0.4] * 7, 0.73, factors=factors)


def refit_without(table, deleted):
    kept = [k for k in range(table.n_crawls) if k != deleted]
    smaller = OverlapTable(
        crawls=tuple(table.crawls[k] for k in kept), n_shared=table.n_shared[np.ix_(kept, kept)]
    )
    pairs = pair_data(smaller)
    return kept, pairs, fit_two_way(pairs)


def test_each_replicate_is_a_fit_without_the_crawl(noisy):
    replicates = delete_each_crawl(pair_data(noisy))
    assert len(replicates) == 7
    for deleted in range(7):
        kept, pairs, fit = refit_without(noisy, deleted)
        expected = np.full(7, np.nan)
        expected[kept] = fit.log_coverage
        assert replicates[deleted, 3:] == pytest.approx(expected, nan_ok=True, abs=1e-10)
        assert replicates[deleted, 1] == pytest.approx(fit.log_persistence, abs=1e-10)
        assert replicates[deleted, 0] == pytest.approx(fit.log_typical, abs=1e-10)
        growth = log_growth(pairs.years, np.log(pairs.n_urls) - fit.log_coverage)
        assert replicates[deleted, 2] == pytest.approx(growth, abs=1e-10)


def test_a_crawl_that_no_pair_tells_about_is_not_deleted(make_urn):
    alone = {(i, 5): None for i in range(5)} | {(5, 6): None}
    pairs = pair_data(make_urn(DAYS, SIZES, [0.4] * 7, 0.73, factors=alone))
    assert len(delete_each_crawl(pairs)) == 6


def test_a_replicate_without_two_lags_has_neither_persistence_nor_coverage(make_urn):
    """Without the third crawl, no crawl is compared with crawls of two dates."""
    chain = {(0, 3): None, (1, 3): None}
    table = make_urn([0, 100, 300, 400], [10**6] * 4, [0.4] * 4, 0.7, factors=chain)
    replicates = delete_each_crawl(pair_data(table))
    assert np.isnan(replicates[:, 1]).tolist() == [True, True, True, False]
    assert np.isnan(replicates[2, 0])
    assert np.isnan(replicates[2, 2])


def test_the_variance_is_that_of_the_usable_replicates():
    values = np.array([[1.0, np.nan], [2.0, 5.0], [4.0, np.nan]])
    variance, n_replicates = jackknife_variance(values)
    assert n_replicates.tolist() == [3, 1]
    assert variance == pytest.approx([2 / 3 * np.var(values[:, 0]) * 3, 0.0])


def test_of_a_mean_it_is_the_usual_variance_of_a_mean():
    sample = np.random.default_rng(2).normal(size=12)
    means = np.array([np.delete(sample, k).mean() for k in range(12)])
    expected = sample.var(ddof=1) / 12
    assert jackknife_variance(means[:, None])[0] == pytest.approx(expected)
