"""Put what capture histories show in the place of what pairs of crawls can only assume."""

import math
from dataclasses import replace

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR, Crawl
from crawlgauge.model.estimates import (
    Agreement,
    Check,
    CrawlEstimate,
    Estimate,
    Estimates,
    EstimatorRow,
    Headline,
    Newest,
)
from crawlgauge.model.growth import log_growth
from crawlgauge.model.history_fits import HistoryFits
from crawlgauge.model.known_alive.results import KnownAliveFit, NoKnownAlive
from crawlgauge.model.phrases import percent
from crawlgauge.model.ranges import half_life_years
from crawlgauge.model.statement_histories import state_known_alive

__all__ = ["refine_estimates"]

_LEVEL = 0.95
_OPEN_ESTIMATORS = (
    "two-way",
    "cjs",
    "jolly-seber",
    "manly-parr",
    "rested-manly-parr",
    "known-alive",
    "latent-class",
)
"""Estimators that allow for turnover; the closed ones differ by it and say nothing."""

_BY_CLASSES = (
    "from the latent-class model, as the crawler's policy spoils the overlaps of pairs; its error "
    "was not calibrated"
)
_BY_WINDOWS = (
    "from the populations of the crawls, as the crawler's policy spoils the overlaps of pairs; its "
    "error was not calibrated"
)
_EXTRAPOLATED = "the newest crawl is an extrapolation"


def refine_estimates(by_pairs: Estimates, fits: HistoryFits) -> Estimates:
    """Return the estimates with what capture histories add to them.

    Parameters
    ----------
    by_pairs
        The estimates from pairs.
    fits
        What the histories show.
    """
    estimators = (*by_pairs.estimators, *fits.rows)
    known_alive = fits.known_alive
    if isinstance(known_alive, NoKnownAlive):
        return replace(
            by_pairs,
            estimators=estimators,
            checks=_merge_checks(by_pairs.checks, fits, is_resolved=False),
            agreement=Agreement(
                spread=_spread(estimators),
                grade="none",
                reason=f"No grade: {known_alive.reason}. The headline is that of the pairs.",
            ),
        )
    return _lead_with(by_pairs, fits, known_alive, estimators)


def _lead_with(
    by_pairs: Estimates,
    fits: HistoryFits,
    fit: KnownAliveFit,
    estimators: tuple[EstimatorRow, ...],
) -> Estimates:
    """Make known-alive windows the headline."""
    per_crawl = _per_crawl(by_pairs, fits.first, fit)
    newest = Newest(
        label=per_crawl[-1].label,
        coverage=per_crawl[-1].coverage,
        population=per_crawl[-1].population,
    )
    persistence = by_pairs.persistence
    growth = by_pairs.growth_per_year
    if fit.trap_lags > 0:
        persistence = _persistence_by_classes(fits) or persistence
        growth = _growth_by_windows(by_pairs.crawls, per_crawl) or growth
    half_life = half_life_years(persistence)
    coverage = _band(fit.typical.value, fit.typical.low, fit.typical.high)
    return replace(
        by_pairs,
        headline=Headline(
            coverage=coverage,
            estimator="known-alive",
            statement=state_known_alive(
                coverage=coverage,
                grade=fit.grade,
                reason=fit.grade_reason,
                half_life_years=half_life,
                newest=newest,
                level=by_pairs.level,
            ),
        ),
        newest=newest,
        population=newest.population,
        persistence=persistence,
        half_life_years=half_life,
        growth_per_year=growth,
        per_crawl=per_crawl,
        estimators=estimators,
        checks=_merge_checks(by_pairs.checks, fits, is_resolved=fit.grade != "C"),
        agreement=Agreement(
            spread=_spread(estimators), grade=fit.grade, reason=_describe_grade(fit)
        ),
    )


def _band(value: float, low: float, high: float) -> Estimate:
    return Estimate(
        value=math.exp(value),
        low=math.exp(low),
        high=math.exp(high),
        level=_LEVEL,
        basis="empirical-band",
    )


