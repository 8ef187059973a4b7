"""Capture histories cut into steps from one capture to the next: what the latent classes weigh.

Given its first capture, a history is a chain of steps, each from a capture to the next one, and an
end after its last capture. In a class of URLs every step has a probability of its own, and so the
history's is their product. All that a fit needs of the histories are the steps of each.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["HistoryPaths", "PathCounts", "history_paths", "thin_histories"]

_THINNING_SEED = 20131215
"""Any fixed number: the same histories give the same sample, and so the same estimates."""

_HALVINGS = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PathCounts:
    """How many URLs took each step, in all or (by their chances) in each class.

    Parameters
    ----------
    steps
        URLs captured in crawl i and next in crawl k, the last two axes.
    firsts, lasts
        URLs first and last captured in each crawl, the last axis.
    """

    steps: NDArray[np.float64]
    firsts: NDArray[np.float64]
    lasts: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "steps", "firsts", "lasts")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HistoryPaths:
    """The histories that say something about recapture.

    They are those first captured before the last crawl, but for the URLs of crawls that share
    nothing with any other: such crawls are of another scope, and nobody can say what became of
    their URLs.

    Parameters
    ----------
    n_crawls
        Number of crawls.
    counts
        URLs with each history.
    first
        Crawl of the first capture of each history.
    parts
        Sparse matrix of zeros and ones, a row for each history: which steps, which first and
        which last capture it is made of.
    parts_transposed
        The same, a row for each part.
    """

    n_crawls: int
    counts: NDArray[np.float64]
    first: NDArray[np.int64]
    parts: Any
    parts_transposed: Any

    def __post_init__(self) -> None:
        freeze_arrays(self, "counts", "first")

    def sum_over(self, parts: PathCounts) -> NDArray[np.float64]:
        """Return the sum over its parts for each history, of values given in the form of counts."""
        values = np.concatenate([parts.steps.ravel(), parts.firsts, parts.lasts])
        total: NDArray[np.float64] = self.parts @ values
        return total

    def count(self, weights: NDArray[np.float64]) -> PathCounts:
        """Count the parts of all histories, each history with its weight."""
        n = self.n_crawls
        flat = self.parts_transposed @ weights
        return PathCounts(
            steps=flat[: n * n].reshape(n, n),
            firsts=flat[n * n : n * n + n],
            lasts=flat[n * n + n :],
        )


def history_paths(data: HistoryData) -> HistoryPaths:
    """Cut the histories into steps.

    Parameters
    ----------
    data
        The capture histories.
    """
    from scipy import sparse

    n = data.n_crawls
    linked = data.captured[data.captured.sum(axis=1) > 1].any(axis=0)
    tells = (data.captured & linked)[:, :-1].any(axis=1)
    captured = data.captured[tells]
    row, crawl = np.nonzero(captured)
    first = captured.argmax(axis=1)
    last = n - 1 - captured[:, ::-1].argmax(axis=1)
    goes_on = np.flatnonzero(row[1:] == row[:-1])
    every = np.arange(len(captured))
    rows = np.concatenate([row[goes_on], every, every])
    columns = np.concatenate(
        [crawl[goes_on] * n + crawl[goes_on + 1], n * n + first, n * n + n + last]
    )
    parts = sparse.csr_array(
        (np.ones(rows.size), (rows, columns)), shape=(len(captured), n * n + 2 * n)
    )
    return HistoryPaths(
        n_crawls=n,
        counts=data.counts[tells],
        first=first,
        parts=parts,
        parts_transposed=parts.T.tocsr(),
    )


def thin_histories(data: HistoryData, max_histories: int) -> HistoryData:
    """Draw a sample of the URLs that has about `max_histories` distinct histories at most.

    Each URL is kept with the same chance, so that the sample is to the histories what a smaller
    hash sample would have been. It is drawn with a fixed seed.

    Parameters
    ----------
    data
        The capture histories; returned as they are if they are few enough.
    max_histories
        Number of distinct histories that is expected to remain.
    """
    if data.counts.size <= max_histories:
        return data
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        if np.sum(1 - (1 - rate) ** data.counts) > max_histories:
            high = rate
        else:
            low = rate
    kept = np.random.default_rng(_THINNING_SEED).binomial(data.counts.astype(np.int64), low)
    some = kept > 0
    return replace(
        data,
        captured=data.captured[some],
        masks=data.masks[some],
        counts=kept[some].astype(np.float64),
        sample_rate=data.sample_rate * low,
    )
