"""Comparisons of simulated pairs of archives whose population is known."""

import datetime as dt
import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.comparison import compare_archives
from crawlgauge.model.estimates import Estimate
from crawlgauge.overlaps.table import ArchiveCounts

pytestmark = pytest.mark.slow

N_ARCHIVES = 200
POPULATION = 6_000
PERSISTENCE = 0.73
SE_LOG_PERSISTENCE = 0.01
DAYS_PER_YEAR = 365.25
FIRST = dt.date(2015, 1, 1)


@dataclass(frozen=True, kw_only=True)
class Regime:
    """How two archives crawl the same web."""

    n_pairs: int = 4
    gap_days: int = 0
    coverages: tuple[float, float] = (0.4, 0.25)
    sd_of_coverage: float = 0.0
    sd_of_weights: float = 0.0
    is_dependent: bool = False
    sample_rate: float = 1.0


REGIMES = {
    "same day": Regime(),
    "one pair": Regime(n_pairs=1),
    "two months apart": Regime(gap_days=60),
    "uneven, but independent": Regime(sd_of_weights=0.8),
    "varying coverage": Regime(n_pairs=6, sd_of_coverage=0.2),
    "hash samples": Regime(sample_rate=1 / 4),
    "hash samples, apart": Regime(sample_rate=1 / 4, gap_days=80, n_pairs=2),
    "well covered": Regime(coverages=(0.8, 0.6)),
}


class Web:
    """URLs that live and die, each with a weight for each crawler, and a place in the sample."""

    def __init__(self, regime: Regime, rng: np.random.Generator) -> None:
        self._regime, self._rng = regime, rng
        self._n_born = 0
        self.urls = np.empty(0, dtype=np.int64)
        self.weights = np.empty((2, 0))
        self._add(POPULATION)

    def _add(self, n: int) -> None:
        self.urls = np.append(self.urls, np.arange(self._n_born, self._n_born + n))
        self._n_born += n
        weights = np.exp(self._rng.normal(0, self._regime.sd_of_weights, (2, n)))
        if self._regime.is_dependent:
            weights[1] = weights[0]
        self.weights = np.concatenate([self.weights, weights], axis=1)

    def live(self, days: int) -> None:
        """Replace what dies in so many days."""
        n_dead = round(POPULATION * (1 - PERSISTENCE ** (days / DAYS_PER_YEAR)))
        kept = self._rng.permutation(self.urls.size)[n_dead:]
        self.urls, self.weights = self.urls[kept], self.weights[:, kept]
        self._add(n_dead)

    def crawl(self, archive: int, coverage: float) -> np.ndarray:
        """Draw a crawl of an exact size, in proportion to the weights."""
        size = round(POPULATION * coverage)
        # The largest of weight-scaled exponentials: successive drawing without replacement.
        arrivals = self._rng.exponential(1, self.urls.size) / self.weights[archive]
        return np.sort(self.urls[np.argsort(arrivals)[:size]])


def simulate(regime: Regime, seed: int) -> tuple[ArchiveCounts, list[tuple[float, ...]]]:
    """Return what is counted of two archives, and the true coverages of each two crawls.

    The third of them is what both hold of the URLs that live at the later date.
    """
    rng = np.random.default_rng(seed)
    web = Web(regime, rng)
    drawn: list[list[np.ndarray]] = [[], []]
    dates: list[list[dt.date]] = [[], []]
    coverages = []
    day = 0
    for _ in range(regime.n_pairs):
        noise = np.exp(rng.normal(0, regime.sd_of_coverage, 2))
        shares = tuple(
            round(POPULATION * share * factor) / POPULATION
            for share, factor in zip(regime.coverages, noise, strict=True)
        )
        for archive in (0, 1):
            drawn[archive].append(web.crawl(archive, shares[archive]))
            if archive == 1:
                both = np.isin(web.urls, np.append(drawn[0][-1], drawn[1][-1]))
                coverages.append((*shares, float(both.mean())))
            dates[archive].append(FIRST + dt.timedelta(days=day))
            step = regime.gap_days if archive == 0 else 180
            web.live(step)
            day += step
    return count(regime, drawn, dates, rng), coverages


