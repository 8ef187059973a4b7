"""From what crawls hold of a reference to their recall, beside their estimated coverage."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from crawlgauge.crawl import DAYS_PER_YEAR, Crawl
from crawlgauge.errors import FitError
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.intervals import LEVEL, NORMAL_QUANTILE
from crawlgauge.model.log_range import Carrying, LogRange, carrying_from_series, carrying_with
from crawlgauge.model.phrases import percent
from crawlgauge.model.ranges import within
from crawlgauge.model.sampled_counts import share
from crawlgauge.provenance import Provenance

__all__ = [
    "CrawlRecall",
    "Decay",
    "FrontierBound",
    "HeldCounts",
    "Kind",
    "Recall",
    "Reference",
    "Series",
    "UniformCheck",
    "bound_by_frontier",
    "carry_recall",
    "carry_union",
    "check_uniform",
    "recall_reference",
    "series_of",
]


# --------------------------------------------------------------- the types that a recall hands over


Kind = Literal["url", "host", "domain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The list that crawls are held against.

    Parameters
    ----------
    name
        As the user named it.
    kind
        What it lists.
    n_entries
        Entries that could be used, repeated ones included.
    n_distinct
        Different ones, by the store's rule.
    left_out
        How many lines could not be used, by reason.
    date
        When it was drawn, where that is known.
    """

    name: str
    kind: Kind
    n_entries: int
    n_distinct: int
    left_out: tuple[tuple[str, int], ...] = ()
    date: dt.date | None = None

    @property
    def n_repeated(self) -> int:
        """Entries that are the same as one before."""
        return self.n_entries - self.n_distinct


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


# ---------------------------- the most that a crawl can cover, by what it knew of and did not fetch


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
    bound = f"at most {percent(most)}"
    if by_series.value is None:
        return f"The crawl covers {bound}, if what was left in the queues is in scope and exists."
    if by_series.value <= most:
        return (
            f"The crawl covers {bound}, which the series' {percent(by_series.value)} does not "
            "contradict."
        )
    if by_series.low is not None and by_series.low <= most:
        return (
            f"The crawl covers {bound}, which is within the range of the series' "
            f"{percent(by_series.value)}."
        )
    return (
        f"The crawl covers {bound}, less than the {percent(by_series.value)} of the series. Either "
        "much of what was left in the queues is out of scope, repeated or gone, or the crawls "
        "favour the same URLs and the series' coverage is too high."
    )


# -------- what a uniform reference says of coverage, and what it means if the series says otherwise


_UNKNOWN_RATIO = "one of the two coverages is not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay:
    """How a recall falls with the time between reference and crawl.

    Parameters
    ----------
    carrying
        How many URLs live on, to crawls after the reference.
    log_growth
        Growth of the population per year, as a logarithm. Of a growing population a smaller share
        was there already at an earlier crawl.
    growth_variance
        Of that logarithm.
    """

    carrying: Carrying
    log_growth: float = 0.0
    growth_variance: float = 0.0

    @classmethod
    def of(cls, carrying: Carrying, growth_per_year: Estimate) -> "Decay":
        """Make it from the growth that a series gives; none where that is not known."""
        value, low, high = growth_per_year.value, growth_per_year.low, growth_per_year.high
        if value is None:
            return cls(carrying=carrying)
        variance = 0.0
        if low is not None and high is not None:
            margin = (math.log1p(high) - math.log1p(low)) / 2
            variance = (margin / NORMAL_QUANTILE) ** 2
        return cls(carrying=carrying, log_growth=math.log1p(value), growth_variance=variance)

    def variance(self, gap_days: int) -> float:
        """Return the variance of the logarithm of what `kept` returns."""
        years = abs(gap_days) / DAYS_PER_YEAR
        of_growth = self.growth_variance * years**2 if gap_days < 0 else 0.0
        return self.carrying.variance_over(years) + of_growth

    def kept(self, gap_days: int) -> float:
        """Return the share of the reference that could be crawled, so long after or before it."""
        kept = self.carrying.kept(gap_days)
        if gap_days < 0:
            kept *= math.exp(self.log_growth * gap_days / DAYS_PER_YEAR)
        return min(1.0, kept)


