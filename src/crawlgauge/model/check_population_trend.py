"""The check population-trend: whether what could be crawled grows or shrinks."""

import math

from crawlgauge.model.estimates import Check, Estimate
from crawlgauge.model.phrases import growth_per_year, things

__all__ = ["check_population_trend"]

_THRESHOLD = 0.01


def check_population_trend(growth: Estimate, level: str) -> Check:
    """Say whether the population has a trend; a finding, and no fault of the fit.

    The effect is the growth rate per year as a logarithm. It counts if it is beyond one per
    cent a year either way and its interval leaves out zero.

    Parameters
    ----------
    growth
        Relative growth of the population per year, with its interval.
    level
        What is compared.
    """
    if growth.value is None or growth.low is None or growth.high is None:
        return Check(
            id="population-trend",
            status="na",
            effect=None,
            threshold=_THRESHOLD,
            message=(
                "Not testable: the growth of the population is not known with an interval "
                f"({growth.reason or 'too few crawls'}). Four or more crawls give one."
            ),
        )
    effect = math.log1p(growth.value)
    between = f"({growth_per_year(growth.low)} to {growth_per_year(growth.high)})"
    if abs(effect) <= _THRESHOLD or growth.low <= 0 <= growth.high:
        return Check(
            id="population-trend",
            status="ok",
            effect=effect,
            threshold=_THRESHOLD,
            message=f"The population shows no trend {between}.",
        )
    verb, other = ("grows", "fall") if effect > 0 else ("shrinks", "rise")
    return Check(
        id="population-trend",
        status="info",
        effect=effect,
        threshold=_THRESHOLD,
        message=(
            f"The number of {things(level)} that could be crawled {verb}: "
            f"{growth_per_year(growth.value)} {between}. Crawls of constant size {other} in "
            "coverage; the published method's line mixes this with the turnover, the two-way "
            "model does not."
        ),
    )
