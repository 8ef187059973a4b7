"""The check heterogeneous-capture: whether URLs differ lastingly in how readily they are captured.

Pairs of crawls are blind to it: it raises every overlap by the same factor, and with it coverage.
"""

import math

from crawlgauge.model.estimates import Check
from crawlgauge.model.history_checks.capture_dependence import (
    MIN_CRAWLS,
    CaptureDependence,
    LogOdds,
    Scatter,
)
from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.phrases import count, percent, things

__all__ = ["check_heterogeneous_capture"]

_THRESHOLD = 0.05
_TAIL = 0.002
# With a larger error only differences beyond a factor of two in the odds would be seen.
_MAX_ERROR = 0.25
# Lasting differences show three crawls apart as well, in simulations with a quarter of the effect
# or more; a policy that looks back over two crawls does not. Whether they do is asked only where
# a quarter is four standard errors.
_PRECISE = 1 / 16
_CARRIED_ON_TAIL = 0.05


def check_heterogeneous_capture(
    data: HistoryData, dependence: CaptureDependence | None, level: str
) -> Check:
    """Say whether capture in one crawl goes with capture in another that is further away.

    The effect is the logarithm of the odds ratio of capture two crawls apart, among URLs that are
    known to be alive and alike in the crawls around; three crawls apart where the crawler
    avoids or repeats its last two crawls. It warns above 0.05.

    Parameters
    ----------
    data
        Capture histories.
    dependence
        What `measure_dependence` makes of them.
    level
        What is compared.
    """
    if dependence is None:
        return _not_testable(
            f"whether {things(level)} differ lastingly shows only with {MIN_CRAWLS} or more "
            f"crawls, and there are {data.n_crawls}."
        )
    lag, odds = _choose_lag(dependence)
    if odds is None:
        return _not_testable(
            f"of the {count(data.n_urls)} {things(level)} too few are seen both before and after "
            "the crawls that are compared. Use a larger sample, or more crawls."
        )
    certain = dependence.scatter.is_certain(odds.value, odds.error, _TAIL)
    speaks = certain and odds.value > _THRESHOLD
    return Check(
        id="heterogeneous-capture",
        status="warn" if speaks else "ok",
        effect=odds.value,
        threshold=_THRESHOLD,
        message=(
            _describe(odds.value, lag, dependence.captured_share, things(level))
            if speaks
            else _describe_in_order(odds.value, lag, things(level))
        ),
    )


def _choose_lag(dependence: CaptureDependence) -> tuple[int, LogOdds | None]:
    """Return the shortest distance that no policy of the crawler reaches, and its odds."""
    _, two, three = dependence.by_lag
    if _looks_back_two(two, three, dependence.scatter):
        return 3, _if_precise(three)
    return 2, _if_precise(two)


def _looks_back_two(two: LogOdds, three: LogOdds, scatter: Scatter) -> bool:
    if two.is_never or scatter.is_certain(-two.value, two.error, _TAIL):
        return True
    if not (three.is_known and scatter.is_certain(two.value, two.error, _TAIL)):
        return False
    precise = three.error * math.sqrt(max(scatter.ratio, 1.0)) < _PRECISE * two.value
    return precise and not scatter.is_certain(three.value, three.error, _CARRIED_ON_TAIL)


def _if_precise(odds: LogOdds) -> LogOdds | None:
    return odds if odds.is_known and odds.error < _MAX_ERROR else None


def _describe(log_odds: float, lag: int, share: float, what: str) -> str:
    odds = math.exp(log_odds) * share / (1 - share)
    shares = f"{percent(odds / (1 + odds))} where {percent(share)} would be even"
    return (
        f"Some {what} are captured more readily than others, and lastingly: among those known to "
        f"be alive, the odds of being captured are {math.exp(log_odds):.2g} times as high if a "
        f"crawl {_DISTANCE[lag]} away captured them too ({shares}). "
        "Every pair of crawls shares too much by the same factor, so that "
        "coverage from overlaps is too high and the population too low, although the fit looks "
        "perfect. By how much does not follow from this number (2 % to 2.7 times in simulations), "
        f"and {what} that are hardly ever captured show in no history: use an estimate that "
        "allows for it, and take its coverage as an upper bound."
    )


def _describe_in_order(log_odds: float, lag: int, what: str) -> str:
    if log_odds > _THRESHOLD:
        return (
            f"Among {what} known to be alive, those captured by a crawl have "
            f"{math.exp(log_odds):.2g} times the odds of being captured by another "
            f"{_DISTANCE[lag]} away, which does not stand out from the scatter between crawls."
        )
    return (
        f"Among {what} known to be alive, being captured by a crawl says nothing about another "
        f"{_DISTANCE[lag]} away: capture is even, but for {what} that are hardly ever captured "
        "and show in no history."
    )


_DISTANCE = {2: "two crawls", 3: "three crawls"}


def _not_testable(reason: str) -> Check:
    return Check(
        id="heterogeneous-capture",
        status="na",
        effect=None,
        threshold=_THRESHOLD,
        message=f"Not testable: {reason}",
    )
