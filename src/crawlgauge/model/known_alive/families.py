"""Families of uneven capture: how readily URLs are captured, relative to each other.

A family lays a few nodes over the propensities of the URLs, each with an effect θ and a share f
of the population. Windows show propensities weighted by their square, since both ends are
captures: the low tail is nearly invisible, and families differ in what they take it to be.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Even", "Family", "LogNormal", "Nodes", "TwoClasses"]

Numbers = NDArray[np.float64]

_N_NODES = 15
_NODE_REACH = 3.2
"""Fifteen nodes to ±3.2 standard deviations integrate the capture chances to a thousandth."""

_MAX_SIGMA = 1.6
"""A wider law puts most of the population where no window can see it."""

_SIGMA_SD = 1.0
_GAP_SD = 2.0
_LOG_ODDS_SD = 1.2
"""Guards against classes without evidence; a few hundred windows outweigh them."""

_MAX_GAP = 6.0
_MAX_LOG_ODDS = 4.0
"""A class a four-hundredth as likely to be captured, or with a share of 2 %, leaves no trace."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """Kinds of URL that a family consists of.

    Parameters
    ----------
    effect
        How readily each kind is captured, on the scale of the link.
    share
        Share of each kind in the population.
    position
        Place of each kind on the scale on which hazards may differ.
    effect_slope, log_share_slope
        A row for each shape parameter: change of the effects and of the logarithms of the shares.
    """

    effect: Numbers
    share: Numbers
    position: Numbers
    effect_slope: Numbers
    log_share_slope: Numbers


class Family(Protocol):
    """What a family of uneven capture has to tell."""

    @property
    def name(self) -> str:
        """Name in words."""

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """Lowest and highest value of each shape parameter."""

    @property
    def prior_sd(self) -> tuple[float, ...]:
        """Standard deviation around 0 of each shape parameter, before the data."""

    @property
    def starts(self) -> tuple[tuple[float, ...], ...]:
        """Shapes to start a search from."""

    def nodes(self, shape: Numbers) -> Nodes:
        """Return the kinds of URL for a shape."""


@dataclass(frozen=True, slots=True)
class Even:
    """All URLs are captured alike."""

    @property
    def name(self) -> str:
        """Name in words."""
        return "even capture"

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """No shape parameter."""
        return ()

    @property
    def prior_sd(self) -> tuple[float, ...]:
        """No shape parameter."""
        return ()

    @property
    def starts(self) -> tuple[tuple[float, ...], ...]:
        """One start, without a shape parameter."""
        return ((),)

    def nodes(self, shape: Numbers) -> Nodes:
        """Return the only kind of URL."""
        none = np.zeros((shape.size, 1))
        return Nodes(
            effect=np.zeros(1),
            share=np.ones(1),
            position=np.zeros(1),
            effect_slope=none,
            log_share_slope=none,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNormal:
    """Propensities spread like a normal law, with a low tail shortened by a factor.

    Parameters
    ----------
    low_tail
        κ: 1 for the full normal law, 0 for none of the URLs below the middle.
    """

    low_tail: float

    @property
    def name(self) -> str:
        """Name in words."""
        return f"log-normal, low tail × {self.low_tail:g}"

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """Bounds of σ."""
        return ((0.0, _MAX_SIGMA),)

    @property
    def prior_sd(self) -> tuple[float, ...]:
        """Guard of σ."""
        return (_SIGMA_SD,)

    @property
    def starts(self) -> tuple[tuple[float, ...], ...]:
        """A middling spread."""
        return ((0.5,),)

    def nodes(self, shape: Numbers) -> Nodes:
        """Return fifteen kinds of URL for the spread σ."""
        z = np.linspace(-_NODE_REACH, _NODE_REACH, _N_NODES)
        density = np.exp(-(z**2) / 2)
        stretched = np.where(z < 0, self.low_tail, 1.0) * z
        return Nodes(
            effect=shape[0] * stretched,
            share=density / density.sum(),
            position=z,
            effect_slope=stretched[None],
            log_share_slope=np.zeros((1, z.size)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoClasses:
    """Two kinds of URL, one captured less readily.

    Parameters
    ----------
    log_odds
        Of the share of the readily captured; None to estimate it.
    """

    log_odds: float | None = None

    @property
    def name(self) -> str:
        """Name in words."""
        return "two classes"

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """Bounds of the gap and of the log odds."""
        gap = (0.0, _MAX_GAP)
        return (gap,) if self.log_odds is not None else (gap, (-_MAX_LOG_ODDS, _MAX_LOG_ODDS))

    @property
    def prior_sd(self) -> tuple[float, ...]:
        """Guards of the gap and of the log odds."""
        return (_GAP_SD,) if self.log_odds is not None else (_GAP_SD, _LOG_ODDS_SD)

    @property
    def starts(self) -> tuple[tuple[float, ...], ...]:
        """A small, a rare and a far second class: the likelihood can have a top at each."""
        starts = ((1.5, 0.0), (3.0, 1.0), (1.0, -1.0))
        return starts if self.log_odds is None else tuple(start[:1] for start in starts)

    def nodes(self, shape: Numbers) -> Nodes:
        """Return the two kinds of URL for a gap and, unless fixed, log odds."""
        log_odds = self.log_odds if self.log_odds is not None else float(shape[1])
        first = 1 / (1 + math.exp(-log_odds))
        share = np.array([first, 1 - first])
        position = np.array([0.0, -1.0])
        n_shape = len(self.bounds)
        effect_slope, log_share_slope = np.zeros((n_shape, 2)), np.zeros((n_shape, 2))
        effect_slope[0] = position
        log_share_slope[1:] = [1 - first, -first]
        return Nodes(
            effect=shape[0] * position,
            share=share,
            position=position,
            effect_slope=effect_slope,
            log_share_slope=log_share_slope,
        )
