"""All that capture histories allow to be fitted, for the crawls of the latest regime."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.checks import Diagnosis, diagnose
from crawlgauge.model.estimates import Check, EstimatorRow
from crawlgauge.model.histories.checks import resolve_short_lag, run_history_checks
from crawlgauge.model.histories.closed_population import (
    ClosedEstimate,
    LoglinearFit,
    estimate_chao,
    estimate_chapman,
    estimate_lincoln_petersen,
    estimate_schnabel,
    fit_loglinear,
)
from crawlgauge.model.histories.cormack_jolly_seber import (
    CormackJollySeberFit,
    fit_cormack_jolly_seber,
)
from crawlgauge.model.histories.data import HistoryData, count_recaptures, history_data
from crawlgauge.model.histories.dependence import measure_dependence
from crawlgauge.model.histories.headline import (
    MIN_CRAWLS,
    MIN_SEEN_THRICE,
    Judgement,
    Views,
    find_views,
    judge_views,
    too_small,
)
from crawlgauge.model.histories.jolly_seber import JollySeberFit, fit_jolly_seber
from crawlgauge.model.histories.known_alive import KnownAliveFit
from crawlgauge.model.histories.latent_class import latent_class_row
from crawlgauge.model.histories.manly_parr import fit_manly_parr, fit_rested_manly_parr
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.phrases import percent
from crawlgauge.model.window import keep_crawls
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["HistoryFits", "fit_histories", "list_history_estimators"]


# -------------- the known estimators from capture histories side by side, each with what it assumes


_EVEN = "All URLs alive are equally likely to be captured"
_TURNOVER = (
    "No URL is born or dies between the crawls. On a living web the population comes out too "
    "large, and the coverage too small, since URLs that are gone, or not there yet, count as "
    "missed"
)
_ASSUMES = {
    "cjs": f"{_EVEN} and live on at the same rate; coverage may differ from crawl to crawl.",
    "jolly-seber": (
        f"{_EVEN} and to live on; both coverage and survival may differ from crawl to crawl. "
        "Nothing is said about the first and the last crawl."
    ),
    "manly-parr": (
        "All URLs seen both before and after a crawl, and so known to be alive, are equally "
        "likely to be captured by it. Nothing is assumed about survival, and nothing said about "
        "the first and the last crawl."
    ),
    "rested-manly-parr": (
        "As manly-parr, but URLs of the crawl just before may be captured more or less often than "
        "others. Nothing is said about the two crawls at either end."
    ),
    "lincoln-petersen": (
        f"{_TURNOVER}. All URLs are equally likely to be in the newest crawl, whether or not they "
        "are in the one before. Made from these two crawls only."
    ),
    "chapman": f"{_TURNOVER}. Otherwise as lincoln-petersen, corrected for small overlaps.",
    "schnabel": f"{_TURNOVER}. All URLs are equally likely to be captured by each crawl.",
    "chao": (
        f"{_TURNOVER}. URLs may differ in how likely they are to be captured: it is meant as the "
        "least population, which turnover makes untrue."
    ),
    "loglinear-mt": f"{_TURNOVER}. All URLs are equally likely to be captured by each crawl.",
    "loglinear-mth": f"{_TURNOVER}. URLs differ in how likely they are to be captured",
}
_FORMS = {
    "poisson": "in the Poisson form (2^k − 1 for k captures)",
    "darroch": "in the form of Darroch and Rasch (k²/2 for k captures)",
}


def list_history_estimators(
    data: HistoryData, n_urls: NDArray[np.float64], cjs: CormackJollySeberFit | None = None
) -> tuple[EstimatorRow, ...]:
    """List a row for each known estimator that gives a coverage.

    Parameters
    ----------
    data
        Capture histories of two crawls or more, of all URLs or of a sample.
    n_urls
        Size of each crawl: all its URLs.
    cjs
        The fit of Cormack, Jolly and Seber, where it is at hand.
    """
    recaptures = count_recaptures(data)
    cjs = cjs or fit_cormack_jolly_seber(recaptures)
    jolly_seber = fit_jolly_seber(recaptures)
    open_rows = (
        _row("cjs", cjs.coverage, n_urls, persistence=_common_persistence(cjs)),
        _row("jolly-seber", jolly_seber.coverage, n_urls, persistence=_mean(jolly_seber, data)),
        _row("manly-parr", fit_manly_parr(data).coverage, n_urls),
        _row("rested-manly-parr", fit_rested_manly_parr(data).coverage, n_urls),
    )
    closed = {
        "lincoln-petersen": estimate_lincoln_petersen(data),
        "chapman": estimate_chapman(data),
        "schnabel": estimate_schnabel(data),
        "chao": estimate_chao(data),
    }
    closed_rows = (_row(name, estimate.coverage(data), n_urls) for name, estimate in closed.items())
    rows = (*open_rows, *closed_rows, *_loglinear_rows(data, n_urls))
    return tuple(row for row in rows if row is not None)


def _loglinear_rows(
    data: HistoryData, n_urls: NDArray[np.float64]
) -> Iterator[EstimatorRow | None]:
    plain = fit_loglinear(data).estimate
    yield _row("loglinear-mt", plain.coverage(data), n_urls, note=_window(plain, data))
    fits = {"poisson": fit_loglinear(data, "poisson"), "darroch": fit_loglinear(data, "darroch")}
    known = {form: fit for form, fit in fits.items() if not math.isnan(fit.estimate.population)}
    if known:
        # Both have as many parameters, so that the smaller deviance fits better.
        best = min(known, key=lambda form: known[form].deviance)
        note = f", {_FORMS[best]}{_other_form(known, best, data)}.{_window(plain, data)}"
        yield _row("loglinear-mth", known[best].estimate.coverage(data), n_urls, note=note)


def _other_form(known: dict[str, LoglinearFit], best: str, data: HistoryData) -> str:
    others = [form for form in known if form != best]
    if not others:
        return ""
    coverage = _geometric_mean(known[others[0]].estimate.coverage(data))
    return (
        f", which fits better here; {_FORMS[others[0]]} the coverage would be {percent(coverage)}"
    )


def _window(estimate: ClosedEstimate, data: HistoryData) -> str:
    if estimate.n_newest == data.n_crawls:
        return ""
    return f" Made from the {estimate.n_newest} newest crawls only."


def _row(
    name: str,
    coverage: NDArray[np.float64],
    n_urls: NDArray[np.float64],
    *,
    persistence: float | None = None,
    note: str = "",
) -> EstimatorRow | None:
    """Make a row, or none if no crawl's coverage is known."""
    if np.all(np.isnan(coverage)):
        return None
    per_crawl = tuple(None if math.isnan(value) else float(value) for value in coverage)
    newest = per_crawl[-1]
    return EstimatorRow(
        name=name,
        coverage=_geometric_mean(coverage),
        persistence=persistence,
        population=None if newest is None else float(n_urls[-1]) / newest,
        per_crawl=per_crawl,
        assumes=_ASSUMES[name] + note,
    )


