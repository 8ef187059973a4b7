"""How far the estimates move when something is left out or chosen otherwise."""

import math
from dataclasses import dataclass
from typing import Literal

from crawlgauge.model.estimates import Estimate

__all__ = ["Kind", "Movement", "Movements"]

Kind = Literal["crawl", "regime", "short-lags", "part", "identity", "status", "mime"]
"""What is changed: a crawl or a regime is left out, pairs of short lags are, only a part of the
URLs is counted; or files are read again with another rule for which URLs are the same, other
statuses or other media types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """One change, and what the estimates are with it.

    Parameters
    ----------
    kind
        What is changed.
    change
        The change in words, such as ``without crawl 2018-06``.
    subject
        What it is about: a label, a rule, or the number of a regime or part.
    coverage, persistence
        With the change.
    coverage_before, persistence_before
        Without it, from the same data by the same estimators; None where unknown. They are those of
        the headline except for short lags, where both are from pairs, and for files that were
        read again, where both are from those.
    estimator
        Whose coverage it is.
    weight
        For a crawl, the share of the two-way model's weight that its pairs carry; else None.
    """

    kind: Kind
    change: str
    subject: str
    coverage: Estimate
    persistence: Estimate
    coverage_before: float | None
    persistence_before: float | None
    estimator: str | None
    weight: float | None = None

    @property
    def coverage_moves(self) -> float | None:
        """Relative change of the coverage, such as -0.1 for a tenth less; None where unknown."""
        return _relative(self.coverage.value, self.coverage_before)

    @property
    def persistence_moves(self) -> float | None:
        """Relative change of the persistence; None where unknown."""
        return _relative(self.persistence.value, self.persistence_before)

    @property
    def size(self) -> float:
        """How far the coverage moves, as a logarithm without sign; -1 where it is unknown."""
        moves = self.coverage_moves
        return -1.0 if moves is None else abs(math.log1p(moves))


@dataclass(frozen=True, slots=True, kw_only=True)
class Movements:
    """All changes that were tried, those that move the coverage most first.

    Parameters
    ----------
    coverage, persistence
        The headline's, without any change.
    estimator
        Of the headline.
    level
        What is counted.
    movements
        The changes.
    part_rate
        Share of the URLs in each part; None without parts.
    reading_rate
        Share of the URLs that was kept when files were read again; None if none were.
    verdict
        In a sentence or two, what moves the number most.
    meanings
        What follows from it, in words.
    not_tried
        What could not be tried, and why.
    """

    coverage: Estimate
    persistence: Estimate
    estimator: str | None
    level: str
    movements: tuple[Movement, ...]
    part_rate: float | None
    reading_rate: float | None
    verdict: str
    meanings: tuple[str, ...]
    not_tried: tuple[str, ...]


def _relative(value: float | None, before: float | None) -> float | None:
    return None if value is None or not before else value / before - 1
