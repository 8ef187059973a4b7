"""Overlap tables with something left out: a crawl, a regime, short lags, or most of the URLs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from crawlgauge.errors import CrawlgaugeError, FitError
from crawlgauge.model.checks import diagnose
from crawlgauge.model.phrases import things
from crawlgauge.model.sensitivity.results import Kind
from crawlgauge.model.window import choose_window, keep_crawls
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = [
    "N_PARTS",
    "Variation",
    "as_parts",
    "divide_histories",
    "fit_to",
    "without_crawls",
    "without_regimes",
    "without_short_lags",
]

N_PARTS = 4
"""Enough to see how far parts scatter; each takes as long as an estimate."""

_LAGS = (2, 3)
"""Without adjacent crawls, and without those two apart: what a crawler avoids or repeats is mostly
its last crawl or the last two."""

_MIN_CRAWLS = 2
_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variation:
    """A changed table, or why there is none.

    Parameters
    ----------
    kind, change, subject
        As those of `Movement`.
    table
        What to estimate from; None if the change is not possible.
    reason
        Why not.
    """

    kind: Kind
    change: str
    subject: str
    table: OverlapTable | None
    reason: str = ""


def without_crawls(table: OverlapTable) -> Iterator[Variation]:
    """Leave out each crawl in turn.

    Parameters
    ----------
    table
        Three crawls or more; nothing can be left out of fewer.
    """
    if table.n_crawls <= _MIN_CRAWLS:
        return
    for position, crawl in enumerate(table.crawls):
        kept = [k for k in range(table.n_crawls) if k != position]
        yield Variation(
            kind="crawl",
            change=f"without crawl {crawl.label}",
            subject=crawl.label,
            table=keep_crawls(table, kept),
        )


def without_regimes(table: OverlapTable) -> Iterator[Variation]:
    """Leave out each regime in turn, as the check change-point finds them.

    Parameters
    ----------
    table
        The overlaps; nothing is yielded if they are of one regime.
    """
    regimes = diagnose(table).regimes
    if len(regimes) == 1:
        return
    for number, regime in enumerate(regimes, start=1):
        kept = [k for k in range(table.n_crawls) if k not in regime.positions]
        first, last = table.crawls[regime.first].label, table.crawls[regime.last].label
        is_enough = len(kept) >= _MIN_CRAWLS
        yield Variation(
            kind="regime",
            change=f"without regime {number} ({first} to {last})",
            subject=str(number),
            table=keep_crawls(table, kept) if is_enough else None,
            reason="" if is_enough else "fewer than two crawls would be left",
        )


def without_short_lags(table: OverlapTable) -> Iterator[Variation]:
    """Leave out pairs of crawls that are close in time.

    Histories are left out altogether: they do not come in pairs.

    Parameters
    ----------
    table
        The overlaps.
    """
    for lag in _LAGS:
        change = (
            "without adjacent crawls" if lag == _LAGS[0] else f"only {lag} crawls apart or more"
        )
        try:
            chosen = choose_window(replace(table, histories=None), min_lag=lag)
        except FitError:
            return
        yield Variation(kind="short-lags", change=change, subject=str(lag), table=chosen)


def divide_histories(table: OverlapTable) -> tuple[OverlapTable, ...]:
    """Divide the URLs of capture histories at random into disjoint parts.

    Keys are as good as random, so that URLs of one history are as good as each other.

    Parameters
    ----------
    table
        With histories; without them nothing can be divided, and no part comes back.
    """
    histories = table.histories
    if histories is None:
        return ()
    rng = np.random.default_rng(_SEED)
    shares = np.full(N_PARTS, 1 / N_PARTS)
    counts = rng.multinomial(histories.counts, shares).T
    rate = histories.sample_rate / N_PARTS
    parts = [
        replace(histories, masks=histories.masks[n > 0], counts=n[n > 0], sample_rate=rate)
        for n in counts
    ]
    return tuple(_table_of(table, part) for part in parts)


def _table_of(table: OverlapTable, part: Histories) -> OverlapTable:
    n_shared = part.count_pairs()
    sizes = n_shared.diagonal()
    if np.any(sizes == 0):
        raise FitError("there are too few URLs to be divided into parts")
    crawls = tuple(
        replace(crawl, n_sampled=int(size)) for crawl, size in zip(table.crawls, sizes, strict=True)
    )
    return replace(
        table,
        crawls=crawls,
        n_shared=np.where(table.n_shared == MISSING, MISSING, n_shared),
        histories=part,
        sample_rate=part.sample_rate,
    )


def as_parts(tables: tuple[OverlapTable, ...]) -> Iterator[Variation]:
    """Make a variation of each part.

    Parameters
    ----------
    tables
        Of disjoint parts of the URLs.
    """
    for number, table in enumerate(tables, start=1):
        change = f"only part {number} of {len(tables)} of the {things(table.level)}"
        yield Variation(kind="part", change=change, subject=str(number), table=table)


def fit_to(table: OverlapTable, other: OverlapTable) -> OverlapTable:
    """Reduce another count of the same crawls to the crawls and pairs of a table.

    Parameters
    ----------
    table
        What is estimated from.
    other
        Counted from the same crawls, and maybe further ones.

    Raises
    ------
    CrawlgaugeError
        If it lacks a crawl.
    """
    places = {crawl.label: k for k, crawl in enumerate(other.crawls)}
    lacking = [crawl.label for crawl in table.crawls if crawl.label not in places]
    if lacking:
        raise CrawlgaugeError(f"there is no crawl {lacking[0]!r} among those that were read again")
    kept = sorted(places[crawl.label] for crawl in table.crawls)
    chosen = keep_crawls(other, kept)
    order = [crawl.label for crawl in chosen.crawls]
    if order != [crawl.label for crawl in table.crawls]:
        return chosen
    return replace(chosen, n_shared=np.where(table.n_shared == MISSING, MISSING, chosen.n_shared))
