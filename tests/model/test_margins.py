import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from crawlgauge.model.intervals import delete_each_crawl, find_margins, jackknife_variance
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way, refused_fit

DAYS = [183 * k for k in range(7)]
SIZES = [40_000] * 7
EVEN = [0.4] * 7


def margins_of(table):
    pairs = pair_data(table)
    return find_margins(pairs, fit_two_way(pairs))


def noise(seed, n=7, sd=0.1):
    rng = np.random.default_rng(seed)
    return {(i, j): math.exp(sd * rng.standard_normal()) for j in range(n) for i in range(j)}


def half_widths(margins):
    return np.array(
        [
            margins.typical.half_width,
            margins.persistence.half_width,
            margins.growth.half_width,
            margins.coverage[-1].half_width,
        ]
    )


def test_a_varying_coverage_gives_the_jackknife_interval_with_two_less_degrees_of_freedom(make_urn):
    """Sizes so large that sampling vanishes, and overlaps that fit but for the coverages."""
    coverage = [0.4, 0.3, 0.5, 0.45, 0.35, 0.3, 0.4]
    table = make_urn(DAYS, [10**15] * 7, coverage, 0.73)
    replicates = delete_each_crawl(pair_data(table))
    spread = jackknife_variance(replicates)[0][0]
    expected = stats.t.ppf(0.975, 5) * math.sqrt(spread)
    assert margins_of(table).typical.half_width == pytest.approx(expected, rel=1e-6)


def test_margins_shrink_with_the_sizes_down_to_the_lack_of_fit(make_urn):
    widths = [
        half_widths(margins_of(make_urn(DAYS, [size] * 7, EVEN, 0.73, factors=noise(3, sd=0.02))))
        for size in (2_000, 40_000, 10**9, 10**12)
    ]
    assert np.all(widths[0] > widths[1])
    assert np.all(widths[1] > widths[2])
    assert widths[2] == pytest.approx(widths[3], rel=1e-3)


def test_the_second_crawl_is_as_uncertain_as_the_single_pair_that_tells_of_it(make_urn):
    """Leaving out crawls cannot show the error of its one overlap, but other pairs do."""
    widths = [
        margins_of(make_urn(DAYS, [10**9] * 7, EVEN, 0.73, factors=noise(seed)))
        .coverage[1]
        .half_width
        for seed in range(40)
    ]
    assert np.median(widths) == pytest.approx(stats.t.ppf(0.975, 5) * 0.1, rel=0.25)


def test_four_crawls_give_intervals_but_for_the_second(make_urn):
    margins = margins_of(make_urn(DAYS[:4], SIZES[:4], EVEN[:4], 0.73, factors=noise(1, 4)))
    assert margins.coverage[1].half_width is None
    assert margins.coverage[1].reason == (
        "fewer than 3 crawls can be left out in turn: no interval is possible"
    )
    assert margins.coverage[2].half_width > 0
    assert np.all(half_widths(margins) > 0)


def test_three_crawls_know_only_the_error_of_sampling(make_urn):
    margins = margins_of(make_urn(DAYS[:3], SIZES[:3], EVEN[:3], 0.73))
    assert margins.typical.half_width is None
    assert margins.sampling_alone == pytest.approx(1.96 / math.sqrt(40_000), rel=2)
    smaller = margins_of(make_urn(DAYS[:3], [400] * 3, EVEN[:3], 0.73))
    assert smaller.sampling_alone / margins.sampling_alone == pytest.approx(10, rel=0.05)


def test_a_crawl_that_no_pair_tells_about_changes_nothing(make_urn):
    factors = noise(2)
    alone = {(i, j): None for i, j in factors if 3 in (i, j)}
    found = margins_of(make_urn(DAYS, SIZES, EVEN, 0.73, factors={**factors, **alone}))
    kept = [0, 1, 2, 4, 5, 6]
    smaller = {
        (kept.index(i), kept.index(j)): factor
        for (i, j), factor in factors.items()
        if 3 not in (i, j)
    }
    expected = margins_of(
        make_urn([DAYS[k] for k in kept], SIZES[:6], EVEN[:6], 0.73, factors=smaller)
    )
    # The urn still has a population at the date of the crawl that is not compared.
    assert half_widths(found) == pytest.approx(half_widths(expected), rel=1e-3)


