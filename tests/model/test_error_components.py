import numpy as np
import pytest

from crawlgauge.model.intervals import find_components, pooled_variance, weigh_pairs
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.two_way import fit_two_way

DAYS = [183 * k for k in range(9)]


def noisy_table(make_urn, seed, start_sd, pair_sd, size=10**9, days=DAYS):
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
    pairs = pair_data(make_urn(DAYS, [10**15] * 9, [0.4] * 9, 0.73))
    of_start, of_pair = find_components(pairs, fit_two_way(pairs))
    assert of_start == pytest.approx(0, abs=1e-15)
    assert of_pair == pytest.approx(0, abs=1e-12)


def test_without_freedom_beside_the_starts_all_is_laid_to_the_pairs(make_urn):
    gaps = {(0, 2): None, (0, 4): None, (1, 3): None, (1, 4): None}
    table = make_urn(DAYS[:5], [10**6] * 5, [0.4] * 5, 0.73, factors={**gaps, (0, 3): 1.1})
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    of_start, of_pair = find_components(pairs, fit)
    assert fit.n_freedom == 1
    assert of_start == pytest.approx(0, abs=1e-12)
    assert of_pair > 0.9
