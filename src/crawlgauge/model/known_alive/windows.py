"""Known-alive windows: what was captured between two captures of the same URL.

A URL that crawls i and k captured was alive in between, whatever the law of survival. The
captures strictly inside (i, k) therefore depend on capture alone. Counting reads the histories
once; whatever follows costs the same for a thousand URLs and for a billion.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["MAX_TRAP_LAGS", "N_GROUPS", "Tallies", "WindowCounts", "count_windows"]

Numbers = NDArray[np.float64]

N_GROUPS = 20
"""Groups of URLs that the sampling error is told from: enough for its size to be known within a
sixth, few enough for each to hold every common pattern."""

MAX_TRAP_LAGS = 5
"""Crawls back that a capture is allowed to affect."""

_GROUP_SEED = 0
"""Any fixed number: the same histories always give the same groups."""

_LONGEST = 9
_LONGEST_OF_MANY = 8
_MANY_CRAWLS = 12
"""A window of L crawls has 2^(L−1) interiors; with many crawls shorter windows say enough."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tallies:
    """Captures and shared captures of one selection of URLs.

    Parameters
    ----------
    by_state
        For each crawl, its captures by state: column s > 0 those captured s crawls before and
        not since, column 0 all others.
    shared
        For each two crawls, the URLs that both captured; the diagonal holds the sizes.
    """

    by_state: Numbers
    shared: Numbers

    def __post_init__(self) -> None:
        freeze_arrays(self, "by_state", "shared")

    @property
    def sizes(self) -> Numbers:
        """URLs of each crawl."""
        return np.diag(self.shared)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowCounts:
    """Counts of known-alive windows, for all URLs and for each group of them.

    The last axis of every array holds all URLs first, then `N_GROUPS` groups of URLs drawn at
    random, and then as many groups of whole hosts where hosts are known.

    Parameters
    ----------
    years
        Time of each crawl.
    interiors
        Item L − 2 holds the windows of L crawls: a row for each interior, in which bit b is
        the crawl b + 1 after the window's first, and a column for each first crawl.
    recent
        For each crawl, its captures by crawls since the last capture: 1, 2, …, and in row 0
        those of longer ago and first ones.
    shared
        For each two crawls, the URLs that both captured.
    bracketed
        For each crawl, URLs captured before and after it, and those of them that it captured.
    n_urls
        Distinct URLs over all crawls.
    """

    years: Numbers
    interiors: tuple[Numbers, ...]
    recent: Numbers
    shared: Numbers
    bracketed: Numbers
    n_urls: float

    def __post_init__(self) -> None:
        freeze_arrays(self, "years", "recent", "shared", "bracketed")
        for array in self.interiors:
            array.flags.writeable = False

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return self.years.size

    @property
    def longest(self) -> int:
        """Longest window, in crawls from its first to its last."""
        return len(self.interiors) + 1

    @property
    def n_windows(self) -> float:
        """Windows with an interior."""
        return float(sum(array[..., 0].sum() for array in self.interiors))

    @property
    def sizes(self) -> Numbers:
        """URLs of each crawl."""
        return np.diag(self.shared[..., 0])

    @property
    def spacing(self) -> float:
        """Mean years between crawls, the unit of time of the model; 1 if all are of one date."""
        span = float(self.years[-1] - self.years[0])
        return span / (self.n_crawls - 1) if span > 0 else 1.0

    @property
    def group_kinds(self) -> tuple[range, ...]:
        """Columns of each kind of groups."""
        n_columns = self.recent.shape[-1]
        return tuple(range(first, first + N_GROUPS) for first in range(1, n_columns, N_GROUPS))

    def tallies(self, trap_lags: int, *, without: int | None = None) -> Tallies:
        """Return the captures by state, of all URLs or of all but those of one column."""
        recent, shared = self.recent[..., 0], self.shared[..., 0]
        if without is not None:
            recent = recent - self.recent[..., without]
            shared = shared - self.shared[..., without]
        by_state = recent[:, : trap_lags + 1].copy()
        by_state[:, 0] += recent[:, trap_lags + 1 :].sum(axis=1)
        return Tallies(by_state=by_state, shared=shared)


