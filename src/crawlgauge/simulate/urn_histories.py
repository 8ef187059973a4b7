"""The urn as counts: how many URLs have each capture history, drawn without any sets.

The living URLs of one type and one history so far are all alike, so that it is enough to draw how
many of them die and how many are captured. The law is that of the sets, exactly; only
gamma-distributed weights are put on a few nodes.
"""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.overlaps.histories import Histories
from crawlgauge.simulate.choosing import choose_from_cells
from crawlgauge.simulate.url_types import UrlTypes, list_types
from crawlgauge.simulate.urn_plan import UrnPlan, find_capture_scale, make_random

__all__ = ["draw_histories"]

Counts = NDArray[np.int64]


def draw_histories(plan: UrnPlan, types: UrlTypes | None = None) -> Histories:
    """Draw how many URLs have each capture history.

    Time and memory grow with ``n_types * 2 ** n_crawls``, not with the population.

    Parameters
    ----------
    plan
        What to draw from.
    types
        Those of the plan, where they are known already.
    """
    cells = _Cells(plan, types or list_types(plan, degree=plan.n_crawls))
    for crawl in range(plan.n_crawls):
        cells.turn_over(crawl)
        cells.capture(crawl)
    counts = cells.count_histories()
    masks = np.flatnonzero(counts[1:]) + 1
    return Histories(n_crawls=plan.n_crawls, masks=masks.astype(np.uint64), counts=counts[masks])


class _Cells:
    """Living URLs by type (row) and history so far (column), and the histories of the dead."""

    def __init__(self, plan: UrnPlan, types: UrlTypes) -> None:
        self._plan = plan
        self._types = types
        self._rng = make_random(plan.seed, "counts")
        self._rows = [np.flatnonzero(types.stratum == number) for number in range(len(plan.strata))]
        self._living = np.zeros((types.n_types, 1), dtype=np.int64)
        self._dead = np.zeros(1, dtype=np.int64)

    def turn_over(self, crawl: int) -> None:
        if crawl:
            survival = self._plan.survival(crawl)[self._types.stratum]
            survivors = self._rng.binomial(self._living, survival[:, None])
            self._bury(self._living - survivors)
        for rows, stratum in zip(self._rows, self._plan.strata, strict=True):
            n_born = int(stratum.populations[crawl]) - int(self._living[rows].sum())
            if n_born < 0:
                surplus = choose_from_cells(self._rng, self._living[rows], -n_born)
                self._bury(self._spread(rows, surplus))
            else:
                self._living[rows, 0] += self._rng.multinomial(n_born, self._types.share[rows])

    def capture(self, crawl: int) -> None:
        rows = np.flatnonzero(
            np.array([stratum.in_scope[crawl] for stratum in self._plan.strata])[
                self._types.stratum
            ]
        )
        settings = self._plan.settings
        reachable = self._living[rows]
        n_wanted = int(self._plan.sizes[crawl])
        if settings.has_memory:
            weights = None if settings.is_even else self._types.weight[rows, crawl]
            found = self._capture_with_memory(crawl, reachable, n_wanted, weights)
        elif settings.is_even:
            found = choose_from_cells(self._rng, reachable, n_wanted)
        else:
            found = self._rng.binomial(reachable, self._types.capture[rows, crawl][:, None])
        captured = self._spread(rows, found)
        # The newest crawl is the highest bit: captured URLs move on by as many columns as exist.
        self._living = np.concatenate([self._living - captured, captured], axis=1)
        self._dead = np.concatenate([self._dead, np.zeros_like(self._dead)])

    def count_histories(self) -> Counts:
        counts: Counts = self._dead + self._living.sum(axis=0)
        return counts

    def _bury(self, n_dead: Counts) -> None:
        self._dead += n_dead.sum(axis=0)
        self._living = self._living - n_dead

    def _spread(self, rows: NDArray[np.int64], counts: Counts) -> Counts:
        spread = np.zeros_like(self._living)
        spread[rows] = counts
        return spread

    def _capture_with_memory(
        self,
        crawl: int,
        reachable: Counts,
        n_wanted: int,
        weights: NDArray[np.float64] | None,
    ) -> Counts:
        avoided, seeded = np.zeros_like(reachable), np.zeros_like(reachable)
        settings = self._plan.settings
        if settings.avoidance is not None:
            recent = self._captured_since(crawl - settings.avoidance.n_crawls)
            avoided[:, recent] = self._rng.binomial(
                reachable[:, recent], settings.avoidance.probability
            )
        elif crawl:
            before = self._captured_since(crawl - 1)
            candidates = reachable[:, before]
            n_seeds = min(round(settings.reseeded_share * n_wanted), int(candidates.sum()))
            seeded[:, before] = choose_from_cells(self._rng, candidates, n_seeds)
            n_wanted -= n_seeds
        pool = reachable - avoided - seeded
        n_pool = int(pool.sum())
        if n_pool <= n_wanted:
            return seeded + pool + choose_from_cells(self._rng, avoided, n_wanted - n_pool)
        if weights is None:
            return seeded + choose_from_cells(self._rng, pool, n_wanted)
        scale = find_capture_scale(weights, pool.sum(axis=1).astype(np.float64), n_wanted)
        share = np.minimum(1, scale * weights)
        return seeded + self._rng.binomial(pool, share[:, None])

    def _captured_since(self, first: int) -> NDArray[np.bool_]:
        """Tell for each history whether one of the crawls from `first` on holds the URL."""
        histories = np.arange(self._living.shape[1])
        return histories >= 1 << max(first, 0)
