"""Counts of samples hold the truth as often as they say; parts show the error that there is."""

from dataclasses import replace

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.sensitivity import divide_histories
from crawlgauge.model.turnover import follow_crawls
from crawlgauge.overlaps.histories import Histories

pytestmark = pytest.mark.slow

COUNTS = ("new", "recovered", "forgotten", "lost", "missed", "missed_at_least")


def draw_archive(seed):
    rng = np.random.default_rng(seed)
    return cg.simulate_table(
        n_crawls=int(rng.integers(3, 9)),
        population=int(rng.integers(500, 50_000)),
        coverage=float(rng.uniform(0.1, 0.8)),
        persistence=float(rng.uniform(0.3, 0.95)),
        seed=seed,
    )


def take_sample(table, rate, seed):
    counts = np.random.default_rng(seed).binomial(table.histories.counts, rate)
    return Histories(
        n_crawls=table.n_crawls,
        masks=table.histories.masks[counts > 0],
        counts=counts[counts > 0],
        sample_rate=rate,
    )


def sample_whole(table, histories):
    """A table as a sampled store has it: nothing is known but the sample."""
    n_shared = histories.count_pairs()
    sizes = n_shared.diagonal()
    if np.any(sizes == 0):
        return None
    crawls = tuple(
        replace(crawl, n_urls=max(round(n / histories.sample_rate), n), n_sampled=int(n))
        for crawl, n in zip(table.crawls, sizes.tolist(), strict=True)
    )
    return replace(
        table,
        crawls=crawls,
        n_shared=n_shared,
        histories=histories,
        sample_rate=histories.sample_rate,
    )


@pytest.mark.parametrize("rate", [0.5, 1 / 16])
@pytest.mark.parametrize("are_pairs_exact", [True, False])
def test_ranges_of_sampled_counts_hold_the_truth_in_95_of_100(rate, are_pairs_exact):
    held = {name: [] for name in (*COUNTS, "kept", "dropped", "self_overlap")}
    for seed in range(250):
        table = draw_archive(seed)
        truth = follow_crawls(table).per_crawl
        histories = take_sample(table, rate, seed)
        sampled = replace(table, histories=histories)
        if not are_pairs_exact:
            sampled = sample_whole(table, histories)
        if sampled is None:
            continue
        for row, true in zip(follow_crawls(sampled).per_crawl, truth, strict=True):
            for name, found in held.items():
                number, exact = getattr(row, name), getattr(true, name)
                if number.low is not None and exact.value is not None:
                    found.append(number.low <= exact.value <= number.high)
    for name, found in held.items():
        if found:
            assert 0.9 <= np.mean(found) <= 0.99, name
    assert bool(held["kept"]) != are_pairs_exact
    assert len(held["missed"]) > 400


def test_what_is_counted_as_missed_was_alive_and_missed():
    """In an urn nothing comes back to life: the bound lies below the truth in every archive."""
    for seed in range(250):
        table = draw_archive(seed)
        rows = follow_crawls(table).per_crawl
        for row, true in zip(rows[1:-1], table.truth.crawls[1:-1], strict=True):
            assert row.missed.value + true.n_urls <= true.population
            assert row.missed_at_least.value <= 1 - true.coverage + 1e-12


def test_parts_scatter_as_the_estimate_does_over_archives():
    """By 200 archives of four crawls; a fifth is four standard errors of their ratio."""
    errors, shown = [], []
    for seed in range(200):
        table = cg.simulate_table(n_crawls=4, population=3000, seed=seed)
        whole, *parts = (
            estimate_coverage(replace(item, histories=None)).headline.coverage.value
            for item in (table, *divide_histories(table))
        )
        errors.append(np.log(whole / 0.46))
        shown.append(np.std(np.log(parts), ddof=1) / 2)
    ratio = np.sqrt(np.mean(np.square(shown))) / np.sqrt(np.mean(np.square(errors)))
    assert ratio == pytest.approx(1, abs=0.2)
