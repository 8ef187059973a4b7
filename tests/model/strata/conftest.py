"""Archives of hosts whose coverage, turnover and population are known."""

import datetime as dt
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable, Stratum, StratumCounts


@dataclass(kw_only=True)
class Archive:
    """Counts by host, and the true coverages and populations, a row for each host."""

    counts: StratumCounts
    held: list[np.ndarray]
    coverage: np.ndarray
    population: np.ndarray

    @cached_property
    def estimates(self):
        """What is estimated from the histories of all URLs."""
        return estimate_all(self.counts, self.held)


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


def estimate_all(counts, held):
    """Estimate from the histories of all URLs, whichever host they are of."""
    histories, n_urls = np.unique(np.concatenate(held), axis=0, return_counts=True)
    masks = (histories @ (np.uint64(1) << np.arange(histories.shape[1], dtype=np.uint64))).astype(
        np.uint64
    )
    seen = np.argsort(masks)[(masks[np.argsort(masks)] > 0).argmax() :]
    table = OverlapTable(
        crawls=counts.crawls,
        n_shared=counts.n_shared.sum(axis=0),
        histories=Histories(n_crawls=len(counts.crawls), masks=masks[seen], counts=n_urls[seen]),
    )
    return estimate_coverage(table)


@pytest.fixture(scope="session")
def make_counts():
    """Put matrices of shared URLs together, with hosts named h0, h1 and so on."""

    def make(n_shared, *, strata=None, rate=1.0, days=183, damaged=()):
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
        shared, alive, captured = [], [], []
        for size, coverage, lives_on in zip(sizes, coverages, survival, strict=True):
            chances = np.minimum(coverage * factors, 0.97)
            living, held = capture_host(rng, size, lives_on, chances)
            shared.append(held.T.astype(int) @ held.astype(int))
            alive.append(living.sum(axis=0))
            captured.append(held)
        population = np.array(alive)
        counts = make_counts(np.array(shared))
        return Archive(
            counts=counts,
            held=captured,
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
