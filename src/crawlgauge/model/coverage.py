"""From an overlap table to everything that its pairs and capture histories can tell."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crawlgauge._version import __version__
from crawlgauge.crawl import Crawl
from crawlgauge.errors import FitError
from crawlgauge.model import paper
from crawlgauge.model.anchors import anchor_estimates
from crawlgauge.model.cautions import list_cautions
from crawlgauge.model.checks import CURVATURE, LACK_OF_FIT, Diagnosis, diagnose, run_checks
from crawlgauge.model.decay import draw_decay_curves, outermost
from crawlgauge.model.estimates import (
    Agreement,
    CrawlEstimate,
    Estimate,
    Estimates,
    Headline,
    Newest,
)
from crawlgauge.model.histories.data import count_captures
from crawlgauge.model.histories.fits import (
    Fitted,
    exponentials,
    fit_histories,
    list_estimators,
    refine_estimates,
)
from crawlgauge.model.intervals import Margin, Margins, find_margins, log_growth
from crawlgauge.model.pairs import MAX_LOG, PairData, pair_data
from crawlgauge.model.paper import PooledLine
from crawlgauge.model.phrases import percent, say
from crawlgauge.model.ranges import from_log, half_life_years
from crawlgauge.model.statement import state_headline
from crawlgauge.model.two_way import TwoWayFit, fit_two_crawls, lower_bound
from crawlgauge.model.union import estimate_union
from crawlgauge.overlaps.table import AnchorCounts, OverlapTable

# --------------------------- steady growth of the population, which reaches back to the first crawl


def fit_growth_model(pairs: PairData) -> Fitted | None:
    """Fit steady growth, or return None where the pairs do not determine it.

    The model is ``ln X_ij − ln M_i − ln M_j = −ln N_0 − ρ·(t_j − t̄) + a·D_ij``. Pairs weigh
    equally, because what it leaves over is mostly the scatter of the populations about the
    curve and not the noise of counting.
    """
    years = pairs.years - pairs.years.mean()
    design = np.column_stack([np.ones(pairs.end.size), years[pairs.end], pairs.lag_years])
    # Containment is a ratio within the sample; the population is that of all URLs.
    response = pairs.log_forward - np.log(pairs.n_urls[pairs.end])
    level, trend, slope = paper.fit_linear(design, response, pairs.weight)[0]
    log_population = -(level + trend * years)
    largest = np.abs([slope, *log_population]).max()
    if np.isnan(largest) or largest > MAX_LOG:
        return None
    log_coverage = np.log(pairs.n_urls) - log_population
    # Typical are the crawls that the two-way model averages over: those with an earlier one.
    log_typical = log_coverage[np.unique(pairs.end)].mean()
    return Fitted(exponentials(log_coverage), math.exp(slope), math.exp(log_typical))


# -------------------------------- the pair-based estimators side by side, each with what it assumes


def _read_line(pairs: PairData, line: PooledLine | None) -> Fitted | None:
    if line is None:
        return None
    return Fitted(
        # One line knows no single crawl.
        np.full(pairs.n_crawls, np.nan),
        persistence=line.persistence,
        typical=line.coverage,
        population=float(pairs.n_urls[-1]) / line.coverage,
    )


def _read_two_way(fit: TwoWayFit) -> Fitted | None:
    if not fit.typical.any():
        return None
    persistence = math.exp(fit.log_persistence) if fit.has_persistence else None
    return Fitted(exponentials(fit.log_coverage), persistence, math.exp(fit.log_typical))


# ---------------- from an overlap table to everything that its pairs and capture histories can tell


_TWO = 2
_NO_DECAY = "the overlaps do not shrink with time, which speaks against the model"
_ONE_DATE = "not identifiable: the population is known at fewer than two dates"


def estimate_coverage(
    table: OverlapTable,
    *,
    persistence: float | None = None,
    anchors: Sequence[AnchorCounts] = (),
) -> Estimates:
    """Estimate coverage, turnover and population.

    Parameters
    ----------
    table
        Two crawls or more; three for point estimates, four for intervals, five with capture
        histories for known-alive windows.
    persistence
        Share of the URLs that live on for a year, above 0 and at most 1, where it is known from
        elsewhere. Only for two crawls, from which it cannot be estimated.
    anchors
        What crawls hold of what is known from elsewhere; all numbers allow for it.

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
    given = {} if persistence is None else {"persistence": persistence}
    pairs = pair_data(table)
    diagnosis = diagnose(table)
    fit = _fit(diagnosis, persistence)
    margins = find_margins(diagnosis.pairs, fit)
    line = paper.fit_pooled(pairs, "forward")
    # The published method has all pairs, the others those that were chosen.
    growth = None if paper.has_too_many_zeros(pairs) else fit_growth_model(diagnosis.pairs)
    per_crawl = tuple(
        _crawl_estimate(crawl, place, fit, margins, growth)
        for place, crawl in enumerate(table.crawls)
    )
    newest = Newest(
        label=per_crawl[-1].label,
        coverage=per_crawl[-1].coverage,
        population=per_crawl[-1].population,
    )
    coverage = from_log(fit.log_typical, margins.typical, fit.typical_reason)
    turnover = from_log(fit.log_persistence, margins.persistence, fit.persistence_reason)
    half_life = half_life_years(turnover, float(pairs.years[-1] - pairs.years[0]))
    growth_per_year = _growth_per_year(pairs, fit, margins.growth)
    checks = run_checks(diagnosis, growth_per_year)
    fits = fit_histories(table, diagnosis, checks)
    is_bent = any(check.id == CURVATURE.id and check.status == "warn" for check in checks)
    # Of those that failed, the one that says the most: scatter alone names no cause.
    failures = (check for check in checks if check.status == "fail")
    failed = max(failures, key=lambda check: check.id != LACK_OF_FIT.id, default=None)
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
                most=outermost(diagnosis.shapes)[1].coverage if is_bent else None,
            ),
        ),
        newest=newest,
        persistence=_possible(turnover),
        half_life_years=half_life,
        population=newest.population,
        growth_per_year=growth_per_year,
        per_crawl=per_crawl,
        paper=paper.fit_paper(pairs, tuple(crawl.label for crawl in table.crawls)),
        estimators=list_estimators(
            {
                "paper-forward": _read_line(pairs, line),
                "paper-backward": _read_line(pairs, paper.fit_pooled(pairs, "backward")),
                "two-way": _read_two_way(fit),
                "growth": growth,
            },
            n_newest=float(pairs.n_urls[-1]),
        ),
        agreement=Agreement(spread=None, grade="none", reason=say("grade.pairs")),
        checks=checks,
        residuals=paper.list_residuals(table, line, fit),
        union=None,
        warnings=list_cautions(
            table,
            pairs,
            fit,
            paper.expect_zeros(pairs, fit, line),
            margins,
            is_headline=fits is None or fits.views is None,
        ),
        # The table may come from another version; the estimates are this one's.
        provenance=replace(
            table.provenance,
            crawlgauge=__version__,
            settings={**table.provenance.settings, **given},
        ),
        decay_curves=draw_decay_curves(diagnosis.pairs, fit, diagnosis.shapes, table.level),
        capture_frequencies=count_captures(table),
    )
    estimates = by_pairs if fits is None else refine_estimates(by_pairs, fits, table)
    if anchors:
        estimates = anchor_estimates(estimates, table, anchors)
    union = estimate_union(
        estimates,
        table,
        first=diagnosis.regimes[-1].start,
        recapture=None if fits is None else fits.recapture,
        memory_factor=None if fits is None else fits.memory_factor,
    )
    return replace(estimates, union=union)