def _geometric_mean(coverage: NDArray[np.float64]) -> float:
    return math.exp(float(np.nanmean(np.log(coverage))))


def _common_persistence(fit: CormackJollySeberFit) -> float | None:
    """Return the persistence that all intervals share, or None if it is not known."""
    known = fit.persistence[~np.isnan(fit.persistence)]
    return float(known[0]) if known.size else None


def _mean(fit: JollySeberFit, data: HistoryData) -> float | None:
    """Return the share that lives on for a year, on average over the intervals it is known in."""
    years = np.diff(data.years)
    known = ~np.isnan(fit.persistence)
    if not known.any():
        return None
    return math.exp(float(np.average(np.log(fit.persistence[known]), weights=years[known])))


# --------------- all that capture histories allow to be fitted, for the crawls of the latest regime


_KNOWN_ALIVE_ASSUMES = (
    "URLs seen before and after a crawl were alive at it, whatever their lifetimes; they may "
    "differ in how easily they are captured, and the crawler may avoid or repeat what it captured "
    "lately. What is hardly ever captured twice is extrapolated."
)


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
        What histories can test.
    short_lag
        The check of pairs, completed by what histories say.
    """

    first: int
    positions: tuple[int, ...]
    views: Views | None
    judgement: Judgement | None
    why_none: str
    rows: tuple[EstimatorRow, ...]
    checks: tuple[Check, ...]
    short_lag: Check

    def recapture(self, n_crawls: int) -> NDArray[np.float64] | None:
        """Return the chance of each crawl to capture what an earlier one holds, where known."""
        if self.views is None or self.judgement is None:
            return None
        return self._place(np.exp(self.views.log_cjs), n_crawls, np.nan)

    def memory_factor(self, n_crawls: int) -> NDArray[np.float64] | None:
        """Return how much the crawler's avoidance takes from each crawl."""
        if self.views is None or self.judgement is None:
            return None
        return self._place(self.views.memory_factor, n_crawls, 1.0)

    def _place(
        self, numbers: NDArray[np.float64], n_crawls: int, other: float
    ) -> NDArray[np.float64]:
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
    large: OverlapTable = table
    of_large: HistoryData | None = data
    if len(kept) < table.n_crawls:
        large = keep_crawls(table, kept)
        of_large = history_data(large)
    views = None
    if of_large is not None and len(kept) >= MIN_CRAWLS:
        views = find_views(of_large, pair_data(large))
    judgement = None if views is None else judge_views(views)
    n_urls = np.array([crawl.n_urls for crawl in large.crawls], dtype=np.float64)
    rows: list[EstimatorRow | None] = []
    if of_large is not None:
        rows += list_history_estimators(of_large, n_urls, None if views is None else views.cjs)
    if views is not None:
        rows.insert(0, _known_alive_row(views.windows))
        rows.append(latent_class_row(views.classes, n_urls))
    positions = tuple(first + place for place in kept)
    short_lag = next(check for check in checks if check.id == "short-lag")
    return HistoryFits(
        first=first,
        positions=positions,
        views=views,
        judgement=judgement,
        why_none=_why_none(views),
        rows=tuple(_place(row, positions, n_crawls) for row in rows if row is not None),
        checks=run_history_checks(data, diagnosis),
        short_lag=resolve_short_lag(
            short_lag, measure_dependence(data), diagnosis.short_lag, table.level
        ),
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


def _known_alive_row(fit: KnownAliveFit | None) -> EstimatorRow | None:
    if fit is None:
        return None
    known = fit.log_coverage[np.isfinite(fit.log_coverage)]
    return EstimatorRow(
        name="known-alive",
        coverage=math.exp(known.mean()),
        persistence=None,
        population=None,
        per_crawl=tuple(None if np.isnan(log) else math.exp(log) for log in fit.log_coverage),
        assumes=_KNOWN_ALIVE_ASSUMES,
    )


def _place(row: EstimatorRow, positions: tuple[int, ...], n_crawls: int) -> EstimatorRow:
    """Leave places for the crawls that were not fitted."""
    found = dict(zip(positions, row.per_crawl, strict=True))
    return replace(row, per_crawl=tuple(found.get(place) for place in range(n_crawls)))
