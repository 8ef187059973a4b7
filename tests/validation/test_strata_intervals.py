"""Strata of archives whose truth is known: how often the ranges hold it.

Hosts differ in coverage (most between 15 and 70 %), in persistence and in size; the smallest are
pooled, as they would be by counting. Archives of five to twelve crawls are simulated URL by URL,
and estimated from their capture histories.
"""

import datetime as dt
from dataclasses import dataclass, field

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.strata import estimate_strata
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable, Stratum, StratumCounts

pytestmark = pytest.mark.slow

MIN_SHARED = 30
DAYS = 183


@dataclass
class Score:
    """Which intervals hold the truth; for each host also what its median pair shares."""

    median: list = field(default_factory=list)
    newest: list = field(default_factory=list)
    typical: list = field(default_factory=list)
    persistence: list = field(default_factory=list)
    missing: list = field(default_factory=list)
    total: list = field(default_factory=list)
    error: list = field(default_factory=list)


def simulate_host(rng, n_urls, survival, chances):
    n_crawls = chances.size
    births = [n_urls, *rng.poisson(n_urls * (1 - survival))]
    born = np.repeat(np.arange(n_crawls), births)
    alive = np.zeros((born.size, n_crawls), dtype=bool)
    for crawl in range(n_crawls):
        if crawl:
            alive[:, crawl] = alive[:, crawl - 1] & (rng.random(born.size) < survival[crawl - 1])
        alive[born == crawl, crawl] = True
    return alive, alive & (rng.random(alive.shape) < chances)


def chapman(shared):
    return (shared[-2, -2] + 1) * (shared[-1, -1] + 1) / (shared[-2, -1] + 1) - 1


def draw_hosts(rng, n_hosts, n_crawls, *, crawl_sd, cell_sd, rate):
    """Return the shared URLs in the sample, all histories, true populations and sizes of hosts."""
    sizes = np.exp(rng.uniform(np.log(150), np.log(6000), n_hosts)) / rate
    coverage = 1 / (1 + np.exp(-rng.normal(-0.4, 0.8, n_hosts)))
    persistence = rng.normal(0.73, 0.08, n_hosts).clip(0.4, 0.95)
    common = crawl_sd * rng.standard_normal(n_crawls)
    shared, histories, population, held = [], [], [], []
    for k in range(n_hosts):
        noise = common + cell_sd * rng.standard_normal(n_crawls)
        chances = np.minimum(coverage[k] * np.exp(noise), 0.97)
        survival = np.full(n_crawls - 1, persistence[k] ** (DAYS / 365.25))
        alive, captured = simulate_host(rng, int(sizes[k]), survival, chances)
        sampled = captured[rng.random(len(captured)) < rate].astype(np.int64)
        shared.append(sampled.T @ sampled)
        histories.append(captured)
        population.append(alive.sum(axis=0))
        held.append(captured.sum(axis=0))
    truth = np.array(population), np.array(held), persistence
    return np.array(shared), np.concatenate(histories), *truth


def count(shared, n_urls, rate):
    """Return the counts of an archive, and which hosts stand by themselves."""
    n_crawls = shared.shape[1]
    median = np.median(shared[:, *np.triu_indices(n_crawls, k=1)], axis=1)
    large = median >= MIN_SHARED
    strata = [Stratum(name=f"h{k}") for k in np.flatnonzero(large)]
    matrices = list(shared[large])
    if not large.all():
        small = shared[~large]
        mixing = sum(map(chapman, small)) / chapman(small.sum(axis=0))
        strata.append(Stratum(name="other", n_pooled=len(small), mixing=max(1.0, float(mixing))))
        matrices.append(small.sum(axis=0))
    counts = StratumCounts(
        by="host",
        noun=("host", "hosts"),
        crawls=tuple(
            Crawl(
                label=f"c{k:02}",
                date=dt.date(2014, 1, 1) + dt.timedelta(days=DAYS * k),
                n_urls=int(n_urls[k]),
            )
            for k in range(n_crawls)
        ),
        strata=tuple(strata),
        n_shared=np.array(matrices),
        sample_rate=rate,
        n_distinct=len(shared),
        min_shared=MIN_SHARED,
    )
    return counts, np.flatnonzero(large), median


