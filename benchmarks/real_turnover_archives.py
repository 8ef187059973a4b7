"""Archives with known truth on real turnover: lists of URLs as they were, crawls as simulated.

A public list of URLs, kept over years, is the population: its births and deaths are those that
really happened. Only the crawls are drawn from it, by regimes from even capture to avoidance.
"""

import datetime as dt
import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl
from crawlgauge.keys.surt import canonical_surt
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable

Numbers = NDArray[np.float64]
Weigh = Callable[[np.random.Generator, NDArray[np.int64]], Numbers]

N_CRAWLS = 10
LEVEL = 0.42
LEVEL_OF_AVOIDANCE = 0.25
"""A crawler that avoids most of what it captured lately cannot hold 42 % each time."""

LEVEL_SD = 0.08
LOWEST_OF_TREND, HIGHEST_OF_TREND = 0.2, 0.6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Population:
    """URLs of a list, and at which dates it held them.

    Parameters
    ----------
    name
        Of the list.
    dates
        Of its snapshots.
    alive
        For each URL and snapshot, whether the list held it.
    hosts
        For each URL, the number of its host.
    """

    name: str
    dates: tuple[dt.date, ...]
    alive: NDArray[np.bool_]
    hosts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regime:
    """How crawls are drawn.

    Parameters
    ----------
    summary
        In words.
    weigh
        Draws how readily each URL is captured, for good.
    course
        Of the coverage over the crawls.
    avoided_lags, avoidance
        URLs of so many last crawls are passed over, with this chance.
    reseeded
        Chance of being captured because the last crawl did, on top of all others.
    """

    summary: str
    weigh: Weigh = lambda _, hosts: np.ones(hosts.size)
    course: Literal["level", "trend", "halved"] = "level"
    avoided_lags: int = 0
    avoidance: float = 0.0
    reseeded: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TurnoverArchive:
    """Crawls of a list.

    Parameters
    ----------
    table
        Their overlaps and capture histories.
    coverage
        True coverage of each crawl.
    """

    table: OverlapTable
    coverage: Numbers

    @property
    def typical(self) -> float:
        """Typical coverage: the geometric mean over all crawls but the first and the last."""
        return float(np.exp(np.log(self.coverage[1:-1]).mean()))


def _log_normal(sd: float) -> Weigh:
    return lambda rng, hosts: np.exp(sd * rng.standard_normal(hosts.size))


def _log_normal_by_host(sd: float) -> Weigh:
    return lambda rng, hosts: np.exp(sd * rng.standard_normal(hosts.max() + 1))[hosts]


def _classes(weights: tuple[float, ...], shares: tuple[float, ...]) -> Weigh:
    return lambda rng, hosts: rng.choice(weights, hosts.size, p=shares)


def _gamma(cv: float) -> Weigh:
    return lambda rng, hosts: rng.gamma(cv**-2, cv**2, hosts.size)


def _beta(cv: float) -> Weigh:
    size = (1 - LEVEL) / (LEVEL * cv**2) - 1
    return lambda rng, hosts: rng.beta(LEVEL * size, (1 - LEVEL) * size, hosts.size) / LEVEL


REGIMES = {
    "uniform": Regime(summary="even capture"),
    "host-bias": Regime(summary="log-normal by host, sd 0.8", weigh=_log_normal_by_host(0.8)),
    "avoid-90": Regime(
        summary="90 % of the last crawl are passed over", avoided_lags=1, avoidance=0.9
    ),
    "reseed-20": Regime(summary="20 % of the last crawl are captured anyway", reseeded=0.2),
    "url-bias": Regime(summary="log-normal by URL, sd 0.8", weigh=_log_normal(0.8)),
    "core": Regime(
        summary="30 % core at 2, periphery at 0.57", weigh=_classes((2, 0.571), (0.3, 0.7))
    ),
    "gamma": Regime(summary="gamma by URL, CV 0.6", weigh=_gamma(0.6)),
    "beta": Regime(summary="beta by URL, CV 0.4", weigh=_beta(0.4)),
    "three-classes": Regime(
        summary="20 % at 2, 40 % at 1, 40 % at 0.35",
        weigh=_classes((2, 1, 0.35), (0.2, 0.4, 0.4)),
    ),
    "avoid-two": Regime(
        summary="60 % of the last two crawls are passed over", avoided_lags=2, avoidance=0.6
    ),
    "bias-and-avoid": Regime(
        summary="log-normal by URL, sd 0.6, and 80 % of the last crawl are passed over",
        weigh=_log_normal(0.6),
        avoided_lags=1,
        avoidance=0.8,
    ),
    "trend": Regime(summary="coverage from 20 % to 60 %, or back", course="trend"),
    "halved": Regime(summary="one crawl of half the size", course="halved"),
}


