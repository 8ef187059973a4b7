import itertools

import numpy as np
import pytest

from crawlgauge.model.intervals import urn_moments, urn_state, weigh_pairs
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way

DAYS = [0, 150, 400, 500, 900, 1300]
SIZES = [25_000, 30_000, 20_000, 40_000, 30_000, 50_000]
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
        (DAYS, {}),
        (DAYS, {(0, 3): None, (2, 4): 0}),
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
    pairs, fit, influence = prepare(make_urn(DAYS, [10**6] * 6, coverage, 0.9))
    state = urn_state(pairs, fit)
    population = np.diagonal(state.alive)
    survivors = [state.alive[k, k + 1] for k in range(5)]
    assert np.all(population[1:] >= np.array(survivors) * (1 - 1e-12))
    assert np.all(urn_moments(state, influence).urn_variance() > 0)


def test_impossible_estimates_still_have_a_variance(make_urn):
    days = [0, 183, 366, 549, 1600]
    above_one = make_urn(days, [10**6] * 5, [0.4, 0.4, 0.4, 0.4, 1.3], 0.73)
    for table in (above_one, make_urn(DAYS, [10**6] * 6, [0.2] * 6, 1.1)):
        pairs, fit, influence = prepare(table)
        variance = urn_moments(urn_state(pairs, fit), influence).urn_variance()
        assert np.all(np.isfinite(variance))
        assert np.all(variance > 0)


def test_larger_crawls_have_smaller_variance_in_proportion(make_urn):
    _, _, small = small_parts = prepare(make_urn(DAYS, SIZES, COVERAGE, ALPHA))
    large_parts = prepare(make_urn(DAYS, [1000 * size for size in SIZES], COVERAGE, ALPHA))
    of_small = urn_moments(urn_state(*small_parts[:2]), small).urn_variance()
    of_large = urn_moments(urn_state(*large_parts[:2]), large_parts[2]).urn_variance()
    assert of_small / of_large == pytest.approx(np.full(4, 1000), rel=0.02)
