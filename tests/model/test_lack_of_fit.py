import numpy as np
import pytest

from crawlgauge.model.checks import add_term, best_term, check_lack_of_fit, up_to
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way

DAYS = [183 * k for k in range(8)]
COVERAGE = [0.3, 0.5, 0.4, 0.6, 0.45, 0.5, 0.35, 0.55]
SIZES = [10_000_000] * 8
PAIRS = [(i, j) for j in range(8) for i in range(j)]


@pytest.fixture
def scattered(make_urn):
    """Make an urn whose overlaps are multiplied by random factors of a given spread."""

    def make(spread, sizes=SIZES, seed=1, **others):
        rng = np.random.default_rng(seed)
        factors = dict(zip(PAIRS, np.exp(spread * rng.standard_normal(len(PAIRS))), strict=True))
        return make_urn(DAYS, sizes, [c / 2 for c in COVERAGE], 0.73, factors, **others)

    return make


def check(table):
    pairs = pair_data(table)
    return check_lack_of_fit(pairs, fit_two_way(pairs))


def design(pairs, *terms):
    columns = (pairs.end[:, None] == np.unique(pairs.end)).astype(float)
    return np.column_stack([columns, pairs.lag_years, *terms])


def weighted_squares(matrix, response, weight):
    root = np.sqrt(weight)
    solution = np.linalg.lstsq(matrix * root[:, None], response * root, rcond=None)[0]
    return solution, float(weight @ (response - matrix @ solution) ** 2)


def test_an_exact_urn_leaves_nothing(make_urn):
    result = check(make_urn(DAYS, SIZES, COVERAGE, 0.73))
    assert (result.id, result.status, result.effect) == ("lack-of-fit", "ok", 0)
    assert "no more than counting explains" in result.message


def test_the_effect_is_the_spread_of_the_residuals_beyond_counting(scattered):
    pairs = pair_data(scattered(0.08))
    fit = fit_two_way(pairs)
    weight = pairs.weight / (fit.tau_squared + 1 / pairs.n_shared)
    matrix = design(pairs)
    solution, _ = weighted_squares(matrix, pairs.log_forward, weight)
    squares = np.sum((pairs.log_forward - matrix @ solution) ** 2)
    expected = np.sqrt(squares / (28 - 8) - np.mean(1 / pairs.n_shared))
    assert check_lack_of_fit(pairs, fit).effect == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("spread", "status", "words"),
    [
        (0.01, "ok", "a good fit"),
        (0.03, "ok", "a fair fit"),
        (0.09, "warn", "leave out a crawl that stands apart (--exclude)"),
        (0.40, "fail", "do not use its coverage"),
    ],
)
def test_the_grade_follows_the_scatter_and_says_what_to_do(scattered, spread, status, words):
    result = check(scattered(spread))
    assert result.status == status
    assert words in result.message


def test_noise_of_counting_is_no_lack_of_fit(make_table):
    """Overlaps of about 20 URLs scatter by a fifth, and that is all by chance."""
    rng = np.random.default_rng(3)
    statuses = []
    for _ in range(40):
        overlaps = {(i, j): 1 + rng.poisson(25 * 0.85 ** (j - i)) for i, j in PAIRS}
        statuses.append(check(make_table(DAYS, [200] * 8, overlaps)).status)
    assert statuses.count("ok") >= 38


def test_errors_that_the_overlaps_come_with_are_no_lack_of_fit(scattered):
    exact = scattered(0.1)
    errors = 0.1 * exact.n_shared.astype(float)
    assert check(exact).status == "warn"
    assert check(scattered(0.1, se_shared=errors)).effect < 0.05


def test_three_crawls_leave_nothing_to_test(make_urn):
    result = check(make_urn(DAYS[:3], SIZES[:3], COVERAGE[:3], 0.73))
    assert (result.status, result.effect) == ("na", None)
    assert result.message.startswith("Not testable")


def test_an_added_term_is_that_of_the_whole_regression(scattered):
    pairs = pair_data(scattered(0.05))
    fit = fit_two_way(pairs)
    weight = pairs.weight / (fit.tau_squared + 1 / pairs.n_shared)
    near = (pairs.end - pairs.start <= 2).astype(float)

    def coefficient(kept):
        matrix = design(pairs, near)[kept]
        return weighted_squares(matrix, pairs.log_forward[kept], weight[kept])

    (*_, value), squares = coefficient(np.ones(28, dtype=bool))
    _, before = weighted_squares(design(pairs), pairs.log_forward, weight)
    without = np.array(
        [coefficient((pairs.start != k) & (pairs.end != k))[0][-1] for k in range(8)]
    )
    error = np.sqrt(7 / 8 * np.sum((without - without.mean()) ** 2))
    term = add_term(pairs, fit, up_to(pairs, 2))
    assert term.coefficient == pytest.approx(value, rel=1e-9)
    assert term.t_value == pytest.approx(value / error, rel=1e-9)
    assert term.unexplained == pytest.approx(squares / before, rel=1e-9)


def test_a_term_beside_another_has_the_coefficient_of_the_joint_regression(scattered):
    pairs = pair_data(scattered(0.05))
    fit = fit_two_way(pairs)
    weight = pairs.weight / (fit.tau_squared + 1 / pairs.n_shared)
    terms = [(pairs.end - pairs.start <= n).astype(float) for n in (1, 3)]
    solution, _ = weighted_squares(design(pairs, *terms), pairs.log_forward, weight)
    added = add_term(pairs, fit, up_to(pairs, 3), up_to(pairs, 1))
    assert added.coefficient == pytest.approx(solution[-1])


def test_a_term_that_the_model_holds_already_is_not_identifiable(scattered):
    pairs = pair_data(scattered(0.05))
    fit = fit_two_way(pairs)
    assert add_term(pairs, fit, 3 * pairs.lag_years + pairs.end) is None
    assert best_term(pairs, fit, {1: pairs.lag_years}) is None


def test_the_best_term_is_the_one_that_is_there(make_urn):
    factors = {(i, j): 0.8 for i, j in PAIRS if j - i <= 2}
    pairs = pair_data(make_urn(DAYS, SIZES, COVERAGE, 0.73, factors))
    terms = {lag: up_to(pairs, lag) for lag in (1, 2, 3)}
    assert best_term(pairs, fit_two_way(pairs), terms) == 2
