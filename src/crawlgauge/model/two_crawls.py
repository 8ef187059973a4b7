"""Two crawls: coverage and turnover cannot be told apart, only their product is known."""

import math

import numpy as np

from crawlgauge.model.pairs import PairData
from crawlgauge.model.phrases import per_year, percent
from crawlgauge.model.two_way import FIRST_CRAWL, TwoWayFit, fit_two_way, refused_fit

__all__ = ["fit_two_crawls", "lower_bound"]

_NOTHING_SHARED = "not identifiable: the two crawls share nothing"
_NOT_COMPARED = "not identifiable: the overlap of the two crawls is not known"
_ONLY_PRODUCT = "not identifiable: two crawls give only coverage × persistence^lag"
_ONE_PAIR = "not identifiable: two crawls give only one pair"


def lower_bound(pairs: PairData) -> float | None:
    """Return coverage times survival of the newer of two crawls of different dates.

    As nothing lives on more than completely, it is the least that the newer crawl covers. None
    if the crawls are not two, of the same date, not compared, or share nothing.

    Parameters
    ----------
    pairs
        The pairs of a series.
    """
    if pairs.n_crawls != 2 or pairs.n_pairs == 0 or pairs.lag_years[0] == 0:  # noqa: PLR2004 - two
        return None
    return math.exp(pairs.log_forward[0])


def fit_two_crawls(pairs: PairData, persistence: float | None) -> TwoWayFit:
    """Say what two crawls tell, with a persistence known from elsewhere or without.

    Parameters
    ----------
    pairs
        Of two crawls.
    persistence
        Share of the URLs that live on for a year, or None if it is not known.
    """
    if pairs.n_pairs == 0:
        return refused_fit(2, _NOTHING_SHARED if pairs.n_known else _NOT_COMPARED)
    bound = lower_bound(pairs)
    if bound is None:
        return fit_two_way(pairs)
    if persistence is None:
        return TwoWayFit(
            log_coverage=np.full(2, np.nan),
            log_persistence=np.nan,
            coverage_reasons=(
                FIRST_CRAWL,
                f"{_ONLY_PRODUCT} = {bound:.2g}, so coverage is at least {percent(bound)}",
            ),
            persistence_reason=_ONE_PAIR,
            n_freedom=-1,
            tau_squared=np.nan,
        )
    lag = float(pairs.lag_years[0])
    return TwoWayFit(
        log_coverage=np.array([np.nan, math.log(bound) - lag * math.log(persistence)]),
        log_persistence=math.log(persistence),
        coverage_reasons=(
            FIRST_CRAWL,
            f"rests on the given persistence of {per_year(persistence)}: no interval is possible",
        ),
        persistence_reason="given, not estimated",
        n_freedom=0,
        tau_squared=np.nan,
    )
