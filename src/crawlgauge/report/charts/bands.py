"""How sure the published line is: the band of least squares, and one that leaves out crawls."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.intervals import jackknife_variance
from crawlgauge.model.pairs import PairData
from crawlgauge.model.paper import PooledLine, fit_pooled

__all__ = ["LineBands", "find_bands"]

Numbers = NDArray[np.float64]

_N_POINTS = 41
_LEVEL = 0.975
_LINE_PARAMETERS = 2
_MIN_REPLICATES = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineBands:
    """The published line and 95 % bands around it, as containments at several time differences.

    Parameters
    ----------
    lags_years
        From zero to the longest.
    line
        On the line.
    jackknife
        Low and high ends from leaving out each crawl in turn; None with fewer than four crawls.
    least_squares
        Low and high ends as ordinary least squares has them, which takes pairs for independent;
        None without degrees of freedom.
    """

    lags_years: Numbers
    line: Numbers
    jackknife: tuple[Numbers, Numbers] | None
    least_squares: tuple[Numbers, Numbers] | None


def find_bands(pairs: PairData, line: PooledLine) -> LineBands:
    """Return the line with its bands.

    Parameters
    ----------
    pairs
        What the line was fitted to.
    line
        The line.
    """
    lags = np.linspace(0, float(pairs.lag_years.max()), _N_POINTS)
    logs = line.log_containments(lags)
    return LineBands(
        lags_years=lags,
        line=np.exp(logs),
        jackknife=_around(logs, _jackknife(pairs, lags)),
        least_squares=_around(logs, _least_squares(pairs, line, lags)),
    )


def _around(logs: Numbers, margin: Numbers | None) -> tuple[Numbers, Numbers] | None:
    return None if margin is None else (np.exp(logs - margin), np.exp(logs + margin))


def _least_squares(pairs: PairData, line: PooledLine, lags: Numbers) -> Numbers | None:
    from scipy.special import stdtrit

    n_freedom = pairs.n_pairs - _LINE_PARAMETERS
    if n_freedom < 1:
        return None
    weight, x = pairs.weight, pairs.lag_years
    left = pairs.log_forward - line.log_containments(x)
    variance = float(weight @ left**2) / n_freedom
    mean = float(np.average(x, weights=weight))
    spread = float(weight @ (x - mean) ** 2)
    error: Numbers = np.sqrt(variance * (1 / weight.sum() + (lags - mean) ** 2 / spread))
    return float(stdtrit(n_freedom, _LEVEL)) * error


def _jackknife(pairs: PairData, lags: Numbers) -> Numbers | None:
    from scipy.special import stdtrit

    crawls = np.unique(np.concatenate([pairs.start, pairs.end]))
    lines = [fit_pooled(_without(pairs, int(crawl)), "forward") for crawl in crawls]
    found = np.array([line.log_containments(lags) for line in lines if line is not None])
    if len(found) < max(_MIN_REPLICATES, len(crawls)):
        return None
    # As many degrees of freedom as the model's own intervals have.
    quantile = float(stdtrit(len(crawls) - _LINE_PARAMETERS, _LEVEL))
    return quantile * np.sqrt(jackknife_variance(found).variance)


def _without(pairs: PairData, crawl: int) -> PairData:
    kept = (pairs.start != crawl) & (pairs.end != crawl)
    return PairData(
        days=pairs.days,
        n_counted=pairs.n_counted,
        n_urls=pairs.n_urls,
        start=pairs.start[kept],
        end=pairs.end[kept],
        n_shared=pairs.n_shared[kept],
        relative_error=pairs.relative_error[kept],
        weight=pairs.weight[kept],
        zeros=pairs.zeros,
        n_missing=pairs.n_missing,
        sample_rate=pairs.sample_rate,
    )
