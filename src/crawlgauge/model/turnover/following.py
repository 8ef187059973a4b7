"""Follow URLs from crawl to crawl: all that histories tell, or else what pairs of crawls do."""

from dataclasses import replace

import numpy as np

from crawlgauge._version import __version__
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.holdings import count_captures
from crawlgauge.model.sampled_counts import part_of, scaled, share
from crawlgauge.model.turnover.categories import Categories, count_categories
from crawlgauge.model.turnover.keeping import FIRST, Kept, count_kept
from crawlgauge.model.turnover.results import CrawlTurnover, Turnover
from crawlgauge.model.turnover.warnings import list_warnings
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import MISSING, OverlapTable

__all__ = ["follow_crawls"]

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
