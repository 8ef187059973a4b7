"""What is true of a simulated web and its crawls, measured on all that can be crawled."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.simulate.web_crawlers import CrawlTask, Fetch
from crawlgauge.simulate.web_settings import TrapKind

__all__ = ["measure_fetch", "measure_persistence"]


def measure_fetch(
    task: CrawlTask, fetch: Fetch, repeat: Fetch, *, trap_kind: TrapKind
) -> dict[str, float]:
    """Measure a crawl against all that it could have fetched.

    URLs inside traps are endless and belong to no population: they are counted as URLs that the
    crawl holds, but not in its coverage.

    Parameters
    ----------
    task
        The web at the crawl's date.
    fetch
        The crawl.
    repeat
        A second crawl of the same policy at the same moment, with its own random numbers.
    trap_kind
        Whether the repeat finds the same URLs inside traps.

    Returns
    -------
    dict
        ``coverage_by_pagerank``: share that the crawl holds of the PageRank of the crawlable
        population. ``repeat_overlap``: share of the crawl's URLs, traps included, that the repeat
        holds as well; without traps it is the coverage weighted by the policy's own chance of
        capturing each page. ``n_trap_urls``: URLs inside traps that the crawl holds.
    """
    held = np.zeros(task.hosts.size, dtype=np.bool_)
    held[repeat.pages] = True
    n_both = int(held[fetch.pages].sum())
    if trap_kind == "calendar":
        n_both += int(np.minimum(fetch.n_in_trap, repeat.n_in_trap).sum())
    n_trap_urls = int(fetch.n_in_trap.sum())
    return {
        "coverage_by_pagerank": float(task.ranks[fetch.pages].sum() / task.ranks.sum()),
        "repeat_overlap": n_both / (fetch.pages.size + n_trap_urls),
        "n_trap_urls": n_trap_urls,
    }


def measure_persistence(
    populations: Sequence[NDArray[np.int64]], years: Sequence[float]
) -> tuple[float | None, float | None]:
    """Measure which share of the crawlable population is crawlable a year later.

    Parameters
    ----------
    populations
        Numbers of the crawlable pages at each date.
    years
        The dates in years.

    Returns
    -------
    tuple
        Per year, from date to date (the geometric mean over all intervals), and from the first
        date to the last. The second is higher where old pages live longer than young ones. None
        without two dates.
    """
    span = years[-1] - years[0]
    if span == 0:
        return None, None
    shares = [_surviving_share(before, after) for before, after in itertools.pairwise(populations)]
    whole = _surviving_share(populations[0], populations[-1])
    return math.prod(share ** (1 / span) for share in shares), whole ** (1 / span)


def _surviving_share(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    return np.intersect1d(before, after, assume_unique=True).size / before.size
