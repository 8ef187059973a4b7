"""What each two crawls share of each stratum: a matrix of overlaps for every part of the URLs."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl
from crawlgauge.provenance import Provenance

__all__ = ["MIN_SHARED", "Stratum", "StratumCounts"]

MIN_SHARED = 30
"""With fewer shared URLs in the median pair, counting alone leaves an error of a fifth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """A part of the URLs.

    Parameters
    ----------
    name
        Its value, or what it was pooled from.
    n_pooled
        How many small strata it consists of; 0 if it is one by itself.
    mixing
        How many times as large the populations of these are together, each estimated by itself
        from the last two crawls, as that of all of them taken for one; 1 at least.
    """

    name: str
    n_pooled: int = 0
    mixing: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StratumCounts:
    """Overlaps by stratum. All URLs are in one of the strata, and in one only.

    Parameters
    ----------
    by
        What the strata are: ``host``, ``domain``, ``tld``, ``mime`` or ``status``.
    noun
        One stratum in a sentence, and several.
    crawls
        In order of date, then label.
    strata
        Those that stand by themselves, then what was pooled.
    n_shared
        For each stratum a symmetric matrix of the URLs that each two crawls share; the diagonal
        holds the sizes.
    n_alive
        For each stratum and crawl, how many of the URLs that are seen both before this crawl and
        after the second next one are in which of these three: eight counts, at 4 if the middle
        one holds the URL, plus 2 if the first does, plus 1 if the last does.
    sample_rate
        Share of the keys that were counted.
    n_distinct
        Distinct strata before pooling.
    min_shared
        Strata that share fewer URLs in the median pair of crawls were pooled.
    provenance
        Where the counts come from.
    """

    by: str
    noun: tuple[str, str]
    crawls: tuple[Crawl, ...]
    strata: tuple[Stratum, ...]
    n_shared: NDArray[np.int64]
    n_alive: NDArray[np.int64]
    sample_rate: float
    n_distinct: int
    min_shared: int
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def n_pooled(self) -> int:
        """How many small strata were pooled."""
        return sum(stratum.n_pooled for stratum in self.strata)
