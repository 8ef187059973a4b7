"""Archives of hosts whose coverage, turnover and population are known."""

import datetime as dt
from dataclasses import dataclass

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.overlaps.table import Stratum, StratumCounts


@dataclass(frozen=True, kw_only=True)
class Archive:
    """Counts by host, and the true coverages and populations, a row for each host."""

    counts: StratumCounts
    coverage: np.ndarray
    population: np.ndarray


def capture_host(rng, n_urls, survival, chances):
    """Return which URLs live at and are held by each crawl; the population stays about the same."""
    n_crawls = chances.size
    births = [n_urls, *rng.poisson(n_urls * (1 - survival))]
    born = np.repeat(np.arange(n_crawls), births)
    alive = np.zeros((born.size, n_crawls), dtype=bool)
    for crawl in range(n_crawls):
        if crawl:
            alive[:, crawl] = alive[:, crawl - 1] & (rng.random(born.size) < survival[crawl - 1])
        alive[born == crawl, crawl] = True
    return alive, alive & (rng.random(alive.shape) < chances)


def count_alive(held):
    """Count URLs seen before and after three crawls by which of these hold them."""
    n_crawls = held.shape[1]
    counts = np.zeros((n_crawls, 8), dtype=int)
    for j in range(1, n_crawls - 3):
        known = held[:, :j].any(axis=1) & held[:, j + 3 :].any(axis=1)
        which = 4 * held[known, j + 1] + 2 * held[known, j] + held[known, j + 2]
        counts[j] = np.bincount(which.astype(int), minlength=8)
    return counts


@pytest.fixture(scope="session")
def make_counts():
    """Put matrices of shared URLs together, with hosts named h0, h1 and so on."""

    def make(n_shared, *, strata=None, n_alive=None, rate=1.0, days=183, damaged=()):
        n_shared = np.asarray(n_shared)
        n_hosts, n_crawls = n_shared.shape[:2]
        sizes = n_shared.sum(axis=0).diagonal()
        start = dt.date(2014, 1, 1)
        days = np.arange(n_crawls) * days if np.isscalar(days) else days
        return StratumCounts(
            by="host",
            noun=("host", "hosts"),
            crawls=tuple(
                Crawl(
                    label=f"c{k:02}",
                    date=start + dt.timedelta(days=int(days[k])),
                    n_urls=max(1, int(sizes[k])),
                    damaged=k in damaged,
                )
                for k in range(n_crawls)
            ),
            strata=strata or tuple(Stratum(name=f"h{k}") for k in range(n_hosts)),
            n_shared=n_shared,
            n_alive=np.zeros((n_hosts, n_crawls, 8)) if n_alive is None else n_alive,
            sample_rate=rate,
            n_distinct=n_hosts,
            min_shared=30,
        )

    return make


@pytest.fixture(scope="session")
def simulate(make_counts):
    """Simulate hosts of given sizes, coverages and persistences, URL by URL."""

    def simulate(rng, sizes, coverages, persistences, n_crawls, *, crawl_sd=0.0):
        survival = np.power.outer(np.asarray(persistences), np.full(n_crawls - 1, 183 / 365.25))
        factors = np.exp(crawl_sd * rng.standard_normal(n_crawls))
        shared, alive, tables = [], [], []
        for size, coverage, lives_on in zip(sizes, coverages, survival, strict=True):
            chances = np.minimum(coverage * factors, 0.97)
            living, held = capture_host(rng, size, lives_on, chances)
            shared.append(held.T.astype(int) @ held.astype(int))
            alive.append(living.sum(axis=0))
            tables.append(count_alive(held))
        population = np.array(alive)
        counts = make_counts(np.array(shared), n_alive=np.array(tables))
        return Archive(
            counts=counts,
            coverage=np.diagonal(counts.n_shared, axis1=1, axis2=2) / population,
            population=population,
        )

    return simulate


@pytest.fixture(scope="session")
def expected_shared():
    """Return what an urn is expected to share, without any chance in it."""

    def expect(sizes, log_coverage, log_persistence, years):
        sizes = np.asarray(sizes, dtype=float)
        lags = np.abs(np.subtract.outer(years, years))
        later = np.maximum.outer(np.arange(len(years)), np.arange(len(years)))
        earlier = np.minimum.outer(np.arange(len(years)), np.arange(len(years)))
        shared = sizes[earlier] * np.exp(log_coverage[later] + log_persistence * lags)
        np.fill_diagonal(shared, sizes)
        return np.rint(shared).astype(int)

    return expect
