"""From settings and a seed to plain numbers: dates, strata, sizes and capture probabilities."""

import datetime as dt
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SimulationError
from crawlgauge.simulate.archive import CrawlTruth, Truth
from crawlgauge.simulate.courses import Course, course_values
from crawlgauge.simulate.dates import choose_dates, label_dates, years_since_first
from crawlgauge.simulate.describing import flatten_settings
from crawlgauge.simulate.gamma_weights import gamma_grid
from crawlgauge.simulate.urn_settings import UrnSettings

__all__ = [
    "MAX_NOISY_COVERAGE",
    "Stratum",
    "UrnPlan",
    "find_capture_scale",
    "make_plan",
    "make_random",
    "make_truth",
]

MAX_NOISY_COVERAGE = 0.97
"""Noise does not raise the coverage of a crawl beyond this."""

_MIN_POPULATION = 2
Stream = Literal["plan", "sets", "counts", "noise"]
_STREAMS: tuple[Stream, ...] = get_args(Stream)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stratum:
    """URLs of one class and one part of the scope: an urn by itself, of known size at each crawl.

    Parameters
    ----------
    persistence
        Share of them that lives on for a year.
    weight
        How readily they are captured.
    populations
        Number of them at each crawl.
    in_scope
        Whether each crawl may capture them.
    """

    persistence: float
    weight: float
    populations: NDArray[np.int64]
    in_scope: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UrnPlan:
    """All that is settled before URLs are born, die and are captured.

    Parameters
    ----------
    settings, seed
        What the plan was made from.
    dates, labels
        Of the crawls.
    years
        Since the first crawl.
    strata
        Parts of the population.
    populations
        URLs in scope at each crawl.
    sizes
        URLs that each crawl captures, or is expected to where capture is uneven.
    host_weights
        For each crawl and host, how readily it is captured; None where hosts do not matter.
    """

    settings: UrnSettings
    seed: int
    dates: tuple[dt.date, ...]
    labels: tuple[str, ...]
    years: NDArray[np.float64]
    strata: tuple[Stratum, ...]
    populations: NDArray[np.int64]
    sizes: NDArray[np.int64]
    host_weights: NDArray[np.float64] | None

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return len(self.dates)

    def survival(self, crawl: int) -> NDArray[np.float64]:
        """Return for each stratum the share that lives on from the crawl before to this one."""
        years = self.years[crawl] - self.years[crawl - 1]
        return np.array([stratum.persistence**years for stratum in self.strata])

    def capture_scale(self, crawl: int) -> float:
        """Return the factor that turns weights into capture probabilities, where 1 is the most.

        It is found from the distribution of the weights, not from those that were drawn.
        """
        grid = gamma_grid(self.settings.capture_cv)
        hosts = np.ones(1) if self.host_weights is None else self.host_weights[crawl]
        inside = [stratum for stratum in self.strata if stratum.in_scope[crawl]]
        by_stratum = np.array([stratum.weight for stratum in inside])
        n_urls = np.array([stratum.populations[crawl] for stratum in inside], dtype=np.float64)
        weights = np.multiply.outer(np.multiply.outer(by_stratum, hosts), grid.weights)
        counts = np.multiply.outer(
            np.multiply.outer(n_urls, np.full(hosts.size, 1 / hosts.size)), grid.shares
        )
        return find_capture_scale(weights.ravel(), counts.ravel(), float(self.sizes[crawl]))


def make_plan(settings: UrnSettings, seed: int) -> UrnPlan:
    """Settle all that is drawn or computed once for an archive.

    Parameters
    ----------
    settings
        What to simulate.
    seed
        Equal seeds give equal plans, whether sets or a table are drawn from them.

    Raises
    ------
    SimulationError
        If the numbers do not fit together.
    """
    rng = make_random(seed, "plan")
    dates = choose_dates(settings.dates, rng)
    years = years_since_first(dates)
    populations = np.rint(course_values(settings.population, years, rng)).astype(np.int64)
    if populations.min() < _MIN_POPULATION:
        raise SimulationError(f"a population of {populations.min()} URLs; at least two are needed")
    strata = _make_strata(settings, years, populations)
    hosts = settings.host_noise
    return UrnPlan(
        settings=settings,
        seed=seed,
        dates=dates,
        labels=label_dates(dates),
        years=years,
        strata=strata,
        populations=populations,
        sizes=_choose_sizes(settings, years, populations, rng),
        host_weights=None
        if hosts is None
        else np.exp(hosts.sd * rng.standard_normal((years.size, hosts.n_hosts)) - hosts.sd**2 / 2),
    )


def make_random(seed: int, stream: Stream) -> np.random.Generator:
    """Return the random numbers of one purpose, independent of those of all others.

    Parameters
    ----------
    seed
        Of the archive.
    stream
        The purpose.
    """
    if seed < 0:
        raise SimulationError(f"the seed {seed} is negative; use 0 or a positive number")
    return np.random.default_rng([seed, _STREAMS.index(stream)])


