"""From an overlap table to everything that its pairs and capture histories can tell."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge._version import __version__
from crawlgauge.errors import FitError
from crawlgauge.model.cautions import list_cautions
from crawlgauge.model.checks import Diagnosis, diagnose, run_checks
from crawlgauge.model.decay import coverage_range, draw_decay_curves
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
from crawlgauge.model.growth import GrowthFit, fit_growth_model, log_growth
from crawlgauge.model.histories.data import count_captures
from crawlgauge.model.histories.estimates import refine_estimates
from crawlgauge.model.histories.fits import fit_histories
from crawlgauge.model.intervals import Margin, Margins, find_margins
from crawlgauge.model.pairs import PairData, pair_data
from crawlgauge.model.paper import (
    TOO_MANY_ZEROS,
    PooledLine,
    expect_zeros,
    fit_paper,
    fit_pooled,
    has_too_many_zeros,
    list_residuals,
)
from crawlgauge.model.phrases import percent
from crawlgauge.model.ranges import exponential, growth_rate, half_life_years, population
from crawlgauge.model.statement import state_headline
from crawlgauge.model.two_way import (
    TwoWayFit,
    fit_two_crawls,
    lower_bound,
)
from crawlgauge.model.union import estimate_union
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Provenance

__all__ = ["estimate_coverage"]


# -------------------------------- the pair-based estimators side by side, each with what it assumes


_EVEN = "All URLs are equally likely to be captured and live on at the same rate"
_ASSUMES = {
    "paper-forward": f"{_EVEN}; coverage and population are the same at all dates.",
    "paper-backward": (
        f"{_EVEN}; coverage is the same at all dates. Its persistence is not that of the URLs but "
        "persistence × e^(−growth rate): the share of a population that was alive a year before."
    ),
    "two-way": f"{_EVEN}; coverage and population may differ from crawl to crawl.",
    "growth": (
        f"{_EVEN}; the population grows or shrinks at a steady rate, by which the first crawl is "
        "extrapolated."
    ),
}


def list_estimators(
    pairs: PairData, line: PooledLine | None, fit: TwoWayFit, growth: GrowthFit | None
) -> tuple[EstimatorRow, ...]:
    """List a row for each pair-based estimator that gives a coverage.

    Parameters
    ----------
    pairs
        The pairs that all are fitted to.
    line
        The pooled forward line, where there is one.
    fit
        The two-way model.
    growth
        The model of steady growth, where it is identifiable.
    """
    return (
        *_paper_rows(pairs, line),
        *_two_way_rows(pairs, fit),
        *_growth_rows(growth),
    )


def _paper_rows(pairs: PairData, forward: PooledLine | None) -> Iterator[EstimatorRow]:
    lines = {"paper-forward": forward, "paper-backward": fit_pooled(pairs, "backward")}
    for name, line in lines.items():
        if line is not None:
            yield EstimatorRow(
                name=name,
                coverage=line.coverage,
                persistence=line.persistence,
                population=float(pairs.n_urls[-1]) / line.coverage,
                # One line knows no single crawl.
                per_crawl=(None,) * pairs.n_crawls,
                assumes=_ASSUMES[name],
            )


def _two_way_rows(pairs: PairData, fit: TwoWayFit) -> Iterator[EstimatorRow]:
    if fit.typical.any():
        coverage = _exponentials(fit.log_coverage)
        yield EstimatorRow(
            name="two-way",
            coverage=math.exp(fit.log_typical),
            persistence=math.exp(fit.log_persistence) if fit.has_persistence else None,
            population=None if coverage[-1] is None else float(pairs.n_urls[-1]) / coverage[-1],
            per_crawl=coverage,
            assumes=_ASSUMES["two-way"],
        )


def _growth_rows(growth: GrowthFit | None) -> Iterator[EstimatorRow]:
    if growth is not None:
        yield EstimatorRow(
            name="growth",
            coverage=math.exp(growth.log_typical),
            persistence=math.exp(growth.log_persistence),
            population=math.exp(growth.log_population[-1]),
            per_crawl=_exponentials(growth.log_coverage),
            assumes=_ASSUMES["growth"],
        )


def _exponentials(logs: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(log) else math.exp(log) for log in logs)


# ---------------- from an overlap table to everything that its pairs and capture histories can tell


_TWO = 2
_NO_DECAY = "the overlaps do not shrink with time, which speaks against the model"
_ONE_DATE = "not identifiable: the population is known at fewer than two dates"


def estimate_coverage(table: OverlapTable, *, persistence: float | None = None) -> Estimates:
    """Estimate coverage, turnover and population.

    Parameters
    ----------
    table
        Two crawls or more; three for point estimates, four for intervals, five with capture
        histories for known-alive windows.
    persistence
        Share of the URLs that live on for a year, above 0 and at most 1, where it is known from
        elsewhere. Only for two crawls, from which it cannot be estimated.

    Returns
    -------
    Estimates
        What cannot be known is None with a reason.

    Raises
    ------
    FitError
        If there is one crawl only, or if `persistence` does not fit the crawls.
    """
    _check_request(table, persistence)
    pairs = pair_data(table)
    diagnosis = diagnose(table)
    fit = _fit(diagnosis, persistence)
    margins = find_margins(diagnosis.pairs, fit)
    line = fit_pooled(pairs, "forward")
    growth = None if has_too_many_zeros(pairs) else fit_growth_model(diagnosis.pairs)
    per_crawl = _per_crawl(table, fit, margins, growth)
    newest = Newest(
        label=per_crawl[-1].label,
        coverage=per_crawl[-1].coverage,
        population=per_crawl[-1].population,
    )
    coverage = exponential(fit.log_typical, margins.typical, fit.typical_reason)
    turnover = exponential(fit.log_persistence, margins.persistence, fit.persistence_reason)
    half_life = half_life_years(turnover, float(pairs.years[-1] - pairs.years[0]))
    growth_per_year = _growth_per_year(pairs, fit, margins.growth)
    checks = run_checks(diagnosis, growth_per_year)
    fits = fit_histories(table, diagnosis, checks)
    failed = _gravest(checks)
    if failed is not None and coverage.value is not None:
        reason = f"the check {failed.id} failed: do not trust this number"
        coverage = Estimate(value=coverage.value, reason=reason)
    by_pairs = Estimates(
        level=table.level,
        crawls=table.crawls,
        headline=Headline(
            coverage=coverage,
            estimator=None if coverage.value is None else "two-way",
            statement=state_headline(
                coverage=coverage,
                persistence=turnover,
                half_life_years=half_life,
                newest=newest,
                level=table.level,
                least=lower_bound(pairs),
                is_given=persistence is not None,
                failure=None if failed is None else failed.message,
                most=_most_by_shape(diagnosis, checks),
            ),
        ),
        newest=newest,
        persistence=_possible(turnover),
        half_life_years=half_life,
        population=newest.population,
        growth_per_year=growth_per_year,
        per_crawl=per_crawl,
        paper=fit_paper(pairs, tuple(crawl.label for crawl in table.crawls)),
        estimators=list_estimators(pairs, line, fit, growth),
        agreement=Agreement(
            spread=None,
            grade="none",
            reason=(
                "All estimators from pairs of crawls assume that capture is even, so that their "
                "agreement is no evidence for it; capture histories are needed for a grade."
            ),
        ),
        checks=checks,
        residuals=list_residuals(table, line, fit),
        union=None,
        warnings=list_cautions(
            table,
            pairs,
            fit,
            expect_zeros(pairs, fit, line),
            margins,
            is_headline=fits is None or fits.views is None,
        ),
        provenance=_provenance(table, persistence),
        decay_curves=draw_decay_curves(diagnosis.pairs, fit, diagnosis.shapes, table.level),
        capture_frequencies=count_captures(table),
    )
    estimates = by_pairs if fits is None else refine_estimates(by_pairs, fits, table)
    union = estimate_union(
        estimates,
        table,
        first=diagnosis.regimes[-1].first,
        recapture=None if fits is None else fits.recapture(table.n_crawls),
        memory_factor=None if fits is None else fits.memory_factor(table.n_crawls),
    )
    return replace(estimates, union=union)


def _possible(persistence: Estimate) -> Estimate:
    """Refuse a persistence above 1, and cut its range there."""
    if persistence.value is not None and persistence.value > 1:
        return Estimate.unknown(_NO_DECAY)
    if persistence.high is not None and persistence.high > 1:
        return replace(persistence, high=1.0)
    return persistence


def _most_by_shape(diagnosis: Diagnosis, checks: tuple[Check, ...]) -> float | None:
    """Return the largest coverage over shapes of decay, if the check curvature warns."""
    warns = any(check.id == "curvature" and check.status == "warn" for check in checks)
    return coverage_range(diagnosis.shapes).high if warns else None


def _gravest(checks: tuple[Check, ...]) -> Check | None:
    """Return the check that failed and says the most; scatter alone names no cause."""
    failed = [check for check in checks if check.status == "fail"]
    return max(failed, key=lambda check: check.id != "lack-of-fit", default=None)


def _check_request(table: OverlapTable, persistence: float | None) -> None:
    if table.n_crawls < _TWO:
        raise FitError(
            f"there is only one crawl ({table.crawls[0].label}), and one crawl says nothing about "
            "coverage: two give a lower bound, three give point estimates, four or more give "
            "intervals as well. Add further crawls of the same kind"
        )
    if persistence is None:
        return
    if not 0 < persistence <= 1:
        raise FitError(
            f"the given persistence is {persistence}; it is the share of the URLs that live on for "
            "a year, above 0 and at most 1"
        )
    if table.n_crawls > _TWO:
        raise FitError(
            f"a persistence is given, but with {table.n_crawls} crawls it is estimated; give it "
            "for two crawls only"
        )
    if table.crawls[0].date == table.crawls[1].date:
        raise FitError(
            "a persistence is given, but both crawls have the same date, so that coverage follows "
            "without it; leave it out"
        )


def _fit(diagnosis: Diagnosis, persistence: float | None) -> TwoWayFit:
    if diagnosis.pairs.n_crawls == _TWO:
        return fit_two_crawls(diagnosis.pairs, persistence)
    if len(diagnosis.regimes) == 1:
        return diagnosis.fit
    # Coverage and population before a change are those of another scope.
    latest = np.zeros(diagnosis.pairs.n_crawls, dtype=np.bool_)
    latest[list(diagnosis.regimes[-1].positions)] = True
    return replace(diagnosis.fit, latest=latest)


def _growth_per_year(pairs: PairData, fit: TwoWayFit, margin: Margin) -> Estimate:
    log_coverage = np.where(fit.typical, fit.log_coverage, np.nan)
    rate = log_growth(pairs.years, np.log(pairs.n_urls) - log_coverage)
    if rate is not None:
        return growth_rate(rate, margin, fit.typical_reason)
    refused = has_too_many_zeros(pairs) and pairs.n_crawls > _TWO
    return Estimate.unknown(TOO_MANY_ZEROS if refused else _ONE_DATE)


def _per_crawl(
    table: OverlapTable, fit: TwoWayFit, margins: Margins, growth: GrowthFit | None
) -> tuple[CrawlEstimate, ...]:
    return tuple(
        _crawl_estimate(table, fit, margins, growth, position) for position in range(table.n_crawls)
    )


def _crawl_estimate(
    table: OverlapTable, fit: TwoWayFit, margins: Margins, growth: GrowthFit | None, position: int
) -> CrawlEstimate:
    crawl, reason = table.crawls[position], fit.coverage_reasons[position]
    log_coverage = float(fit.log_coverage[position])
    coverage = exponential(log_coverage, margins.coverage[position], reason)
    notes = []
    if math.isnan(log_coverage) and growth is not None:
        extrapolated = math.exp(growth.log_coverage[position])
        notes.append(f"extrapolated by the growth model: {percent(extrapolated)}")
    if log_coverage > 0 and coverage.low is not None and coverage.low < 1:
        notes.append(f"above 100 %, so at least {percent(coverage.low)}")
    elif log_coverage > 0:
        notes.append("above 100 %: the model does not hold")
    if crawl.damaged:
        notes.append("part of the input was damaged and left out")
    return CrawlEstimate(
        label=crawl.label,
        coverage=coverage,
        population=population(crawl.n_urls, log_coverage, margins.population[position], reason),
        note="; ".join(notes),
    )


def _provenance(table: OverlapTable, persistence: float | None) -> Provenance:
    given = {} if persistence is None else {"persistence": persistence}
    settings = {**table.provenance.settings, **given}
    # The table may come from another version; the estimates are this one's.
    return replace(table.provenance, crawlgauge=__version__, settings=settings)
