import math

import numpy as np
import pytest

from crawlgauge.model.checks import diagnose
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way
from crawlgauge.overlaps.table import MISSING

N = 12
DAYS = [183 * k for k in range(N)]
SIZES = [2_000_000] * N
COVERAGE = [0.3] * 4 + [0.5] * 4 + [0.4] * 4


@pytest.fixture
def series(make_urn):
    """Make a table of regimes: crawls across each change share less by a factor."""

    def make(changes, near=1.0):
        factors = {
            (i, j): math.prod(factor for first, factor in changes.items() if i < first <= j)
            * (near if j - i == 1 else 1)
            for j in range(N)
            for i in range(j)
        }
        return make_urn(DAYS, SIZES, COVERAGE, 0.73, factors)

    return make


def regimes_of(table):
    return [(regime.first, regime.last) for regime in diagnose(table).regimes]


def test_a_series_without_change_is_one_regime(series):
    assert regimes_of(series({})) == [(0, N - 1)]


def test_each_change_begins_a_regime(series):
    assert regimes_of(series({4: 0.7})) == [(0, 3), (4, 11)]
    assert regimes_of(series({4: 0.7, 8: 0.8})) == [(0, 3), (4, 7), (8, 11)]


def test_changes_are_found_beside_an_effect_of_short_lags(series):
    assert regimes_of(series({6: 0.7}, near=0.3)) == [(0, 5), (6, 11)]


def test_pairs_across_regimes_become_unknown_and_all_others_stay(series):
    table = series({4: 0.7})
    dropped = diagnose(table).table
    for i in range(N):
        for j in range(N):
            expected = MISSING if (i < 4) != (j < 4) else table.n_shared[i, j]
            assert dropped.n_shared[i, j] == expected
    assert dropped.crawls == table.crawls


def test_the_refit_within_regimes_undoes_the_change(series):
    table = series({4: 0.7, 8: 0.8})
    before, diagnosis = fit_two_way(pair_data(table)), diagnose(table)
    assert math.exp(before.log_persistence) < 0.65
    assert math.exp(diagnosis.fit.log_persistence) == pytest.approx(0.73, abs=1e-4)
    found = [
        np.exp(np.nanmean(diagnosis.fit.log_coverage[list(r.positions)])) for r in diagnosis.regimes
    ]
    assert found == pytest.approx([0.3, 0.5, 0.4], rel=1e-3)
