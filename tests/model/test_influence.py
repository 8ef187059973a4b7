import numpy as np
import pytest

from crawlgauge.model.intervals import weigh_pairs
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way

DAYS = [0, 150, 150, 400, 500, 900]
SIZES = [20_000, 30_000, 25_000, 40_000, 15_000, 30_000]


@pytest.fixture
def table(make_urn):
    rng = np.random.default_rng(8)
    factors = {(i, j): rng.uniform(0.7, 1.3) for j in range(6) for i in range(j)}
    factors |= {(1, 4): None, (0, 3): 0}
    return make_urn(DAYS, SIZES, [0.4] * 6, 0.73, factors=factors)


def add_up(table, influence):
    shared = np.where(table.n_shared > 0, np.log(np.maximum(table.n_shared, 1)), 0.0)
    sizes = np.log([crawl.n_counted for crawl in table.crawls])
    return np.sum(influence.shared * shared, axis=(1, 2)) - influence.starts @ sizes


def test_the_coefficients_add_up_to_the_fit(table):
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    wanted = np.diag([0.0, 1, 1, 1, 1, 1, 1])
    found = add_up(table, weigh_pairs(pairs, fit, wanted))
    assert found[1:6] == pytest.approx(fit.log_coverage[1:], abs=1e-10)
    assert found[6] == pytest.approx(fit.log_persistence, abs=1e-10)


def test_combinations_add_up_too(table):
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    wanted = np.array([[0, 1, -2, 0, 0.5, 0, 3]])
    expected = wanted[0, 1:6] @ fit.log_coverage[1:] + 3 * fit.log_persistence
    influence = weigh_pairs(pairs, fit, wanted)
    assert add_up(table, influence) == pytest.approx([expected], abs=1e-10)
    assert influence.shared[0][np.tril_indices(6)].tolist() == [0] * 21


def test_same_date_crawls_without_persistence_have_coefficients(make_table):
    table = make_table([0, 0, 0], [100, 200, 150], {(0, 1): 30, (0, 2): 20, (1, 2): 40})
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    found = add_up(table, weigh_pairs(pairs, fit, np.eye(3, 4)))
    assert found == pytest.approx(fit.log_coverage, abs=1e-12)
