"""The check of what strata cannot mend: whether capture is even within each of them.

Of URLs that are seen both before and after three crawls, and so were alive, those that the first
of the three holds are as likely in the last as those that it does not hold, if capture is even.
Whether the middle one holds them is kept apart, so that a crawler that avoids or repeats what it
visited last does not disturb it. The odds ratios of all strata are pooled by Mantel and Haenszel.
"""

import math

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import Check
from crawlgauge.overlaps.table import StratumCounts

__all__ = ["check_even_capture", "pool_odds"]

_MIN_CRAWLS = 5
_THRESHOLD = math.log(1.2)
"""Gamma-distributed chances of capture that lead to such odds make a coverage of 46 % too high by
5 %, and one of 20 % by 13 %."""
_CERTAIN = 4.0
"""Standard errors; a URL stands in several tables, so that the error is a little too small."""
_MAX_ERROR = 0.25


def pool_odds(tables: NDArray[np.int64]) -> tuple[float, float]:
    """Return the pooled logarithm of the odds ratio and its standard error; NaN if unknown.

    Parameters
    ----------
    tables
        Rows of four counts: neither, the second only, the first only, both.

    Examples
    --------
    >>> value, error = pool_odds(np.array([[40, 20, 10, 30]]))
    >>> round(math.exp(value), 6)
    6.0
    """
    neither, second, first, both = tables.astype(np.float64).T
    total = np.maximum(neither + second + first + both, 1.0)
    together, apart = both * neither / total, first * second / total
    all_together, all_apart = float(together.sum()), float(apart.sum())
    if min(all_together, all_apart) <= 0:
        return math.nan, math.nan
    alike, unlike = (both + neither) / total, (first + second) / total
    # Robins, Breslow and Greenland 1986, Biometrics 42, 311.
    variance = (
        float(np.sum(alike * together)) / (2 * all_together**2)
        + float(np.sum(alike * apart + unlike * together)) / (2 * all_together * all_apart)
        + float(np.sum(unlike * apart)) / (2 * all_apart**2)
    )
    return math.log(all_together / all_apart), math.sqrt(variance)


def check_even_capture(counts: StratumCounts) -> Check:
    """Say whether URLs of one stratum differ lastingly in how readily they are captured.

    Parameters
    ----------
    counts
        Overlaps by stratum.
    """
    one, many = counts.noun
    named = np.array([not stratum.n_pooled for stratum in counts.strata], dtype=np.bool_)
    within, error = pool_odds(counts.n_alive[named].reshape(-1, 4))
    overall, _ = pool_odds(counts.n_alive.sum(axis=0).reshape(-1, 4))
    if not error < _MAX_ERROR:
        why = f"that takes {_MIN_CRAWLS} crawls" if len(counts.crawls) < _MIN_CRAWLS else "too few"
        text = f"Whether capture is even within a {one} cannot be tested: {why}"
        more = "" if why != "too few" else f" URLs of single {many} are seen before and after"
        return _check("na", None, f"{text}{more}.")
    ratio = f"{math.exp(within):.2g}"
    if within < _THRESHOLD or within < _CERTAIN * error:
        text = (
            f"Within a {one} capture looks even: being captured by one crawl hardly changes the "
            f"odds of being captured by the one after the next (times {math.exp(within):.2f})."
        )
        return _check("ok", within, f"{text}{_say_removed(many, within, overall)}")
    return _check(
        "warn",
        within,
        f"Also within a {one}, some URLs are captured more readily than others, and lastingly: "
        f"those that one crawl holds have {ratio} times the odds of being in the crawl after the "
        f"next. The coverages are too high then, and what is missing is more than stated."
        f"{_say_removed(many, within, overall)}",
    )


def _say_removed(many: str, within: float, overall: float) -> str:
    if overall < max(within, 0.0) + _THRESHOLD:
        return ""
    return (
        f" Between {many} it is uneven, which dividing by them allows for: over all at once the "
        f"odds are {math.exp(overall):.2g} times as high."
    )


def _check(status: str, effect: float | None, message: str) -> Check:
    return Check(
        id="even-within-strata",
        status=status,  # type: ignore[arg-type]  # one of the three above
        effect=effect,
        threshold=_THRESHOLD,
        message=message,
    )
