"""Union coverage: what all crawls together hold of the living URLs, and what they never held."""

import math
from collections.abc import Callable

import numpy as np

from crawlgauge.model.checks import Diagnosis
from crawlgauge.model.estimates import Basis, Estimate, Estimates, Union
from crawlgauge.model.history_fits import HistoryFits
from crawlgauge.model.regimes import Regime
from crawlgauge.model.union.cautions import describe_caution
from crawlgauge.model.union.gathering import Gathered, gather_numbers
from crawlgauge.model.union.holdings import count_holdings
from crawlgauge.model.union.views import (
    View,
    find_range,
    held_share,
    n_living_held,
    n_living_unseen,
)
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["estimate_union"]

_ABOVE_ALL = "the crawl's coverage comes out above 100 %, which is impossible"
_OTHER_SCOPE = (
    "not identifiable: the scope changed, and what lies outside of the present one may still live"
)
_NEEDS_TWO = "not identifiable: only the newest crawl has a known coverage"


def estimate_union(
    estimates: Estimates,
    table: OverlapTable,
    diagnosis: Diagnosis,
    fits: HistoryFits | None,
) -> Union | None:
    """Estimate what the crawls hold together; None where it is not known how much that is.

    Each crawl is a look at the living URLs: what share of it earlier crawls hold tells what share
    of the living ones they hold, whatever the URLs' lifetimes. This is the recursion
    ``U_j = c_j + (1 − c_j)·γ_j·U_(j−1)`` with its second term counted and not modelled. Where
    held URLs are more or less likely to be captured, the latent-class model says by how much.

    Parameters
    ----------
    estimates
        Coverage of each crawl, and persistence.
    table
        The overlaps.
    diagnosis
        The changes of scope, and how much pairs scatter.
    fits
        What capture histories show; None without.
    """
    holdings = count_holdings(table)
    if holdings is None:
        return None
    gathered = gather_numbers(estimates, holdings, diagnosis, fits)
    regimes = diagnosis.regimes
    last = table.n_crawls - 1
    per_crawl = tuple(
        _at_crawl(gathered, crawl, held_share, low=0.0, high=1.0) for crawl in range(last + 1)
    )
    # What the newest crawl holds is held, and nothing lives on that is not.
    n_alive = _at_crawl(
        gathered,
        last,
        n_living_held,
        low=float(table.crawls[-1].n_urls),
        high=float(max(holdings.n_distinct, table.crawls[-1].n_urls)),
    )
    return Union(
        coverage=per_crawl[-1],
        n_distinct=holdings.n_distinct,
        n_alive=n_alive,
        dead_share=_dead_share(n_alive, holdings.n_distinct, regimes),
        n_unseen=_unseen(gathered, regimes[-1]),
        per_crawl=per_crawl,
        caution=describe_caution(estimates, gathered, regimes),
        held_ratio=float(gathered.view.ratio.value[-1]),
    )


def _at_crawl(
    gathered: Gathered, crawl: int, function: Callable[[View], float], *, low: float, high: float
) -> Estimate:
    reason = gathered.why_unknown[crawl]
    if reason is not None:
        return Estimate.unknown(reason)
    if gathered.view.coverage.value[crawl] > 1:
        return Estimate.unknown(_ABOVE_ALL)
    estimate = find_range(
        function,
        gathered.view.only(crawl),
        basis=gathered.bases[crawl],
        reason=gathered.why_no_range[crawl],
    )
    return _within(estimate, low, high)


def _unseen(gathered: Gathered, regime: Regime) -> Estimate:
    """Count from the second crawl of a scope on: of the first one the coverage is not known."""
    crawls = [
        crawl
        for crawl in regime.positions
        if not (crawl == regime.first and gathered.why_unknown[crawl])
    ]
    missing = [reason for crawl in crawls if (reason := gathered.why_unknown[crawl])]
    if not crawls or missing:
        return Estimate.unknown(missing[0] if missing else _NEEDS_TWO)
    view = gathered.view.since(crawls[0])
    if np.any(view.coverage.value > 1):
        return Estimate.unknown(_ABOVE_ALL)
    if np.isnan(view.survival.value).any():
        return Estimate.unknown(gathered.why_no_survival or _NEEDS_TWO)
    reasons = [reason for crawl in crawls if (reason := gathered.why_no_range[crawl])]
    if len(crawls) > 1 and gathered.why_no_survival:
        reasons.append(gathered.why_no_survival)
    bases: set[Basis] = {gathered.bases[crawl] for crawl in crawls}
    estimate = find_range(
        n_living_unseen,
        view,
        basis="empirical-band" if "empirical-band" in bases else "interval",
        reason=reasons[0] if reasons else None,
    )
    return _within(estimate, 0.0, math.inf)


def _dead_share(n_alive: Estimate, n_distinct: int, regimes: tuple[Regime, ...]) -> Estimate:
    if len(regimes) > 1:
        return Estimate.unknown(_OTHER_SCOPE)
    if n_alive.value is None:
        return n_alive
    return Estimate(
        value=1 - n_alive.value / n_distinct,
        low=None if n_alive.high is None else 1 - n_alive.high / n_distinct,
        high=None if n_alive.low is None else 1 - n_alive.low / n_distinct,
        level=n_alive.level,
        basis=n_alive.basis,
        reason=n_alive.reason,
    )


def _within(estimate: Estimate, low: float, high: float) -> Estimate:
    """Cut an estimate and its range to what is possible."""

    def cut(number: float | None) -> float | None:
        return None if number is None else min(max(number, low), high)

    return Estimate(
        value=cut(estimate.value),
        low=cut(estimate.low),
        high=cut(estimate.high),
        level=estimate.level,
        basis=estimate.basis,
        reason=estimate.reason,
    )
