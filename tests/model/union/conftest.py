"""Archives simulated URL by URL, with what is true of their union."""

import datetime as dt
from dataclasses import dataclass

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable

STEP_DAYS = 183


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is true of the archive: after each crawl, and in the end."""

    coverage: np.ndarray
    population: np.ndarray
    union: np.ndarray
    n_alive: int
    n_distinct: int
    n_unseen: int


@dataclass(frozen=True, kw_only=True)
class Web:
    """A population that turns over, in classes of (share, weight, persistence)."""

    n_crawls: int = 4
    population: int = 20_000
    coverage: float = 0.4
    growth: float = 0.0
    classes: tuple = ((1.0, 1.0, 0.73),)
    weight_cv: float = 0.0
    coverage_noise: float = 0.0
    n_hosts: int = 0
    host_sd: float = 0.3
    avoided: float = 0.0
    sample_rate: float = 1.0


class _Urls:
    """Every URL that ever lived: its class, weight and host, whether it lives, what it was in."""

    def __init__(self, web, rng):
        self.web, self.rng = web, rng
        self.kind = np.zeros(0, dtype=int)
        self.weight = np.zeros(0)
        self.host = np.zeros(0, dtype=int)
        self.alive = np.zeros(0, dtype=bool)
        self.captured = np.zeros((web.n_crawls, 0), dtype=bool)

    def turn_over(self, population, years):
        persistence = np.array([kind[2] for kind in self.web.classes])
        self.alive &= self.rng.random(self.alive.size) < persistence[self.kind] ** years
        for number, (share, weight, _) in enumerate(self.web.classes):
            living = np.count_nonzero(self.alive & (self.kind == number))
            self._add(number, weight, max(0, round(share * population) - living))

    def _add(self, number, weight, n):
        weights = np.full(n, float(weight))
        if self.web.weight_cv:
            weights *= self.rng.gamma(self.web.weight_cv**-2, self.web.weight_cv**2, n)
        self.kind = np.concatenate([self.kind, np.full(n, number)])
        self.weight = np.concatenate([self.weight, weights])
        self.host = np.concatenate([self.host, self.rng.integers(0, max(1, self.web.n_hosts), n)])
        self.alive = np.concatenate([self.alive, np.ones(n, dtype=bool)])
        self.captured = np.hstack([self.captured, np.zeros((self.web.n_crawls, n), dtype=bool)])

    def crawl(self, number):
        web, living = self.web, np.flatnonzero(self.alive)
        coverage = web.coverage * np.exp(web.coverage_noise * self.rng.standard_normal())
        size = round(min(0.95, coverage) * living.size)
        weight = self.weight[living].copy()
        if web.n_hosts:
            weight *= np.exp(web.host_sd * self.rng.standard_normal(web.n_hosts))[self.host[living]]
        if number and web.avoided:
            weight *= np.where(self.captured[number - 1, living], 1 - web.avoided, 1.0)
        # Exponential races draw without replacement, in proportion to the weights.
        first = np.argsort(self.rng.exponential(size=living.size) / weight)[:size]
        self.captured[number, living[first]] = True
        return size / living.size, living.size


def _histories(captured, rate):
    masks = np.zeros(captured.shape[1], dtype=np.uint64)
    for number, row in enumerate(captured):
        masks |= row.astype(np.uint64) << np.uint64(number)
    distinct, counts = np.unique(masks[masks > 0], return_counts=True)
    return Histories(n_crawls=len(captured), masks=distinct, counts=counts, sample_rate=rate)


def _table(captured, rate, rng):
    kept = captured[:, rng.random(captured.shape[1]) < rate]
    histories = _histories(kept, rate)
    shared = histories.count_pairs()
    crawls = tuple(
        Crawl(
            label=f"c{k:02}",
            date=dt.date(2014, 1, 1) + dt.timedelta(days=STEP_DAYS * k),
            n_urls=round(size / rate),
            n_sampled=None if rate == 1 else int(size),
        )
        for k, size in enumerate(np.diag(shared))
    )
    return OverlapTable(crawls=crawls, n_shared=shared, histories=histories, sample_rate=rate)


def simulate(web, seed):
    """Return the overlap table of a simulated archive, and what is true of it."""
    rng = np.random.default_rng(seed)
    urls, coverage, population, union = _Urls(web, rng), [], [], []
    # From the second crawl on, as the union counts.
    lived = np.zeros(0, dtype=bool)
    for number in range(web.n_crawls):
        years = STEP_DAYS / 365.25
        urls.turn_over(web.population * (1 + web.growth) ** (number * years), years)
        lived = np.concatenate([lived, np.zeros(urls.alive.size - lived.size, dtype=bool)])
        lived |= urls.alive & (number > 0)
        share, living = urls.crawl(number)
        held = urls.captured.any(axis=0)
        coverage.append(share)
        population.append(living)
        union.append(np.mean(held[urls.alive]))
    truth = Truth(
        coverage=np.array(coverage),
        population=np.array(population),
        union=np.array(union),
        n_alive=int(np.sum(held & urls.alive)),
        n_distinct=int(held.sum()),
        n_unseen=int(np.sum(lived & ~held)),
    )
    return _table(urls.captured, web.sample_rate, rng), truth


@pytest.fixture(scope="session")
def make_archive():
    """Give the function that simulates an archive of `Web` settings with a seed."""
    return lambda seed, **settings: simulate(Web(**settings), seed)
