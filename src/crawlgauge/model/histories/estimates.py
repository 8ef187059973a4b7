"""Put what capture histories show in the place of what pairs of crawls can only assume."""

import math
from dataclasses import replace

import numpy as np

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import (
    Agreement,
    CrawlEstimate,
    Estimate,
    Estimates,
    EstimatorRow,
    FirstCaptures,
    Headline,
    Readings,
)
from crawlgauge.model.histories.data import Numbers, count_holdings
from crawlgauge.model.histories.fits import HistoryFits
from crawlgauge.model.histories.headline import (
    ENOUGH_SEEN_THRICE,
    MAX_MISFIT,
    Judgement,
    Views,
    judge_persistence,
    spread_over_crawls,
    with_first_captures,
)
from crawlgauge.model.intervals import LEVEL, growth_coefficients, log_growth
from crawlgauge.model.pairs import years_of
from crawlgauge.model.paper import TOO_MANY_ZEROS
from crawlgauge.model.phrases import percent
from crawlgauge.model.ranges import half_life_years
from crawlgauge.model.statement import state_histories
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["refine_estimates"]

_OWN_SD = 0.07
"""Of the logarithm of a single crawl's population, beyond what all crawls share."""

_FALLS = "the population falls faster than URLs die"
_FASTEST = 0.8
"""Of what lives on: a population below this has lost more than died."""

_ASSUMES = (
    "What views that assume different things agree on, the headline: the mean of known-alive and "
    "latent-class, or what takes its place where these cannot be right."
)
_VIEW_NAMES = {
    "known-alive": "known-alive windows",
    "latent-class": "latent classes",
    "rested-manly-parr": "the rested share",
    "two-way": "the two-way model",
    "cjs": "Cormack–Jolly–Seber",
}
_PLURAL = {"known-alive", "latent-class"}


def refine_estimates(by_pairs: Estimates, fits: HistoryFits, table: OverlapTable) -> Estimates:
    """Return the estimates with what capture histories add to them.

    Parameters
    ----------
    by_pairs
        The estimates from pairs.
    fits
        What the histories show.
    table
        The overlaps.
    """
    refined = replace(
        by_pairs,
        estimators=(*by_pairs.estimators, *fits.rows),
        checks=fits.checks,
    )
    if fits.views is None:
        reason = f"No grade: {fits.why_none}. The headline is that of the pairs."
        return replace(refined, agreement=Agreement(spread=None, grade="none", reason=reason))
    if fits.judgement is None:
        return _without_number(refined, fits)
    return _lead_with(refined, fits, fits.views, fits.judgement, table)


def _without_number(estimates: Estimates, fits: HistoryFits) -> Estimates:
    """Take back what pairs say of coverage: the histories tell too little to believe it."""
    unknown = Estimate.unknown(f"not identifiable: {fits.why_none}")
    persistence, half_life = (
        unknown if known.reason == TOO_MANY_ZEROS else known
        for known in (estimates.persistence, estimates.half_life_years)
    )
    return replace(
        estimates,
        headline=Headline(
            coverage=unknown,
            estimator=None,
            statement=f"Coverage cannot be estimated from these crawls: {fits.why_none}.",
        ),
        newest=replace(estimates.newest, coverage=unknown, population=unknown),
        persistence=persistence,
        half_life_years=half_life,
        population=unknown,
        growth_per_year=unknown,
        per_crawl=tuple(
            replace(row, coverage=unknown, population=unknown, note="")
            for row in estimates.per_crawl
        ),
        agreement=Agreement(spread=None, grade="none", reason=f"No grade: {fits.why_none}."),
    )


def _lead_with(
    estimates: Estimates,
    fits: HistoryFits,
    views: Views,
    judgement: Judgement,
    table: OverlapTable,
) -> Estimates:
    """Make the views the headline, and all numbers those that belong to it."""
    coverages = _place(spread_over_crawls(judgement, views), estimates.crawls, fits)
    turnover = judge_persistence(views)
    # Crawls of one date tell none, and so do their pairs.
    persistence = estimates.persistence if turnover is None else _band(*turnover)
    half_life = half_life_years(persistence, float(years_of(estimates.crawls)[-1]))
    per_crawl = _per_crawl(estimates, fits, coverages, persistence)
    newest = replace(
        estimates.newest,
        coverage=per_crawl[-1].coverage,
        population=per_crawl[-1].population,
    )
    coverage = _band(judgement.value, judgement.low, judgement.high)
    first_captures = _first_captures(coverages[0], fits, table)
    row = EstimatorRow(
        name="histories",
        coverage=math.exp(judgement.value),
        persistence=persistence.value,
        population=newest.population.value,
        per_crawl=tuple(crawl.coverage.value for crawl in per_crawl),
        assumes=_ASSUMES,
    )
    return replace(
        estimates,
        estimators=(row, *estimates.estimators),
        headline=Headline(
            coverage=coverage,
            estimator="histories",
            statement=state_histories(
                coverage=coverage,
                grade=judgement.grade,
                half_life_years=half_life,
                newest=newest,
                level=estimates.level,
            ),
        ),
        newest=newest,
        population=newest.population,
        persistence=persistence,
        half_life_years=half_life,
        growth_per_year=_growth(estimates.crawls, per_crawl),
        per_crawl=per_crawl,
        agreement=Agreement(
            spread=judgement.spread,
            grade=judgement.grade,
            reason=_describe_grade(judgement, views),
        ),
        readings=None
        if judgement.returning is None or judgement.absent is None
        else Readings(returning=math.exp(judgement.returning), absent=math.exp(judgement.absent)),
        first_captures=first_captures,
    )


