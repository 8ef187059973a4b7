"""Sets of URLs drawn from a living population: the model finds the truth it was not told."""

import numpy as np
import pytest
from scipy import optimize

from crawlgauge.model.coverage import estimate_coverage

STEP_DAYS = 183
ALPHA = 0.73
SURVIVAL = ALPHA ** (STEP_DAYS / 365.25)


def draw_crawls(rng, n_alive, sizes, weight=None):
    """Draw crawls from a population of constant size that is renewed between them."""
    alive, n_born = np.arange(n_alive), n_alive
    crawls = []
    for size in sizes:
        share = None if weight is None else weight(alive)
        crawls.append(rng.choice(alive, size=size, replace=False, p=share))
        kept = alive[rng.random(alive.size) < SURVIVAL]
        newborn = np.arange(n_born, n_born + n_alive - kept.size)
        alive, n_born = np.concatenate([kept, newborn]), n_born + newborn.size
    return crawls


def count_overlaps(crawls):
    return {
        (i, j): np.intersect1d(crawls[i], crawls[j]).size
        for j in range(len(crawls))
        for i in range(j)
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_even_capture_gives_coverage_persistence_and_population(make_table, seed):
    rng = np.random.default_rng(seed)
    sizes = [30_000, 46_000, 20_000, 50_000, 40_000, 60_000, 46_000]
    crawls = draw_crawls(rng, 100_000, sizes)
    days = [STEP_DAYS * k for k in range(len(sizes))]
    result = estimate_coverage(make_table(days, sizes, count_overlaps(crawls)))
    found = [crawl.coverage.value for crawl in result.per_crawl[1:]]
    assert found == pytest.approx([size / 100_000 for size in sizes[1:]], rel=0.03)
    assert result.persistence.value == pytest.approx(ALPHA, rel=0.02)
    assert result.population.value == pytest.approx(100_000, rel=0.03)
    assert abs(result.growth_per_year.value) < 0.02


def test_uneven_capture_inflates_coverage_by_its_squared_variation_and_residuals_are_blind(
    make_table,
):
    """URLs of even number are three times as likely: mean weight 2, squared variation 1/4."""
    rng = np.random.default_rng(4)
    n_alive, sizes = 400_000, [40_000] * 6

    def weight(alive):
        share = np.where(alive % 2 == 0, 3.0, 1.0)
        return share / share.sum()

    crawls = draw_crawls(rng, n_alive, sizes, weight)
    days = [STEP_DAYS * k for k in range(6)]
    result = estimate_coverage(make_table(days, sizes, count_overlaps(crawls)))

    def capture(rate):
        return np.array([-np.expm1(-3 * rate), -np.expm1(-rate)])

    # Drawing without replacement wears out the likely URLs: find the rate that yields a tenth.
    shares = capture(optimize.brentq(lambda rate: capture(rate).mean() - 0.1, 0.01, 1))
    assert result.headline.coverage.value == pytest.approx(np.mean(shares**2) / 0.1, rel=0.03)
    assert result.headline.coverage.value > 1.15 * 0.1
    assert max(abs(residual.log_r_two_way) for residual in result.residuals) < 0.1
