"""The ranges of the union hold what is true of simulated archives, in how many of them it says."""

import numpy as np
import pytest

from crawlgauge.model.estimating import estimate_coverage
from crawlgauge.model.union.holdings import count_holdings

pytestmark = pytest.mark.slow

N_ARCHIVES = 60
BY_PAIRS = {
    "urn": {},
    "growth": {"growth": 0.15},
    "varying sizes": {"coverage_noise": 0.25},
    "passing preferences for hosts": {"n_hosts": 50},
    "sample": {"population": 60_000, "sample_rate": 0.1},
}
BY_WINDOWS = {
    "urn": {},
    "readily captured core": {"classes": ((0.3, 8.0, 0.73), (0.7, 1.0, 0.73)), "coverage": 0.3},
    "long-lived core": {"classes": ((0.3, 5.0, 0.9), (0.7, 1.0, 0.5)), "coverage": 0.3},
    "continuous weights": {"weight_cv": 0.5},
    "avoidance": {"avoided": 0.9, "coverage": 0.25},
}


def are_held(union, truth):
    truths = (
        (union.coverage, truth.union[-1]),
        (union.n_alive, truth.n_alive),
        (union.dead_share, 1 - truth.n_alive / truth.n_distinct),
        (union.n_unseen, truth.n_unseen),
    )
    return [
        estimate.low <= value <= estimate.high if estimate.low is not None else np.nan
        for estimate, value in truths
    ]


@pytest.mark.parametrize("name", BY_PAIRS)
def test_intervals_from_pairs_hold_the_truth(make_archive, name):
    held = []
    for seed in range(N_ARCHIVES):
        table, truth = make_archive(5000 + seed, **BY_PAIRS[name])
        held.append(are_held(estimate_coverage(table).union, truth)[:3])
    least = 0.95 - 2 * np.sqrt(0.95 * 0.05 / N_ARCHIVES)
    assert np.mean(held, axis=0).min() >= least


def test_bands_from_histories_hold_the_truth_and_classes_bring_it_nearer(make_archive):
    """One test, as the archives take minutes and each worker would make its own."""
    archives = []
    for name, settings in BY_WINDOWS.items():
        for seed in range(6):
            table, truth = make_archive(6000 + seed, n_crawls=6 + seed % 3, **settings)
            archives.append((name, table, truth, estimate_coverage(table)))
    held = np.array([are_held(estimates.union, truth) for _, _, truth, estimates in archives])
    assert np.nanmean(held, axis=0).min() >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / len(held))
    # Nearer than if capture were taken for even.
    errors = {name: [] for name in BY_WINDOWS}
    for name, table, truth, estimates in archives:
        coverage = estimates.newest.coverage.value
        known = count_holdings(table).known_share[-1]
        even = coverage + (1 - coverage) * known
        errors[name].append(np.abs([estimates.union.coverage.value, even] - truth.union[-1]))
    by_classes, if_even = np.array([np.mean(errors[name], axis=0) for name in BY_WINDOWS]).T
    assert by_classes[0] == pytest.approx(if_even[0], abs=0.005)
    assert np.all(by_classes[1:] < 0.75 * if_even[1:])
    assert by_classes.mean() < 0.4 * if_even.mean()