def _per_crawl(by_pairs: Estimates, first: int, fit: KnownAliveFit) -> tuple[CrawlEstimate, ...]:
    """Return the crawls of the latest regime from the windows, those before from pairs."""
    refined = [
        _crawl_estimate(crawl, row, fit, place)
        for place, (crawl, row) in enumerate(
            zip(by_pairs.crawls[first:], by_pairs.per_crawl[first:], strict=True)
        )
    ]
    return (*by_pairs.per_crawl[:first], *refined)


def _crawl_estimate(
    crawl: Crawl, row: CrawlEstimate, fit: KnownAliveFit, place: int
) -> CrawlEstimate:
    log_coverage = float(fit.log_coverage[place])
    if math.isnan(log_coverage):
        reason = row.coverage.reason or "not identifiable: too few URLs known to be alive"
        unknown = Estimate.unknown(reason)
        return replace(row, coverage=unknown, population=unknown)
    low, high = float(fit.low[place]), float(fit.high[place])
    log_size = math.log(crawl.n_urls)
    notes = ["part of the input was damaged and left out"] if crawl.damaged else []
    if place == fit.log_coverage.size - 1:
        notes.insert(0, _EXTRAPOLATED)
    return CrawlEstimate(
        label=row.label,
        coverage=_band(log_coverage, low, high),
        population=_band(log_size - log_coverage, log_size - high, log_size - low),
        note="; ".join(notes),
    )


def _persistence_by_classes(fits: HistoryFits) -> Estimate | None:
    if fits.latent_class is None or not math.isfinite(fits.latent_class.log_persistence):
        return None
    return Estimate(value=math.exp(fits.latent_class.log_persistence), reason=_BY_CLASSES)


def _growth_by_windows(
    crawls: tuple[Crawl, ...], per_crawl: tuple[CrawlEstimate, ...]
) -> Estimate | None:
    days = np.array([crawl.date.toordinal() for crawl in crawls], dtype=np.float64)
    populations = np.array(
        [
            math.nan if row.population.value is None else math.log(row.population.value)
            for row in per_crawl
        ]
    )
    # The newest crawl's population is itself an extrapolation of the growth before.
    populations[-1] = math.nan
    rate = log_growth((days - days[0]) / DAYS_PER_YEAR, populations)
    return None if rate is None else Estimate(value=math.expm1(rate), reason=_BY_WINDOWS)


def _merge_checks(
    by_pairs: tuple[Check, ...], fits: HistoryFits, *, is_resolved: bool
) -> tuple[Check, ...]:
    """Return all checks; what the windows allow for is no reason to distrust their number."""
    merged = [fits.short_lag if check.id == "short-lag" else check for check in by_pairs]
    merged += fits.checks
    if not is_resolved:
        return tuple(merged)
    return tuple(
        replace(check, status="warn") if check.status == "fail" else check for check in merged
    )


def _spread(estimators: tuple[EstimatorRow, ...]) -> float | None:
    """Return the logarithm of the largest over the smallest coverage."""
    found = [row.coverage for row in estimators if row.name in _OPEN_ESTIMATORS and row.coverage]
    return math.log(max(found) / min(found)) if found else None


def _describe_grade(fit: KnownAliveFit) -> str:
    below = -math.expm1(fit.typical.low - fit.typical.value)
    above = math.expm1(fit.typical.high - fit.typical.value)
    parts = [f"the range reaches {percent(below)} below and {percent(above)} above the estimate."]
    if fit.grade == "C":
        parts = [f"{fit.grade_reason}."]
    if fit.trap_lags:
        ratio = fit.revisits[0].chance_ratio
        what = "avoids" if ratio < 1 else "repeats"
        last = "the last crawl" if fit.trap_lags == 1 else f"the last {fit.trap_lags} crawls"
        parts.append(
            f"The crawler {what} URLs of {last}: the chance of being captured again is "
            f"{ratio:.2g} times that of others, which is allowed for."
        )
    if fit.uneven_effect > _MATERIAL:
        parts.append(
            "URLs differ in how easily they are captured; with even capture the estimate would "
            f"be {percent(math.expm1(fit.uneven_effect))} higher."
        )
    return " ".join(parts)


_MATERIAL = 0.02
"""A difference of the estimate that is worth a sentence."""
