"""The band around the coverage, and its grade.

The band is empirical: its parts and their factors were set so that it holds the truth in
simulated crawls of lists whose real turnover is known. It is no confidence interval. It reaches
farther down than up, since nearly all errors overstate coverage: what is seldom captured is
seldom seen.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.blending import Blend
from crawlgauge.model.known_alive.candidates import SamplingError
from crawlgauge.model.known_alive.results import Grade

__all__ = ["Band", "Doubts", "draw_band", "grade_band"]

Numbers = NDArray[np.float64]

_WIDTH = 2.0
"""Two standard deviations: the usual 95 in 100."""

_FLOOR = 0.025
"""Error that remains where nothing is wrong."""

_MAX_SAMPLING = 0.6
"""A one-step jackknife of tiny archives can run away."""

_PER_LAG = 0.02
_PER_LAG_LOW = 0.04
"""Each crawl that the trap reaches back leaves this much."""

_LATENT_SHARE = 0.5
_UNEVEN_LOW = 0.35
_UNEVEN_HIGH = 0.12
"""Parts of a correction that are in doubt: a half of the other model's, a third of that for
uneven capture downwards and an eighth upwards."""

_INCONSISTENCY_LOW = 0.05
_INCONSISTENCY_HIGH = 0.03
"""For each unit of ζ/τ, on the side that it points to."""

_POTENTIAL = 0.5
_MAX_POTENTIAL = 0.5
"""Where even capture was chosen, half of what the usual low tail would have done."""

_CRAWL_FLOOR = 0.03
_NEWEST_PER_LAG = 0.04
"""What single crawls, and the newest one, leave beyond the typical."""

_WIDEST_A = 0.15
_WIDEST_B = 0.35
_MAX_LATENT_DIFFERENCE = 0.4
_MAX_RUN_GAP = 0.1
_MIN_URLS = 1000
_CRAWLS_BEYOND_LAGS = 5
"""With fewer crawls than this beyond a trap of two, what is left tells little apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """What the band is made of, beside the sampling error.

    Parameters
    ----------
    trap_lags
        K.
    shape_sd
        Spread between shapes of uneven capture.
    uneven_effect, uneven_potential
        What the correction for uneven capture did, and what it could have done if even capture
        was chosen (0 if not).
    consistency
        ζ/τ.
    blend
        The other model's part.
    run_gap
        How much higher coverage would be if runs of captures were runs of presence.
    newest_variance
        Of the extrapolation to the newest crawl.
    """

    trap_lags: int
    shape_sd: float
    uneven_effect: float
    uneven_potential: float
    consistency: float
    blend: Blend
    run_gap: float
    newest_variance: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Band:
    """How far the logarithm of the truth may well lie below and above the estimate.

    Parameters
    ----------
    below, above
        For the typical coverage.
    crawl_below, crawl_above
        For each crawl; the last entry is the newest crawl's.
    """

    below: float
    above: float
    crawl_below: Numbers
    crawl_above: Numbers


def draw_band(doubts: Doubts, error: SamplingError) -> Band:
    """Add up what is in doubt.

    Parameters
    ----------
    doubts
        Errors of the model.
    error
        Errors of sampling.
    """
    lags = doubts.trap_lags
    core = (
        _FLOOR**2
        + min(_known(error.typical), _MAX_SAMPLING) ** 2
        + doubts.shape_sd**2
        + (_PER_LAG * lags) ** 2
    )
    if doubts.blend.weight > 0:
        core += (_LATENT_SHARE * doubts.blend.difference) ** 2
    potential = min(abs(doubts.uneven_potential), _MAX_POTENTIAL)
    below = (
        core
        + (_PER_LAG_LOW * lags) ** 2
        + (_UNEVEN_LOW * doubts.uneven_effect) ** 2
        + (_INCONSISTENCY_LOW * max(doubts.consistency, 0.0)) ** 2
        + (_POTENTIAL * potential) ** 2
    )
    above = (
        core
        + (_UNEVEN_HIGH * doubts.uneven_effect) ** 2
        + (_INCONSISTENCY_HIGH * max(-doubts.consistency, 0.0)) ** 2
    )
    own = np.minimum(np.nan_to_num(error.per_crawl), _MAX_SAMPLING) ** 2
    own += _CRAWL_FLOOR**2 + (_PER_LAG * lags) ** 2
    own[-1] += _known(doubts.newest_variance) + (_NEWEST_PER_LAG * lags) ** 2
    return Band(
        below=_WIDTH * math.sqrt(below),
        above=max(_WIDTH * math.sqrt(above), doubts.run_gap),
        crawl_below=_WIDTH * np.sqrt(below + own),
        crawl_above=np.maximum(_WIDTH * np.sqrt(above + own), doubts.run_gap),
    )


def grade_band(band: Band, doubts: Doubts, n_urls: float, n_crawls: int) -> tuple[Grade, str]:
    """Return the grade of the typical coverage and the reason for it.

    Parameters
    ----------
    band
        Its band.
    doubts
        What it is made of.
    n_urls
        Distinct URLs that the histories were counted from.
    n_crawls
        Crawls with captures.
    """
    trap_lags, blend = doubts.trap_lags, doubts.blend
    if n_urls < _MIN_URLS:
        return "C", (
            f"only {n_urls:.0f} distinct URLs: below {_MIN_URLS:,} neither avoidance nor uneven "
            "capture can be told"
        )
    if trap_lags > 1 and n_crawls < trap_lags + _CRAWLS_BEYOND_LAGS:
        return "C", (
            f"captures have an effect for {trap_lags} crawls, which leaves too little of only "
            f"{n_crawls} crawls"
        )
    if doubts.run_gap > _MAX_RUN_GAP:
        return "C", (
            "captures come in long runs: either the crawler returns to what it holds and finds "
            "little else, or URLs go absent for a while and coverage is higher by a factor of "
            f"{math.exp(doubts.run_gap):.2f}"
        )
    if blend.weight > 0 and abs(blend.difference) > _MAX_LATENT_DIFFERENCE:
        return "C", (
            "the latent-class model, which has a say here, is off by a factor of "
            f"{math.exp(abs(blend.difference)):.2f}"
        )
    width = max(band.below, band.above)
    factor = f"the band reaches a factor of {math.exp(width):.2f}"
    if width > _WIDEST_B:
        return "C", factor
    return ("B", factor) if width > _WIDEST_A else ("A", factor)


def _known(value: float) -> float:
    return value if math.isfinite(value) else 0.0