def estimate_all(crawls, captured):
    """Estimate from the histories of all URLs."""
    powers = np.uint64(1) << np.arange(len(crawls), dtype=np.uint64)
    masks, n_urls = np.unique((captured * powers).sum(axis=1, dtype=np.uint64), return_counts=True)
    seen = masks > 0
    both = captured.astype(np.int64)
    histories = Histories(n_crawls=len(crawls), masks=masks[seen], counts=n_urls[seen])
    table = OverlapTable(crawls=crawls, n_shared=both.T @ both, histories=histories)
    return estimate_coverage(table)


def holds(estimate, truth):
    return estimate.low <= truth <= estimate.high


def run(seed, n_archives, n_crawls, *, n_hosts=20, crawl_sd=0.0, cell_sd=0.0, rate=1.0):
    rng, score = np.random.default_rng(seed), Score()
    for _ in range(n_archives):
        shared, captured, population, held, persistence = draw_hosts(
            rng, n_hosts, n_crawls, crawl_sd=crawl_sd, cell_sd=cell_sd, rate=rate
        )
        counts, large, median = count(shared, captured.sum(axis=0), rate)
        strata = estimate_strata(counts, estimate_all(counts.crawls, captured))
        found = {stratum.name: stratum for stratum in strata.strata}
        coverage = held / population
        for host in large:
            stratum = found[f"h{host}"]
            score.median.append(median[host])
            score.newest.append(holds(stratum.coverage, coverage[host, -1]))
            score.error.append(np.log(stratum.coverage.value / coverage[host, -1]))
            typical = np.exp(np.log(coverage[host, 1:-1]).mean())
            score.typical.append(holds(stratum.typical_coverage, typical))
            score.persistence.append(holds(stratum.persistence, persistence[host]))
            missing = population[host, -1] - held[host, -1]
            score.missing.append(holds(stratum.missing, missing))
        truth = held[:, -1].sum() / population[:, -1].sum()
        score.total.append(holds(strata.post_stratified.coverage, truth))
    return score


REGIMES = {
    "even crawls, 5 of them": {"n_archives": 20, "n_crawls": 5},
    "even crawls, 8 of them": {"n_archives": 15, "n_crawls": 8},
    "even crawls, 12 of them": {"n_archives": 8, "n_crawls": 12},
    "crawls of very different sizes": {"n_archives": 15, "n_crawls": 7, "crawl_sd": 0.3},
    "hosts that each crawl prefers anew": {"n_archives": 15, "n_crawls": 7, "cell_sd": 0.2},
    "a sample of one URL in four": {"n_archives": 8, "n_crawls": 7, "rate": 0.25},
}
NAMES = ("newest", "typical", "missing", "persistence")


@pytest.fixture(scope="module")
def scores():
    return {name: run(20260101, **settings) for name, settings in REGIMES.items()}


@pytest.mark.parametrize("regime", REGIMES)
def test_ranges_of_hosts_hold_the_truth(scores, regime):
    for name in NAMES:
        assert np.mean(getattr(scores[regime], name)) >= 0.92, name


@pytest.mark.parametrize("name", NAMES)
def test_ranges_hold_the_truth_for_hosts_of_all_sizes(scores, name):
    """Thirds of the hosts by what their median pair shares, from 30 URLs to some thousand."""
    median = np.concatenate([score.median for score in scores.values()])
    hits = np.concatenate([getattr(score, name) for score in scores.values()])
    thirds = np.digitize(median, np.quantile(median, [1 / 3, 2 / 3]))
    assert hits.size > 1000
    for third in range(3):
        assert hits[thirds == third].mean() >= 0.92, third


def test_hosts_are_as_near_the_truth_as_the_whole(scores):
    errors = np.abs(np.concatenate([score.error for score in scores.values()]))
    assert np.median(errors) < 0.12
    assert np.mean(np.concatenate([score.total for score in scores.values()])) >= 0.92
