"""The Python API: one function for each command, and the `Fit` that an estimate returns."""

import datetime as dt
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlgauge.crawl import check_label, parse_date
from crawlgauge.keys.rules import find_rule
from crawlgauge.model import window
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.estimating import estimate_coverage
from crawlgauge.overlaps import reading, writing
from crawlgauge.overlaps.counting import count_sets
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report import estimate_json, estimate_text, explanation_text
from crawlgauge.sources.inputs import STDIN, InputFiles, find_inputs
from crawlgauge.store import catalogue
from crawlgauge.store.adding import Addition, OnDamage, add_to_store, choose_date
from crawlgauge.store.catalogue import Store, store_for_adding
from crawlgauge.store.crawl_list import read_crawl_list
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.verifying import Finding, verify_crawls

__all__ = [
    "Fit",
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
    "verify_store",
    "write_overlaps",
]

StrPath = str | os.PathLike[str]
Progress = Callable[[int, int | None], None]

DEFAULT_STORE = "crawlgauge.store"
STORE_VARIABLE = "CRAWLGAUGE_STORE"


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


def find_store(path: StrPath | None = None) -> Path:
    """Return where the store is: as given, as the environment says, or in the working folder."""
    return Path(path or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE)


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


def add_crawl(
    store: StrPath | None,
    label: str,
    inputs: StrPath | Iterable[StrPath],
    *,
    date: dt.date | str | None = None,
    identity: str = "raw",
    replace: bool = False,
    on_damage: OnDamage = "stop",
    progress: Progress | None = None,
) -> Addition:
    """Read the files of one crawl into a store, which is made if it is missing.

    Parameters
    ----------
    store
        The store's folder, as for `open_store`.
    label
        Name of the crawl.
    inputs
        Files, folders, globs, ``@list.txt`` or ``-`` for standard input: URL lists, one URL a
        line, plain or gzip.
    date
        The crawl's date; if not given, the one that the label contains.
    identity
        Which URLs are the same: ``raw``, ``scheme-free`` or ``surt``; one for a whole store.
    replace
        Whether a crawl of that label may be replaced.
    on_damage
        ``stop`` at damaged input, or ``keep`` what can be read of it.
    progress
        Called with bytes read and bytes in all (None if not known).

    Returns
    -------
    Addition
        The crawl as it is in the store, and what came of adding it.

    Raises
    ------
    CrawlgaugeError
        If the label, the date, an input or the store cannot be used; the store is as before.
    """
    rule = find_rule(identity)
    found_date = choose_date(
        check_label(label), parse_date(date) if isinstance(date, str) else date
    )
    words = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    files = find_inputs(os.fspath(word) for word in words)
    with store_for_adding(find_store(store), rule) as opened:
        return add_to_store(
            opened,
            label,
            files,
            date=found_date,
            rule=rule,
            replace=replace,
            on_damage=on_damage,
            on_bytes=_count_bytes([files], progress),
        )


def add_crawls(
    store: StrPath | None,
    crawl_list: StrPath,
    *,
    identity: str = "raw",
    replace: bool = False,
    on_damage: OnDamage = "stop",
    progress: Progress | None = None,
    on_added: Callable[[Addition], None] | None = None,
) -> tuple[Addition, ...]:
    """Add all crawls of a CSV list (``label,date,path``); what is there already is passed over.

    Parameters
    ----------
    store, identity, replace, on_damage, progress
        As for `add_crawl`.
    crawl_list
        The CSV file. Paths in it are relative to its own folder.
    on_added
        Called after each crawl.

    Raises
    ------
    CrawlgaugeError
        As for `add_crawl`; crawls before the one that failed are in the store.
    """
    rule = find_rule(identity)
    listed = read_crawl_list(Path(crawl_list))
    on_bytes = _count_bytes([crawl.inputs for crawl in listed], progress)
    additions = []
    with store_for_adding(find_store(store), rule) as opened:
        for crawl in listed:
            addition = add_to_store(
                opened,
                crawl.label,
                crawl.inputs,
                date=crawl.date,
                rule=rule,
                replace=replace,
                on_damage=on_damage,
                on_bytes=on_bytes,
            )
            additions.append(addition)
            if on_added is not None:
                on_added(addition)
    return tuple(additions)


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


def _count_bytes(
    groups: list[InputFiles], progress: Progress | None
) -> Callable[[int], None] | None:
    if progress is None:
        return None
    names = [name for group in groups for name in group.names]
    are_files = all(name != STDIN and Path(name).is_file() for name in names)
    n_total = sum(Path(name).stat().st_size for name in names) if are_files else None
    n_done = 0

    def on_bytes(n_bytes: int) -> None:
        nonlocal n_done
        n_done += n_bytes
        progress(n_done, n_total)

    return on_bytes
