import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from crawlgauge.model.intervals import (
    delete_each_crawl,
    find_components,
    find_margins,
    jackknife_variance,
    log_growth,
    pooled_variance,
    urn_moments,
    urn_state,
    weigh_pairs,
)
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way, refused_fit
from crawlgauge.overlaps.table import OverlapTable

# ------------------------------------------------------------------------------------------ margins


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


# ------------------------------------------------------------------------ how much each pair counts


DAYS_INFLUENCE = [0, 150, 150, 400, 500, 900]
SIZES_INFLUENCE = [20_000, 30_000, 25_000, 40_000, 15_000, 30_000]


@pytest.fixture
def table(make_urn):
    rng = np.random.default_rng(8)
    factors = {(i, j): rng.uniform(0.7, 1.3) for j in range(6) for i in range(j)}
    factors |= {(1, 4): None, (0, 3): 0}
    return make_urn(DAYS_INFLUENCE, SIZES_INFLUENCE, [0.4] * 6, 0.73, factors=factors)


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


# ------------------------------------------------------------------------------ lack of fit, pooled


DAYS_COMPONENTS = [183 * k for k in range(9)]


def noisy_table(make_urn, seed, start_sd, pair_sd, size=10**9, days=DAYS_COMPONENTS):
    rng = np.random.default_rng(seed)
    n = len(days)
    starts = start_sd * rng.standard_normal(n)
    factors = {
        (i, j): np.exp(starts[i] + pair_sd * rng.standard_normal())
        for j in range(n)
        for i in range(j)
    }
    return make_urn(days, [size] * n, [0.4] * n, 0.73, factors=factors)


def explained(design, logs, root):
    fitted, *_ = np.linalg.lstsq(design * root[:, None], logs * root, rcond=None)
    return np.sum((root * (logs - design @ fitted)) ** 2)


@pytest.mark.parametrize("size", [10**9, 3000])
def test_components_follow_from_dense_fits_with_and_without_starts(make_urn, size):
    pairs = pair_data(noisy_table(make_urn, 1, 0.1, 0.05, size))
    fit = fit_two_way(pairs)
    weight = pairs.fit_weights(fit.tau_squared)
    root, logs = np.sqrt(weight), pairs.log_forward
    columns = pairs.end[:, None] == np.unique(pairs.end)
    without = np.column_stack([columns, pairs.lag_years]).astype(float)
    starts = (pairs.start[:, None] == np.arange(9)).astype(float)
    with_starts = np.column_stack([without, starts])
    rank = np.linalg.matrix_rank(with_starts) - without.shape[1]
    left_over = explained(with_starts, logs, root)
    of_pair = left_over / (logs.size - np.linalg.matrix_rank(with_starts))
    weighted = starts * root[:, None]
    basis = np.linalg.qr(without * root[:, None])[0]
    trace = np.sum((weighted - basis @ (basis.T @ weighted)) ** 2)
    of_start = (explained(without, logs, root) - left_over - rank * of_pair) / trace
    expected = (max(of_start, 0), of_pair)
    assert find_components(pairs, fit) == pytest.approx(expected, rel=1e-8)


def test_on_average_they_are_the_variances_that_made_the_noise(make_urn):
    found = []
    for seed in range(300):
        pairs = pair_data(noisy_table(make_urn, seed, 0.1, 0.05))
        fit = fit_two_way(pairs)
        of_start, of_pair = find_components(pairs, fit)
        found.append([of_start, of_pair * fit.tau_squared])
    of_start, of_pair = np.mean(found, axis=0)
    assert of_start == pytest.approx(0.1**2, rel=0.12)
    assert of_pair == pytest.approx(0.05**2, rel=0.12)


def test_the_variance_is_that_of_estimates_under_such_noise(make_urn):
    wanted = np.zeros((3, 10))
    wanted[0, 1] = wanted[1, 8] = wanted[2, 9] = 1
    estimates, variances = [], []
    for seed in range(600):
        pairs = pair_data(noisy_table(make_urn, seed, 0.1, 0.05))
        fit = fit_two_way(pairs)
        estimates.append([*fit.log_coverage[[1, 8]], fit.log_persistence])
        influence = weigh_pairs(pairs, fit, wanted)
        variances.append(pooled_variance(pairs, fit, influence))
    ratio = np.mean(variances, axis=0) / np.var(estimates, axis=0)
    assert ratio == pytest.approx(np.ones(3), abs=0.2)


def test_exact_overlaps_have_no_components(make_urn):
    pairs = pair_data(make_urn(DAYS_COMPONENTS, [10**15] * 9, [0.4] * 9, 0.73))
    of_start, of_pair = find_components(pairs, fit_two_way(pairs))
    assert of_start == pytest.approx(0, abs=1e-15)
    assert of_pair == pytest.approx(0, abs=1e-12)


