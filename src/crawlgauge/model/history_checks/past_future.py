"""The check past-future: whether what a crawl has seen before lives on like what it sees anew.

It is the component 3.SR of the classical goodness-of-fit tests for capture histories. Being
captured starts every policy of a crawler anew, so that avoidance and re-seeding leave no trace.
"""

import math

import numpy as np

from crawlgauge.model.estimates import Check
from crawlgauge.model.history_checks.capture_dependence import MIN_CRAWLS, Scatter
from crawlgauge.model.history_checks.pooled_odds import PooledOdds, compare_events, no_odds
from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.phrases import things

__all__ = ["check_past_future"]

_THRESHOLD = 0.1
_TAIL = 0.002
# With a larger error only differences beyond a factor of two in the odds would be seen.
_MAX_ERROR = 0.25


def check_past_future(
    data: HistoryData,
    scatter: Scatter | None,
    level: str,
    *,
    is_uneven: bool,
    is_bent: bool,
) -> Check:
    """Say whether the URLs of a crawl that were seen before are seen again more often.

    The effect is the logarithm of the odds ratio of being seen before and being seen after, among
    the URLs of each crawl. It warns above 0.1.

    Parameters
    ----------
    data
        Capture histories.
    scatter
        How much results scatter between crawls; None with too few crawls to tell.
    level
        What is compared.
    is_uneven
        Whether capture was found to be uneven, which explains it.
    is_bent
        Whether overlaps were found to shrink ever more slowly, as they do with mixed lifetimes.
    """
    if scatter is None:
        return _not_testable(
            f"whether {things(level)} differ lastingly shows only with {MIN_CRAWLS} or more crawls."
        )
    odds = _compare(data)
    error = odds.error(data.counts)
    if not odds.is_known or error > _MAX_ERROR:
        return _not_testable(f"too few {things(level)} are seen in several crawls.")
    effect = odds.log_ratio
    speaks = effect > _THRESHOLD and scatter.is_certain(effect, error, _TAIL)
    return Check(
        id="past-future",
        status="warn" if speaks else "ok",
        effect=effect,
        threshold=_THRESHOLD,
        message=(
            _describe(effect, things(level), is_uneven=is_uneven, is_bent=is_bent)
            if speaks
            else f"Of the {things(level)} of a crawl, those seen before are seen again as often as "
            "those that are new, as far as the scatter between crawls lets it be told."
        ),
    )


def _compare(data: HistoryData) -> PooledOdds:
    first = np.argmax(data.captured, axis=1)
    last = data.n_crawls - 1 - np.argmax(data.captured[:, ::-1], axis=1)
    odds = no_odds(data.counts.size)
    for crawl in range(1, data.n_crawls - 1):
        odds += compare_events(
            data.counts, first < crawl, last > crawl, among=data.captured[:, crawl]
        )
    return odds


def _describe(effect: float, what: str, *, is_uneven: bool, is_bent: bool) -> str:
    finding = (
        f"Of the {what} of a crawl, those that were seen before have {math.exp(effect):.2g} times "
        f"the odds of being seen again: {what} differ lastingly."
    )
    if is_uneven:
        return (
            f"{finding} They are not captured alike (see heterogeneous-capture), and may not live "
            "equally long either."
        )
    if is_bent:
        return (
            f"{finding} Overlaps shrink ever more slowly (see curvature) and capture is even among "
            "those known to be alive: some live longer than others, unless a part is hardly ever "
            "captured. A model with one rate of decay then puts coverage too low, in simulations "
            "by 5 to 25 %; the Manly–Parr estimate needs no rate of decay and stays right."
        )
    return (
        f"{finding} Either some live longer than others, and coverage from overlaps is somewhat "
        "too low, or a part is hardly ever captured, and it is too high: the decay of overlaps "
        "does not decide between them here. Compare the Manly–Parr estimate, which needs no rate "
        "of decay: above the two-way model's it speaks for mixed lifetimes."
    )


def _not_testable(reason: str) -> Check:
    return Check(
        id="past-future",
        status="na",
        effect=None,
        threshold=_THRESHOLD,
        message=f"Not testable: {reason}",
    )
