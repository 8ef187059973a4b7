"""All that capture histories allow to be fitted, for the crawls of the latest regime.

What they show is put in the place of what pairs of crawls can only assume.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from crawlgauge.crawl import Crawl
from crawlgauge.model.checks import Diagnosis, diagnose
from crawlgauge.model.estimates import (
    Agreement,
    Check,
    CrawlEstimate,
    Estimate,
    Estimates,
    EstimatorRow,
    FirstCaptures,
    Headline,
)
from crawlgauge.model.histories import closed_population as closed
from crawlgauge.model.histories import headline, open_population
from crawlgauge.model.histories.checks import run_history_checks
from crawlgauge.model.histories.data import (
    HistoryData,
    count_holdings,
    count_recaptures,
    history_data,
)
from crawlgauge.model.histories.headline import Judgement, Views
from crawlgauge.model.intervals import growth_coefficients, log_growth
from crawlgauge.model.pairs import Numbers, pair_data, years_of
from crawlgauge.model.paper import TOO_MANY_ZEROS
from crawlgauge.model.phrases import percent, say
from crawlgauge.model.ranges import half_life_years
from crawlgauge.model.statement import state_histories
from crawlgauge.model.window import keep_crawls
from crawlgauge.overlaps.table import OverlapTable

# --------------------------------------------------------------------- how each estimator is fitted


class Fitted(NamedTuple):
    """Coverage of each crawl, NaN where not known, and what else an estimator says.

    If they are not given, the typical coverage is the geometric mean of the known ones, and the
    population what the newest gives; the note completes what the estimator assumes.
    """

    coverage: Numbers
    persistence: float | None = None
    typical: float | None = None
    population: float | None = None
    note: str = ""


def list_estimators(
    estimators: Mapping[str, Fitted | None], *, n_newest: float
) -> tuple[EstimatorRow, ...]:
    """List a row for each estimator that gives a coverage.

    Parameters
    ----------
    estimators
        What each says, by the name under which ``sentences.toml`` says what it assumes.
    n_newest
        URLs of the newest crawl: all of them.
    """
    rows = []
    for name, fitted in estimators.items():
        if fitted is None or (fitted.typical is None and np.isnan(fitted.coverage).all()):
            continue
        typical, population = fitted.typical, fitted.population
        per_crawl = tuple(None if math.isnan(c) else c for c in fitted.coverage.tolist())
        if population is None and per_crawl[-1] is not None:
            population = n_newest / per_crawl[-1]
        rows.append(
            EstimatorRow(
                name=name,
                coverage=_geometric_mean(fitted.coverage) if typical is None else typical,
                persistence=fitted.persistence,
                population=population,
                per_crawl=per_crawl,
                assumes=say(f"assumes.{name}", note=fitted.note, closed=say("assumes.closed")),
            )
        )
    return tuple(rows)


def exponentials(logs: Numbers) -> Numbers:
    """Return the numbers of logarithms; NaN where there is none."""
    return np.array([math.exp(log) for log in logs])


def _geometric_mean(coverage: Numbers) -> float:
    return math.exp(float(np.nanmean(np.log(coverage))))


# --------------------------------------------------- the known estimators from capture histories


def _known_alive(_: HistoryData, views: Views | None) -> Fitted | None:
    if views is None or "known-alive" not in views.levels:
        return None
    typical = math.exp(views.levels["known-alive"])
    return Fitted(exponentials(views.windows.log_coverage), typical=typical)


def _cormack_jolly_seber(data: HistoryData, views: Views | None) -> Fitted:
    fit = open_population.fit_cormack_jolly_seber
    coverage, persistence = fit(count_recaptures(data)) if views is None else views.cjs
    return Fitted(coverage, None if math.isnan(persistence) else persistence)


def _jolly_seber(data: HistoryData, _: Views | None) -> Fitted:
    coverage, _survival, persistence = open_population.fit_jolly_seber(count_recaptures(data))
    known = ~np.isnan(persistence)
    if not known.any():
        return Fitted(coverage)
    # On average over the intervals that it is known in.
    log = np.average(np.log(persistence[known]), weights=np.diff(data.years)[known])
    return Fitted(coverage, math.exp(float(log)))


def _closed(population: float, data: HistoryData, n_newest: int) -> Numbers:
    """Return the coverage of each crawl that a population is made from."""
    used = np.arange(data.n_crawls) >= data.n_crawls - n_newest
    return np.where(used & (data.sizes > 0), data.sizes / population, np.nan)


def _close(
    estimate: Callable[[HistoryData], float], n_newest: int | None = None
) -> Callable[[HistoryData, Views | None], Fitted]:
    """Make an estimator of the population, of all crawls or the newest, one of coverage."""
    return lambda data, _: Fitted(_closed(estimate(data), data, n_newest or data.n_crawls))


def _even_loglinear(data: HistoryData, _: Views | None) -> Fitted:
    population, _deviance = closed.fit_loglinear(data, "even")
    return Fitted(_closed(population, data, closed.MAX_NEWEST), note=_window(data))


def _uneven_loglinear(data: HistoryData, _: Views | None) -> Fitted | None:
    fits = {form: closed.fit_loglinear(data, form) for form in _FORMS}
    known = {form: fit for form, fit in fits.items() if not math.isnan(fit[0])}
    if not known:
        return None
    # Both have as many parameters, so that the smaller deviance fits better.
    best, *others = sorted(known, key=lambda form: known[form][1])
    note = f", {say(f'form.{best}')}"
    for other in others:
        coverage = _geometric_mean(_closed(known[other][0], data, closed.MAX_NEWEST))
        note += say("form.other", form=say(f"form.{other}"), coverage=coverage)
    return Fitted(_closed(known[best][0], data, closed.MAX_NEWEST), note=f"{note}.{_window(data)}")


_FORMS: tuple[closed.Form, ...] = ("poisson", "darroch")


def _window(data: HistoryData) -> str:
    return (
        f" Made from the {closed.MAX_NEWEST} newest crawls only."
        if data.n_crawls > closed.MAX_NEWEST
        else ""
    )


def _latent_class(_: HistoryData, views: Views | None) -> Fitted | None:
    if views is None or "latent-class" not in views.levels:
        return None
    fit = views.classes
    return Fitted(
        exponentials(fit.log_coverage),
        persistence=math.exp(fit.log_persistence),
        typical=math.exp(views.levels["latent-class"]),
        note=say(f"lags.{min(fit.trap_lags, 2)}", n=fit.trap_lags),
    )


HISTORY_ESTIMATORS: dict[str, Callable[[HistoryData, Views | None], Fitted | None]] = {
    "known-alive": _known_alive,
    "cjs": _cormack_jolly_seber,
    "jolly-seber": _jolly_seber,
    "manly-parr": lambda data, _: Fitted(open_population.fit_manly_parr(data)),
    "rested-manly-parr": lambda data, _: Fitted(open_population.fit_rested_manly_parr(data)),
    "lincoln-petersen": _close(closed.estimate_lincoln_petersen, 2),
    "chapman": _close(closed.estimate_chapman, 2),
    "schnabel": _close(closed.estimate_schnabel),
    "chao": _close(closed.estimate_chao),
    "loglinear-mt": _even_loglinear,
    "loglinear-mth": _uneven_loglinear,
    "latent-class": _latent_class,
}


# ----------------------------------------------------------------------------------------- all fits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HistoryFits:
    """What capture histories show.

    Parameters
    ----------
    first
        Position of the first crawl that they are taken from; earlier ones are of another regime.
    positions
        Of the crawls that were fitted: those of the latest regime that are not too small.
    views
        What several estimators say; None with fewer than five crawls.
    judgement
        The coverage that follows, or None.
    rows
        All estimators from histories, with a place for each crawl of the table.
    checks
        Those of pairs, completed by what histories say, and what histories can test.
    recapture
        For each crawl of the table, the chance that it captures what an earlier one holds, where
        that is known; None without a judgement.
    memory_factor
        For each, how many times as many of its captures there would be without avoidance.
    """

    first: int
    positions: tuple[int, ...]
    views: Views | None
    judgement: Judgement | None
    rows: tuple[EstimatorRow, ...]
    checks: tuple[Check, ...]
    recapture: Numbers | None = None
    memory_factor: Numbers | None = None


def fit_histories(
    table: OverlapTable, diagnosis: Diagnosis, checks: tuple[Check, ...]
) -> HistoryFits | None:
    """Fit all that capture histories allow; None if the table has none.

    Parameters
    ----------
    table
        The overlaps.
    diagnosis, checks
        What their pairs show.
    """
    n_crawls, first = table.n_crawls, diagnosis.regimes[-1].start
    if first > 0:
        table = keep_crawls(table, list(diagnosis.regimes[-1]))
        diagnosis = diagnose(table)
    data = history_data(table)
    if data is None:
        return None
    kept = np.flatnonzero(~headline.too_small(data.sizes)).tolist()
    large = keep_crawls(table, kept)
    # Large crawls hold URLs, so that there always are histories of them.
    of_large = data if large is table else history_data(large) or data
    views = None
    if len(kept) >= headline.MIN_CRAWLS:
        views = headline.find_views(of_large, pair_data(large))
    fitted = {name: fit(of_large, views) for name, fit in HISTORY_ESTIMATORS.items()}
    rows = list_estimators(fitted, n_newest=float(large.crawls[-1].n_urls))
    positions = tuple(first + place for place in kept)
    judgement = None if views is None else headline.judge_views(views)
    recapture = memory_factor = None
    if views is not None and judgement is not None:
        recapture, memory_factor = np.full(n_crawls, np.nan), np.ones(n_crawls)
        recapture[list(positions)] = np.exp(views.log_cjs)
        memory_factor[list(positions)] = views.memory_factor
    return HistoryFits(
        first=first,
        positions=positions,
        views=views,
        judgement=judgement,
        rows=tuple(_place(row, positions, n_crawls) for row in rows),
        checks=run_history_checks(data, diagnosis, checks),
        recapture=recapture,
        memory_factor=memory_factor,
    )


def _why_none(views: Views | None) -> str:
    if views is None:
        return say("grade.few-crawls", least=headline.MIN_CRAWLS)
    if views.n_thrice >= headline.MIN_SEEN_THRICE:
        return say("grade.too-wide")
    return say("grade.few-urls", n=views.n_thrice, least=headline.MIN_SEEN_THRICE)


def _place(row: EstimatorRow, positions: tuple[int, ...], n_crawls: int) -> EstimatorRow:
    """Leave places for the crawls that were not fitted."""
    found = dict(zip(positions, row.per_crawl, strict=True))
    return replace(row, per_crawl=tuple(found.get(place) for place in range(n_crawls)))


# ----------------------------------------------------------- estimates with what the histories show


_OWN_SD = 0.07
"""Of the logarithm of a single crawl's population, beyond what all crawls share."""

