"""What a crawl shares with the one before it, which pairs of crawls tell as well as histories."""

import math
from dataclasses import dataclass

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.margins import LEVEL, NORMAL_QUANTILE
from crawlgauge.model.sampled_counts import scaled, share
from crawlgauge.model.turnover.categories import Categories
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = ["FIRST", "Kept", "count_kept"]

FIRST = "first crawl: there is none before it"
_NO_PAIR = "its overlap with the crawl before it is not in the table"
_NO_ERROR = "the table gives no standard error for this overlap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A crawl beside the one before it.

    Parameters
    ----------
    kept, added, dropped
        URLs that both hold, that only the crawl holds, and that only the one before it holds.
    self_overlap
        Share of the URLs of the one before that it holds.
    n_shared, n_before
        What that share was counted from; `n_shared` is None where it is not known.
    n_added, n_dropped
        `added` and `dropped` where they are known exactly, else None.
    """

    kept: Estimate
    added: Estimate
    dropped: Estimate
    self_overlap: Estimate
    n_shared: int | None = None
    n_before: int = 0
    n_added: int | None = None
    n_dropped: int | None = None


def count_kept(table: OverlapTable, counts: Categories | None, position: int) -> Kept:
    """Compare a crawl with the one before it.

    Exact overlaps of pairs come first, then histories, then overlaps that are estimates.

    Parameters
    ----------
    table
        The overlaps.
    counts
        What its histories hold, if it has any.
    position
        Of the crawl, from 0.
    """
    if position == 0:
        return _unknown(FIRST)
    n_shared = int(table.n_shared[position - 1, position])
    sizes = [crawl.n_counted for crawl in table.crawls[position - 1 : position + 1]]
    if n_shared != MISSING and table.sample_rate == 1 and table.se_shared is None:
        return _count(n_shared, sizes[0], sizes[1], 1.0)
    if counts is not None and table.histories is not None:
        held = counts.held
        return _count(
            int(counts.kept[position]),
            int(held[position - 1]),
            int(held[position]),
            table.histories.sample_rate,
        )
    if n_shared == MISSING:
        return _unknown(_NO_PAIR)
    if table.se_shared is not None:
        return _from_sketch(table, n_shared, position)
    return _count(n_shared, sizes[0], sizes[1], table.sample_rate)


def _unknown(reason: str) -> Kept:
    unknown = Estimate.unknown(reason)
    return Kept(kept=unknown, added=unknown, dropped=unknown, self_overlap=unknown)


def _count(n_shared: int, n_before: int, n_now: int, rate: float) -> Kept:
    n_added, n_dropped = n_now - n_shared, n_before - n_shared
    return Kept(
        kept=scaled(n_shared, rate),
        added=scaled(n_added, rate),
        dropped=scaled(n_dropped, rate),
        self_overlap=share(n_shared, n_before, rate),
        n_shared=n_shared,
        n_before=n_before,
        n_added=n_added if rate == 1 else None,
        n_dropped=n_dropped if rate == 1 else None,
    )


def _from_sketch(table: OverlapTable, n_shared: int, position: int) -> Kept:
    """Take an overlap that others have estimated, with the error that they give."""
    before, now = (crawl.n_urls for crawl in table.crawls[position - 1 : position + 1])
    error = 0.0 if table.se_shared is None else float(table.se_shared[position - 1, position])
    margin = 0.0 if math.isnan(error) else NORMAL_QUANTILE * error
    return Kept(
        kept=_between(n_shared, margin, min(before, now)),
        added=_between(now - n_shared, margin, now),
        dropped=_between(before - n_shared, margin, before),
        self_overlap=_between(n_shared / before, margin / before, min(1.0, now / before)),
        n_shared=n_shared,
        n_before=before,
    )


def _between(value: float, margin: float, most: float) -> Estimate:
    if margin == 0:
        return Estimate(value=value, reason=_NO_ERROR)
    low, high = max(0.0, value - margin), min(most, value + margin)
    return Estimate(value=value, low=low, high=high, level=LEVEL, basis="interval")