def count_windows(data: HistoryData) -> WindowCounts:
    """Count the known-alive windows of capture histories.

    Each URL of each history falls into one of the random groups, with a fixed seed: the choice
    between models and the errors of all that is computed from them then cost the same however
    many histories there are. URLs of one host are captured together, which only groups of whole
    hosts show.

    Parameters
    ----------
    data
        Capture histories of two crawls or more.
    """
    rng = np.random.default_rng(_GROUP_SEED)
    groups = rng.multinomial(data.counts.astype(np.int64), np.full(N_GROUPS, 1 / N_GROUPS))
    columns = [data.counts[:, None], groups.astype(np.float64)]
    if data.by_host_group is not None:
        columns.append(data.by_host_group)
    counts = np.concatenate(columns, axis=1)
    return WindowCounts(
        years=data.years,
        interiors=_count_interiors(data, counts),
        recent=_count_recent(data, counts),
        shared=_count_shared(data, counts),
        bracketed=_count_bracketed(data),
        n_urls=data.n_urls,
    )


def _count_interiors(data: HistoryData, counts: Numbers) -> tuple[Numbers, ...]:
    n_crawls, n_columns = data.n_crawls, counts.shape[1]
    longest = min(_LONGEST if n_crawls <= _MANY_CRAWLS else _LONGEST_OF_MANY, n_crawls - 1)
    n_codes = 1 << longest
    # What followed each capture within the longest window tells all windows that start there.
    follow = np.zeros((n_crawls, n_codes, n_columns))
    columns = np.arange(n_columns)
    for first in range(n_crawls - 1):
        rows = data.captured[:, first]
        ahead = data.masks[rows] >> np.uint64(first + 1)
        codes = (ahead & np.uint64(n_codes - 1)).astype(np.int64)
        cells = codes[:, None] * n_columns + columns
        follow[first] = np.bincount(
            cells.ravel(), weights=counts[rows].ravel(), minlength=n_codes * n_columns
        ).reshape(n_codes, n_columns)
    return tuple(
        np.ascontiguousarray(
            follow[: n_crawls - length]
            .reshape(n_crawls - length, -1, 2, 1 << (length - 1), n_columns)[:, :, 1]
            .sum(axis=1)
            .swapaxes(0, 1)
        )
        for length in range(2, longest + 1)
    )


def _count_recent(data: HistoryData, counts: Numbers) -> Numbers:
    captured, n_crawls = data.captured, data.n_crawls
    recent = np.zeros((n_crawls, MAX_TRAP_LAGS + 1, counts.shape[1]))
    for crawl in range(n_crawls):
        left = captured[:, crawl].copy()
        for since in range(1, min(MAX_TRAP_LAGS, crawl) + 1):
            rows = left & captured[:, crawl - since]
            recent[crawl, since] = counts[rows].sum(axis=0)
            left &= ~rows
        recent[crawl, 0] = counts[left].sum(axis=0)
    return recent


def _count_shared(data: HistoryData, counts: Numbers) -> Numbers:
    captured = data.captured.astype(np.float64)
    return np.stack([(captured * column[:, None]).T @ captured for column in counts.T], axis=-1)


def _count_bracketed(data: HistoryData) -> Numbers:
    before = np.logical_or.accumulate(data.captured, axis=1)[:, :-2]
    after = np.logical_or.accumulate(data.captured[:, ::-1], axis=1)[:, ::-1][:, 2:]
    known = before & after
    bracketed = np.zeros((data.n_crawls, 2))
    bracketed[1:-1, 0] = data.counts @ known
    bracketed[1:-1, 1] = data.counts @ (known & data.captured[:, 1:-1])
    return bracketed