def _band(value: float, low: float, high: float) -> Estimate:
    return Estimate(
        value=math.exp(value),
        low=math.exp(low),
        high=math.exp(high),
        level=LEVEL,
        basis="empirical-band",
    )


# ------------------------------------------------------------------------------- single crawls


def _place(found: Numbers, crawls: tuple[Crawl, ...], fits: HistoryFits) -> Numbers:
    """Give all crawls a place; those too small get the population of their neighbours."""
    years, fitted = years_of(crawls), np.array(fits.positions)
    log_sizes = np.log([max(crawl.n_urls, 1) for crawl in crawls])
    known = fitted[np.isfinite(found[0])]
    others = np.setdiff1d(np.arange(known.min(initial=len(crawls)), len(crawls)), fitted)
    placed = np.full((3, len(crawls)), np.nan)
    placed[:, fitted] = found
    if known.size:
        for row in placed:
            log_population = np.interp(years[others], years[known], (log_sizes - row)[known])
            row[others] = np.minimum(log_sizes[others] - log_population, 0.0)
    return placed


def _per_crawl(
    estimates: Estimates, fits: HistoryFits, coverages: Numbers, persistence: Estimate
) -> tuple[CrawlEstimate, ...]:
    """Return the crawls of the latest regime from the views, those before from pairs."""
    rows = list(estimates.per_crawl)
    years = years_of(estimates.crawls)
    log_persistence = math.log(persistence.value or 1.0)
    before: float | None = None
    for place in range(fits.first, len(rows)):
        crawl, row = estimates.crawls[place], rows[place]
        value, low, high = coverages[:, place].tolist()
        if math.isnan(value):
            reason = row.coverage.reason or "not identifiable: too few URLs known to be alive"
            unknown = Estimate.unknown(reason)
            rows[place] = replace(row, coverage=unknown, population=unknown, note="")
            continue
        log_size = math.log(crawl.n_urls)
        notes = []
        if place not in fits.positions:
            notes.append("too small to tell; the population is that of its neighbours")
        kept = 0.0 if place == 0 else log_persistence * float(years[place] - years[place - 1])
        if before is not None and log_size - value < before + kept + math.log(_FASTEST):
            notes.append(_FALLS)
        if crawl.damaged:
            notes.append("part of the input was damaged and left out")
        before = log_size - value
        rows[place] = CrawlEstimate(
            label=row.label,
            coverage=_band(value, low, high),
            population=_band(log_size - value, log_size - high, log_size - low),
            note="; ".join(notes),
        )
    return tuple(rows)


def _growth(crawls: tuple[Crawl, ...], per_crawl: tuple[CrawlEstimate, ...]) -> Estimate:
    """Return the growth of the populations of the single crawls."""
    years = years_of(crawls)
    populations = np.array(
        [
            math.nan
            if row.population.value is None or row.coverage.basis != "empirical-band"
            else math.log(row.population.value)
            for row in per_crawl
        ]
    )
    rate = log_growth(years, populations)
    if rate is None:
        return Estimate.unknown("not identifiable: the population is known at fewer than two dates")
    weights = growth_coefficients(years, np.isfinite(populations))
    half_width = 2 * _OWN_SD * float(np.sqrt(np.sum(weights**2)))
    return Estimate(
        value=math.expm1(rate),
        low=math.expm1(rate - half_width),
        high=math.expm1(rate + half_width),
        level=LEVEL,
        basis="empirical-band",
    )


def _first_captures(
    coverage: Numbers, fits: HistoryFits, table: OverlapTable
) -> FirstCaptures | None:
    holdings = count_holdings(table)
    inside = list(fits.positions[1:-1])
    if holdings is None or not np.isfinite(coverage[inside]).any():
        return None
    half, twice = (
        with_first_captures(coverage[inside], holdings.known_share[inside], ratio)
        for ratio in (0.5, 2.0)
    )
    return FirstCaptures(half=half, twice=twice)


# ------------------------------------------------------------------------------------ the grade


def _describe_grade(judgement: Judgement, views: Views) -> str:
    """Say what the grade rests on: the views farthest apart, and what spoils it."""
    views_apart = judgement.lowest, judgement.highest
    low, high = (percent(min(math.exp(log), 1.0)) for _, log in views_apart)
    if low == high:
        parts = [f"{judgement.n_views} ways of reading the histories all say {low}."]
    else:
        lowest, highest = (_VIEW_NAMES[name] for name, _ in views_apart)
        says = "say" if judgement.lowest[0] in _PLURAL else "says"
        parts = [f"{lowest} {says} {low}, {highest} {high}."]
    windows = views.windows
    if windows is not None and windows.trap_lags and not judgement.has_no_memory:
        what = "avoids" if views.avoids else "repeats"
        last = (
            "the last crawl" if windows.trap_lags == 1 else f"the last {windows.trap_lags} crawls"
        )
        parts.append(f"The crawler {what} URLs of {last}, which is allowed for.")
    if judgement.misfit > MAX_MISFIT:
        parts.append("The histories do not follow any of the models.")
    if "latent-class" not in views.levels and not judgement.has_no_memory:
        parts.append("Latent classes could not be fitted.")
    if views.n_thrice < ENOUGH_SEEN_THRICE:
        parts.append(f"Only {views.n_thrice:,.0f} URLs are in three crawls or more.")
    text = " ".join(parts)
    return text[:1].upper() + text[1:]