def make_truth(plan: UrnPlan, n_urls: NDArray[np.int64], populations: NDArray[np.int64]) -> Truth:
    """Put together what is true of an archive.

    Parameters
    ----------
    plan
        What it was drawn from.
    n_urls, populations
        Size and population of each crawl.
    """
    return Truth(
        scenario=plan.settings.scenario,
        seed=plan.seed,
        crawls=tuple(
            CrawlTruth(
                label=label,
                date=date,
                n_urls=int(size),
                population=int(population),
                coverage=float(size / population),
            )
            for label, date, size, population in zip(
                plan.labels, plan.dates, n_urls, populations, strict=True
            )
        ),
        persistence=plan.settings.common_persistence,
        settings=flatten_settings(plan.settings),
    )


def find_capture_scale(
    weights: NDArray[np.float64], counts: NDArray[np.float64], size: float
) -> float:
    """Return the factor k for which ``sum(counts * min(1, k * weights))`` is `size`.

    URLs whose probability would exceed 1 are always captured, and the others make up the rest;
    each round finds more of those, so it ends.

    Examples
    --------
    >>> find_capture_scale(np.array([1.0, 9.0]), np.array([80.0, 20.0]), 40.0)
    0.25
    """
    always = np.zeros(weights.size, dtype=np.bool_)
    while True:
        rest = float(counts[~always] @ weights[~always])
        if rest <= 0:
            return float("inf")
        scale = max(0.0, size - float(counts[always].sum())) / rest
        beyond = scale * weights >= 1
        if not np.any(beyond & ~always):
            return scale
        always |= beyond


def _choose_sizes(
    settings: UrnSettings,
    years: NDArray[np.float64],
    populations: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    series = settings.coverage if settings.size is None else settings.size
    values = course_values(series, years, rng)
    coverages = values if settings.size is None else values / populations
    if isinstance(series, Course) and series.noise_sd > 0:
        coverages = np.minimum(coverages, MAX_NOISY_COVERAGE)
    if coverages.max() > 1 or coverages.min() <= 0:
        raise SimulationError(
            f"coverages from {coverages.min():g} to {coverages.max():g}; "
            "every crawl's must be above 0 and at most 1"
        )
    sizes: NDArray[np.int64] = np.rint(coverages * populations).astype(np.int64)
    if sizes.min() < 1:
        raise SimulationError(
            f"a crawl of {coverages.min():.3g} of {populations.min()} URLs holds none; raise the "
            "coverage or the population"
        )
    return sizes


def _make_strata(
    settings: UrnSettings, years: NDArray[np.float64], populations: NDArray[np.int64]
) -> tuple[Stratum, ...]:
    parts = _scope_parts(settings, years.size)
    shares = np.array(
        [[kind.share * share for share, _ in parts] for kind in settings.classes]
    ).ravel()
    in_scope = np.array([inside for _, inside in parts] * len(settings.classes))
    counts = np.zeros((shares.size, years.size), dtype=np.int64)
    for crawl, population in enumerate(populations):
        counts[:, crawl] = _apportion(shares, int(population), in_scope[:, crawl])
    persistences = np.repeat(settings.class_persistences, len(parts))
    weights = np.repeat([kind.weight for kind in settings.classes], len(parts))
    strata = tuple(
        Stratum(
            persistence=float(persistence),
            weight=float(weight),
            populations=populations_of,
            in_scope=inside,
        )
        for persistence, weight, populations_of, inside in zip(
            persistences, weights, counts, in_scope, strict=True
        )
    )
    for stratum in strata:
        _check_turnover(stratum, years)
    return strata


def _scope_parts(settings: UrnSettings, n_crawls: int) -> list[tuple[float, NDArray[np.bool_]]]:
    """Return for each part of the scope its share of the population and when it is in scope."""
    always = np.ones(n_crawls, dtype=np.bool_)
    change = settings.scope_change
    if change is None:
        return [(1.0, always)]
    is_new = np.arange(n_crawls) >= change.index(n_crawls)
    parts = [(change.share_common, always)]
    if change.share_common < 1:
        parts += [(1 - change.share_common, ~is_new), (1 - change.share_common, is_new)]
    return parts


def _apportion(
    shares: NDArray[np.float64], population: int, in_scope: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Split a population by shares into whole numbers; those in scope add up to it exactly."""
    exact = shares * population
    counts: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    n_left = population - int(counts[in_scope].sum())
    inside = np.flatnonzero(in_scope)
    largest = inside[np.argsort(counts[inside] - exact[inside], kind="stable")]
    counts[largest[:n_left]] += 1
    return counts


def _check_turnover(stratum: Stratum, years: NDArray[np.float64]) -> None:
    before, after = stratum.populations[:-1], stratum.populations[1:]
    living = before * stratum.persistence ** np.diff(years)
    for crawl in np.flatnonzero(living > after + 1):
        raise SimulationError(
            f"the population falls from {before[crawl]} to {after[crawl]} URLs between crawls "
            f"{crawl} and {crawl + 1}, but about {living[crawl]:.0f} live on; let it fall more "
            "slowly or lower the persistence"
        )