def carry_recall(recall: Estimate, gap_days: int, decay: Decay) -> Estimate:
    """Return the coverage of a crawl by its recall of a uniform reference of another date.

    Parameters
    ----------
    recall
        With its interval.
    gap_days
        From the reference to the crawl.
    decay
        How the recall falls with time.
    """
    if recall.value is None or recall.low is None or recall.high is None or gap_days == 0:
        return recall
    reason = decay.carrying.why_not(gap_days)
    if reason is not None:
        return Estimate.unknown(reason)
    kept = decay.kept(gap_days)
    no_range = decay.carrying.why_no_range(gap_days)
    if no_range is not None:
        return Estimate(value=min(1.0, recall.value / kept), reason=no_range)
    variance = decay.variance(gap_days)
    if recall.value == 0:
        high = recall.high / kept * math.exp(NORMAL_QUANTILE * math.sqrt(variance))
        return Estimate(value=0.0, low=0.0, high=min(1.0, high), level=LEVEL, basis="interval")
    found = _to_range(recall)
    return found.shifted(-math.log(kept)).widened(variance).to_estimate(most=1.0)


def carry_union(union: Estimate, gap_days: int, decay: Decay) -> Estimate:
    """Return what all crawls hold of what lived at the newest, by their recall of a reference.

    Parameters
    ----------
    union
        Their recall.
    gap_days
        From the reference to the newest crawl. If that is later, it has seen what the reference
        cannot list, and nothing follows.
    decay
        How a recall falls with time.
    """
    if gap_days > 0:
        return Estimate.unknown("the reference is older than the newest crawl")
    return carry_recall(union, gap_days, decay)


def check_uniform(
    nearest: CrawlRecall,
    gap_days: int,
    headline: Estimate,
    *,
    union_by_reference: Estimate,
    union_by_series: Estimate,
) -> UniformCheck:
    """Set the coverage by the reference beside that by the series.

    Parameters
    ----------
    nearest
        The crawl that is nearest to the reference in time.
    gap_days
        From the reference to the crawl.
    headline
        Typical coverage by the series, where it does not say that of the crawl itself.
    union_by_reference, union_by_series
        What all crawls together hold, by either.
    """
    by_reference = nearest.by_reference or nearest.recall
    by_series = nearest.coverage if nearest.coverage.value is not None else headline
    ratio = _divide(by_series, by_reference)
    return UniformCheck(
        label=nearest.crawl.label,
        gap_days=gap_days,
        by_reference=by_reference,
        by_series=by_series,
        ratio=ratio,
        verdict=_judge_uniform(ratio),
        union_by_reference=union_by_reference,
        union_by_series=union_by_series,
    )


def _divide(one: Estimate, other: Estimate) -> Estimate:
    if not one.value or not other.value:
        return Estimate.unknown(_UNKNOWN_RATIO)
    a, b = _to_range(one), _to_range(other)
    found = LogRange(
        value=a.value - b.value, down=math.hypot(a.down, b.up), up=math.hypot(a.up, b.down)
    )
    no_range = next((item.reason for item in (one, other) if item.low is None), None)
    return found.to_estimate(reason=no_range)


def _to_range(estimate: Estimate) -> LogRange:
    value = estimate.value or math.nan
    low, high = estimate.low, estimate.high
    return LogRange(
        value=math.log(value),
        down=math.log(value / low) if low else 0.0,
        up=math.log(high / value) if high else 0.0,
    )


def _judge_uniform(ratio: Estimate) -> str:
    if ratio.value is None:
        return "The two cannot be compared, as one of them is not known."
    if ratio.low is None or ratio.high is None:
        return "Without a range of both it cannot be said whether they differ."
    if ratio.low <= 1 <= ratio.high:
        return (
            "The two agree within their ranges: nothing speaks against the coverage that the "
            "series gives."
        )
    by = percent(abs(ratio.value - 1))
    if ratio.low > 1:
        return (
            f"The series says {by} more than the reference. Crawls that favour the same URLs meet "
            "them again and again, which makes a series' coverage too high, and no overlap among "
            "them can show it. If the reference is what it is said to be, trust the reference."
        )
    return (
        f"The series says {by} less than the reference. Either crawls avoid what earlier ones hold "
        "or hold URLs that can never be met again (session ids, traps), which makes a series' "
        "coverage too low; or the reference favours URLs that crawlers find easily, and is no "
        "uniform sample."
    )


# ------------ from what crawls hold of a reference to their recall, beside their estimated coverage


