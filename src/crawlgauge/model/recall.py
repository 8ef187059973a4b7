"""From what crawls hold of a reference to their recall, beside their estimated coverage."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from crawlgauge.crawl import DAYS_PER_YEAR, Crawl
from crawlgauge.errors import FitError
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.intervals import NORMAL_QUANTILE
from crawlgauge.model.phrases import say
from crawlgauge.model.ranges import Carrying, LogRange, find_carrying, share, within
from crawlgauge.overlaps.table import HeldCounts, Reference
from crawlgauge.provenance import Provenance

__all__ = ["Recall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRecall:
    """How much of the reference one crawl holds.

    Parameters
    ----------
    crawl
        The crawl.
    n_looked_for
        Entries of the reference that can be looked for: those in the crawl's sample.
    n_held
        Those that it holds.
    recall
        Their share.
    is_least
        Whether more may be held than could be seen.
    coverage
        What the series of crawls says of the crawl's coverage.
    by_reference
        Its coverage as the reference gives it, if that is a uniform sample of what could be
        crawled: the recall, carried over the time between them; None if it is not said to be one.
    """

    crawl: Crawl
    n_looked_for: int
    n_held: int
    recall: Estimate
    is_least: bool
    coverage: Estimate
    by_reference: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformCheck:
    """What a uniform reference says of the coverage, beside what the series of crawls says.

    Parameters
    ----------
    label
        The crawl that is nearest to the reference in time.
    gap_days
        From the reference to the crawl.
    by_reference, by_series
        Its coverage by either.
    ratio
        That by the series over that by the reference.
    verdict
        What a difference means, in words.
    union_by_reference, union_by_series
        What all crawls together hold of what lived at the newest, by either.
    """

    label: str
    gap_days: int
    by_reference: Estimate
    by_series: Estimate
    ratio: Estimate
    verdict: str
    union_by_reference: Estimate
    union_by_series: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierBound:
    """The most that a crawl can cover, given what it knew of and did not fetch.

    Parameters
    ----------
    label
        The crawl.
    n_urls, n_queued
        URLs that it holds, and that were left in its queues.
    most
        The share that it holds of both.
    by_series
        Its coverage by the series of crawls.
    verdict
        What the two say of each other, in words.
    """

    label: str
    n_urls: int
    n_queued: int
    most: float
    by_series: Estimate
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How much of a reference the crawls of an archive hold.

    Parameters
    ----------
    key_rule
        By which URLs are the same.
    reference
        The list; None if only a frontier was asked about.
    per_crawl
        For each crawl, in order of date.
    n_looked_for, n_held, union
        Entries that could be looked for in all crawls, those that some crawl holds, and their
        share.
    headline
        Typical coverage of a crawl by the series.
    uniform
        What a uniform reference says; None if it is not said to be one.
    frontier
        What the queues say; None if they were not given.
    warnings
        What to be careful about.
    provenance
        Where the numbers come from.
    """

    key_rule: str
    reference: Reference | None
    per_crawl: tuple[CrawlRecall, ...]
    n_looked_for: int
    n_held: int
    union: Estimate
    headline: Estimate
    uniform: UniformCheck | None
    frontier: FrontierBound | None
    warnings: tuple[str, ...]
    provenance: Provenance = field(default_factory=Provenance)


def recall_reference(
    crawls: Sequence[Crawl],
    series: Estimates | str,
    *,
    key_rule: str,
    reference: Reference | None,
    held: Sequence[HeldCounts] = (),
    held_by_any: HeldCounts | None = None,
    is_uniform: bool = False,
    persistence: float | None = None,
    queued: tuple[str, int] | None = None,
    warnings: Sequence[str] = (),
    provenance: Provenance | None = None,
) -> Recall:
    """Tell how much of a reference each crawl holds, and all of them together.

    Parameters
    ----------
    crawls
        In order of date.
    series
        What they say of themselves, or why they say nothing.
    key_rule
        By which URLs are the same.
    reference
        The list; None if there is none.
    held, held_by_any
        What each crawl holds of it, and what some crawl holds.
    is_uniform
        Whether the reference is a uniform sample of what could be crawled at its date.
    persistence
        Share of URLs that lives on for a year, where the user knows it.
    queued
        Label of a crawl, and how many URLs were left in its queues.
    warnings, provenance
        Of the reading.
    """
    coverages: dict[str, Estimate] = {}
    if isinstance(series, str):
        headline = union_by_series = Estimate.unknown(series)
        carrying = find_carrying([headline], persistence)
    else:
        headline = within(series.headline.coverage, most=1.0)
        coverages = {row.label: within(row.coverage, most=1.0) for row in series.per_crawl}
        union_by_series = Estimate.unknown("the union is not known")
        if series.union is not None:
            union_by_series = series.union.coverage
        lives_on = within(series.persistence, most=1.0)
        carrying = find_carrying([lives_on], persistence, series.growth_per_year)
        if series.agreement.grade == "C":
            warnings = (*warnings, say("recall.grade"))
    date = reference.date if is_uniform and reference is not None else None
    rows = []
    for crawl, counts in zip(crawls, held, strict=bool(held)):
        by_reference, held_share = None, _share_held(counts)
        if date is not None:
            by_reference = carry_recall(held_share, (crawl.date - date).days, carrying)
        rows.append(
            CrawlRecall(
                crawl=crawl,
                n_looked_for=counts.n_looked_for,
                n_held=counts.n_held,
                recall=held_share,
                is_least=counts.is_least,
                coverage=coverages.get(crawl.label, headline),
                by_reference=by_reference,
            )
        )
    by_any = held_by_any or HeldCounts(n_looked_for=0, n_held=0)
    union = _share_held(by_any)
    uniform = frontier = None
    if date is not None:
        nearest = min(rows, key=lambda row: abs((row.crawl.date - date).days))
        gap_days = (rows[-1].crawl.date - date).days
        # A later crawl has seen what the reference cannot list, and nothing follows.
        union_by_reference = Estimate.unknown("the reference is older than the newest crawl")
        if gap_days <= 0:
            union_by_reference = carry_recall(union, gap_days, carrying)
        unions, gap_days = (union_by_reference, union_by_series), (nearest.crawl.date - date).days
        uniform = check_uniform(nearest, gap_days, headline, unions)
    if queued is not None:
        (crawl,) = [crawl for crawl in crawls if crawl.label == queued[0]]
        frontier = bound_by_frontier(crawl, queued[1], coverages.get(crawl.label, headline))
    return Recall(
        key_rule=key_rule,
        reference=reference,
        per_crawl=tuple(rows),
        n_looked_for=by_any.n_looked_for,
        n_held=by_any.n_held,
        union=union,
        headline=headline,
        uniform=uniform,
        frontier=frontier,
        warnings=tuple(warnings),
        provenance=provenance or Provenance(),
    )


