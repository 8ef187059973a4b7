"""The Python API: one function for each command, and the `Fit` that an estimate returns."""

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from crawlgauge.crawl import parse_date
from crawlgauge.ingestion import (
    ReadOptions,
    StrPath,
    add_crawl,
    add_crawls,
    find_store,
    split_collection,
)
from crawlgauge.model import window
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.estimating import estimate_coverage
from crawlgauge.overlaps import reading, writing
from crawlgauge.overlaps.counting import count_sets
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report import estimate_json, estimate_text, explanation_text
from crawlgauge.store import catalogue
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.verifying import Finding, verify_crawls

__all__ = [
    "Fit",
    "ReadOptions",
    "add_crawl",
    "add_crawls",
    "choose_window",
    "count_overlaps",
    "estimate",
    "list_crawls",
    "open_store",
    "read_histories",
    "read_overlaps",
    "remove_crawl",
    "split_collection",
    "verify_store",
    "write_overlaps",
]

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Estimates, ready to be read, printed or saved.

    Parameters
    ----------
    table
        What was estimated from.
    estimates
        The numbers.
    """

    table: OverlapTable
    estimates: Estimates

    def summary(self) -> str:
        """Return the estimates as text for a terminal."""
        return estimate_text.to_text(self.estimates)

    def explain(self, check: str) -> str:
        """Return what a check means, how it is computed and what it found, as text.

        Parameters
        ----------
        check
            Its id, such as ``short-lag``.
        """
        return explanation_text.to_text(check, self.estimates)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates as plain data, in the form of the JSON schema."""
        return estimate_json.to_dict(self.estimates)

    def to_json(self) -> str:
        """Return the estimates as JSON."""
        return estimate_json.to_json(self.estimates)


def open_store(path: StrPath | None = None) -> Store:
    """Open a store.

    Parameters
    ----------
    path
        Its folder; else ``$CRAWLGAUGE_STORE``, else ``crawlgauge.store`` in the working folder.

    Raises
    ------
    StoreError
        If there is none, or it was written by a newer version.
    """
    return catalogue.open_store(find_store(path))


def list_crawls(store: StrPath | None = None) -> tuple[CrawlSet, ...]:
    """Return what is in a store, in order of date."""
    return tuple(open_store(store).crawl_sets())


def remove_crawl(store: StrPath | None, label: str) -> None:
    """Take a crawl out of a store."""
    open_store(store).remove(label)


def verify_store(store: StrPath | None = None) -> tuple[Finding, ...]:
    """Re-read every file of a store against its checksums and return what was found."""
    return tuple(verify_crawls(open_store(store)))


def count_overlaps(
    store: StrPath | None = None, *, progress: Progress | None = None
) -> OverlapTable:
    """Count the overlaps of all crawls of a store, exactly.

    Parameters
    ----------
    store
        As for `open_store`.
    progress
        Called with how many of how many hash ranges are done.
    """
    return count_sets(open_store(store).crawl_sets(), progress=progress)


def read_overlaps(path: StrPath) -> OverlapTable:
    """Read an overlap table from a CSV, JSON or Parquet file, told by content.

    Parameters
    ----------
    path
        The file, or ``-`` for standard input.
    """
    return reading.read_overlaps(path)


def read_histories(histories: StrPath, crawls: StrPath) -> OverlapTable:
    """Read capture histories (``history,count``) and their crawls (``label,date[,n_urls]``).

    Parameters
    ----------
    histories, crawls
        The two CSV files.
    """
    return reading.read_histories(histories, crawls)


def write_overlaps(table: OverlapTable, path: StrPath) -> None:
    """Write an overlap table as ``.csv``, ``.json`` or ``.parquet``, told by the name."""
    writing.write_overlaps(table, path)


def choose_window(
    table: OverlapTable,
    *,
    since: dt.date | str | None = None,
    until: dt.date | str | None = None,
    exclude: Iterable[str] = (),
    min_lag: int | None = None,
    regime: int | str | None = None,
) -> OverlapTable:
    """Keep only some crawls and pairs of an overlap table, to estimate from those.

    Parameters
    ----------
    table
        All overlaps.
    since, until
        First and last date of the crawls to keep.
    exclude
        Labels of crawls to leave out.
    min_lag
        Keep only pairs that are at least so many crawls apart.
    regime
        Keep only the crawls of one regime, as the check change-point finds them: its number
        from 1, or ``latest``.

    Raises
    ------
    FitError
        If a choice fits no crawl, or leaves too little.
    """
    return window.choose_window(
        table,
        since=parse_date(since) if isinstance(since, str) else since,
        until=parse_date(until) if isinstance(until, str) else until,
        exclude=exclude,
        min_lag=min_lag,
        regime=regime,
    )


def estimate(table: OverlapTable, *, persistence: float | None = None) -> Fit:
    """Estimate coverage, persistence and population from an overlap table.

    Parameters
    ----------
    table
        Overlaps of at least two crawls.
    persistence
        For two crawls only, which cannot tell coverage from turnover: the share of URLs that
        lives on for a year, known from elsewhere.

    Raises
    ------
    FitError
        If nothing can be estimated.
    """
    return Fit(table=table, estimates=estimate_coverage(table, persistence=persistence))
