"""From what crawls hold of a reference to their recall, beside their estimated coverage."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crawlgauge.crawl import Crawl
from crawlgauge.model.comparison.carrying import Carrying, carrying_from_series, carrying_with
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.possible import within
from crawlgauge.model.recall.frontier import bound_by_frontier
from crawlgauge.model.recall.results import CrawlRecall, Recall, Reference
from crawlgauge.model.recall.uniform import Decay, carry_recall, carry_union, check_uniform
from crawlgauge.model.sampled_counts import share
from crawlgauge.provenance import Provenance

__all__ = ["HeldCounts", "Series", "recall_reference", "series_of"]

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
