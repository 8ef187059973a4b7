"""The known estimators from capture histories side by side, each with what it assumes."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.closed_population.loglinear import LoglinearFit, fit_loglinear
from crawlgauge.model.closed_population.simple_counts import (
    ClosedEstimate,
    estimate_chao,
    estimate_chapman,
    estimate_lincoln_petersen,
    estimate_schnabel,
)
from crawlgauge.model.estimates import EstimatorRow
from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.open_population.cormack_jolly_seber import (
    CormackJollySeberFit,
    fit_cormack_jolly_seber,
)
from crawlgauge.model.open_population.jolly_seber import JollySeberFit, fit_jolly_seber
from crawlgauge.model.open_population.manly_parr import fit_manly_parr, fit_rested_manly_parr
from crawlgauge.model.open_population.recaptures import count_recaptures
from crawlgauge.model.phrases import percent

__all__ = ["list_history_estimators"]

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