def _possible(persistence: Estimate) -> Estimate:
    """Refuse a persistence above 1, and cut its range there."""
    if persistence.value is not None and persistence.value > 1:
        return Estimate.unknown(_NO_DECAY)
    if persistence.high is not None and persistence.high > 1:
        return replace(persistence, high=1.0)
    return persistence


def _check_request(table: OverlapTable, persistence: float | None) -> None:
    if table.n_crawls < _TWO:
        raise FitError(say("refused.one-crawl", label=table.crawls[0].label))
    if persistence is None:
        return
    if not 0 < persistence <= 1:
        raise FitError(say("refused.persistence", persistence=persistence))
    if table.n_crawls > _TWO:
        raise FitError(say("refused.persistence-of-many", n_crawls=table.n_crawls))
    if table.crawls[0].date == table.crawls[1].date:
        raise FitError(say("refused.persistence-of-one-date"))


def _fit(diagnosis: Diagnosis, persistence: float | None) -> TwoWayFit:
    if diagnosis.pairs.n_crawls == _TWO:
        return fit_two_crawls(diagnosis.pairs, persistence)
    if len(diagnosis.regimes) == 1:
        return diagnosis.fit
    # Coverage and population before a change are those of another scope.
    latest = np.zeros(diagnosis.pairs.n_crawls, dtype=np.bool_)
    latest[list(diagnosis.regimes[-1])] = True
    return replace(diagnosis.fit, latest=latest)


def _growth_per_year(pairs: PairData, fit: TwoWayFit, margin: Margin) -> Estimate:
    log_coverage = np.where(fit.typical, fit.log_coverage, np.nan)
    rate = log_growth(pairs.years, np.log(pairs.n_urls) - log_coverage)
    if rate is not None:
        return from_log(rate, margin, fit.typical_reason, math.expm1)
    refused = paper.has_too_many_zeros(pairs) and pairs.n_crawls > _TWO
    return Estimate.unknown(paper.TOO_MANY_ZEROS if refused else _ONE_DATE)


def _crawl_estimate(
    crawl: Crawl, place: int, fit: TwoWayFit, margins: Margins, growth: Fitted | None
) -> CrawlEstimate:
    reason, log_coverage = fit.coverage_reasons[place], float(fit.log_coverage[place])
    coverage = from_log(log_coverage, margins.coverage[place], reason)
    notes = []
    if math.isnan(log_coverage) and growth is not None:
        notes.append(f"extrapolated by the growth model: {percent(growth.coverage[place])}")
    if log_coverage > 0 and coverage.low is not None and coverage.low < 1:
        notes.append(f"above 100 %, so at least {percent(coverage.low)}")
    elif log_coverage > 0:
        notes.append("above 100 %: the model does not hold")
    if crawl.damaged:
        notes.append("part of the input was damaged and left out")
    return CrawlEstimate(
        label=crawl.label,
        coverage=coverage,
        population=from_log(
            math.log(crawl.n_urls) - log_coverage, margins.population[place], reason
        ),
        note="; ".join(notes),
    )
