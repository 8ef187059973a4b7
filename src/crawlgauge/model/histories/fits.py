"""All that capture histories allow to be fitted, for the crawls of the latest regime."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from crawlgauge.model.checks import Diagnosis, diagnose
from crawlgauge.model.estimates import Check, EstimatorRow
from crawlgauge.model.histories.checks import run_history_checks
from crawlgauge.model.histories.closed_population import (
    MAX_NEWEST,
    Form,
    estimate_chao,
    estimate_chapman,
    estimate_lincoln_petersen,
    estimate_schnabel,
    fit_loglinear,
)
from crawlgauge.model.histories.data import HistoryData, Numbers, count_recaptures, history_data
from crawlgauge.model.histories.headline import (
    MIN_CRAWLS,
    MIN_SEEN_THRICE,
    Judgement,
    Views,
    find_views,
    judge_views,
    too_small,
)
from crawlgauge.model.histories.open_population import (
    fit_cormack_jolly_seber,
    fit_jolly_seber,
    fit_manly_parr,
    fit_rested_manly_parr,
)
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.phrases import percent
from crawlgauge.model.window import keep_crawls
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["HistoryFits", "fit_histories", "list_history_estimators"]


# --------------------------------------------------------------------- how each estimator is fitted


class _Fitted(NamedTuple):
    """Coverage of each crawl, NaN where not known, and what else an estimator says.

    The typical coverage is the geometric mean of the known ones if it is not given; the note
    completes what the estimator assumes.
    """

    coverage: Numbers
    persistence: float | None = None
    typical: float | None = None
    note: str = ""


def _known_alive(_: HistoryData, views: Views | None) -> _Fitted | None:
    if views is None or views.windows is None:
        return None
    logs = views.windows.log_coverage
    return _Fitted(_exponentials(logs), typical=math.exp(logs[np.isfinite(logs)].mean()))


def _cormack_jolly_seber(data: HistoryData, views: Views | None) -> _Fitted:
    found = fit_cormack_jolly_seber(count_recaptures(data)) if views is None else views.cjs
    coverage, persistence = found
    return _Fitted(coverage, None if math.isnan(persistence) else persistence)


def _jolly_seber(data: HistoryData, _: Views | None) -> _Fitted:
    coverage, _survival, persistence = fit_jolly_seber(count_recaptures(data))
    known = ~np.isnan(persistence)
    if not known.any():
        return _Fitted(coverage)
    # On average over the intervals that it is known in.
    log = np.average(np.log(persistence[known]), weights=np.diff(data.years)[known])
    return _Fitted(coverage, math.exp(float(log)))


def _closed(population: float, data: HistoryData, n_newest: int) -> Numbers:
    """Return the coverage of each crawl that a population is made from."""
    used = np.arange(data.n_crawls) >= data.n_crawls - n_newest
    return np.where(used & (data.sizes > 0), data.sizes / population, np.nan)


def _even_loglinear(data: HistoryData, _: Views | None) -> _Fitted:
    return _Fitted(_closed(fit_loglinear(data, "even")[0], data, MAX_NEWEST), note=_window(data))


def _uneven_loglinear(data: HistoryData, _: Views | None) -> _Fitted | None:
    fits = {form: fit_loglinear(data, form) for form in _FORMS}
    known = {form: fit for form, fit in fits.items() if not math.isnan(fit[0])}
    if not known:
        return None
    # Both have as many parameters, so that the smaller deviance fits better.
    best, *others = sorted(known, key=lambda form: known[form][1])
    note = f", {_FORMS[best]}"
    for other in others:
        coverage = _geometric_mean(_closed(known[other][0], data, MAX_NEWEST))
        note += (
            f", which fits better here; {_FORMS[other]} the coverage would be {percent(coverage)}"
        )
    return _Fitted(_closed(known[best][0], data, MAX_NEWEST), note=f"{note}.{_window(data)}")


_FORMS: dict[Form, str] = {
    "poisson": "in the Poisson form (2^k − 1 for k captures)",
    "darroch": "in the form of Darroch and Rasch (k²/2 for k captures)",
}


def _window(data: HistoryData) -> str:
    return f" Made from the {MAX_NEWEST} newest crawls only." if data.n_crawls > MAX_NEWEST else ""


def _latent_class(_: HistoryData, views: Views | None) -> _Fitted | None:
    fit = None if views is None else views.classes
    if fit is None or math.isnan(fit.log_typical):
        return None
    return _Fitted(
        _exponentials(fit.log_coverage),
        persistence=math.exp(fit.log_persistence),
        typical=math.exp(fit.log_typical),
        note=_LAGS[fit.trap_lags],
    )


_LAGS = (
    "in no way",
    "in the following crawl",
    *(f"in the {n} following crawls" for n in range(2, 6)),
)


def _exponentials(logs: Numbers) -> Numbers:
    return np.array([math.exp(log) for log in logs])


def _geometric_mean(coverage: Numbers) -> float:
    return math.exp(float(np.nanmean(np.log(coverage))))


# --------------------------------------------------- the known estimators from capture histories


class _Estimator(NamedTuple):
    """Its name, how it is fitted, and what it assumes; braces in it hold what the fit adds."""

    name: str
    fit: Callable[[HistoryData, Views | None], _Fitted | None]
    assumes: str


_EVEN = "All URLs alive are equally likely to be captured"
_TURNOVER = (
    "No URL is born or dies between the crawls. On a living web the population comes out too "
    "large, and the coverage too small, since URLs that are gone, or not there yet, count as "
    "missed"
)
_ESTIMATORS = (
    _Estimator(
        "known-alive",
        _known_alive,
        "URLs seen before and after a crawl were alive at it, whatever their lifetimes; they may "
        "differ in how easily they are captured, and the crawler may avoid or repeat what it "
        "captured lately. What is hardly ever captured twice is extrapolated.",
    ),
    _Estimator(
        "cjs",
        _cormack_jolly_seber,
        f"{_EVEN} and live on at the same rate; coverage may differ from crawl to crawl.",
    ),
    _Estimator(
        "jolly-seber",
        _jolly_seber,
        f"{_EVEN} and to live on; both coverage and survival may differ from crawl to crawl. "
        "Nothing is said about the first and the last crawl.",
    ),
    _Estimator(
        "manly-parr",
        lambda data, _: _Fitted(fit_manly_parr(data)),
        "All URLs seen both before and after a crawl, and so known to be alive, are equally "
        "likely to be captured by it. Nothing is assumed about survival, and nothing said about "
        "the first and the last crawl.",
    ),
    _Estimator(
        "rested-manly-parr",
        lambda data, _: _Fitted(fit_rested_manly_parr(data)),
        "As manly-parr, but URLs of the crawl just before may be captured more or less often than "
        "others. Nothing is said about the two crawls at either end.",
    ),
    _Estimator(
        "lincoln-petersen",
        lambda data, _: _Fitted(_closed(estimate_lincoln_petersen(data), data, 2)),
        f"{_TURNOVER}. All URLs are equally likely to be in the newest crawl, whether or not they "
        "are in the one before. Made from these two crawls only.",
    ),
    _Estimator(
        "chapman",
        lambda data, _: _Fitted(_closed(estimate_chapman(data), data, 2)),
        f"{_TURNOVER}. Otherwise as lincoln-petersen, corrected for small overlaps.",
    ),
    _Estimator(
        "schnabel",
        lambda data, _: _Fitted(_closed(estimate_schnabel(data), data, data.n_crawls)),
        f"{_TURNOVER}. All URLs are equally likely to be captured by each crawl.",
    ),
    _Estimator(
        "chao",
        lambda data, _: _Fitted(_closed(estimate_chao(data), data, data.n_crawls)),
        f"{_TURNOVER}. URLs may differ in how likely they are to be captured: it is meant as the "
        "least population, which turnover makes untrue.",
    ),
    _Estimator(
        "loglinear-mt",
        _even_loglinear,
        f"{_TURNOVER}. All URLs are equally likely to be captured by each crawl.{{}}",
    ),
    _Estimator(
        "loglinear-mth",
        _uneven_loglinear,
        f"{_TURNOVER}. URLs differ in how likely they are to be captured{{}}",
    ),
    _Estimator(
        "latent-class",
        _latent_class,
        "URLs are of at most two kinds, each captured with its own chance and living on at its own "
        "steady rate; a capture may change the chance of the next {}; no URLs are invisible. "
        "Coverage and population may differ from crawl to crawl.",
    ),
)


def list_history_estimators(
    data: HistoryData, n_urls: Numbers, views: Views | None = None
) -> tuple[EstimatorRow, ...]:
    """List a row for each known estimator that gives a coverage.

    Parameters
    ----------
    data
        Capture histories of two crawls or more, of all URLs or of a sample.
    n_urls
        Size of each crawl: all its URLs.
    views
        What `find_views` makes of the histories; without it known-alive windows and latent classes
        have no row.
    """
    rows = []
    for name, fit, assumes in _ESTIMATORS:
        fitted = fit(data, views)
        if fitted is None or np.all(np.isnan(fitted.coverage)):
            continue
        typical = fitted.typical
        newest = float(fitted.coverage[-1])
        rows.append(
            EstimatorRow(
                name=name,
                coverage=_geometric_mean(fitted.coverage) if typical is None else typical,
                persistence=fitted.persistence,
                population=None if math.isnan(newest) else float(n_urls[-1]) / newest,
                per_crawl=tuple(
                    None if math.isnan(value) else value for value in fitted.coverage.tolist()
                ),
                assumes=assumes.format(fitted.note),
            )
        )
    return tuple(rows)


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
    why_none
        Why there is none, in words.
    rows
        All estimators from histories, with a place for each crawl of the table.
    checks
        Those of pairs, completed by what histories say, and what histories can test.
    """

    first: int
    positions: tuple[int, ...]
    views: Views | None
    judgement: Judgement | None
    why_none: str
    rows: tuple[EstimatorRow, ...]
    checks: tuple[Check, ...]

    def recapture(self, n_crawls: int) -> Numbers | None:
        """Return the chance of each crawl to capture what an earlier one holds, where known."""
        if self.views is None or self.judgement is None:
            return None
        return self._place(np.exp(self.views.log_cjs), n_crawls, np.nan)

    def memory_factor(self, n_crawls: int) -> Numbers | None:
        """Return how much the crawler's avoidance takes from each crawl."""
        if self.views is None or self.judgement is None:
            return None
        return self._place(self.views.memory_factor, n_crawls, 1.0)

    def _place(self, numbers: Numbers, n_crawls: int, other: float) -> Numbers:
        placed = np.full(n_crawls, other)
        placed[list(self.positions)] = numbers
        return placed


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
    n_crawls, first = table.n_crawls, diagnosis.regimes[-1].first
    if first > 0:
        table = keep_crawls(table, list(diagnosis.regimes[-1].positions))
        diagnosis = diagnose(table)
    data = history_data(table)
    if data is None:
        return None
    kept = np.flatnonzero(~too_small(data.sizes)).tolist()
    large, of_large = table, data if len(kept) == table.n_crawls else None
    if of_large is None:
        large = keep_crawls(table, kept)
        of_large = history_data(large)
    views = None
    rows: tuple[EstimatorRow, ...] = ()
    if of_large is not None:
        if len(kept) >= MIN_CRAWLS:
            views = find_views(of_large, pair_data(large))
        n_urls = np.array([crawl.n_urls for crawl in large.crawls], dtype=np.float64)
        rows = list_history_estimators(of_large, n_urls, views)
    positions = tuple(first + place for place in kept)
    return HistoryFits(
        first=first,
        positions=positions,
        views=views,
        judgement=None if views is None else judge_views(views),
        why_none=_why_none(views),
        rows=tuple(_place(row, positions, n_crawls) for row in rows),
        checks=run_history_checks(data, diagnosis, checks),
    )


def _why_none(views: Views | None) -> str:
    if views is None:
        return f"it takes {MIN_CRAWLS} crawls to test whether estimators agree"
    if views.n_thrice >= MIN_SEEN_THRICE:
        return "the range would span more than a factor of ten"
    return (
        f"only {views.n_thrice:,.0f} URLs are in three crawls or more, and it takes "
        f"{MIN_SEEN_THRICE}; crawls of one scope would share more"
    )


def _place(row: EstimatorRow, positions: tuple[int, ...], n_crawls: int) -> EstimatorRow:
    """Leave places for the crawls that were not fitted."""
    found = dict(zip(positions, row.per_crawl, strict=True))
    return replace(row, per_crawl=tuple(found.get(place) for place in range(n_crawls)))