_FALLS = "the population falls faster than URLs die"
_FASTEST = 0.8
"""Of what lives on: a population below this has lost more than died."""

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
    refined = replace(by_pairs, estimators=(*by_pairs.estimators, *fits.rows), checks=fits.checks)
    why_none = _why_none(fits.views)
    if fits.views is None:
        reason = say("grade.none-but-pairs", reason=why_none)
        return replace(refined, agreement=Agreement(spread=None, grade="none", reason=reason))
    if fits.judgement is None:
        return _without_number(refined, why_none)
    return _lead_with(refined, fits, fits.views, fits.judgement, table)


def _without_number(estimates: Estimates, reason: str) -> Estimates:
    """Take back what pairs say of coverage: the histories tell too little to believe it."""
    unknown = Estimate.unknown(f"not identifiable: {reason}")
    persistence, half_life = (
        unknown if known.reason == TOO_MANY_ZEROS else known
        for known in (estimates.persistence, estimates.half_life_years)
    )
    return replace(
        estimates,
        headline=Headline(
            coverage=unknown,
            estimator=None,
            statement=say("headline.histories-unknown", reason=reason),
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
        agreement=Agreement(spread=None, grade="none", reason=say("grade.none", reason=reason)),
    )


def _lead_with(
    estimates: Estimates, fits: HistoryFits, views: Views, judgement: Judgement, table: OverlapTable
) -> Estimates:
    """Make the views the headline, and all numbers those that belong to it."""
    coverages = _place_all(headline.spread_over_crawls(judgement, views), estimates.crawls, fits)
    turnover = headline.judge_persistence(views)
    # Crawls of one date tell none, and so do their pairs.
    persistence = estimates.persistence if turnover is None else _band(*turnover)
    half_life = half_life_years(persistence, float(years_of(estimates.crawls)[-1]))
    per_crawl = _per_crawl(estimates, fits, coverages, persistence)
    newest = replace(
        estimates.newest, coverage=per_crawl[-1].coverage, population=per_crawl[-1].population
    )
    coverage = _band(judgement.value, judgement.low, judgement.high)
    first_captures = _first_captures(coverages[0], fits, table)
    row = EstimatorRow(
        name="histories",
        coverage=math.exp(judgement.value),
        persistence=persistence.value,
        population=newest.population.value,
        per_crawl=tuple(crawl.coverage.value for crawl in per_crawl),
        assumes=say("assumes.histories"),
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
            spread=judgement.spread, grade=judgement.grade, reason=_describe_grade(judgement, views)
        ),
        readings=judgement.readings,
        first_captures=first_captures,
    )


