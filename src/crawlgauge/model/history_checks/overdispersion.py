"""The check overdispersion: whether URLs are captured one by one or in bunches.

The counts of when URLs are seen next are held against the model of Cormack, Jolly and Seber with
a coverage for each crawl and a survival for each interval, by Pearson's chi-square.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import Check
from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.open_population.jolly_seber import fit_jolly_seber
from crawlgauge.model.open_population.recaptures import Recaptures, count_recaptures
from crawlgauge.model.phrases import count, names, percent, things

__all__ = ["check_overdispersion"]

_INFO = 0.01
_WARN = 0.05
_TAIL = 0.01
_MIN_CRAWLS = 5
_MANY = 100
# Pearson's statistic is chi-square distributed only where about five URLs are expected.
_MIN_EXPECTED = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dispersion:
    """Pearson's chi-square, its degrees of freedom, and URLs expected in each of its cells."""

    chi_square: float
    n_freedom: int
    mean_expected: float

    @property
    def ratio(self) -> float:
        """How many times more the counts vary than those of independent URLs: c-hat."""
        return self.chi_square / self.n_freedom

    @property
    def scatter(self) -> float:
        """By what share of itself a typical count varies, beyond independent URLs."""
        return math.sqrt(max(0.0, self.ratio - 1) / self.mean_expected)


def check_overdispersion(data: HistoryData, found: tuple[str, ...], level: str) -> Check:
    """Say how much more counts scatter than those of independent URLs would.

    The effect is the share by which a typical count varies beyond that: 0.02 means 2 %. It is
    a finding from 0.01 on, and a warning from 0.05 on.

    Parameters
    ----------
    data
        Capture histories.
    found
        Ids of checks that found something which makes counts scatter by itself.
    level
        What is compared.
    """
    dispersion = _measure(data)
    if dispersion is None:
        return _not_testable("it takes five or more crawls that share enough of what they hold.")
    if found:
        return _not_testable(
            f"what {names(list(found))} found makes counts depart from the model by itself "
            f"({_times(dispersion.ratio)} times the variance of independent {things(level)})."
        )
    speaks = dispersion.scatter > _INFO and _is_certain(dispersion)
    return Check(
        id="overdispersion",
        status="ok" if not speaks else "info" if dispersion.scatter < _WARN else "warn",
        effect=dispersion.scatter,
        threshold=_INFO,
        message=_describe(dispersion, things(level), speaks=speaks),
    )


def _is_certain(dispersion: _Dispersion) -> bool:
    from scipy.special import chdtri

    return dispersion.chi_square > float(chdtri(dispersion.n_freedom, _TAIL))


def _measure(data: HistoryData) -> _Dispersion | None:
    """Return the dispersion of the recaptures, or None where nothing is left to judge it by."""
    if data.n_crawls < _MIN_CRAWLS:
        return None
    recaptures = count_recaptures(data)
    expected = _expect(recaptures)
    if expected is None:
        return None
    squares, means = [], []
    n_lost = 0
    for crawl in range(data.n_crawls - 1):
        observed, mean = recaptures.n_next[crawl, crawl + 1 :], expected[crawl, crawl + 1 :]
        large = mean >= _MIN_EXPECTED
        rest = float(mean[~large].sum())
        means += list(mean[large])
        squares += list((observed - mean)[large] ** 2 / mean[large])
        n_lost += int(np.sum(~large))
        if rest >= _MIN_EXPECTED:
            means.append(rest)
            squares.append((float(observed[~large].sum()) - rest) ** 2 / rest)
            n_lost -= 1
    n_freedom = (data.n_crawls - 2) * (data.n_crawls - 3) // 2 - n_lost
    if n_freedom < 1:
        return None
    return _Dispersion(
        chi_square=float(np.sum(squares)),
        n_freedom=n_freedom,
        mean_expected=float(np.mean(means)),
    )


def _expect(recaptures: Recaptures) -> NDArray[np.float64] | None:
    """Return how many URLs of each crawl should be seen next in each later one."""
    fit = fit_jolly_seber(recaptures)
    n_crawls = recaptures.n_crawls
    coverage, survival = fit.coverage.copy(), fit.survival.copy()
    # Of the last crawl only survival times coverage is known: the share of the crawl before.
    coverage[-1] = 1.0
    if recaptures.n_released[-2] == 0 or np.isnan([*coverage[1:], *survival[:-1]]).any():
        return None
    survival[-1] = recaptures.n_next[-2, -1] / recaptures.n_released[-2]
    expected = np.zeros((n_crawls, n_crawls))
    for start in range(n_crawls - 1):
        unseen = recaptures.n_released[start]
        for end in range(start + 1, n_crawls):
            unseen *= survival[end - 1]
            expected[start, end] = unseen * coverage[end]
            unseen *= 1 - coverage[end]
    return expected


def _describe(dispersion: _Dispersion, what: str, *, speaks: bool) -> str:
    if not speaks:
        return f"The counts scatter no more than those of independent {what}, or hardly more."
    ratio, root = _times(dispersion.ratio), _times(math.sqrt(dispersion.ratio))
    return (
        f"The counts vary {ratio} times as much as those of independent {what}, by about "
        f"{percent(dispersion.scatter)} each: {what} are captured in bunches, as when each crawl "
        "prefers other hosts. Coverage is not biased by it. Standard errors that count every one "
        f"as independent are too small by a factor of {root}; those from leaving out whole crawls "
        "allow for it."
    )


def _times(factor: float) -> str:
    return f"{factor:.2g}" if factor < _MANY else count(factor)


def _not_testable(reason: str) -> Check:
    return Check(
        id="overdispersion",
        status="na",
        effect=None,
        threshold=_INFO,
        message=f"Not testable: {reason}",
    )
