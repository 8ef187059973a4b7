"""What two matched crawls of two archives say about each other and about the population."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from crawlgauge.crawl import DAYS_PER_YEAR, Crawl
from crawlgauge.model.comparison.carrying import Carrying
from crawlgauge.model.comparison.comparison import MatchedCrawls
from crawlgauge.model.comparison.log_range import LogRange, typical_value
from crawlgauge.model.comparison.two_lists import TwoLists
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count

__all__ = ["ComparedCrawls", "Share", "compare_crawls", "typical_share", "typical_size"]

Share = Literal["coverage_a", "coverage_b", "joint_coverage"]

_NOTHING_SHARED = "no URL is shared; the population is at least {} (95 %)"
_SAME_SET = "both are the same set of URLs, which independent crawls never are"
_NOTHING_MATCHED = "no crawls of matching dates; allow for more time between them with --max-gap"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCrawls:
    """Two matched crawls, and their numbers without the error that all pairs have in common.

    Parameters
    ----------
    matched
        For people.
    relative_size
        Of the first crawl to the second.
    shares
        Coverages; empty if they are not known.
    gap_years
        Time between the crawls.
    """

    matched: MatchedCrawls
    relative_size: LogRange
    shares: dict[Share, LogRange]
    gap_years: float


def compare_crawls(
    a: Crawl, b: Crawl, *, n_shared: int, sample_rate: float, carrying: Carrying
) -> ComparedCrawls:
    """Compare two crawls of two archives.

    Parameters
    ----------
    a, b
        The crawls, with the sizes that they have in the sample.
    n_shared
        URLs of the sample that both hold.
    sample_rate
        Share of all URLs that the sample is.
    carrying
        How an overlap is carried over the gap between them.
    """
    gap_days = (b.date - a.date).days
    years = abs(gap_days) / DAYS_PER_YEAR
    first, second = (a, b) if gap_days >= 0 else (b, a)
    lists = TwoLists(
        n_a=first.n_counted, n_b=second.n_counted, n_shared=n_shared, kept=carrying.kept(gap_days)
    )
    found = lists.population()
    reason = carrying.why_not(gap_days) or _why_unknown(lists, found, sample_rate)
    shares: dict[Share, LogRange] = {}
    if reason is None:
        held = (a.n_counted, b.n_counted, lists.n_union)
        shares = {
            name: _share(found, n_held, sample_rate)
            for name, n_held in zip(_SHARES, held, strict=True)
        }
    size = _relative_size(a, b, n_shared=n_shared, sample_rate=sample_rate)
    plain = lists.lincoln_petersen()
    no_range, of_gap = carrying.why_no_range(gap_days), carrying.variance_over(years)
    in_sample = (1 - sample_rate) / math.exp(found.value)
    population = found.shifted(-math.log(sample_rate)).widened(in_sample + of_gap)
    estimates = {
        name: share.widened(of_gap).to_estimate(most=1.0, reason=no_range)
        for name, share in shares.items()
    }
    unknown = None if reason is None else Estimate.unknown(reason)
    matched = MatchedCrawls(
        a=a,
        b=b,
        gap_days=gap_days,
        n_shared=n_shared,
        share_of_a=n_shared / a.n_counted,
        share_of_b=n_shared / b.n_counted,
        relative_size=size.to_estimate(),
        population=unknown or population.to_estimate(reason=no_range),
        lincoln_petersen=None if unknown or plain is None else plain / sample_rate,
        coverage_a=unknown or estimates["coverage_a"],
        coverage_b=unknown or estimates["coverage_b"],
        joint_coverage=unknown or estimates["joint_coverage"],
    )
    return ComparedCrawls(matched=matched, relative_size=size, shares=shares, gap_years=years)


def typical_size(compared: Sequence[ComparedCrawls]) -> Estimate:
    """Return the geometric mean of the relative sizes of several matched crawls."""
    if not compared:
        return Estimate.unknown(_NOTHING_MATCHED)
    return typical_value([item.relative_size for item in compared]).to_estimate()


def typical_share(compared: Sequence[ComparedCrawls], name: Share, carrying: Carrying) -> Estimate:
    """Return the geometric mean of one of the coverages of several matched crawls.

    Parameters
    ----------
    compared
        The crawls; those whose coverage is not known are left out.
    name
        Which coverage.
    carrying
        How overlaps were carried over gaps: its error is common to all of them.
    """
    if not compared:
        return Estimate.unknown(_NOTHING_MATCHED)
    known = [item for item in compared if item.shares]
    if not known:
        return getattr(compared[0].matched, name)  # type: ignore[no-any-return]
    mean_gap = math.fsum(item.gap_years for item in known) / len(known)
    found = typical_value([item.shares[name] for item in known], carrying.variance_over(mean_gap))
    return found.to_estimate(most=1.0, reason=carrying.why_no_range(mean_gap))


_SHARES: tuple[Share, ...] = ("coverage_a", "coverage_b", "joint_coverage")


def _why_unknown(lists: TwoLists, found: LogRange, sample_rate: float) -> str | None:
    if lists.n_shared == lists.n_a == lists.n_b:
        return _SAME_SET
    if lists.n_shared:
        return None
    return _NOTHING_SHARED.format(count(math.exp(found.value - found.down) / sample_rate))


def _share(population: LogRange, n_held: float, sample_rate: float) -> LogRange:
    """Return the share of the population that is held, with the error that a sample adds."""
    share = population.inverted().shifted(math.log(n_held))
    missing = max(0.0, 1 - math.exp(share.value))
    return share.widened((1 - sample_rate) * missing / n_held)


def _relative_size(a: Crawl, b: Crawl, *, n_shared: int, sample_rate: float) -> LogRange:
    """Return the size of one crawl over that of another, by Bharat and Broder.

    The share of `b` that `a` holds over the share of `a` that `b` holds, in which the overlap
    cancels out. It has an error only where a size is known from a sample.
    """
    if all(_is_known(crawl, sample_rate) for crawl in (a, b)):
        return LogRange(value=math.log(a.n_urls / b.n_urls))
    of_sample = 1 / a.n_counted + 1 / b.n_counted - 2 * n_shared / (a.n_counted * b.n_counted)
    size = LogRange(value=math.log(a.n_counted / b.n_counted))
    return size.widened(max(0.0, (1 - sample_rate) * of_sample))


def _is_known(crawl: Crawl, sample_rate: float) -> bool:
    """Tell whether a crawl's size is known in full, and not estimated from its sample."""
    return sample_rate == 1 or abs(crawl.n_counted / sample_rate - crawl.n_urls) > 1
