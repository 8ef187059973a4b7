"""What a uniform reference says of coverage, and what it means if the series says otherwise."""

import math
from dataclasses import dataclass

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.comparison.carrying import Carrying
from crawlgauge.model.comparison.log_range import LogRange
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.margins import LEVEL, NORMAL_QUANTILE
from crawlgauge.model.phrases import percent
from crawlgauge.model.recall.results import CrawlRecall, UniformCheck

__all__ = ["Decay", "carry_recall", "carry_union", "check_uniform"]

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
        verdict=_judge(ratio),
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


def _judge(ratio: Estimate) -> str:
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
