"""Drawing without replacement has the right distribution, for things and for cells."""

import numpy as np
import pytest
from scipy import stats

from crawlgauge.simulate.urn_sets import choose_among, choose_from_cells


@pytest.mark.parametrize(("n", "n_chosen"), [(0, 0), (1, 0), (1, 1), (7, 7), (50, 1), (1000, 999)])
def test_exactly_as_many_are_chosen_as_asked_for(n, n_chosen):
    for seed in range(30):
        chosen = choose_among(np.random.default_rng(seed), n, n_chosen)
        assert (chosen.size, chosen.sum()) == (n, n_chosen)


def test_every_combination_is_as_likely_as_any_other():
    """All 20 ways to choose 3 of 6, counted in 6,000 draws."""
    rng = np.random.default_rng(1)
    weights = 1 << np.arange(6)
    found = [int(choose_among(rng, 6, 3) @ weights) for _ in range(6000)]
    _, counts = np.unique(found, return_counts=True)
    assert counts.size == 20
    assert stats.chisquare(counts).pvalue > 0.001


def test_cells_follow_the_multivariate_hypergeometric_distribution():
    rng = np.random.default_rng(2)
    cells = np.array([[3, 0, 50], [7, 400, 40]])
    drawn = np.array([choose_from_cells(rng, cells, 120) for _ in range(6000)])
    assert set(drawn.sum(axis=(1, 2)).tolist()) == {120}
    law = stats.multivariate_hypergeom(cells.ravel(), 120)
    flat = drawn.reshape(6000, -1)
    se = np.sqrt(np.diag(law.cov()) / 6000)
    assert np.all(np.abs(flat.mean(axis=0) - law.mean()) <= 4 * se)
    assert np.cov(flat.T) == pytest.approx(law.cov(), abs=0.08 * law.cov().max())
    counts = np.bincount(flat[:, 0], minlength=4)
    expected = stats.hypergeom(500, 3, 120).pmf(range(4)) * 6000
    assert stats.chisquare(counts, expected).pvalue > 0.001


def test_all_or_nothing_can_be_chosen_from_cells():
    cells = np.array([5, 0, 3])
    assert choose_from_cells(np.random.default_rng(1), cells, 8).tolist() == [5, 0, 3]
    assert choose_from_cells(np.random.default_rng(1), cells, 0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("cells", [[4, 3_000_000_000], [3_000_000_000, 4], [2 * 10**9, 3 * 10**9]])
def test_beyond_a_thousand_million_moments_are_those_of_the_hypergeometric_law(cells):
    cells = np.array(cells)
    n_chosen = int(0.4 * cells.sum())
    rng = np.random.default_rng(3)
    drawn = np.array([choose_from_cells(rng, cells, n_chosen) for _ in range(2000)])
    assert set(drawn.sum(axis=1).tolist()) == {n_chosen}
    assert np.all((drawn >= 0) & (drawn <= cells))
    share = cells[0] / cells.sum()
    variance = n_chosen * share * (1 - share) * 0.6
    assert drawn[:, 0].mean() == pytest.approx(n_chosen * share, abs=4 * (variance / 2000) ** 0.5)
    assert drawn[:, 0].var() == pytest.approx(variance, rel=0.13)