def _band(value: float, low: float, high: float) -> Estimate:
    return Estimate.between(math.exp(value), math.exp(low), math.exp(high), "empirical-band")


# ------------------------------------------------------------------------------- single crawls


def _place_all(found: Numbers, crawls: tuple[Crawl, ...], fits: HistoryFits) -> Numbers:
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
    known = [row.coverage.basis == "empirical-band" and row.population.value for row in per_crawl]
    populations = np.log([value or math.nan for value in known])
    rate = log_growth(years, populations)
    if rate is None:
        return Estimate.unknown("not identifiable: the population is known at fewer than two dates")
    weights = growth_coefficients(years, np.isfinite(populations))
    half_width = 2 * _OWN_SD * float(np.sqrt(np.sum(weights**2)))
    ends = math.expm1(rate - half_width), math.expm1(rate + half_width)
    return Estimate.between(math.expm1(rate), *ends, "empirical-band")


def _first_captures(
    coverage: Numbers, fits: HistoryFits, table: OverlapTable
) -> FirstCaptures | None:
    holdings = count_holdings(table)
    inside = list(fits.positions[1:-1])
    if holdings is None or not np.isfinite(coverage[inside]).any():
        return None
    half, twice = (
        headline.with_first_captures(coverage[inside], holdings.known_share[inside], ratio)
        for ratio in (0.5, 2.0)
    )
    return FirstCaptures(half=half, twice=twice)


