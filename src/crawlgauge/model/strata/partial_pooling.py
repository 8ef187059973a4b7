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


def pool(values: _Array, variances: _Array) -> tuple[_Array, _Array]:
    """Return the pooled estimates of all strata and their error variances.

    Strata are draws from a distribution; each estimate is moved towards its mean as far as its
    error and the spread of the strata say. A stratum without an estimate is at the mean.

    Parameters
    ----------
    values
        Of each stratum; NaN where it is not known.
    variances
        Their error variances.

    Returns
    -------
    tuple
        A stratum without an estimate has an infinite variance where the spread is not known.
    """
    known = ~np.isnan(values)
    if not known.any():
        return np.zeros(values.size), np.full(values.size, np.inf)
    spread = between_variance(values[known], variances[known])
    error = np.where(known, variances, np.inf)
    precision = 1 / (error + (0.0 if np.isinf(spread) else spread))
    mean = float(precision[known] @ values[known] / precision.sum())
    if np.isinf(spread):
        return np.where(known, values, mean), error
    given_up = 1 / (1 + spread / error)
    pooled = np.where(known, values, mean) * (1 - given_up) + mean * given_up
    left = np.where(known, (1 - given_up) * variances, spread)
    return pooled, left + given_up**2 / precision.sum()
