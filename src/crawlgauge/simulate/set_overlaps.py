"""Count the overlaps of simulated sets, exactly."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, Histories
from crawlgauge.provenance import Provenance
from crawlgauge.simulate.archive import SimulatedArchive, SimulatedTable

__all__ = ["count_archive"]

_MAX_SPREAD = 8


def count_archive(archive: SimulatedArchive) -> SimulatedTable:
    """Count how many URLs each two crawls share, and up to 64 crawls how many have each history.

    Parameters
    ----------
    archive
        Whose sets to count.
    """
    crawls = _number_closely([crawl.url_numbers for crawl in archive.crawls])
    histories = _count_histories(crawls) if len(crawls) <= MAX_HISTORY_CRAWLS else None
    truth = archive.truth
    return SimulatedTable(
        crawls=tuple(
            Crawl(label=crawl.label, date=crawl.date, n_urls=crawl.url_numbers.size)
            for crawl in archive.crawls
        ),
        n_shared=_count_pairs(crawls) if histories is None else histories.count_pairs(),
        histories=histories,
        provenance=Provenance(settings={"scenario": truth.scenario, "seed": truth.seed}),
        truth=truth,
    )


def _count_histories(crawls: Sequence[NDArray[np.int64]]) -> Histories:
    masks = np.zeros(_count_places(crawls), dtype=np.uint64)
    for number, places in enumerate(crawls):
        masks[places] |= np.uint64(1 << number)
    masks.sort()
    masks = masks[np.searchsorted(masks, 1) :]
    is_start = np.ones(masks.size, dtype=np.bool_)
    np.not_equal(masks[1:], masks[:-1], out=is_start[1:])
    starts = np.flatnonzero(is_start)
    return Histories(
        n_crawls=len(crawls), masks=masks[starts], counts=np.diff(starts, append=masks.size)
    )


def _count_pairs(crawls: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    n_shared = np.zeros((len(crawls), len(crawls)), dtype=np.int64)
    for i, first in enumerate(crawls):
        held = np.zeros(_count_places(crawls), dtype=np.bool_)
        held[first] = True
        for j in range(i, len(crawls)):
            n_shared[i, j] = n_shared[j, i] = np.count_nonzero(held[crawls[j]])
    return n_shared


def _number_closely(crawls: Sequence[NDArray[np.int64]]) -> Sequence[NDArray[np.int64]]:
    """Return the crawls' URLs as places in a table; far-flung numbers are put side by side."""
    n_captures = sum(numbers.size for numbers in crawls)
    if _count_places(crawls) <= _MAX_SPREAD * n_captures:
        return crawls
    _, places = np.unique(np.concatenate(crawls), return_inverse=True)
    return np.split(places, np.cumsum([numbers.size for numbers in crawls])[:-1])


def _count_places(crawls: Sequence[NDArray[np.int64]]) -> int:
    return 1 + max(int(numbers.max(initial=0)) for numbers in crawls)