_RANGE_ONLY = (
    "The coverage by the series has grade C: its range holds, and not the number before it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCounts:
    """How many entries of a reference a crawl holds.

    Parameters
    ----------
    n_looked_for, n_held
        Entries that could be looked for, and those of them that it holds.
    is_least
        Whether it may hold more than could be seen.
    """

    n_looked_for: int
    n_held: int
    is_least: bool = False

    @property
    def recall(self) -> Estimate:
        """The share that is held; the reference is a sample of far more that could be listed."""
        if self.n_looked_for == 0:
            return Estimate.unknown("none of the reference can be looked for")
        return share(self.n_held, self.n_looked_for, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What the series of crawls says of itself.

    Parameters
    ----------
    headline
        Typical coverage.
    coverages
        Of each crawl, by label.
    persistence
        Share of URLs that lives on for a year.
    growth_per_year
        Of the population.
    union
        What all crawls hold of what lived at the newest.
    is_range_only
        Whether the estimates have grade C: their ranges hold, and not their numbers.
    """

    headline: Estimate
    coverages: Mapping[str, Estimate]
    persistence: Estimate
    growth_per_year: Estimate
    union: Estimate
    is_range_only: bool = False


def series_of(estimates: Estimates | None, reason: str) -> Series:
    """Take from estimates what a recall is held against.

    Parameters
    ----------
    estimates
        None if there are none.
    reason
        Why not.
    """
    if estimates is None:
        nothing = Estimate.unknown(reason)
        return Series(
            headline=nothing,
            coverages={},
            persistence=nothing,
            growth_per_year=nothing,
            union=nothing,
        )
    union = estimates.union
    return Series(
        headline=within(estimates.headline.coverage, most=1.0),
        coverages={row.label: within(row.coverage, most=1.0) for row in estimates.per_crawl},
        persistence=within(estimates.persistence, most=1.0),
        growth_per_year=estimates.growth_per_year,
        union=Estimate.unknown("the union is not known") if union is None else union.coverage,
        is_range_only=estimates.agreement.grade == "C",
    )


def recall_reference(
    crawls: Sequence[Crawl],
    series: Series,
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
        What they say of themselves.
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
    carrying = _carrying(series, persistence)
    decay = Decay.of(carrying, series.growth_per_year)
    date = reference.date if is_uniform and reference is not None else None
    rows = tuple(
        _row(crawl, counts, series, date, decay)
        for crawl, counts in zip(crawls, held, strict=bool(held))
    )
    union = held_by_any or HeldCounts(n_looked_for=0, n_held=0)
    held_by_all = union.recall
    uniform = None
    if date is not None:
        gaps = [(row.crawl.date - date).days for row in rows]
        nearest = min(range(len(rows)), key=lambda k: abs(gaps[k]))
        uniform = check_uniform(
            rows[nearest],
            gaps[nearest],
            series.headline,
            union_by_reference=carry_union(held_by_all, gaps[-1], decay),
            union_by_series=series.union,
        )
    frontier = None
    if queued is not None:
        (crawl,) = [crawl for crawl in crawls if crawl.label == queued[0]]
        by_series = _coverage_of(crawl, series)
        frontier = bound_by_frontier(crawl, queued[1], by_series)
    return Recall(
        key_rule=key_rule,
        reference=reference,
        per_crawl=rows,
        n_looked_for=union.n_looked_for,
        n_held=union.n_held,
        union=held_by_all,
        headline=series.headline,
        uniform=uniform,
        frontier=frontier,
        warnings=(*warnings, *([_RANGE_ONLY] if series.is_range_only else [])),
        provenance=provenance or Provenance(),
    )


def _carrying(series: Series, persistence: float | None) -> Carrying:
    if persistence is None:
        return carrying_from_series([series.persistence])
    return carrying_with(persistence)


def _row(
    crawl: Crawl, counts: HeldCounts, series: Series, date: dt.date | None, decay: Decay
) -> CrawlRecall:
    recall = counts.recall
    by_reference = None
    if date is not None:
        by_reference = carry_recall(recall, (crawl.date - date).days, decay)
    return CrawlRecall(
        crawl=crawl,
        n_looked_for=counts.n_looked_for,
        n_held=counts.n_held,
        recall=recall,
        is_least=counts.is_least,
        coverage=_coverage_of(crawl, series),
        by_reference=by_reference,
    )


def _coverage_of(crawl: Crawl, series: Series) -> Estimate:
    return series.coverages.get(crawl.label, series.headline)
