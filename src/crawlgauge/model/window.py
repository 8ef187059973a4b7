"""The window: which crawls and which pairs of them an estimate is made from."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from crawlgauge.errors import FitError
from crawlgauge.model.checks import diagnose
from crawlgauge.model.phrases import names
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = ["choose_window", "keep_crawls"]

_LATEST = "latest"  # the regime of the newest crawl

_MIN_CRAWLS = 2
_T = TypeVar("_T", Histories, HostGroups)


def choose_window(
    table: OverlapTable,
    *,
    since: dt.date | None = None,
    until: dt.date | None = None,
    exclude: Iterable[str] = (),
    min_lag: int | None = None,
    regime: int | str | None = None,
) -> OverlapTable:
    """Keep the chosen crawls and pairs; what was chosen is noted in the provenance.

    Parameters
    ----------
    table
        All overlaps.
    since, until
        First and last date of the crawls to keep.
    exclude
        Labels of crawls to leave out.
    min_lag
        Keep only pairs at least so many crawls apart, counted among all crawls of `table`, so
        that leaving out a crawl does not make its neighbours adjacent. Pairs of the same date
        stay.
    regime
        Keep only the crawls of one regime: its number from 1 in date order, or ``latest``.
        Regimes are looked for among the crawls that are left by the other choices.

    Raises
    ------
    FitError
        If a choice fits no crawl, or leaves fewer than two crawls or no pair.
    """
    excluded = tuple(dict.fromkeys(exclude))
    if (since, until, min_lag, regime) == (None,) * 4 and not excluded:
        return table
    labels = [crawl.label for crawl in table.crawls]
    unknown = [label for label in excluded if label not in labels]
    if unknown:
        raise FitError(
            f"there is no crawl {names(unknown)} to exclude; the crawls are {names(labels)}"
        )
    kept = [
        k
        for k, crawl in enumerate(table.crawls)
        if (since or crawl.date) <= crawl.date <= (until or crawl.date)
        and crawl.label not in excluded
    ]
    if len(kept) < _MIN_CRAWLS:
        raise FitError(_too_few(table, kept, since, until, excluded))
    chosen = keep_crawls(table, kept)
    if regime is not None:
        in_regime = _find_regime(chosen, regime)
        kept = [kept[k] for k in in_regime]
        chosen = keep_crawls(chosen, in_regime)
    if min_lag is not None:
        chosen = _drop_short_lags(table, chosen, kept, min_lag)
    choices = {
        "since": None if since is None else since.isoformat(),
        "until": None if until is None else until.isoformat(),
        "exclude": ",".join(excluded) or None,
        "min_lag": min_lag,
        "regime": regime,
    }
    made = {name: value for name, value in choices.items() if value is not None}
    settings = {**table.provenance.settings, **made}
    return replace(chosen, provenance=replace(table.provenance, settings=settings))


def _too_few(
    table: OverlapTable,
    kept: list[int],
    since: dt.date | None,
    until: dt.date | None,
    excluded: tuple[str, ...],
) -> str:
    first, last = table.crawls[0], table.crawls[-1]
    choices = [
        "" if since is None else f"since {since}",
        "" if until is None else f"until {until}",
        "" if not excluded else f"without {names(list(excluded))}",
    ]
    chosen = ", ".join(filter(None, choices)) or "in the table"
    left = f"only {table.crawls[kept[0]].label} is" if kept else "no crawl is"
    return (
        f"{left} left {chosen}, and an estimate needs two crawls or more; the crawls run from "
        f"{first.label} ({first.date}) to {last.label} ({last.date})"
    )


def _find_regime(table: OverlapTable, regime: int | str) -> list[int]:
    regimes = diagnose(table).regimes
    number = len(regimes) if regime == _LATEST else 0
    if str(regime).isascii() and str(regime).isdigit():
        number = int(regime)
    if not 1 <= number <= len(regimes):
        found = "; ".join(
            f"{k}: {table.crawls[r.first].label} to {table.crawls[r.last].label}"
            for k, r in enumerate(regimes, start=1)
        )
        raise FitError(
            f"there is no regime {regime!r}; give its number or {_LATEST!r}. Found by the check "
            f"change-point: {found}"
        )
    return list(regimes[number - 1].positions)


def _drop_short_lags(
    table: OverlapTable, chosen: OverlapTable, kept: list[int], min_lag: int
) -> OverlapTable:
    if min_lag < 1:
        raise FitError(
            f"the shortest lag is {min_lag} crawls; it must be 1 (adjacent crawls) or more"
        )
    ranks = np.unique([crawl.date.toordinal() for crawl in table.crawls], return_inverse=True)[1]
    rank = ranks[kept]
    lags = np.abs(rank[:, None] - rank)
    shared = np.where((lags > 0) & (lags < min_lag), MISSING, chosen.n_shared)
    if np.all(shared[np.triu_indices(len(kept), k=1)] == MISSING):
        raise FitError(
            f"no pair of crawls is {min_lag} crawls apart or more: the most distant ones are "
            f"{int(lags.max())} apart; choose a shorter --min-lag or more crawls"
        )
    return replace(chosen, n_shared=shared)


def keep_crawls(table: OverlapTable, kept: list[int]) -> OverlapTable:
    """Leave out all crawls but those at the positions `kept`."""
    if len(kept) == table.n_crawls:
        return table
    index = np.ix_(kept, kept)
    return replace(
        table,
        crawls=tuple(table.crawls[k] for k in kept),
        n_shared=table.n_shared[index],
        se_shared=None if table.se_shared is None else table.se_shared[index],
        histories=None if table.histories is None else _marginalise(table.histories, kept),
        host_groups=None if table.host_groups is None else _marginalise(table.host_groups, kept),
    )


def _marginalise(histories: _T, kept: list[int]) -> _T:
    """Forget the crawls that are left out, and the URLs that only they held."""
    shifts = np.array(kept, dtype=np.uint64)
    captured = (histories.masks[:, None] >> shifts) & np.uint64(1)
    masks = (captured << np.arange(len(kept), dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    distinct, place = np.unique(masks, return_inverse=True)
    counts = np.zeros((distinct.size, *histories.counts.shape[1:]), dtype=np.int64)
    np.add.at(counts, place, histories.counts)
    seen = distinct != 0
    return replace(histories, n_crawls=len(kept), masks=distinct[seen], counts=counts[seen])