# ------------------------------------------------------------------------------------ the grade


def _describe_grade(judgement: Judgement, views: Views) -> str:
    """Say what the grade rests on: the views farthest apart, and what spoils it."""
    (lowest, least), (highest, most) = judgement.lowest, judgement.highest
    low, high = (percent(min(math.exp(log), 1.0)) for log in (least, most))
    parts = [
        say(
            f"grade.{'alike' if low == high else 'apart'}",
            n_views=judgement.n_views,
            lowest=say(f"view.{lowest}"),
            says="say" if lowest in _PLURAL else "says",
            low=low,
            highest=say(f"view.{highest}"),
            high=high,
        )
    ]
    n_lags = views.windows.trap_lags
    if n_lags and not judgement.has_no_memory:
        last = "the last crawl" if n_lags == 1 else f"the last {n_lags} crawls"
        what = "avoids" if views.windows.avoids else "repeats"
        parts.append(say("grade.policy", what=what, last=last))
    if views.windows.misfit > headline.MAX_MISFIT:
        parts.append(say("grade.misfit"))
    if "latent-class" not in views.levels and not judgement.has_no_memory:
        parts.append(say("grade.no-classes"))
    if views.n_thrice < headline.ENOUGH_SEEN_THRICE:
        parts.append(say("grade.few", n=views.n_thrice))
    text = " ".join(parts)
    return text[:1].upper() + text[1:]
