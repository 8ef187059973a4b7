"""Capture histories for the tests: by hand, and crawls of simulated populations of known truth."""

from dataclasses import dataclass

import numpy as np
import pytest

from crawlgauge.model.histories.data import HistoryData


@dataclass(frozen=True)
class Archive:
    """Capture histories with the true coverage of each crawl."""

    data: HistoryData
    coverage: np.ndarray

    @property
    def log_typical(self) -> float:
        return float(np.log(self.coverage[1:-1]).mean())


def make_histories(captured, counts, years=None) -> HistoryData:
    """Make histories of a row each; crawls are half a year apart if not told otherwise."""
    captured = np.asarray(captured, dtype=bool)
    n_crawls = captured.shape[1]
    bits = np.uint64(1) << np.arange(n_crawls, dtype=np.uint64)
    masks = (captured * bits).sum(axis=1, dtype=np.uint64)
    order = np.argsort(masks)
    return HistoryData(
        captured=captured[order],
        masks=masks[order],
        counts=np.asarray(counts, dtype=float)[order],
        years=np.arange(n_crawls) / 2 if years is None else np.asarray(years, dtype=float),
    )


def count_seen(seen, years=None) -> HistoryData:
    """Count the capture histories of a row per URL and a column per crawl."""
    seen = np.asarray(seen, dtype=bool)
    return make_histories(*np.unique(seen[seen.any(axis=1)], axis=0, return_counts=True), years)


def live(rng, n_alive, n_crawls, survival):
    """Return which URLs are alive at which crawl, of a population of constant size.

    `survival` is a number or one for each interval.
    """
    alive = np.ones((n_alive, 1), dtype=bool)
    for kept in np.broadcast_to(survival, n_crawls - 1):
        alive = np.column_stack([alive, alive[:, -1] & (rng.random(len(alive)) < kept)])
        newborn = np.zeros((n_alive - alive[:, -1].sum(), alive.shape[1]), dtype=bool)
        newborn[:, -1] = True
        alive = np.vstack([alive, newborn])
    return alive


def crawl(rng, alive, coverage, *, sigma=0.0, avoidance=(), reseeding=0.0):
    """Crawl a population; `avoidance` is the share passed over by crawls since a capture."""
    weight = np.exp(sigma * rng.standard_normal(len(alive)))
    seen = np.zeros_like(alive)
    for j in range(alive.shape[1]):
        chance = np.minimum(1.0, coverage[j] * weight / weight.mean())
        for since, share in reversed(list(enumerate(avoidance, start=1))):
            if since <= j:
                chance = np.where(seen[:, j - since], chance * (1 - share), chance)
        hit = rng.random(len(alive)) < chance
        if j:
            hit |= seen[:, j - 1] & (rng.random(len(alive)) < reseeding)
        seen[:, j] = alive[:, j] & hit
    return seen


@pytest.fixture(scope="session")
def count_histories():
    """Count the capture histories of a row per URL and a column per crawl."""
    return count_seen


@pytest.fixture(scope="session")
def make_archive():
    """Simulate crawls of a living population; `coverage` is a number or one for each crawl."""

    def make(seed, *, n_alive=20_000, n_crawls=8, coverage=0.42, survival=0.88, **how):
        rng = np.random.default_rng(seed)
        alive = live(rng, n_alive, n_crawls, survival)
        seen = crawl(rng, alive, np.broadcast_to(coverage, n_crawls), **how)
        return Archive(data=count_seen(seen), coverage=seen.sum(axis=0) / alive.sum(axis=0))

    return make


@pytest.fixture(scope="session")
def make_data():
    """Make capture histories from ``{"0110": count}``, or from rows and their counts."""

    def make(histories, counts=None, years=None):
        if counts is None:
            counts = list(histories.values())
            histories = [[mark == "1" for mark in history] for history in histories]
        return make_histories(histories, counts, years)

    return make


@pytest.fixture(scope="session")
def random_data(make_data):
    """Histories of random counts: nothing about them is regular."""

    def make(seed, n_crawls=7, n_histories=60):
        rng = np.random.default_rng(seed)
        words = rng.choice(np.arange(1, 2**n_crawls), size=n_histories, replace=False)
        return make_data(
            {
                "".join(str(word >> j & 1) for j in range(n_crawls)): int(rng.integers(1, 300))
                for word in words.tolist()
            }
        )

    return make
