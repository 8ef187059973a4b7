"""Strata of archives whose truth is known: how often the intervals hold it.

Hosts differ in coverage (most between 15 and 70 %), in persistence and in size; the smallest are
pooled, as they would be by counting. Archives of four to fifteen crawls are simulated URL by URL.
"""

import datetime as dt
from dataclasses import dataclass, field

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.strata.estimating_strata import estimate_strata
from crawlgauge.overlaps.table import Stratum, StratumCounts

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
    total_ratio: list = field(default_factory=list)
    plain_ratio: list = field(default_factory=list)


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
    """Return the shared URLs in the sample, and true populations and sizes of each host."""
    sizes = np.exp(rng.uniform(np.log(150), np.log(6000), n_hosts)) / rate
    coverage = 1 / (1 + np.exp(-rng.normal(-0.4, 0.8, n_hosts)))
    persistence = rng.normal(0.73, 0.08, n_hosts).clip(0.4, 0.95)
    common = crawl_sd * rng.standard_normal(n_crawls)
    shared, population, held = [], [], []
    for k in range(n_hosts):
        noise = common + cell_sd * rng.standard_normal(n_crawls)
        chances = np.minimum(coverage[k] * np.exp(noise), 0.97)
        survival = np.full(n_crawls - 1, persistence[k] ** (DAYS / 365.25))
        alive, captured = simulate_host(rng, int(sizes[k]), survival, chances)
        sampled = captured[rng.random(len(captured)) < rate].astype(np.int64)
        shared.append(sampled.T @ sampled)
        population.append(alive.sum(axis=0))
        held.append(captured.sum(axis=0))
    return np.array(shared), np.array(population), np.array(held), persistence


def count(shared, rate):
    """Return the counts of an archive, and how many hosts stand by themselves."""
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
    sizes = shared.sum(axis=0).diagonal()
    counts = StratumCounts(
        by="host",
        noun=("host", "hosts"),
        crawls=tuple(
            Crawl(
                label=f"c{k:02}",
                date=dt.date(2014, 1, 1) + dt.timedelta(days=DAYS * k),
                n_urls=int(sizes[k]),
            )
            for k in range(n_crawls)
        ),
        strata=tuple(strata),
        n_shared=np.array(matrices),
        n_alive=np.zeros((len(strata), n_crawls, 8)),
        sample_rate=rate,
        n_distinct=len(shared),
        min_shared=MIN_SHARED,
    )
    return counts, np.flatnonzero(large), median


def holds(estimate, truth):
    return estimate.low <= truth <= estimate.high


def run(seed, n_archives, n_crawls, *, n_hosts=20, crawl_sd=0.0, cell_sd=0.0, rate=1.0):
    rng, score = np.random.default_rng(seed), Score()
    for _ in range(n_archives):
        shared, population, held, persistence = draw_hosts(
            rng, n_hosts, n_crawls, crawl_sd=crawl_sd, cell_sd=cell_sd, rate=rate
        )
        counts, large, median = count(shared, rate)
        strata = estimate_strata(counts)
        found = {stratum.name: stratum for stratum in strata.strata}
        coverage = held / population
        for host in large:
            stratum = found[f"h{host}"]
            score.median.append(median[host])
            score.newest.append(holds(stratum.coverage, coverage[host, -1]))
            typical = np.exp(np.log(coverage[host, 1:]).mean())
            score.typical.append(holds(stratum.typical_coverage, typical))
            score.persistence.append(holds(stratum.persistence, persistence[host]))
            missing = population[host, -1] - held[host, -1]
            score.missing.append(holds(stratum.missing, missing))
        truth = held[:, -1].sum() / population[:, -1].sum()
        score.total.append(holds(strata.post_stratified.coverage, truth))
        score.total_ratio.append(strata.post_stratified.coverage.value / truth)
        score.plain_ratio.append(strata.plain.coverage.value / truth)
    return score


REGIMES = {
    "even crawls, 4 of them": {"n_archives": 60, "n_crawls": 4},
    "even crawls, 6 of them": {"n_archives": 50, "n_crawls": 6},
    "even crawls, 15 of them": {"n_archives": 25, "n_crawls": 15},
    "crawls of very different sizes": {"n_archives": 50, "n_crawls": 6, "crawl_sd": 0.3},
    "hosts that each crawl prefers anew": {"n_archives": 50, "n_crawls": 6, "cell_sd": 0.2},
    "a sample of one URL in four": {"n_archives": 20, "n_crawls": 6, "rate": 0.25},
}
NAMES = ("newest", "typical", "missing", "persistence")


@pytest.fixture(scope="module")
def scores():
    return {name: run(20260101, **settings) for name, settings in REGIMES.items()}


@pytest.mark.parametrize("regime", REGIMES)
def test_intervals_of_hosts_hold_the_truth(scores, regime):
    for name in NAMES:
        assert 0.91 <= np.mean(getattr(scores[regime], name)) <= 0.99, name


@pytest.mark.parametrize("name", NAMES)
def test_intervals_hold_the_truth_for_hosts_of_all_sizes(scores, name):
    """Thirds of the hosts by what their median pair shares, from 30 URLs to some thousand."""
    median = np.concatenate([score.median for score in scores.values()])
    hits = np.concatenate([getattr(score, name) for score in scores.values()])
    thirds = np.digitize(median, np.quantile(median, [1 / 3, 2 / 3]))
    assert hits.size > 3000
    for third in range(3):
        assert 0.92 <= hits[thirds == third].mean() <= 0.99, third


def test_the_sum_of_hosts_holds_the_truth_that_all_urls_at_once_miss(scores):
    hits = np.concatenate([score.total for score in scores.values()])
    assert hits.size > 250
    assert 0.90 <= hits.mean() <= 0.99
    for regime, score in scores.items():
        assert np.mean(score.total_ratio) == pytest.approx(1, abs=0.02), regime
        assert np.mean(score.plain_ratio) > 1.08, regime
