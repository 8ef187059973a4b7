"""What a simulation gives: crawls as sets of numbered URLs or a table, and the truth behind."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Provenance, Setting

__all__ = ["SimulatedArchive", "SimulatedTable"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]

TRUTH_SCHEMA = "crawlgauge.truth/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlTruth:
    """What is true of one crawl.

    Parameters
    ----------
    label, date
        The crawl's.
    n_urls
        URLs that it holds.
    population
        URLs that it could have reached.
    coverage
        Share of them that it holds.
    details
        Further numbers that are true of it, by name.
    """

    label: str
    date: dt.date
    n_urls: int
    population: int
    coverage: float
    details: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, with the details beside the rest."""
        plain = asdict(self)
        return plain | {"date": self.date.isoformat(), **plain.pop("details")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What is true of a simulated archive.

    Parameters
    ----------
    scenario
        Name of the scenario.
    seed
        Of the random numbers.
    crawls
        For each crawl, in date order.
    persistence
        Share of the population that lives on for a year; None where it has no single value.
    settings
        What the simulation was told, by name.
    """

    scenario: str
    seed: int
    crawls: tuple[CrawlTruth, ...]
    persistence: float | None
    settings: Mapping[str, Setting]

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    @property
    def coverage(self) -> float:
        """Typical coverage: the geometric mean over all crawls but the first.

        The first is left out because no overlap depends on its coverage, so that no estimate
        from overlaps can be of it.
        """
        later = [crawl.coverage for crawl in self.crawls[1:]] or [self.crawls[0].coverage]
        return float(np.exp(np.mean(np.log(later))))

    def to_dict(self) -> dict[str, Any]:
        """Return the truth as plain data for JSON."""
        return {
            "schema": TRUTH_SCHEMA,
            "scenario": self.scenario,
            "seed": self.seed,
            "coverage": self.coverage,
            "persistence": self.persistence,
            "population": self.crawls[-1].population,
            "crawls": [crawl.to_dict() for crawl in self.crawls],
            "settings": dict(self.settings),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulatedCrawl:
    """One simulated crawl: the numbers of the URLs that it holds, distinct and not negative."""

    label: str
    date: dt.date
    url_numbers: Ints

    def __post_init__(self) -> None:
        numbers = np.asarray(self.url_numbers, dtype=np.int64)
        numbers.flags.writeable = False
        object.__setattr__(self, "url_numbers", numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SimulatedArchive:
    """Simulated crawls, the truth behind them, and the URLs that the numbers stand for.

    Parameters
    ----------
    crawls
        In date order.
    truth
        What is true of them.
    name_urls
        Returns the URLs of the given numbers; distinct numbers have distinct URLs.
    """

    crawls: tuple[SimulatedCrawl, ...]
    truth: Truth
    name_urls: Callable[[Ints], list[str]]

    def __repr__(self) -> str:
        first, last = self.crawls[0].label, self.crawls[-1].label
        return f"<SimulatedArchive of {len(self.crawls)} crawls, {first} to {last}>"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SimulatedTable(OverlapTable):
    """An overlap table that was simulated, with the truth behind it.

    Parameters
    ----------
    truth
        What is true of its crawls.
    crawls, n_shared, se_shared, histories, level, key_rule, sample_rate, provenance, host_groups
        As of every `OverlapTable`.
    """

    truth: Truth


def make_table(truth: Truth, n_shared: Ints, histories: Histories | None) -> SimulatedTable:
    """Return overlaps with the truth behind them.

    Parameters
    ----------
    truth
        What is true of the crawls.
    n_shared, histories
        As in every `OverlapTable`.
    """
    return SimulatedTable(
        crawls=tuple(
            Crawl(label=one.label, date=one.date, n_urls=one.n_urls) for one in truth.crawls
        ),
        n_shared=n_shared,
        histories=histories,
        provenance=Provenance(settings={"scenario": truth.scenario, "seed": truth.seed}),
        truth=truth,
    )
