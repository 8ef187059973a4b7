"""The overlap table of an urn, drawn from its distribution without any sets."""

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl
from crawlgauge.errors import SimulationError
from crawlgauge.overlaps.histories import Histories
from crawlgauge.provenance import Provenance
from crawlgauge.simulate.archive import SimulatedTable
from crawlgauge.simulate.urn_plan import (
    MAX_NOISY_COVERAGE,
    Stratum,
    UrlTypes,
    UrnPlan,
    find_capture_scale,
    list_types,
    make_plan,
    make_random,
    make_truth,
)
from crawlgauge.simulate.urn_sets import choose_from_cells
from crawlgauge.simulate.urn_settings import TableNoise, UrnSettings

__all__ = ["compute_moments", "draw_table"]


# ---------------------------------- mean and covariance of the sizes and overlaps that an urn gives


_MAX_DISTINCT = 4
"""Two pairs of crawls are of at most four crawls."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Mean and covariance of counts.

    Parameters
    ----------
    first, last
        Of which two crawls each is the overlap; equal for a crawl's size.
    mean
        Of each count.
    covariance
        Of each two.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


def compute_moments(plan: UrnPlan) -> Moments:
    """Compute mean and covariance of all overlaps, and of the sizes where these vary.

    Parameters
    ----------
    plan
        Of an urn whose crawls do not depend on earlier ones.
    """
    layout = _lay_out(plan.n_crawls, with_sizes=not plan.settings.is_even)
    types = list_types(plan, degree=_MAX_DISTINCT)
    n = layout.first.size
    mean, joint, taken = np.zeros(n), np.zeros((n, n)), np.zeros((n, n))
    for number, stratum in enumerate(plan.strata):
        rows = types.stratum == number
        capture, share = types.capture[rows].T, types.share[rows]
        products = _multiply_capture(layout, capture)
        living = _expect_living(stratum, plan.years)
        of_stratum = living[layout.first, layout.last] * (products @ share)
        mean += of_stratum
        joint += living[layout.earliest, layout.latest] * _expect_joint(
            layout, products, capture, share
        )
        taken += (
            np.outer(of_stratum, of_stratum)
            * _share_taken(stratum, plan.years)[layout.last_of_earlier, layout.later_first]
        )
    both = _expect_both(plan, layout) if plan.settings.is_even else np.ones((n, n))
    covariance = joint + (both - 1) * np.outer(mean, mean) - both * taken
    return Moments(first=layout.first, last=layout.last, mean=mean, covariance=covariance)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Layout:
    """Which crawls the counts are of, and for each two of them what follows from that.

    `earliest` and `latest` are the ends of both sets together, `later_first` and
    `last_of_earlier` tell where the sets follow each other, `rows` and `columns` list the counts
    that have a crawl in common, and `union` their crawls: three, of which those that are lacking
    stand as `n_crawls`.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    earliest: NDArray[np.int64]
    latest: NDArray[np.int64]
    later_first: NDArray[np.int64]
    last_of_earlier: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    union: NDArray[np.int64]


@functools.lru_cache(maxsize=16)
def _lay_out(n_crawls: int, *, with_sizes: bool) -> _Layout:
    first, last = np.triu_indices(n_crawls, 0 if with_sizes else 1)
    a, b = first[:, None], last[:, None]
    common = (a == first) | (a == last) | (b == first) | (b == last)
    rows, columns = np.nonzero(common)
    four = np.sort(
        np.column_stack([first[rows], last[rows], first[columns], last[columns]]), axis=1
    )
    four[:, 1:][four[:, 1:] == four[:, :-1]] = n_crawls
    return _Layout(
        first=first,
        last=last,
        earliest=np.minimum(a, first),
        latest=np.maximum(b, last),
        later_first=np.maximum(a, first),
        last_of_earlier=np.where(a <= first, b, last),
        rows=rows,
        columns=columns,
        union=np.sort(four, axis=1)[:, :3],
    )