def test_without_freedom_beside_the_starts_all_is_laid_to_the_pairs(make_urn):
    gaps = {(0, 2): None, (0, 4): None, (1, 3): None, (1, 4): None}
    table = make_urn(
        DAYS_COMPONENTS[:5], [10**6] * 5, [0.4] * 5, 0.73, factors={**gaps, (0, 3): 1.1}
    )
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    of_start, of_pair = find_components(pairs, fit)
    assert fit.n_freedom == 1
    assert of_start == pytest.approx(0, abs=1e-12)
    assert of_pair > 0.9


# ----------------------------------------------------------------------------- drawing from the urn


DAYS_URN = [0, 150, 400, 500, 900, 1300]
SIZES_URN = [25_000, 30_000, 20_000, 40_000, 30_000, 50_000]
COVERAGE = [0.5, 0.46, 0.3, 0.5, 0.4, 0.6]
ALPHA = 0.73
NAMES = ("mean", "newest", "second", "slope")
N_VARIANCES = 50
# A variance of 800 draws has a standard error of 5 per cent.
ONE = pytest.approx(dict.fromkeys(NAMES, 1), abs=0.15)


def wanted(n):
    combinations = np.zeros((4, n + 1))
    combinations[0, 1:n] = 1 / (n - 1)
    combinations[1, n - 1] = combinations[2, 1] = combinations[3, n] = 1
    return combinations


def prepare(table):
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    return pairs, fit, weigh_pairs(pairs, fit, wanted(pairs.n_crawls))


def dense_covariance(years, population, coverage, alpha):
    """Covariance of all log overlaps by the book: every set of crawls, then the Schur complement.

    The population of a date counts as a crawl that holds everything.
    """
    n = len(years)
    sets = [frozenset(pair) for pair in itertools.combinations(range(n), 2)]
    first_of_date = sorted(years.index(year) for year in set(years))
    crawls = [frozenset([k]) for k in range(n)]
    everything = [frozenset([f"all{k}"]) for k in first_of_date]
    objects = [*sets, *crawls, *everything]

    def expected(members):
        places = {k if isinstance(k, int) else int(k[3:]) for k in members}
        captured = [coverage[k] for k in members if isinstance(k, int)]
        first, last = min(places), max(places)
        return population[first] * np.prod(captured) * alpha ** (years[last] - years[first])

    covariance = np.array([[expected(a | b) for b in objects] for a in objects])
    m = len(sets)
    inner, cross, outer = covariance[:m, :m], covariance[:m, m:], covariance[m:, m:]
    conditional = inner - cross @ np.linalg.solve(outer, cross.T)
    mean = np.array([expected(members) for members in sets])
    return [tuple(sorted(s)) for s in sets], conditional / np.outer(mean, mean)


def quadratic_form(influence, sets, covariance):
    coefficients = np.array([influence.shared[:, i, j] for i, j in sets]).T
    return np.einsum("fp,pq,fq->f", coefficients, covariance, coefficients)


@pytest.mark.parametrize(
    ("days", "factors"),
    [
        (DAYS_URN, {}),
        (DAYS_URN, {(0, 3): None, (2, 4): 0}),
        ([0, 150, 400, 400, 900, 1300], {}),
    ],
    ids=["irregular dates", "pairs left out", "two crawls of one date"],
)
def test_it_equals_the_quadratic_form_of_the_whole_covariance(make_urn, days, factors):
    population = np.array([50_000, 60_000, 70_000, 70_000, 75_000, 80_000])
    sizes = np.rint(population * COVERAGE).astype(int).tolist()
    _, fit, influence = prepared = prepare(make_urn(days, sizes, COVERAGE, ALPHA, factors=factors))
    state = urn_state(prepared[0], fit)
    years = [day / 365.25 for day in days]
    exact = dense_covariance(
        years, np.diagonal(state.alive), state.coverage, np.exp(fit.log_persistence)
    )
    found = urn_moments(state, influence).urn_variance()
    assert found == pytest.approx(quadratic_form(influence, *exact), rel=1e-8)
    assert np.diagonal(state.alive)[1:] == pytest.approx(population[1:], rel=2e-3)


def draw_overlaps(rng, population, coverage, survival, n_crawls):
    """Draw crawls of fixed size from a population of fixed size, as one table of captures."""
    alive, n_born = np.arange(population), population
    captured = np.zeros((n_crawls, 4 * population), dtype=np.float32)
    for crawl in range(n_crawls):
        if crawl:
            kept = alive[rng.random(population) < survival]
            alive = np.concatenate([kept, np.arange(n_born, n_born + population - kept.size)])
            n_born += population - kept.size
        drawn = rng.choice(alive, size=round(coverage * population), replace=False)
        captured[crawl, drawn] = 1
    return np.rint(captured @ captured.T).astype(int)


