"""All that capture histories allow to be fitted, for the crawls of the latest regime."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.checks import Diagnosis, diagnose
from crawlgauge.model.estimates import Check, EstimatorRow
from crawlgauge.model.headline import (
    ENOUGH_SEEN_THRICE,
    MIN_CRAWLS,
    MIN_SEEN_THRICE,
    Judgement,
    Views,
    find_views,
    judge_views,
    too_small,
)
from crawlgauge.model.history_checks.capture_dependence import measure_dependence
from crawlgauge.model.history_checks.running import run_history_checks
from crawlgauge.model.history_checks.short_lag_cause import resolve_short_lag
from crawlgauge.model.history_data import HistoryData, history_data
from crawlgauge.model.history_rows import list_history_estimators
from crawlgauge.model.known_alive.known_alive import KnownAliveFit
from crawlgauge.model.latent_class.fitting import latent_class_row
from crawlgauge.model.pairs import pair_data
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
        f"only {views.n_thrice:,.0f} URLs are in three crawls or more, of {ENOUGH_SEEN_THRICE} "
        "that are needed; are these crawls of the same scope?"
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
        assumes=_ASSUMES,
    )


def _place(row: EstimatorRow, positions: tuple[int, ...], n_crawls: int) -> EstimatorRow:
    """Leave places for the crawls that were not fitted."""
    found = dict(zip(positions, row.per_crawl, strict=True))
    return replace(row, per_crawl=tuple(found.get(place) for place in range(n_crawls)))