def read_populations(folder: Path) -> list[Population]:
    """Read every list of a folder: a folder each, with snapshots named by date."""
    return [read_population(path) for path in sorted(folder.iterdir()) if path.is_dir()]


def read_population(folder: Path) -> Population:
    """Read a list; two URLs are the same if their ``surt`` forms are."""
    paths = sorted(folder.glob("*.txt.gz"))
    snapshots = [set(gzip.decompress(path.read_bytes()).splitlines()) - {b""} for path in paths]
    forms = {url: canonical_surt(url) for url in set().union(*snapshots)}
    places = {form: place for place, form in enumerate(sorted(set(forms.values())))}
    alive = np.zeros((len(places), len(paths)), dtype=np.bool_)
    for number, snapshot in enumerate(snapshots):
        alive[[places[forms[url]] for url in snapshot], number] = True
    _, hosts = np.unique([form.partition(b")")[0] for form in places], return_inverse=True)
    return Population(
        name=folder.name,
        dates=tuple(dt.date.fromisoformat(path.name[:10]) for path in paths),
        alive=alive,
        hosts=hosts.astype(np.int64),
    )


def draw_archive(population: Population, regime: str, seed: int) -> TurnoverArchive:
    """Draw crawls at ten consecutive snapshots of a list, from one that the seed chooses.

    Parameters
    ----------
    population
        The list.
    regime
        One of `REGIMES`.
    seed
        Equal seeds give equal archives.
    """
    rng = np.random.default_rng([seed, zlib.crc32(f"{population.name}/{regime}".encode())])
    first = int(rng.integers(len(population.dates) - N_CRAWLS + 1))
    alive = population.alive[:, first : first + N_CRAWLS]
    present = alive.any(axis=1)
    alive = alive[present]
    captured = _capture(rng, REGIMES[regime], alive, population.hosts[present])
    bits = np.uint64(1) << np.arange(N_CRAWLS, dtype=np.uint64)
    masks = (captured * bits).sum(axis=1, dtype=np.uint64)
    distinct, counts = np.unique(masks[masks > 0], return_counts=True)
    histories = Histories(n_crawls=N_CRAWLS, masks=distinct, counts=counts)
    sizes = captured.sum(axis=0)
    table = OverlapTable(
        crawls=tuple(
            Crawl(label=date.isoformat(), date=date, n_urls=int(size))
            for date, size in zip(population.dates[first:], sizes, strict=False)
        ),
        n_shared=histories.count_pairs(),
        histories=histories,
    )
    return TurnoverArchive(table=table, coverage=sizes / alive.sum(axis=0))


def _capture(
    rng: np.random.Generator, regime: Regime, alive: NDArray[np.bool_], hosts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    weights = regime.weigh(rng, hosts)
    weights = weights / weights.mean()
    captured = np.zeros_like(alive)
    for crawl, level in enumerate(_draw_levels(rng, regime)):
        chance = np.minimum(level * weights, 1.0)
        lately = captured[:, max(crawl - regime.avoided_lags, 0) : crawl].any(axis=1)
        chance = np.where(lately, chance * (1 - regime.avoidance), chance)
        if crawl:
            again = captured[:, crawl - 1] * regime.reseeded
            chance = 1 - (1 - chance) * (1 - again)
        captured[:, crawl] = alive[:, crawl] & (rng.random(hosts.size) < chance)
    return captured


def _draw_levels(rng: np.random.Generator, regime: Regime) -> Numbers:
    if regime.course == "trend":
        rising = np.geomspace(LOWEST_OF_TREND, HIGHEST_OF_TREND, N_CRAWLS)
        return rising if rng.random() < 0.5 else rising[::-1]
    levels = np.full(N_CRAWLS, LEVEL_OF_AVOIDANCE if regime.avoided_lags else LEVEL)
    if regime.course == "halved":
        levels[rng.integers(1, N_CRAWLS)] /= 2
    varied: Numbers = levels * np.exp(LEVEL_SD * rng.standard_normal(N_CRAWLS))
    return varied
