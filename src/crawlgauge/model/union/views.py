"""Crawls beside the archive that they met, and the ranges of what follows from both.

Of the URLs that live at a crawl of coverage c, it captures c. A share r of what it captures is
held by earlier crawls; if held URLs are t times as likely to be captured as all, earlier crawls
hold r/t of the living ones, and with this crawl c·(1 − r) + r/t are held.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.estimates import Basis, Estimate
from crawlgauge.model.margins import LEVEL, NORMAL_QUANTILE
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["Spread", "View", "find_range", "held_share", "n_living_held", "n_living_unseen"]

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """Numbers with a range each; the ends equal the value where they are known exactly."""

    low: Numbers
    value: Numbers
    high: Numbers

    def __post_init__(self) -> None:
        freeze_arrays(self, "low", "value", "high")

    def part(self, crawls: slice) -> "Spread":
        """Return the numbers of some crawls."""
        return Spread(low=self.low[crawls], value=self.value[crawls], high=self.high[crawls])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """Some crawls in a row, with what their own and the archive's numbers are.

    Parameters
    ----------
    sizes
        URLs of each crawl.
    known_share, known_error
        Share r of each crawl that earlier crawls hold, and its standard error.
    coverage
        Coverage c of each crawl; NaN where it is not known.
    ratio
        Chance t of a held URL to be captured, over that of all living ones.
    survival
        Share of the living URLs no crawl holds that live on, from each crawl to the next.
    """

    sizes: Numbers
    known_share: Numbers
    known_error: Numbers
    coverage: Spread
    ratio: Spread
    survival: Spread

    def __post_init__(self) -> None:
        freeze_arrays(self, "sizes", "known_share", "known_error")

    def since(self, first: int) -> "View":
        """Return the view of the crawls from one on."""
        return self._part(slice(first, None), slice(first, None))

    def only(self, crawl: int) -> "View":
        """Return the view of one crawl."""
        return self._part(slice(crawl, crawl + 1), slice(0, 0))

    def _part(self, crawls: slice, intervals: slice) -> "View":
        return View(
            sizes=self.sizes[crawls],
            known_share=self.known_share[crawls],
            known_error=self.known_error[crawls],
            coverage=self.coverage.part(crawls),
            ratio=self.ratio.part(crawls),
            survival=self.survival.part(intervals),
        )


def held_share(view: View) -> float:
    """Return the share of the URLs that live at the last crawl of `view` which the archive holds.

    Examples
    --------
    >>> held_share(_example(coverage=0.4, known_share=0.5, ratio=1.0))
    0.7
    """
    c, t, r = _last(view)
    return min(1.0, c * (1 - r) + r / t)


def n_living_held(view: View) -> float:
    """Return how many URLs that live at the last crawl of `view` the archive holds.

    Examples
    --------
    >>> n_living_held(_example(coverage=0.4, known_share=0.5, ratio=1.0))
    1750.0
    """
    c, t, r = _last(view)
    return float(view.sizes[-1]) * (1 - r + r / max(c * t, r * c))


def n_living_unseen(view: View) -> float:
    """Return how many URLs that lived at one of the crawls no crawl holds.

    They still live at the last one, or died since the crawl before it, or since the one before
    that, and so on.

    Examples
    --------
    >>> n_living_unseen(_example(coverage=0.4, known_share=0.5, ratio=1.0))
    750.0
    """
    c, t, r = view.coverage.value, view.ratio.value, view.known_share
    unseen = view.sizes * np.maximum((1 - r / t) / c - (1 - r), 0.0)
    return float(unseen[-1] + unseen[:-1] @ (1 - np.minimum(view.survival.value, 1.0)))


def find_range(
    function: Callable[[View], float], view: View, *, basis: Basis, reason: str | None
) -> Estimate:
    """Return what follows from a view, with the range that the ranges of its numbers lead to.

    All numbers of a kind are taken at the same end, and every kind at either: errors of estimates
    from the same overlaps go together in ways that are not known, and no dependence of theirs
    makes a sum err by more than the sum of the errors. What one crawl happened to draw is
    independent of it.

    Parameters
    ----------
    function
        What to compute.
    view
        The numbers.
    basis
        What the range rests on.
    reason
        Why there can be no range; None if there can.
    """
    value = function(view)
    if reason is not None:
        return Estimate(value=value, reason=reason)
    corners = [
        function(_at(view, coverage, ratio, survival))
        for coverage, ratio, survival in product(("low", "high"), repeat=3)
    ]
    shifted = [
        function(replace(view, known_share=np.clip(view.known_share + shift, 0.0, 1.0)))
        for shift in (-NORMAL_QUANTILE * view.known_error, NORMAL_QUANTILE * view.known_error)
    ]
    below = math.hypot(value - min(corners), value - min(*shifted, value))
    above = math.hypot(max(corners) - value, max(*shifted, value) - value)
    return Estimate(value=value, low=value - below, high=value + above, level=LEVEL, basis=basis)


def _at(view: View, coverage: str, ratio: str, survival: str) -> View:
    return replace(
        view,
        coverage=_end(view.coverage, coverage),
        ratio=_end(view.ratio, ratio),
        survival=_end(view.survival, survival),
    )


def _end(spread: Spread, end: str) -> Spread:
    return replace(spread, value=getattr(spread, end))


def _last(view: View) -> tuple[float, float, float]:
    return (
        float(view.coverage.value[-1]),
        float(view.ratio.value[-1]),
        float(view.known_share[-1]),
    )


def _example(coverage: float, known_share: float, ratio: float) -> View:
    def exact(*numbers: float) -> Spread:
        return Spread(low=np.array(numbers), value=np.array(numbers), high=np.array(numbers))

    return View(
        sizes=np.array([1000.0]),
        known_share=np.array([known_share]),
        known_error=np.array([0.01]),
        coverage=exact(coverage),
        ratio=exact(ratio),
        survival=exact(),
    )
