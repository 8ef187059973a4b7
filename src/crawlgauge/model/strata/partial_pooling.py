"""Partial pooling: what a stratum does not tell by itself is taken from all strata together."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["between_variance", "pool"]

_Array = NDArray[np.float64]

_MIN_STRATA = 4
"""With fewer, the variance between strata has no upper end, and nothing can be pooled."""

_GRID = np.exp(np.linspace(np.log(1e-8), np.log(100.0), 600))


def between_variance(values: _Array, variances: _Array) -> float:
    """Return the variance of the true values between strata; infinite if they are too few.

    It is where ``A`` times the residual likelihood is largest, which is never zero (the adjusted
    density method: Morris and Tang 2011, Statistical Science 26, 271).

    Parameters
    ----------
    values, variances
        Estimates of strata and their error variances.

    Examples
    --------
    >>> spread = between_variance(np.array([-1.0, -0.5, 0.0, 0.5, 1.0]), np.full(5, 1e-6))
    >>> 0.6 < spread < 1.3
    True
    """
    if values.size < _MIN_STRATA:
        return np.inf
    precision = 1 / (variances + _GRID[:, None])
    total = precision.sum(axis=1)
    mean = precision @ values / total
    squares = (precision * (values - mean[:, None]) ** 2).sum(axis=1)
    log_likelihood = (np.log(precision).sum(axis=1) - np.log(total) - squares) / 2
    return float(_GRID[np.argmax(log_likelihood + np.log(_GRID))])


def pool(values: _Array, covariances: _Array) -> tuple[_Array, _Array]:
    """Return the pooled estimates of strata and their error covariances.

    Strata are draws from a distribution with independent log coverage and log persistence; each
    estimate is moved towards the mean as far as its error and the spread of the strata say.

    Parameters
    ----------
    values
        For each stratum its log coverage and its log persistence.
    covariances
        Their error covariances.
    """
    spread = np.array([between_variance(values[:, k], covariances[:, k, k]) for k in (0, 1)])
    if np.isinf(spread).any():
        return values, covariances
    prior = np.diag(spread)
    total = np.linalg.inv(covariances + prior)
    of_mean = np.linalg.inv(total.sum(axis=0))
    mean = of_mean @ np.einsum("hij,hj->i", total, values)
    kept = prior @ total
    given_up = np.eye(2) - kept
    pooled = mean + np.einsum("hij,hj->hi", kept, values - mean)
    error = np.einsum("hij,hjk->hik", kept, covariances)
    error = error + np.einsum("hij,jk,hlk->hil", given_up, of_mean, given_up)
    return pooled, error
