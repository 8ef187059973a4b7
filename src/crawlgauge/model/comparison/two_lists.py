"""Two lists of one population: its size by Lincoln, Petersen and Chapman, over a gap in time.

The earlier list holds `n_a` URLs, a share `kept` of which is still alive when the later list, of
`n_b`, is drawn from a population of N. If the lists are drawn independently of each other, they
share ``kept · n_a · n_b / N`` URLs on average, however unevenly one of them is drawn.
"""

import math
from dataclasses import dataclass

from crawlgauge.model.comparison.log_range import LogRange
from crawlgauge.model.margins import NORMAL_QUANTILE

__all__ = ["TwoLists"]

_N_HALVINGS = 60
"""As many as a number of 64 bits can be halved to some purpose."""

_MOST_LOG_RATIO = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoLists:
    """What two lists hold and share.

    Parameters
    ----------
    n_a, n_b
        URLs of the earlier and of the later list.
    n_shared
        URLs of both.
    kept
        Share of the population that lives on from the earlier list to the later.
    """

    n_a: int
    n_b: int
    n_shared: int
    kept: float = 1.0

    @property
    def n_union(self) -> float:
        """URLs of either that live when the later list is drawn."""
        return self.kept * self.n_a + self.n_b - self.n_shared

    def lincoln_petersen(self) -> float | None:
        """Return the population by Lincoln and Petersen; None if nothing is shared.

        Examples
        --------
        >>> TwoLists(n_a=400, n_b=300, n_shared=120).lincoln_petersen()
        1000.0
        """
        return self.kept * self.n_a * self.n_b / self.n_shared if self.n_shared else None

    def chapman(self) -> float:
        """Return the population by Chapman, which is nearly unbiased for few shared URLs.

        Examples
        --------
        >>> round(TwoLists(n_a=400, n_b=300, n_shared=120).chapman())
        997
        """
        return (self.kept * self.n_a + 1) * (self.n_b + 1) / (self.n_shared + 1) - 1

    def population(self) -> LogRange:
        """Return Chapman's estimate with the populations that the overlap does not contradict.

        A population is contradicted if the overlap that it makes expect lies farther from the
        observed one than 1.96 times its own standard deviation (a score interval). It holds also
        where little is shared; with nothing shared there is no upper end.
        """
        centre = math.log(self.chapman())
        least = math.log(max(self.n_a, self.n_b, self.n_union))
        low = self._find_end(centre, least, NORMAL_QUANTILE)
        high = self._find_end(centre, centre + _MOST_LOG_RATIO, -NORMAL_QUANTILE)
        up = math.inf if high >= centre + _MOST_LOG_RATIO else max(0.0, high - centre)
        return LogRange(value=centre, down=max(0.0, centre - low), up=up)

    def _find_end(self, centre: float, far: float, wanted: float) -> float:
        """Return the log population between two that expects `wanted` deviations too much."""
        if self._excess(far) * wanted < wanted * wanted:
            return far
        near = centre
        for _ in range(_N_HALVINGS):
            middle = (near + far) / 2
            if self._excess(middle) * wanted < wanted * wanted:
                near = middle
            else:
                far = middle
        return far

    def _excess(self, log_population: float) -> float:
        """Return by how many standard deviations the expected overlap exceeds the observed one."""
        population = math.exp(log_population)
        share_a, share_b = self.n_a / population, self.n_b / population
        expected = self.kept * self.n_a * share_b
        drawing = expected * max(0.0, 1 - share_b) * max(0.0, 1 - self.kept * share_a)
        dying = share_b**2 * self.n_a * self.kept * (1 - self.kept) * max(0.0, 1 - share_a)
        deviation = math.sqrt(drawing + dying)
        if deviation == 0:
            return math.copysign(math.inf, expected - self.n_shared)
        return (expected - self.n_shared) / deviation