def test_it_is_the_variance_of_the_estimates_over_drawn_sets(make_table):
    rng = np.random.default_rng(11)
    n_draws, n_crawls, population = 800, 5, 4000
    days = [183 * k for k in range(n_crawls)]
    estimates, variances = [], []
    for draw in range(n_draws):
        shared = draw_overlaps(rng, population, 0.46, ALPHA ** (183 / 365.25), n_crawls)
        overlaps = {(i, j): shared[i, j] for j in range(n_crawls) for i in range(j)}
        pairs, fit, influence = prepare(make_table(days, np.diag(shared), overlaps))
        estimates.append([fit.log_typical, *fit.log_coverage[[-1, 1]], fit.log_persistence])
        if draw < N_VARIANCES:
            variances.append(urn_moments(urn_state(pairs, fit), influence).urn_variance())
    ratio = np.mean(variances, axis=0) / np.var(estimates, axis=0)
    assert dict(zip(NAMES, ratio, strict=True)) == ONE


@pytest.mark.parametrize("sample_rate", [0.5, 0.1])
def test_sampling_the_same_crawls_varies_as_it_says(make_table, sample_rate):
    rng = np.random.default_rng(12)
    n_crawls, population, n_draws = 5, 10_000, 800
    alive, n_born = np.arange(population), population
    held = np.zeros((n_crawls, 3 * population), dtype=np.float32)
    for crawl in range(n_crawls):
        kept = alive[rng.random(population) < 0.85]
        alive = np.concatenate([kept, np.arange(n_born, n_born + population - kept.size)])
        n_born += population - kept.size
        held[crawl, rng.choice(alive, size=4600, replace=False)] = 1
    days = [183 * k for k in range(n_crawls)]
    estimates, variances = [], []
    for draw in range(n_draws):
        part = held[:, rng.random(held.shape[1]) < sample_rate]
        shared = np.rint(part @ part.T).astype(int)
        table = make_table(
            days,
            [round(size / sample_rate) for size in np.diag(shared)],
            {(i, j): shared[i, j] for j in range(n_crawls) for i in range(j)},
            crawl_options={k: {"n_sampled": int(shared[k, k])} for k in range(n_crawls)},
            sample_rate=sample_rate,
        )
        pairs, fit, influence = prepare(table)
        estimates.append([fit.log_typical, *fit.log_coverage[[-1, 1]], fit.log_persistence])
        if draw < N_VARIANCES:
            moments = urn_moments(urn_state(pairs, fit), influence)
            variances.append(moments.sample_variance(-influence.starts, sample_rate))
    ratio = np.mean(variances, axis=0) / np.var(estimates, axis=0)
    assert dict(zip(NAMES, ratio, strict=True)) == ONE


def test_a_population_is_never_below_the_survivors_of_the_one_before(make_urn):
    coverage = [0.3, 0.3, 0.9, 0.3, 0.9, 0.3]
    pairs, fit, influence = prepare(make_urn(DAYS_URN, [10**6] * 6, coverage, 0.9))
    state = urn_state(pairs, fit)
    population = np.diagonal(state.alive)
    survivors = [state.alive[k, k + 1] for k in range(5)]
    assert np.all(population[1:] >= np.array(survivors) * (1 - 1e-12))
    assert np.all(urn_moments(state, influence).urn_variance() > 0)


def test_impossible_estimates_still_have_a_variance(make_urn):
    days = [0, 183, 366, 549, 1600]
    above_one = make_urn(days, [10**6] * 5, [0.4, 0.4, 0.4, 0.4, 1.3], 0.73)
    for table in (above_one, make_urn(DAYS_URN, [10**6] * 6, [0.2] * 6, 1.1)):
        pairs, fit, influence = prepare(table)
        variance = urn_moments(urn_state(pairs, fit), influence).urn_variance()
        assert np.all(np.isfinite(variance))
        assert np.all(variance > 0)


def test_larger_crawls_have_smaller_variance_in_proportion(make_urn):
    _, _, small = small_parts = prepare(make_urn(DAYS_URN, SIZES_URN, COVERAGE, ALPHA))
    large_parts = prepare(make_urn(DAYS_URN, [1000 * size for size in SIZES_URN], COVERAGE, ALPHA))
    of_small = urn_moments(urn_state(*small_parts[:2]), small).urn_variance()
    of_large = urn_moments(urn_state(*large_parts[:2]), large_parts[2]).urn_variance()
    assert of_small / of_large == pytest.approx(np.full(4, 1000), rel=0.02)


# ------------------------------------------------------------------------------- leaving out crawls


DAYS_JACKKNIFE = [0, 150, 150, 400, 500, 900, 1300]
SIZES_JACKKNIFE = [20_000, 30_000, 25_000, 40_000, 15_000, 30_000, 25_000]


@pytest.fixture
def noisy(make_urn):
    """Seven crawls, two of one date, one pair missing and one that shares nothing."""
    rng = np.random.default_rng(8)
    factors = {(i, j): rng.uniform(0.7, 1.3) for j in range(7) for i in range(j)}
    factors |= {(1, 4): None, (0, 3): 0}
    return make_urn(DAYS_JACKKNIFE, SIZES_JACKKNIFE, [0.4] * 7, 0.73, factors=factors)


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
    pairs = pair_data(make_urn(DAYS_JACKKNIFE, SIZES_JACKKNIFE, [0.4] * 7, 0.73, factors=alone))
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
