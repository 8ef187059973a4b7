"""The share of a list that is held, as a sample of what the list stands for."""

import math

from crawlgauge.model.comparison.log_range import NORMAL_QUANTILE
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.margins import LEVEL

__all__ = ["wilson_share"]


def wilson_share(n_held: int, n_all: int) -> Estimate:
    """Return a share with Wilson's interval, which holds also near 0 and 1.

    Parameters
    ----------
    n_held
        How many are held.
    n_all
        Of how many.

    Examples
    --------
    >>> share = wilson_share(81, 263)
    >>> f"{share.value:.4f} {share.low:.4f} {share.high:.4f}"
    '0.3080 0.2553 0.3662'
    """
    if n_all == 0:
        return Estimate.unknown("none of the reference can be looked for")
    share, z2 = n_held / n_all, NORMAL_QUANTILE**2
    centre = (n_held + z2 / 2) / (n_all + z2)
    spread = math.sqrt(n_all * share * (1 - share) + z2 / 4) * NORMAL_QUANTILE / (n_all + z2)
    return Estimate(
        value=share,
        low=0.0 if n_held == 0 else centre - spread,
        high=1.0 if n_held == n_all else centre + spread,
        level=LEVEL,
        basis="interval",
    )
