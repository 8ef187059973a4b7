"""What may make the union of all crawls look better than it is, in words."""

import math

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import percent, things
from crawlgauge.model.regimes import Regime
from crawlgauge.model.union.gathering import Gathered

__all__ = ["describe_caution"]

_SPEAKS = {"warn", "fail"}
_MATERIAL = 0.02
"""A difference of the ratio from 1 that is worth a sentence."""


def describe_caution(estimates: Estimates, gathered: Gathered, regimes: tuple[Regime, ...]) -> str:
    """Say what to be careful about; an empty text if nothing is known.

    Parameters
    ----------
    estimates
        The estimates with their checks.
    gathered
        What the union was made from.
    regimes
        The crawls between changes of scope.
    """
    what = things(estimates.level)
    parts = [
        _about_trust(estimates),
        _about_uneven_capture(estimates, gathered, what),
        _about_scope(estimates, regimes, what),
    ]
    return " ".join(part for part in parts if part)


def _about_trust(estimates: Estimates) -> str:
    failed = [check.id for check in estimates.checks if check.status == "fail"]
    if failed:
        return (
            f"Do not trust these numbers: the check {failed[0]} failed, and the coverage of the "
            "crawls, from which they follow, is not to be trusted."
        )
    if estimates.agreement.grade == "C":
        return (
            "The coverage of the crawls has grade C: of these numbers, too, only the ranges count."
        )
    return ""


def _about_uneven_capture(estimates: Estimates, gathered: Gathered, what: str) -> str:
    check = next((item for item in estimates.checks if item.id == "heterogeneous-capture"), None)
    if estimates.headline.estimator != "known-alive":
        if check is not None and check.status in _SPEAKS:
            return (
                f"Some {what} are captured more readily than others, so that crawls meet again "
                "what is held already: the union is smaller than stated, and more was never seen."
            )
        return (
            f"Whether some {what} are captured more readily than others is not known here. If so, "
            "the union is smaller than stated, and more was never seen."
        )
    if not gathered.is_by_classes:
        return ""
    ratio, known = float(gathered.view.ratio.value[-1]), float(gathered.view.known_share[-1])
    coverage = float(gathered.view.coverage.value[-1])
    if abs(math.log(ratio)) <= _MATERIAL:
        return ""
    even = min(1.0, coverage * (1 - known) + known)
    more = "more" if ratio > 1 else "less"
    hidden = (
        f" {what} that are hardly ever captured do not show, and make the union smaller still."
        if ratio > 1
        else ""
    )
    return (
        f"{what} that earlier crawls hold are {ratio:.2f} times as likely to be captured as all "
        f"that live, which is allowed for by classes of {what}; taken for even, capture would give "
        f"a union coverage of {percent(even)}, which is {more} than there is.{hidden}"
    )


def _about_scope(estimates: Estimates, regimes: tuple[Regime, ...], what: str) -> str:
    if len(regimes) == 1:
        return ""
    label = estimates.crawls[regimes[-1].first].label
    return (
        f"The scope of the crawls changed: from {label} on, the union is that of the {what} within "
        "the present scope, to which earlier crawls add what they hold of it."
    )
