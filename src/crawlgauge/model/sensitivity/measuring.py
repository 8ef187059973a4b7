"""Estimate from changed tables, and see how far the numbers move."""

from dataclasses import replace

from crawlgauge.errors import CrawlgaugeError
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.estimating import estimate_coverage
from crawlgauge.model.sensitivity.results import Movement, Movements
from crawlgauge.model.sensitivity.variations import Variation
from crawlgauge.model.sensitivity.wording import say_meanings, say_verdict
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["estimate_like", "measure", "rank_movements"]

_TWO = 2


def estimate_like(table: OverlapTable, estimates: Estimates) -> Estimates:
    """Estimate from another table as others were estimated.

    Parameters
    ----------
    table
        What to estimate from.
    estimates
        The others; a persistence that was given for two crawls is given again.

    Raises
    ------
    FitError
        If nothing can be estimated.
    """
    given = estimates.provenance.settings.get("persistence")
    if isinstance(given, float) and table.n_crawls == _TWO:
        return estimate_coverage(table, persistence=given)
    return estimate_coverage(table)


def measure(variation: Variation, before: Estimates, weight: float | None = None) -> Movement:
    """Estimate with a change, and put the numbers beside those without it.

    Parameters
    ----------
    variation
        The change.
    before
        Estimates without it.
    weight
        As that of `Movement`.
    """
    movement = Movement(
        kind=variation.kind,
        change=variation.change,
        subject=variation.subject,
        coverage=Estimate.unknown(variation.reason or "not estimated"),
        persistence=Estimate.unknown(variation.reason or "not estimated"),
        coverage_before=before.headline.coverage.value,
        persistence_before=before.persistence.value,
        estimator=None,
        weight=weight,
    )
    if variation.table is None:
        return movement
    try:
        after = estimate_like(variation.table, before)
    except CrawlgaugeError as error:
        unknown = Estimate.unknown(str(error))
        return replace(movement, coverage=unknown, persistence=unknown)
    return replace(
        movement,
        coverage=after.headline.coverage,
        persistence=after.persistence,
        estimator=after.headline.estimator,
    )


def rank_movements(
    estimates: Estimates,
    movements: list[Movement],
    *,
    part_rate: float | None = None,
    reading_rate: float | None = None,
    not_tried: tuple[str, ...] = (),
) -> Movements:
    """Put all changes in order, and say what they mean.

    Parameters
    ----------
    estimates
        Without any change.
    movements
        All changes that were tried.
    part_rate, reading_rate, not_tried
        As those of `Movements`.
    """
    ranked = tuple(sorted(movements, key=lambda movement: -movement.size))
    return Movements(
        coverage=estimates.headline.coverage,
        persistence=estimates.persistence,
        estimator=estimates.headline.estimator,
        level=estimates.level,
        movements=ranked,
        part_rate=part_rate,
        reading_rate=reading_rate,
        verdict=say_verdict(estimates.headline.coverage, ranked),
        meanings=say_meanings(ranked, estimates.level, estimates.checks),
        not_tried=not_tried,
    )