def _share_held(counts: HeldCounts) -> Estimate:
    """Return the share that is held; the reference is a sample of far more that could be listed."""
    if counts.n_looked_for == 0:
        return Estimate.unknown("none of the reference can be looked for")
    return share(counts.n_held, counts.n_looked_for, 0.0)


def carry_recall(recall: Estimate, gap_days: int, carrying: Carrying) -> Estimate:
    """Return the coverage of a crawl by its recall of a uniform reference of another date.

    Parameters
    ----------
    recall
        With its interval.
    gap_days
        From the reference to the crawl.
    carrying
        How the recall falls with time.
    """
    if recall.value is None or recall.low is None or recall.high is None or gap_days == 0:
        return recall
    reason = carrying.why_not(gap_days)
    if reason is not None:
        return Estimate.unknown(reason)
    kept = carrying.kept(gap_days)
    no_range = carrying.why_no_range(gap_days)
    if no_range is not None:
        return Estimate(value=min(1.0, recall.value / kept), reason=no_range)
    variance = carrying.variance_over(gap_days / DAYS_PER_YEAR)
    if recall.value == 0:
        high = recall.high / kept * math.exp(NORMAL_QUANTILE * math.sqrt(variance))
        return Estimate.between(0.0, 0.0, min(1.0, high))
    found = LogRange.from_estimate(recall).shifted(-math.log(kept))
    return found.widened(variance).to_estimate(most=1.0)


def check_uniform(
    nearest: CrawlRecall, gap_days: int, headline: Estimate, unions: tuple[Estimate, Estimate]
) -> UniformCheck:
    """Set the coverage by the reference beside that by the series, typical if it has no other."""
    by_reference = nearest.by_reference or nearest.recall
    by_series = nearest.coverage if nearest.coverage.value is not None else headline
    ratio = Estimate.unknown("one of the two coverages is not known")
    if by_series.value and by_reference.value:
        found = LogRange.from_estimate(by_series).over(LogRange.from_estimate(by_reference))
        both = (by_series, by_reference)
        no_range = next((item.reason for item in both if item.low is None), None)
        ratio = found.to_estimate(reason=no_range)
    return UniformCheck(
        label=nearest.crawl.label,
        gap_days=gap_days,
        by_reference=by_reference,
        by_series=by_series,
        ratio=ratio,
        verdict=_judge_uniform(ratio),
        union_by_reference=unions[0],
        union_by_series=unions[1],
    )


def _judge_uniform(ratio: Estimate) -> str:
    if ratio.value is None:
        return say("recall.untold")
    if ratio.low is None or ratio.high is None:
        return say("recall.no-range")
    code = "more" if ratio.low > 1 else "less" if ratio.high < 1 else "agree"
    return say(f"recall.{code}", by=abs(ratio.value - 1))


def bound_by_frontier(crawl: Crawl, n_queued: int, by_series: Estimate) -> FrontierBound:
    """Bound a crawl's coverage from above by the URLs that were left in its queues.

    Parameters
    ----------
    crawl
        The crawl.
    n_queued
        URLs that it knew of and did not fetch.
    by_series
        Its coverage by the series of crawls.

    Raises
    ------
    FitError
        If the number is negative.

    Examples
    --------
    >>> import datetime as dt
    >>> crawl = Crawl(label="2021-12", date=dt.date(2021, 12, 15), n_urls=60)
    >>> bound_by_frontier(crawl, 40, Estimate(value=0.46)).most
    0.6
    """
    if n_queued < 0:
        raise FitError(f"{n_queued} URLs cannot be in the queues; give their number, or 0")
    most = crawl.n_urls / (crawl.n_urls + n_queued)
    return FrontierBound(
        label=crawl.label,
        n_urls=crawl.n_urls,
        n_queued=n_queued,
        most=most,
        by_series=by_series,
        verdict=_judge_frontier(most, by_series),
    )


def _judge_frontier(most: float, by_series: Estimate) -> str:
    code = "contradicts"
    if by_series.value is None:
        code = "alone"
    elif by_series.value <= most:
        code = "agrees"
    elif by_series.low is not None and by_series.low <= most:
        code = "within"
    return say(f"recall.frontier-{code}", most=most, value=by_series.value)
