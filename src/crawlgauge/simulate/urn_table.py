"""The overlap table of an urn, drawn from its distribution without any sets."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import Crawl
from crawlgauge.errors import SimulationError
from crawlgauge.overlaps.histories import Histories
from crawlgauge.provenance import Provenance
from crawlgauge.simulate.archive import SimulatedTable
from crawlgauge.simulate.url_types import list_types
from crawlgauge.simulate.urn_histories import draw_histories
from crawlgauge.simulate.urn_pairs import draw_pairs
from crawlgauge.simulate.urn_plan import (
    MAX_NOISY_COVERAGE,
    UrnPlan,
    make_plan,
    make_random,
    make_truth,
)
from crawlgauge.simulate.urn_settings import TableNoise, UrnSettings

__all__ = ["draw_table"]

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