def test_crawls_of_one_date_have_intervals_without_a_persistence(make_table):
    shared = {(0, 1): 40, (0, 2): 41, (1, 2): 39, (0, 3): 20, (1, 3): 21, (2, 3): 19}
    margins = margins_of(make_table([0, 0, 0, 300], [100] * 4, shared))
    assert all(0.1 < margins.coverage[k].half_width < 3 for k in range(3))
    assert margins.persistence.half_width is None
    assert margins.coverage[3].half_width is None


def test_overlaps_that_contradict_each_other_have_no_interval(make_table):
    shared = {(0, 1): 1, (0, 2): 10**6, (0, 3): 10, (1, 2): 10**5, (1, 3): 10**6, (2, 3): 2}
    margins = margins_of(make_table([0, 1, 2, 3], [10**6] * 4, shared))
    assert margins.persistence.half_width is None
    assert "would span everything" in margins.persistence.reason


def test_where_nothing_is_known_there_are_no_margins(make_table):
    table = make_table([0, 100, 200], [10, 10, 10], {})
    for fit in (fit_two_way(pair_data(table)), refused_fit(3, "because")):
        margins = find_margins(pair_data(table), fit)
        assert margins.typical.half_width is None
        assert margins.sampling_alone is None


def with_errors(table, relative):
    return replace(table, se_shared=relative * table.n_shared)


def test_standard_errors_of_overlaps_widen_the_intervals_by_their_variance(make_urn):
    """Exact overlaps: what the fit says of each pair's error is all there is."""
    plain = make_urn(DAYS, [10**15] * 7, EVEN, 0.73)
    relative = 0.02
    found = half_widths(margins_of(with_errors(plain, relative)))
    pairs = pair_data(plain)
    base = fit_two_way(pairs)
    squares = np.zeros(3)
    for row in range(pairs.end.size):
        moved = pairs.n_shared.copy()
        moved[row] *= math.exp(1e-6)
        fit = fit_two_way(replace(pairs, n_shared=moved))
        change = [
            fit.log_typical - base.log_typical,
            fit.log_persistence - base.log_persistence,
            fit.log_coverage[-1] - base.log_coverage[-1],
        ]
        squares += (np.array(change) / 1e-6 * relative) ** 2
    expected = stats.t.ppf(0.975, 5) * np.sqrt(squares)
    assert found[[0, 1, 3]] == pytest.approx(expected, rel=1e-3)


def test_an_overlap_with_a_large_error_hardly_counts(make_urn):
    wrong = make_urn(DAYS, [10**9] * 7, EVEN, 0.73, factors={(2, 5): 1.5})
    errors = np.full((7, 7), np.nan)
    errors[2, 5] = errors[5, 2] = 2 * wrong.n_shared[2, 5]
    doubted = replace(wrong, se_shared=errors)
    off, hardly_off = (
        abs(fit_two_way(pair_data(table)).log_coverage[5] - math.log(0.4))
        for table in (wrong, doubted)
    )
    assert off > 0.05
    assert hardly_off < 0.01


def sampled(make_urn, rate, sizes):
    return make_urn(
        DAYS,
        sizes,
        EVEN,
        0.73,
        factors={(i, j): rate for j in range(7) for i in range(j)},
        crawl_options={k: {"n_sampled": round(rate * 40_000)} for k in range(7)},
        sample_rate=rate,
    )


def test_a_sample_widens_the_intervals(make_urn):
    whole = half_widths(margins_of(make_urn(DAYS, SIZES, EVEN, 0.73)))
    tenth = half_widths(margins_of(sampled(make_urn, 0.1, SIZES)))
    assert np.all(tenth > 2 * whole)


def test_a_population_from_an_estimated_size_has_its_error_too(make_urn):
    estimated = margins_of(sampled(make_urn, 0.1, SIZES))
    known = margins_of(sampled(make_urn, 0.1, [40_123] * 7))
    assert known.population[-1].half_width == known.coverage[-1].half_width
    assert estimated.coverage[-1].half_width == pytest.approx(
        known.coverage[-1].half_width, rel=0.01
    )
    assert estimated.population[-1].half_width != pytest.approx(
        estimated.coverage[-1].half_width, rel=0.05
    )
