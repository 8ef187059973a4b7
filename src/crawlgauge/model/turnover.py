"""Follow URLs from crawl to crawl: all that histories tell, or else what pairs of crawls do."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crawlgauge._version import __version__
from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.histories.data import count_captures
from crawlgauge.model.intervals import NORMAL_QUANTILE
from crawlgauge.model.phrases import say
from crawlgauge.model.ranges import part_of, scaled, share
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Provenance

__all__ = ["Turnover"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlTurnover:
    """What one crawl did with the URLs of the crawls before it. Counts are of URLs.

    Parameters
    ----------
    label
        The crawl's.
    kept
        In it and in the previous crawl.
    added
        In it and not in the previous crawl: `new` and `recovered` together.
    new
        In it and in no earlier crawl.
    recovered
        In it and in an earlier crawl, but not in the previous one.
    dropped
        In the previous crawl and not in it: `forgotten` and `lost` together.
    forgotten
        In the previous crawl, not in it, but in a later one: they lived, and it missed them.
    lost
        In the previous crawl, not in it and in no later one so far.
    missed
        Captured before and after it, but not by it.
    self_overlap
        Share of the previous crawl's URLs that it holds.
    missed_at_least
        `missed` as a share of all URLs that are known to have lived at the time: those, and what
        it holds. It missed no smaller share of what it could have reached, whatever the model.
    relative_coverage
        Share that it holds of the URLs that any crawl holds.
    """

    label: str
    kept: Estimate
    added: Estimate
    new: Estimate
    recovered: Estimate
    dropped: Estimate
    forgotten: Estimate
    lost: Estimate
    missed: Estimate
    self_overlap: Estimate
    missed_at_least: Estimate
    relative_coverage: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Turnover:
    """What became of URLs from crawl to crawl, by counting alone.

    Parameters
    ----------
    level
        What is counted: ``url``, ``content`` or ``text``.
    crawls
        In date order.
    per_crawl
        For each crawl.
    n_distinct
        URLs that at least one crawl holds.
    capture_frequencies
        How many URLs just one crawl holds, just two, and so on; empty without histories.
    self_overlap
        Share of a crawl's URLs that the next one holds, over all crawls.
    forgotten_share
        Share of what crawls dropped that a later crawl found again, over all crawls but the last.
    sample_rate
        Share of the URLs that the histories, or else the pairs, were counted from.
    warnings
        What to be careful about, in words.
    provenance
        Where the numbers come from.
    """

    level: str
    sample_rate: float
    n_distinct: Estimate
    self_overlap: Estimate
    forgotten_share: Estimate
    crawls: tuple[Crawl, ...]
    per_crawl: tuple[CrawlTurnover, ...]
    capture_frequencies: tuple[Estimate, ...]
    warnings: tuple[str, ...]
    provenance: Provenance


_FIRST = "first crawl: there is none before it"
_SECOND = "second crawl: nothing can have been dropped and come back yet"
_LAST = "not yet known: there is no later crawl"
_PAIRS_ONLY = "takes capture histories; overlaps of pairs do not tell"

_FEW = 2


def follow_crawls(table: OverlapTable) -> Turnover:
    """Count what each crawl kept, dropped, found anew and missed.

    Parameters
    ----------
    table
        Any number of crawls, with capture histories or without.

    Returns
    -------
    Turnover
        What is not known is None with a reason.
    """
    histories = table.histories or _histories_of_few(table)
    table = replace(table, histories=histories)
    n_distinct = forgotten_share = Estimate.unknown(_PAIRS_ONLY)
    counts, rate = None, 1.0
    if histories is not None:
        counts, rate = _count_categories(histories), histories.sample_rate
        n_distinct = scaled(histories.n_urls, rate)
        forgotten, lost = (int(counts[name][1:-1].sum()) for name in ("forgotten", "lost"))
        forgotten_share = Estimate.unknown("no crawl that has a later one dropped anything")
        if forgotten + lost:
            forgotten_share = Estimate(value=forgotten / (forgotten + lost))
    self_overlap = Estimate.unknown("takes the overlap of two crawls that follow each other")
    shared = [_count_shared(table, counts, position) for position in range(table.n_crawls)]
    known = [item for item in shared if not isinstance(item, str)]
    if known:
        self_overlap = Estimate(value=sum(n for n, *_ in known) / sum(n for _, n, *_ in known))
    return Turnover(
        level=table.level,
        crawls=table.crawls,
        per_crawl=tuple(
            _follow(table, counts, of_pair, position) for position, of_pair in enumerate(shared)
        ),
        n_distinct=n_distinct,
        capture_frequencies=tuple(scaled(n, rate) for n in count_captures(table) or ()),
        self_overlap=self_overlap,
        forgotten_share=forgotten_share,
        sample_rate=table.sample_rate if histories is None else rate,
        warnings=tuple(_list_warnings(table)),
        # The table may come from another version; these counts are this one's.
        provenance=replace(table.provenance, crawlgauge=__version__),
    )


def _histories_of_few(table: OverlapTable) -> Histories | None:
    """Return the histories of one crawl or two, which their overlap determines."""
    if table.n_crawls > _FEW or table.se_shared is not None or MISSING in table.n_shared:
        return None
    sizes = table.n_shared.diagonal()
    shared = int(table.n_shared[0, 1]) if table.n_crawls == _FEW else 0
    counts = np.array([*(sizes - shared), shared], dtype=np.int64)
    masks = np.arange(1, counts.size + 1, dtype=np.uint64)
    return Histories(
        n_crawls=table.n_crawls,
        masks=masks[counts > 0],
        counts=counts[counts > 0],
        sample_rate=table.sample_rate,
    )


# URLs of each category, a number for each crawl; of the sample, where it is one.
_Counts = dict[str, NDArray[np.int64]]


def _count_categories(histories: Histories) -> _Counts:
    """Count the URLs of each category for each crawl.

    For the first crawl all are new, and for the last one all that it lacks are lost, as there is
    nothing to compare with.

    Examples
    --------
    >>> histories = Histories(n_crawls=3, masks=np.array([0b101, 0b111], dtype=np.uint64),
    ...                       counts=np.array([4, 10]))
    >>> counts = _count_categories(histories)
    >>> [counts[name].tolist() for name in ("forgotten", "recovered", "missed")]
    [[0, 4, 0], [0, 0, 4], [0, 4, 0]]
    """
    masks, rows = histories.masks, []
    for position in range(histories.n_crawls):
        bit = np.uint64(1 << position)
        is_held = (masks & bit) != 0
        was_before = (masks & np.uint64((1 << position) - 1)) != 0
        was_previous = (masks & (bit >> np.uint64(1))) != 0
        # In two steps, since a word cannot be shifted by all of its bits.
        is_after = (masks >> np.uint64(position)) > 1
        chosen = {
            "held": is_held,
            "kept": is_held & was_previous,
            "recovered": is_held & was_before & ~was_previous,
            "new": is_held & ~was_before,
            "forgotten": ~is_held & was_previous & is_after,
            "lost": ~is_held & was_previous & ~is_after,
            "missed": ~is_held & was_before & is_after,
        }
        rows.append({name: int(histories.counts[row].sum()) for name, row in chosen.items()})
    return {name: np.array([row[name] for row in rows], dtype=np.int64) for name in rows[0]}


# URLs that a crawl shares with the one before it, URLs of that one and of itself; of which share
# of all URLs they were counted, and their margin, where they were estimated and not counted.
_Shared = tuple[int, int, int, float, float | None]


def _count_shared(table: OverlapTable, counts: _Counts | None, position: int) -> _Shared | str:
    """Compare a crawl with the one before it, or say why that is not possible.

    Exact overlaps of pairs come first, then histories, then overlaps that are estimates.
    """
    if position == 0:
        return _FIRST
    n_shared = int(table.n_shared[position - 1, position])
    before, now = table.crawls[position - 1 : position + 1]
    if n_shared != MISSING and table.sample_rate == 1 and table.se_shared is None:
        return n_shared, before.n_counted, now.n_counted, 1.0, None
    if counts is not None and table.histories is not None:
        n_before, n_now = counts["held"][position - 1 : position + 1].tolist()
        return int(counts["kept"][position]), n_before, n_now, table.histories.sample_rate, None
    if n_shared == MISSING:
        return "its overlap with the crawl before it is not in the table"
    if table.se_shared is not None:
        error = float(table.se_shared[position - 1, position])
        margin = 0.0 if math.isnan(error) else NORMAL_QUANTILE * error
        return n_shared, before.n_urls, now.n_urls, table.sample_rate, margin
    return n_shared, before.n_counted, now.n_counted, table.sample_rate, None


def _follow(
    table: OverlapTable, counts: _Counts | None, shared: _Shared | str, position: int
) -> CrawlTurnover:
    is_first, is_last = position == 0, position == table.n_crawls - 1
    pairs_only = Estimate.unknown(_PAIRS_ONLY)
    unknown = Estimate.unknown(_FIRST if is_first else _LAST if is_last else _PAIRS_ONLY)
    found = dict.fromkeys(("forgotten", "lost", "missed", "missed_at_least"), unknown)
    found["relative_coverage"] = pairs_only
    n_added = n_dropped = None
    if isinstance(shared, str):
        overlap = (Estimate.unknown(shared),) * 4
    else:
        n_shared, before, now, rate, margin = shared
        if margin is None:
            of_others = scaled(now - n_shared, rate), scaled(before - n_shared, rate)
            overlap = scaled(n_shared, rate), *of_others, share(n_shared, before, rate)
        else:
            overlap = (
                _between(n_shared, margin, min(before, now)),
                _between(now - n_shared, margin, now),
                _between(before - n_shared, margin, before),
                _between(n_shared / before, margin / before, min(1.0, now / before)),
            )
        if rate == 1:
            n_added, n_dropped = now - n_shared, before - n_shared
    found |= dict(zip(("kept", "added", "dropped", "self_overlap"), overlap, strict=True))
    found["new"] = found["recovered"] = unknown if is_first else pairs_only
    if position == 1:
        found |= {"new": found["added"], "recovered": Estimate.unknown(_SECOND)}
    if counts is not None and table.histories is not None:
        rate = table.histories.sample_rate
        n = {name: int(column[position]) for name, column in counts.items()}
        found["relative_coverage"] = share(n["held"], table.histories.n_urls, rate)
        if position > 1:
            found["new"], found["recovered"] = _split(n_added, n["new"], n["recovered"], rate)
        if not is_first and not is_last:
            parts = _split(n_dropped, n["forgotten"], n["lost"], rate)
            found["forgotten"], found["lost"] = parts
            found["missed"] = scaled(n["missed"], rate)
            found["missed_at_least"] = share(n["missed"], n["missed"] + n["held"], rate)
    return CrawlTurnover(label=table.crawls[position].label, **found)


def _between(value: float, margin: float, most: float) -> Estimate:
    if margin == 0:
        return Estimate(value=value, reason="the table gives no standard error for this overlap")
    low, high = max(0.0, value - margin), min(most, value + margin)
    return Estimate.between(value, low, high)


def _split(total: int | None, n: int, n_others: int, rate: float) -> tuple[Estimate, Estimate]:
    """Return two parts by their shares in the histories, or scaled if the whole is not known."""
    if total is None:
        return scaled(n, rate), scaled(n_others, rate)
    n_both = n + n_others
    return part_of(total, n, n_both, rate), part_of(total, n_others, n_both, rate)


def _list_warnings(table: OverlapTable) -> Iterator[str]:
    """Say in words what to be careful about."""
    damaged = [crawl.label for crawl in table.crawls if crawl.damaged]
    if damaged:
        yield say("turnover.damaged", crawls=damaged, level=table.level)
    same_day = [b.label for a, b in pairwise(table.crawls) if a.date == b.date]
    if same_day:
        yield say("turnover.same-day", crawls=same_day)
