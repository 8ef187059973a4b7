"""The window: which crawls and which pairs of them an estimate is made from."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from crawlgauge.crawl import Crawl, parse_date
from crawlgauge.errors import FitError
from crawlgauge.model.checks import diagnose
from crawlgauge.model.phrases import names, say
from crawlgauge.overlaps.histories import Histories, HostGroups
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = ["choose_window", "find_crawls", "keep_crawls"]

_LATEST = "latest"  # the regime of the newest crawl

_MIN_CRAWLS = 2
_T = TypeVar("_T", Histories, HostGroups)


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

    What was chosen is noted in the provenance.

    Parameters
    ----------
    table
        All overlaps.
    since, until
        First and last date of the crawls to keep; ``2015`` and ``2015-06`` stand for their first
        and last day.
    exclude
        Labels of crawls to leave out.
    min_lag
        Keep only pairs at least so many crawls apart, counted among all crawls of `table`, so
        that leaving out a crawl does not make its neighbours adjacent. Pairs of the same date
        stay.
    regime
        Keep only the crawls of one regime, as the check change-point finds them: its number from
        1 in date order, or ``latest``. Regimes are looked for among the crawls that are left by
        the other choices.

    Raises
    ------
    FitError
        If a choice fits no crawl, or leaves fewer than two crawls or no pair.
    """
    excluded = tuple(dict.fromkeys(exclude))
    first = parse_date(since, at="start") if isinstance(since, str) else since
    last = parse_date(until, at="end") if isinstance(until, str) else until
    if (first, last, min_lag, regime) == (None,) * 4 and not excluded:
        return table
    kept = find_crawls(table.crawls, since=first, until=last, exclude=excluded)
    if len(kept) < _MIN_CRAWLS:
        bounds = {"since": first, "until": last, "without": names(excluded) if excluded else None}
        chosen_by = [f"{word} {bound}" for word, bound in bounds.items() if bound is not None]
        raise FitError(
            say(
                "window.too-few",
                left=f"only {table.crawls[kept[0]].label} is" if kept else "no crawl is",
                chosen=", ".join(chosen_by) or "in the table",
                first=table.crawls[0],
                last=table.crawls[-1],
            )
        )
    chosen = keep_crawls(table, kept)
    if regime is not None:
        in_regime = _find_regime(chosen, regime)
        kept = [kept[k] for k in in_regime]
        chosen = keep_crawls(chosen, in_regime)
    if min_lag is not None:
        chosen = _drop_short_lags(table, chosen, kept, min_lag)
    choices = {
        "since": None if first is None else first.isoformat(),
        "until": None if last is None else last.isoformat(),
        "exclude": ",".join(excluded) or None,
        "min_lag": min_lag,
        "regime": regime,
    }
    made = {name: value for name, value in choices.items() if value is not None}
    settings = {**table.provenance.settings, **made}
    return replace(chosen, provenance=replace(table.provenance, settings=settings))


def find_crawls(
    crawls: Sequence[Crawl],
    *,
    since: dt.date | str | None = None,
    until: dt.date | str | None = None,
    exclude: Iterable[str] = (),
) -> list[int]:
    """Return the positions of the crawls to keep, as for `choose_window`.

    Raises
    ------
    FitError
        If a crawl that is to be left out is not there.
    """
    labels, excluded = [crawl.label for crawl in crawls], list(exclude)
    unknown = [label for label in excluded if label not in labels]
    if unknown:
        known = names(labels) if labels else "none"
        raise FitError(f"there is no crawl {names(unknown)} to exclude; the crawls are {known}")
    first = parse_date(since, at="start") if isinstance(since, str) else since or dt.date.min
    last = parse_date(until, at="end") if isinstance(until, str) else until or dt.date.max
    return [
        k
        for k, crawl in enumerate(crawls)
        if first <= crawl.date <= last and crawl.label not in excluded
    ]


def _find_regime(table: OverlapTable, regime: int | str) -> list[int]:
    regimes = diagnose(table).regimes
    number = len(regimes) if regime == _LATEST else 0
    if str(regime).isascii() and str(regime).isdigit():
        number = int(regime)
    if not 1 <= number <= len(regimes):
        found = "; ".join(
            f"{k}: {table.crawls[r[0]].label} to {table.crawls[r[-1]].label}"
            for k, r in enumerate(regimes, start=1)
        )
        raise FitError(say("refused.regime", regime=regime, latest=_LATEST, found=found))
    return list(regimes[number - 1])


def _drop_short_lags(
    table: OverlapTable, chosen: OverlapTable, kept: list[int], min_lag: int
) -> OverlapTable:
    if min_lag < 1:
        raise FitError(say("refused.short-lag", min_lag=min_lag))
    ranks = np.unique([crawl.date.toordinal() for crawl in table.crawls], return_inverse=True)[1]
    rank = ranks[kept]
    lags = np.abs(rank[:, None] - rank)
    shared = np.where((lags > 0) & (lags < min_lag), MISSING, chosen.n_shared)
    if np.all(shared[np.triu_indices(len(kept), k=1)] == MISSING):
        raise FitError(say("refused.no-pair", min_lag=min_lag, most=int(lags.max())))
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
