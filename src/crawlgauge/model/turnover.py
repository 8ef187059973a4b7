"""Follow URLs from crawl to crawl: all that histories tell, or else what pairs of crawls do."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crawlgauge._version import __version__
from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.histories.data import count_captures
from crawlgauge.model.intervals import LEVEL, NORMAL_QUANTILE
from crawlgauge.model.pairs import freeze_arrays
from crawlgauge.model.phrases import names, things
from crawlgauge.model.sampled_counts import part_of, scaled, share
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import MISSING, OverlapTable
from crawlgauge.provenance import Provenance

__all__ = ["CrawlTurnover", "Turnover", "follow_crawls"]


# ---------------------------------------------------------- what counting from crawl to crawl gives


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


# ----------------------------------------- count capture histories by what each crawl did with them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Categories:
    """URLs of each category, a number for each crawl; of the sample, where it is one.

    Parameters
    ----------
    held
        URLs of the crawl.
    kept, recovered, new
        Parts of `held`. For the first crawl all are new, and for the second none recovered, as
        there is nothing to compare with.
    forgotten, lost
        Parts of what the previous crawl holds and this one does not. For the last crawl all are
        lost, as there is no later one.
    missed
        URLs that were captured before and after, and not by this crawl.
    """

    held: NDArray[np.int64]
    kept: NDArray[np.int64]
    recovered: NDArray[np.int64]
    new: NDArray[np.int64]
    forgotten: NDArray[np.int64]
    lost: NDArray[np.int64]
    missed: NDArray[np.int64]

    def __post_init__(self) -> None:
        freeze_arrays(self, "held", "kept", "recovered", "new", "forgotten", "lost", "missed")

    @property
    def added(self) -> NDArray[np.int64]:
        """URLs of the crawl that the previous one does not hold."""
        return self.recovered + self.new

    @property
    def dropped(self) -> NDArray[np.int64]:
        """URLs of the previous crawl that this one does not hold."""
        return self.forgotten + self.lost


def count_categories(histories: Histories) -> Categories:
    """Count the URLs of each category for each crawl.

    Parameters
    ----------
    histories
        Of the crawls in date order.

    Examples
    --------
    >>> histories = Histories(n_crawls=3, masks=np.array([0b101, 0b111], dtype=np.uint64),
    ...                       counts=np.array([4, 10]))
    >>> categories = count_categories(histories)
    >>> categories.forgotten.tolist(), categories.recovered.tolist(), categories.missed.tolist()
    ([0, 4, 0], [0, 0, 4], [0, 4, 0])
    """
    rows = [_count_categories(histories, position) for position in range(histories.n_crawls)]
    columns = np.array(rows, dtype=np.int64).T
    held, kept, recovered, new, forgotten, lost, missed = columns
    return Categories(
        held=held,
        kept=kept,
        recovered=recovered,
        new=new,
        forgotten=forgotten,
        lost=lost,
        missed=missed,
    )


def _count_categories(histories: Histories, position: int) -> tuple[int, ...]:
    masks, counts = histories.masks, histories.counts
    bit = np.uint64(1 << position)
    is_held = (masks & bit) != 0
    was_before = (masks & np.uint64((1 << position) - 1)) != 0
    was_previous = (masks & (bit >> np.uint64(1))) != 0
    # In two steps, since a word cannot be shifted by all of its bits.
    is_after = (masks >> np.uint64(position)) > 1
    chosen = (
        is_held,
        is_held & was_previous,
        is_held & was_before & ~was_previous,
        is_held & ~was_before,
        ~is_held & was_previous & is_after,
        ~is_held & was_previous & ~is_after,
        ~is_held & was_before & is_after,
    )
    return tuple(int(counts[rows].sum()) for rows in chosen)


# ------ what a crawl shares with the one before it, which pairs of crawls tell as well as histories


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
        return _count_kept(n_shared, sizes[0], sizes[1], 1.0)
    if counts is not None and table.histories is not None:
        held = counts.held
        return _count_kept(
            int(counts.kept[position]),
            int(held[position - 1]),
            int(held[position]),
            table.histories.sample_rate,
        )
    if n_shared == MISSING:
        return _unknown(_NO_PAIR)
    if table.se_shared is not None:
        return _from_sketch(table, n_shared, position)
    return _count_kept(n_shared, sizes[0], sizes[1], table.sample_rate)


def _unknown(reason: str) -> Kept:
    unknown = Estimate.unknown(reason)
    return Kept(kept=unknown, added=unknown, dropped=unknown, self_overlap=unknown)


def _count_kept(n_shared: int, n_before: int, n_now: int, rate: float) -> Kept:
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


# ----------------------------------------------- what may mislead in the counts from crawl to crawl


def list_warnings(table: OverlapTable) -> tuple[str, ...]:
    """Say in words what to be careful about.

    Parameters
    ----------
    table
        What was counted from.
    """
    noun = things(table.level)
    found = []
    damaged = [crawl.label for crawl in table.crawls if crawl.damaged]
    if damaged:
        found.append(
            f"Part of the input of {names(damaged)} was damaged and left out: {noun} in it count "
            "as dropped or missed, and as recovered afterwards."
        )
    same_day = [b.label for a, b in pairwise(table.crawls) if a.date == b.date]
    if same_day:
        found.append(
            f"Same date as the crawl before: {names(same_day)}. No time lies between the two, so "
            "that nothing was dropped because it was gone."
        )
    return tuple(found)


# ------------------------------------------------------------------ follow URLs from crawl to crawl


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
    counts = None if histories is None else count_categories(histories)
    kept = [count_kept(table, counts, position) for position in range(table.n_crawls)]
    return Turnover(
        level=table.level,
        crawls=table.crawls,
        per_crawl=tuple(
            _follow(table, counts, kept[position], position) for position in range(table.n_crawls)
        ),
        n_distinct=_count_distinct(histories),
        capture_frequencies=tuple(scaled(n, _rate(histories)) for n in count_captures(table) or ()),
        self_overlap=_pool_self_overlap(kept),
        forgotten_share=_pool_forgotten(counts),
        sample_rate=table.sample_rate if histories is None else histories.sample_rate,
        warnings=list_warnings(table),
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


def _follow(
    table: OverlapTable, counts: Categories | None, kept: Kept, position: int
) -> CrawlTurnover:
    is_last = position == table.n_crawls - 1
    rate = _rate(table.histories)
    new, recovered = _split_added(counts, kept, rate, position)
    forgotten, lost = _split_dropped(counts, kept, rate, position, is_last=is_last)
    missed, missed_at_least = _count_missed(counts, rate, position, is_last=is_last)
    relative = Estimate.unknown(_PAIRS_ONLY)
    if counts is not None and table.histories is not None:
        relative = share(int(counts.held[position]), table.histories.n_urls, rate)
    return CrawlTurnover(
        label=table.crawls[position].label,
        kept=kept.kept,
        added=kept.added,
        new=new,
        recovered=recovered,
        dropped=kept.dropped,
        forgotten=forgotten,
        lost=lost,
        missed=missed,
        self_overlap=kept.self_overlap,
        missed_at_least=missed_at_least,
        relative_coverage=relative,
    )


def _split_added(
    counts: Categories | None, kept: Kept, rate: float, position: int
) -> tuple[Estimate, Estimate]:
    """Return what is new and what is recovered of what the previous crawl does not hold."""
    if position == 0:
        return Estimate.unknown(FIRST), Estimate.unknown(FIRST)
    if position == 1:
        return kept.added, Estimate.unknown(_SECOND)
    if counts is None:
        return Estimate.unknown(_PAIRS_ONLY), Estimate.unknown(_PAIRS_ONLY)
    n_new, n_recovered = int(counts.new[position]), int(counts.recovered[position])
    return (
        _split(kept.n_added, n_new, n_recovered, rate),
        _split(kept.n_added, n_recovered, n_new, rate),
    )


def _split_dropped(
    counts: Categories | None, kept: Kept, rate: float, position: int, *, is_last: bool
) -> tuple[Estimate, Estimate]:
    """Return what is forgotten and what is lost of what the previous crawl holds alone."""
    if position == 0:
        return Estimate.unknown(FIRST), Estimate.unknown(FIRST)
    if is_last:
        return Estimate.unknown(_LAST), Estimate.unknown(_LAST)
    if counts is None:
        return Estimate.unknown(_PAIRS_ONLY), Estimate.unknown(_PAIRS_ONLY)
    n_forgotten, n_lost = int(counts.forgotten[position]), int(counts.lost[position])
    return (
        _split(kept.n_dropped, n_forgotten, n_lost, rate),
        _split(kept.n_dropped, n_lost, n_forgotten, rate),
    )


def _split(total: int | None, n: int, n_others: int, rate: float) -> Estimate:
    """Return a part by its share in the histories, or scaled where the whole is not known."""
    return scaled(n, rate) if total is None else part_of(total, n, n + n_others, rate)


def _count_missed(
    counts: Categories | None, rate: float, position: int, *, is_last: bool
) -> tuple[Estimate, Estimate]:
    """Return what was captured before and after a crawl but not by it, and its share."""
    if position == 0 or is_last or counts is None:
        reason = FIRST if position == 0 else _LAST if is_last else _PAIRS_ONLY
        return Estimate.unknown(reason), Estimate.unknown(reason)
    held, n_missed = int(counts.held[position]), int(counts.missed[position])
    return scaled(n_missed, rate), share(n_missed, n_missed + held, rate)


def _count_distinct(histories: Histories | None) -> Estimate:
    if histories is None:
        return Estimate.unknown(_PAIRS_ONLY)
    return scaled(histories.n_urls, histories.sample_rate)


def _pool_self_overlap(kept: list[Kept]) -> Estimate:
    known = [item for item in kept if item.n_shared is not None]
    if not known:
        return Estimate.unknown("takes the overlap of two crawls that follow each other")
    n_shared = sum(item.n_shared or 0 for item in known)
    return Estimate(value=n_shared / sum(item.n_before for item in known))


def _pool_forgotten(counts: Categories | None) -> Estimate:
    if counts is None:
        return Estimate.unknown(_PAIRS_ONLY)
    n_dropped = int(counts.dropped[1:-1].sum())
    if n_dropped == 0:
        return Estimate.unknown("no crawl that has a later one dropped anything")
    return Estimate(value=int(counts.forgotten[1:-1].sum()) / n_dropped)


def _rate(histories: Histories | None) -> float:
    return 1.0 if histories is None else histories.sample_rate
