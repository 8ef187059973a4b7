"""Levels of coverage that can be compared, whatever the lags do to the overlaps."""

import numpy as np
import pytest

from crawlgauge.model.expectation import compare_levels
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way

COVERAGE = [0.3, 0.4, 0.35, 0.45, 0.3, 0.38, 0.33, 0.2]
SIZES = [80_000_000 * c for c in COVERAGE]
DAYS = [0, 170, 380, 540, 730, 900, 1100, 1270]


def differences(levels):
    """Levels are known up to a constant: what counts is how they differ."""
    return levels[1:] - levels[1]


TRUTH = np.log(COVERAGE[1:]) - np.log(COVERAGE[1])


def test_levels_of_an_urn_differ_as_its_coverages_do(make_urn):
    levels = compare_levels(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73)))
    assert np.isnan(levels[0])
    assert differences(levels) == pytest.approx(TRUTH, abs=1e-6)


@pytest.mark.parametrize("factor", [0.1, 0.6, 1.3])
def test_what_short_lags_do_to_overlaps_does_not_change_how_levels_differ(make_urn, factor):
    """The crawler passes over, or returns to, what it captured in the last two crawls."""
    pairs = [(i, j) for j in range(8) for i in range(j)]
    factors = {pair: factor for pair in pairs if pair[1] - pair[0] == 1}
    factors |= {pair: factor**0.5 for pair in pairs if pair[1] - pair[0] == 2}
    data = pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors))
    assert differences(compare_levels(data)) == pytest.approx(TRUTH, abs=1e-6)
    assert np.abs(differences(fit_two_way(data).log_coverage) - TRUTH).max() > 0.05


def test_uneven_capture_raises_all_levels_alike(make_urn):
    factors = {(i, j): 1.8 for j in range(8) for i in range(j)}
    levels = compare_levels(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors)))
    assert differences(levels) == pytest.approx(TRUTH, abs=1e-6)


def test_mixed_lifetimes_change_how_levels_differ_little(make_table):
    def survival(years):
        return (0.9**years + 0.45**years) / 2

    overlaps = {
        (i, j): round(SIZES[i] * COVERAGE[j] * survival((DAYS[j] - DAYS[i]) / 365.25))
        for j in range(8)
        for i in range(j)
    }
    data = pair_data(make_table(DAYS, SIZES, overlaps))
    assert differences(compare_levels(data)) == pytest.approx(TRUTH, abs=0.015)
    assert np.abs(differences(fit_two_way(data).log_coverage) - TRUTH).max() > 0.03


def test_missing_and_empty_pairs_are_done_without(make_urn):
    factors = {(0, 7): None, (2, 3): None, (4, 6): 0}
    levels = compare_levels(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors)))
    assert differences(levels) == pytest.approx(TRUTH, abs=1e-6)


def test_where_neighbours_share_nothing_the_others_tell(make_urn):
    factors = {(j - 1, j): 0 for j in range(1, 8)}
    levels = compare_levels(pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors)))
    assert np.isnan(levels[:2]).all()
    assert levels[2:] - levels[2] == pytest.approx(TRUTH[1:] - TRUTH[1], abs=1e-6)


def test_too_few_pairs_tell_nothing(make_urn):
    two = pair_data(make_urn(DAYS[:2], SIZES[:2], COVERAGE[:2], 0.73))
    assert np.isnan(compare_levels(two)).all()
    nothing = make_urn(
        DAYS[:4], SIZES[:4], COVERAGE[:4], 0.73, {(i, j): None for j in range(4) for i in range(j)}
    )
    assert np.isnan(compare_levels(pair_data(nothing))).all()


def test_three_crawls_are_told_apart_without_effects_of_short_lags(make_urn):
    three = pair_data(make_urn(DAYS[:3], SIZES[:3], COVERAGE[:3], 0.73))
    levels = compare_levels(three)
    assert levels[2] - levels[1] == pytest.approx(np.log(0.35 / 0.4), abs=1e-6)
