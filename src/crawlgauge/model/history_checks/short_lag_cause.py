"""What capture histories say about crawls that follow each other closely.

Pairs of crawls cannot tell a crawler that repeats its last crawl from pages that live only
briefly. Among URLs known to be alive, lifetimes play no part: what is left is the crawler.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

from crawlgauge.model.check_short_lag import ShortLag
from crawlgauge.model.estimates import Check
from crawlgauge.model.history_checks.capture_dependence import CaptureDependence, LogOdds, Scatter
from crawlgauge.model.phrases import percent, things

__all__ = ["Cause", "ShortLagCause", "find_cause", "resolve_short_lag"]

Cause = Literal["avoidance", "re-seeding", "mixed-lifetimes"]

_THRESHOLD = 0.05
# Where pairs found an effect already, histories only have to say which; where not, four ratios
# are looked at for one that stands out.
_TAIL_CONFIRMING = 0.005
_TAIL_ALONE = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortLagCause:
    """Why crawls that follow each other closely share too little or too much.

    Parameters
    ----------
    cause
        What the crawler does, or that it does nothing and lifetimes are mixed.
    n_lags
        Over how many crawls it looks back; 0 for mixed lifetimes.
    log_odds
        How the odds of capture change for a URL captured that recently, as a logarithm; minus
        infinity if no such URL is captured.
    """

    cause: Cause
    n_lags: int
    log_odds: float


def find_cause(
    dependence: CaptureDependence | None, found: ShortLag | None
) -> ShortLagCause | None:
    """Find what the crawler does with URLs of its last crawls; None if nothing, or not known.

    Parameters
    ----------
    dependence
        From `measure_dependence`.
    found
        What pairs of crawls show. Only an excess that the crawler does not explain is put down
        to mixed lifetimes.
    """
    if dependence is None:
        return None
    tail = _TAIL_ALONE if found is None else _TAIL_CONFIRMING
    avoidance = _find_avoidance(dependence, tail)
    if avoidance is not None or (found is not None and found.is_avoidance):
        return avoidance
    return _find_reseeding(dependence, tail) or _find_mixed_lifetimes(dependence, found)


def resolve_short_lag(
    check: Check, dependence: CaptureDependence | None, found: ShortLag | None, level: str
) -> Check:
    """Complete the check short-lag of pairs by what capture histories say.

    It warns also where pairs found nothing but histories do: pairs may take a policy of the
    crawler for a bend of the decay, or scatter too much to show it.

    Parameters
    ----------
    check
        From `check_short_lag`.
    dependence, found
        As for `find_cause`.
    level
        What is compared.
    """
    cause = find_cause(dependence, found)
    if cause is None:
        return check
    finding = _describe(cause, found, things(level))
    if found is None:
        return replace(check, status="warn", message=finding)
    # What histories decide, pairs need not guess at.
    by_pairs = check.message.split(_OPEN_QUESTIONS[found.is_avoidance])[0].rstrip(".")
    return replace(check, message=f"{by_pairs}. {finding}")


_OPEN_QUESTIONS = {True: "; capture histories resolve it", False: " Either the crawler"}


def _find_avoidance(dependence: CaptureDependence, tail: float) -> ShortLagCause | None:
    one, two, three = (_is_avoided(odds, dependence.scatter, tail) for odds in dependence.by_lag)
    if one or two:
        odds = dependence.by_lag[0 if one else 1]
        return ShortLagCause(
            cause="avoidance",
            n_lags=1 if not two else 3 if three else 2,
            log_odds=-math.inf if odds.is_never else odds.value,
        )
    # Lasting differences may hide avoidance: capture then goes with capture at every lag, but
    # less so next to each other.
    if _is_avoided(dependence.memory, dependence.scatter, tail):
        return ShortLagCause(cause="avoidance", n_lags=1, log_odds=dependence.memory.value)
    return None


def _is_avoided(odds: LogOdds, scatter: Scatter, tail: float) -> bool:
    certain = scatter.is_certain(-odds.value, odds.error, tail)
    return odds.is_never or (certain and odds.value < -_THRESHOLD)


def _find_reseeding(dependence: CaptureDependence, tail: float) -> ShortLagCause | None:
    memory = dependence.memory
    if memory.value > _THRESHOLD and dependence.scatter.is_certain(
        memory.value, memory.error, tail
    ):
        return ShortLagCause(cause="re-seeding", n_lags=1, log_odds=memory.value)
    return None


def _find_mixed_lifetimes(
    dependence: CaptureDependence, found: ShortLag | None
) -> ShortLagCause | None:
    """Put an excess down to lifetimes if re-seeding that causes it would have been seen."""
    memory = dependence.memory
    if found is None or found.is_avoidance or not memory.is_known:
        return None
    needed = _odds_of_excess(found.coefficient, dependence.captured_share)
    if dependence.scatter.is_certain(needed / 2 - memory.value, memory.error, _TAIL_CONFIRMING):
        return ShortLagCause(cause="mixed-lifetimes", n_lags=0, log_odds=memory.value)
    return None


def _odds_of_excess(log_excess: float, share: float) -> float:
    """Return the log odds ratio of a crawler that repeats so much more than its share."""
    # No more than all can be repeated; halfway there is excess enough.
    after = min(share * math.exp(log_excess), (1 + share) / 2)
    otherwise = share * (1 - after) / (1 - share)
    return math.log(after / (1 - after)) - math.log(otherwise / (1 - otherwise))


def _describe(cause: ShortLagCause, found: ShortLag | None, what: str) -> str:
    match cause.cause:
        case "avoidance":
            return _describe_avoidance(cause, what)
        case "re-seeding":
            return _describe_reseeding(cause, found, what)
        case _:
            return (
                f"Capture histories show why: among {what} known to be alive, those captured just "
                "before are not captured more readily, so that the crawler does not repeat "
                "itself. Many live only briefly, and coverage from all pairs is too low; the "
                "Manly–Parr estimate needs no rate of decay and stays right."
            )


def _describe_avoidance(cause: ShortLagCause, what: str) -> str:
    last = "the last crawl" if cause.n_lags == 1 else f"one of the last {cause.n_lags} crawls"
    if math.isinf(cause.log_odds):
        finding = f"none that {last} captured are captured again"
    else:
        finding = (
            f"the odds of being captured are {math.exp(cause.log_odds):.2g} times those of others "
            f"if {last} captured them"
        )
    return (
        f"Capture histories show it directly: among {what} known to be alive, {finding}. This "
        "crawler avoids pages that it fetched recently, and coverage from all pairs is too low. "
        "Estimates from capture histories that allow for it stay right."
    )


def _describe_reseeding(cause: ShortLagCause, found: ShortLag | None, what: str) -> str:
    cut = ""
    if found is not None and found.cut_low is not None:
        cut = (
            f" Without the affected pairs (--min-lag {found.n_lags + 1}) it is about "
            f"{percent(found.cut_low)}, still a few per cent too high in simulations."
        )
    return (
        f"Capture histories show why: among {what} known to be alive, the odds of being captured "
        f"right after a capture are {math.exp(cause.log_odds):.2g} times those two crawls after "
        "one. The crawler starts from pages of the crawl before, and coverage from all pairs is "
        f"too high.{cut} Estimates from capture histories that allow for it stay right."
    )