def count(regime, drawn, dates, rng) -> ArchiveCounts:
    n_born = 1 + max(int(urls.max()) for archive in drawn for urls in archive)
    in_sample = rng.random(n_born) < regime.sample_rate
    held = [[np.isin(np.arange(n_born), urls) & in_sample for urls in one] for one in drawn]
    flat = np.array([row for one in held for row in one], dtype=np.int64)
    unions = np.array([np.any(one, axis=0) for one in held])
    masks, counts = np.unique(unions[0] + 2 * unions[1], return_counts=True)
    crawls = tuple(
        tuple(
            Crawl(
                label=f"{archive}-{k}",
                date=date,
                n_urls=urls.size
                if regime.sample_rate == 1
                else round(row.sum() / regime.sample_rate),
                n_sampled=None if regime.sample_rate == 1 else int(row.sum()),
            )
            for k, (urls, row, date) in enumerate(
                zip(drawn[archive], held[archive], dates[archive], strict=True)
            )
        )
        for archive in (0, 1)
    )
    is_held = masks > 0
    return ArchiveCounts(
        crawls=crawls,
        n_shared=flat @ flat.T,
        masks=masks[is_held].astype(np.uint64),
        counts=counts[is_held],
        sample_rate=regime.sample_rate,
        level="url",
        key_rule="surt/1",
    )


@cache
def compare_many(regime: Regime):
    """Compare as many pairs of archives, with a persistence that is known with an error."""
    results = []
    for seed in range(N_ARCHIVES):
        counts, coverages = simulate(regime, 7_000 + seed)
        rng = np.random.default_rng(seed)
        log_persistence = math.log(PERSISTENCE) + rng.normal(0, SE_LOG_PERSISTENCE * math.sqrt(2))
        margin = 1.96 * SE_LOG_PERSISTENCE * math.sqrt(2)
        persistence = Estimate(
            value=math.exp(log_persistence),
            low=math.exp(log_persistence - margin),
            high=math.exp(log_persistence + margin),
            basis="interval",
        )
        series = (Estimate.unknown("not needed"), persistence)
        found = compare_archives(counts, names=["a", "b"], series=[series, series], max_gap_days=90)
        results.append((found.pairs[0], coverages))
    return results


def share_of_hits(pairs) -> float:
    return float(np.mean([low <= truth <= high for (low, high), truth in pairs]))


def ends(estimate: Estimate) -> tuple[float, float]:
    return estimate.low or 0.0, math.inf if estimate.high is None else estimate.high


@pytest.mark.parametrize("name", REGIMES)
def test_intervals_hold_the_truth_where_crawlers_are_independent(name):
    regime = REGIMES[name]
    results = compare_many(regime)
    population = share_of_hits(
        (ends(pair.matched[-1].population), POPULATION) for pair, _ in results
    )
    assert 0.90 <= population <= 1
    for k, which in enumerate(("coverage_a", "coverage_b")):
        typical = share_of_hits(
            (ends(getattr(pair, which)), regime.coverages[k]) for pair, _ in results
        )
        assert 0.90 <= typical <= 1, which
        single = share_of_hits(
            (ends(getattr(pair.matched[0], which)), truth[0][k]) for pair, truth in results
        )
        assert 0.90 <= single <= 1, which


@pytest.mark.parametrize("name", REGIMES)
def test_intervals_of_the_joint_coverage_hold_the_truth(name):
    results = compare_many(REGIMES[name])
    single = share_of_hits(
        (ends(pair.matched[0].joint_coverage), truth[0][2]) for pair, truth in results
    )
    assert 0.90 <= single <= 1
    typical = share_of_hits(
        (ends(pair.joint_coverage), np.exp(np.mean([np.log(both) for *_, both in truth])))
        for pair, truth in results
    )
    assert 0.90 <= typical <= 1


def test_relative_sizes_from_samples_hold_the_truth_and_need_no_independence():
    for is_dependent in (False, True):
        regime = Regime(sample_rate=1 / 4, n_pairs=1, sd_of_weights=0.8, is_dependent=is_dependent)
        results = compare_many(regime)
        a, b = regime.coverages
        hits = share_of_hits((ends(pair.relative_size), a / b) for pair, _ in results)
        assert 0.90 <= hits <= 0.99


def test_crawlers_that_favour_the_same_urls_make_the_population_a_lower_bound():
    regime = Regime(sd_of_weights=0.8, is_dependent=True, n_pairs=2)
    results = compare_many(regime)
    populations = [pair.matched[-1].population.value for pair, _ in results]
    assert max(populations) < POPULATION
    assert min(pair.coverage_a.value for pair, _ in results) > regime.coverages[0]
    # By how much: the mean of the squared chances over the square of their mean, about.
    assert np.median(populations) / POPULATION == pytest.approx(0.75, abs=0.1)