def _expect_living(stratum: Stratum, years: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many URLs of crawl i's population are expected to live at crawl j."""
    lags = np.maximum(years - years[:, None], 0)
    return stratum.populations[:, None] * stratum.persistence**lags


def _share_taken(stratum: Stratum, years: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return q / N_k for a set that ends with crawl i (row) and one that begins with k."""
    gaps = np.maximum(years - years[:, None], 0)
    return stratum.persistence**gaps / np.maximum(stratum.populations, 1)


def _multiply_capture(layout: _Layout, capture: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each count (row) and type the probability of capture by all of its crawls."""
    is_size = (layout.first == layout.last)[:, None]
    return capture[layout.first] * np.where(is_size, 1, capture[layout.last])


def _expect_joint(
    layout: _Layout,
    products: NDArray[np.float64],
    capture: NDArray[np.float64],
    share: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return for each two counts the expected probability of capture by the crawls of both."""
    joint = (products * share) @ products.T
    padded = np.concatenate([capture, np.ones((1, share.size))])
    one, two, three = layout.union.T
    # Most pairs of counts have no crawl in common; the others must not count it twice.
    joint[layout.rows, layout.columns] = (padded[one] * padded[two] * padded[three]) @ share
    return joint


def _expect_both(plan: UrnPlan, layout: _Layout) -> NDArray[np.float64]:
    """Return P: how much rarer it is that two URLs are both drawn where the size is exact."""
    log_rho = np.log1p(-1 / np.maximum(plan.sizes, 2)) - np.log1p(-1 / plan.populations)
    log_rho[plan.sizes == 1] = -np.inf
    same_first = layout.first[:, None] == layout.first
    same_last = layout.last[:, None] == layout.last
    crossed = layout.first[:, None] == layout.last
    shared = np.zeros(same_first.shape)
    for is_same, crawl in (
        (same_first, layout.first),
        (same_last, layout.last),
        (crossed, layout.last),
        (crossed.T, layout.first),
    ):
        shared[is_same] += np.broadcast_to(log_rho[crawl], is_same.shape)[is_same]
    return np.exp(shared)


# --------------------------------------------------------------------------------- the urn as pairs


MAX_PAIR_CRAWLS = 100
"""The covariance of all pairs of more crawls takes too much memory."""

_FEW = 50
_RELATIVE_JITTER = 1e-9


def draw_pairs(plan: UrnPlan) -> NDArray[np.int64]:
    """Draw how many URLs each two crawls share; the diagonal holds the sizes.

    Counts have the mean and covariance that sets would have. Their distribution is normal, and
    Poisson where fewer than 50 are expected.

    Parameters
    ----------
    plan
        What to draw from.

    Raises
    ------
    SimulationError
        If crawls depend on earlier ones, or there are too many of them.
    """
    if plan.settings.has_memory:
        raise SimulationError(
            f"the crawls of the scenario {plan.settings.scenario} depend on earlier ones, so that "
            "overlaps of this many crawls cannot be drawn without sets; simulate sets, or fewer "
            "crawls"
        )
    if plan.n_crawls > MAX_PAIR_CRAWLS:
        raise SimulationError(
            f"the overlaps of {plan.n_crawls} crawls cannot be drawn without sets, only those of "
            f"up to {MAX_PAIR_CRAWLS}; simulate sets"
        )
    law = _find_law(plan)
    noise = law.factor @ make_random(plan.seed, "counts").standard_normal(law.mean.size)
    drawn = np.rint(law.mean + law.deviation * noise).astype(np.int64)
    few = (law.mean < _FEW) & (law.first != law.last)
    drawn[few] = _to_poisson(law.mean[few], noise[few])
    n_shared = np.diag(plan.sizes)
    n_shared[law.first, law.last] = n_shared[law.last, law.first] = drawn
    return _keep_possible(n_shared, plan.populations)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Law:
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    factor: NDArray[np.float64]


def _find_law(plan: UrnPlan) -> _Law:
    if plan.settings.is_same_for_all_seeds:
        return _find_fixed_law(plan.settings)
    return _factorise(compute_moments(plan))


@functools.lru_cache(maxsize=16)
def _find_fixed_law(settings: UrnSettings) -> _Law:
    return _factorise(compute_moments(make_plan(settings, seed=0)))


def _factorise(moments: Moments) -> _Law:
    deviation = np.sqrt(np.maximum(np.diag(moments.covariance), 0))
    divisor = np.where(deviation > 0, deviation, 1)
    correlation = moments.covariance / np.outer(divisor, divisor)
    # Counts that cannot vary, and rounding, must not stop the factorisation.
    correlation[np.diag_indices_from(correlation)] = 1 + _RELATIVE_JITTER
    return _Law(
        first=moments.first,
        last=moments.last,
        mean=moments.mean,
        deviation=deviation,
        factor=np.linalg.cholesky(correlation),
    )


def _to_poisson(mean: NDArray[np.float64], noise: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return Poisson counts that stand where the standard normal `noise` stands in its law."""
    counts = np.zeros(mean.size, dtype=np.int64)
    for index, (expected, deviate) in enumerate(zip(mean, noise, strict=True)):
        level = 0.5 * math.erfc(-deviate / math.sqrt(2))
        probability = math.exp(-expected)
        below = probability
        while below < level and probability > 0:
            counts[index] += 1
            probability *= expected / counts[index]
            below += probability
    return counts


def _keep_possible(
    n_shared: NDArray[np.int64], populations: NDArray[np.int64]
) -> NDArray[np.int64]:
    sizes = np.clip(np.diag(n_shared), 1, populations)
    n_shared = np.clip(n_shared, 0, np.minimum(sizes, sizes[:, None]))
    n_shared[np.diag_indices_from(n_shared)] = sizes
    return n_shared


# -------------------------------------------------------------------------------- the urn as counts


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


# ------------------------ the overlap table of an urn, drawn from its distribution without any sets


_MAX_FAST_CELLS = 1 << 16
_MAX_CELLS = 1 << 22
_MAX_CRAWLS_WITH_HISTORIES = 20


def draw_table(
    settings: UrnSettings, *, seed: int = 1, with_histories: bool | None = None
) -> SimulatedTable:
    """Draw the overlap table of an archive, as its sets would have it, without any sets.

    The time does not depend on the population. With histories the table has exactly the
    distribution of the sets' table; it takes milliseconds for up to about 14 crawls, and twice as
    long for each further one. Without them the overlaps have the mean and covariance of the
    sets', for up to 100 crawls.

    Parameters
    ----------
    settings
        What to simulate.
    seed
        Equal seeds give equal tables.
    with_histories
        Whether to draw capture histories, from which the overlaps follow. If None, they are drawn
        where that is fast, or where there is no other way. Noise of the overlaps leaves a table
        without histories in any case.

    Raises
    ------
    SimulationError
        If the settings contradict each other, or there are too many crawls for this way.

    Examples
    --------
    >>> table = draw_table(UrnSettings(population=10**8), seed=1)
    >>> round(int(table.n_shared[0, 1]) / table.crawls[0].n_urls, 3)
    0.393
    """
    plan = make_plan(settings, seed)
    if with_histories is None:
        with_histories = settings.has_memory or _are_few(plan)
    histories = _draw_histories(plan) if with_histories else None
    n_shared = draw_pairs(plan) if histories is None else histories.count_pairs()
    populations = plan.populations
    if settings.table_noise is not None:
        histories = None
        noise = _draw_noise(plan, settings.table_noise, np.diag(n_shared) / populations)
        populations = np.rint(populations / np.exp(noise.log_columns)).astype(np.int64)
        n_shared = _add_noise(n_shared, noise)
    sizes = np.diag(n_shared)
    return SimulatedTable(
        crawls=tuple(
            Crawl(label=label, date=date, n_urls=int(size))
            for label, date, size in zip(plan.labels, plan.dates, sizes, strict=True)
        ),
        n_shared=n_shared,
        histories=histories,
        provenance=Provenance(settings={"scenario": settings.scenario, "seed": seed}),
        truth=make_truth(plan, sizes, populations),
    )


def _are_few(plan: UrnPlan) -> bool:
    """Tell whether histories are drawn fast, and will not be lost to noise."""
    return plan.settings.table_noise is None and _count_cells(plan) <= _MAX_FAST_CELLS


def _count_cells(plan: UrnPlan) -> int:
    """Return how many histories of how many types are possible, or more than can be drawn."""
    if plan.n_crawls > _MAX_CRAWLS_WITH_HISTORIES:
        return _MAX_CELLS + 1
    n_hosts = 1 if plan.host_weights is None else plan.host_weights.shape[1]
    if len(plan.strata) * n_hosts << plan.n_crawls > _MAX_CELLS:
        return _MAX_CELLS + 1
    return list_types(plan, degree=plan.n_crawls).n_types << plan.n_crawls


def _draw_histories(plan: UrnPlan) -> Histories:
    if _count_cells(plan) > _MAX_CELLS:
        raise SimulationError(
            f"{plan.n_crawls} crawls of the scenario {plan.settings.scenario} have too many "
            "possible histories to be drawn without sets; simulate sets, or fewer crawls"
        )
    return draw_histories(plan)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Noise:
    """Logarithms: of the factor of each crawl's coverage, and of that of each pair, i before j."""

    log_columns: NDArray[np.float64]
    log_pairs: NDArray[np.float64]


def _draw_noise(plan: UrnPlan, noise: TableNoise, coverage: NDArray[np.float64]) -> _Noise:
    rng = make_random(plan.seed, "noise")
    n = plan.n_crawls
    columns = noise.column_sd * rng.standard_normal(n)
    most = np.maximum(0, np.log(MAX_NOISY_COVERAGE / coverage))
    columns = np.minimum(columns, most)
    rows = noise.row_sd * rng.standard_normal(n)
    pairs = noise.pair_sd * rng.standard_normal((n, n))
    return _Noise(log_columns=columns, log_pairs=rows[:, None] + columns + pairs)


def _add_noise(n_shared: NDArray[np.int64], noise: _Noise) -> NDArray[np.int64]:
    sizes = np.diag(n_shared)
    noisy = np.triu(np.rint(n_shared * np.exp(noise.log_pairs)).astype(np.int64), 1)
    noisy = noisy + noisy.T + np.diag(sizes)
    return np.minimum(noisy, np.minimum(sizes, sizes[:, None]))
