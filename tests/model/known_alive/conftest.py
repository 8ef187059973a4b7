"""Capture histories for the tests: crawls of simulated populations whose truth is known."""

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


def to_data(seen, years) -> HistoryData:
    """Count the capture histories of a row per URL and a column per crawl."""
    n_crawls = seen.shape[1]
    bits = np.uint64(1) << np.arange(n_crawls, dtype=np.uint64)
    words = (seen * bits).sum(axis=1, dtype=np.uint64)
    masks, counts = np.unique(words[words > 0], return_counts=True)
    return HistoryData(
        captured=((masks[:, None] >> np.arange(n_crawls, dtype=np.uint64)) & np.uint64(1)) == 1,
        masks=masks,
        counts=counts.astype(np.float64),
        years=np.asarray(years, dtype=np.float64),
    )


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
    return to_data


@pytest.fixture(scope="session")
def make_archive():
    """Simulate crawls of a living population; `coverage` is a number or one for each crawl."""

    def make(seed, *, n_alive=20_000, n_crawls=8, coverage=0.42, survival=0.88, **how):
        rng = np.random.default_rng(seed)
        alive = live(rng, n_alive, n_crawls, survival)
        seen = crawl(rng, alive, np.broadcast_to(coverage, n_crawls), **how)
        return Archive(
            data=to_data(seen, 0.5 * np.arange(n_crawls)),
            coverage=seen.sum(axis=0) / alive.sum(axis=0),
        )

    return make


@pytest.fixture(scope="session")
def make_data():
    """Make capture histories from ``{"0110": count}``, half a year apart."""

    def make(histories, years=None):
        captured = np.array([[mark == "1" for mark in history] for history in histories])
        n_crawls = captured.shape[1]
        bits = np.uint64(1) << np.arange(n_crawls, dtype=np.uint64)
        masks = (captured * bits).sum(axis=1, dtype=np.uint64)
        order = np.argsort(masks)
        return HistoryData(
            captured=captured[order],
            masks=masks[order],
            counts=np.array(list(histories.values()), dtype=np.float64)[order],
            years=np.arange(n_crawls) / 2 if years is None else np.array(years, dtype=float),
        )

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
