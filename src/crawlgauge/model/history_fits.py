"""All that capture histories allow to be fitted, for the crawls of the latest regime."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.checks import Diagnosis, diagnose
from crawlgauge.model.estimates import Check, EstimatorRow
from crawlgauge.model.history_checks.capture_dependence import measure_dependence
from crawlgauge.model.history_checks.running import run_history_checks
from crawlgauge.model.history_checks.short_lag_cause import resolve_short_lag
from crawlgauge.model.history_data import HistoryData, history_data
from crawlgauge.model.history_rows import list_history_estimators
from crawlgauge.model.known_alive.results import KnownAliveFit, LatentClassLevel, NoKnownAlive
from crawlgauge.model.known_alive.rule import fit_known_alive
from crawlgauge.model.latent_class.fitting import LatentClassFit, fit_latent_class, latent_class_row
from crawlgauge.model.window import keep_crawls
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["HistoryFits", "fit_histories"]

_ASSUMES = (
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
    known_alive
        Coverage from known-alive windows, or why there is none.
    latent_class
        The latent-class model with the same trap lags, where it could be fitted.
    rows
        All estimators from histories, with a place for each crawl of the table.
    checks
        What histories can test.
    short_lag
        The check of pairs, completed by what histories say.
    """

    first: int
    known_alive: KnownAliveFit | NoKnownAlive
    latent_class: LatentClassFit | None
    rows: tuple[EstimatorRow, ...]
    checks: tuple[Check, ...]
    short_lag: Check


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
    first = diagnosis.regimes[-1].first
    if first > 0:
        table = keep_crawls(table, list(diagnosis.regimes[-1].positions))
        diagnosis = diagnose(table)
    data = history_data(table)
    if data is None:
        return None
    n_urls = np.array([crawl.n_urls for crawl in table.crawls], dtype=np.float64)
    latent_class = _remember(data)
    known_alive = fit_known_alive(data, latent_class=lambda lags: _level(latent_class(lags)))
    trap_lags = known_alive.trap_lags if isinstance(known_alive, KnownAliveFit) else 0
    classes = latent_class(trap_lags)
    rows = (
        _known_alive_row(known_alive, n_urls),
        *list_history_estimators(data, n_urls),
        latent_class_row(classes, n_urls),
    )
    short_lag = next(check for check in checks if check.id == "short-lag")
    return HistoryFits(
        first=first,
        known_alive=known_alive,
        latent_class=classes,
        rows=tuple(_shift(row, first) for row in rows if row is not None),
        checks=run_history_checks(data, diagnosis),
        short_lag=resolve_short_lag(
            short_lag, measure_dependence(data), diagnosis.short_lag, table.level
        ),
    )


def _remember(data: HistoryData) -> Callable[[int], LatentClassFit | None]:
    """Fit the latent-class model when it is asked for, and once only."""

    @cache
    def fit(trap_lags: int) -> LatentClassFit | None:
        return fit_latent_class(data, trap_lags=trap_lags)

    return fit


def _level(fit: LatentClassFit | None) -> LatentClassLevel | None:
    if fit is None:
        return None
    return LatentClassLevel(log_coverage=fit.log_coverage, rmsea=fit.rmsea)


def _known_alive_row(
    fit: KnownAliveFit | NoKnownAlive, n_urls: NDArray[np.float64]
) -> EstimatorRow | None:
    if isinstance(fit, NoKnownAlive):
        return None
    coverage = tuple(None if np.isnan(log) else math.exp(log) for log in fit.log_coverage)
    return EstimatorRow(
        name="known-alive",
        coverage=math.exp(fit.log_typical),
        persistence=None,
        population=None if coverage[-1] is None else float(n_urls[-1]) / coverage[-1],
        per_crawl=coverage,
        assumes=_ASSUMES,
    )


def _shift(row: EstimatorRow, first: int) -> EstimatorRow:
    """Leave places for the crawls of earlier regimes."""
    return replace(row, per_crawl=((None,) * first + row.per_crawl))
