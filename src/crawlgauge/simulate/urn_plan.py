"""From settings and a seed to plain numbers: dates, strata, sizes and capture probabilities."""

import datetime as dt
import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from crawlgauge.errors import SimulationError
from crawlgauge.simulate.archive import Bools, CrawlTruth, Floats, Ints, Truth
from crawlgauge.simulate.urn_settings import (
    UrnSettings,
    choose_dates,
    course_values,
    flatten_settings,
    is_noisy,
    label_dates,
    require,
    years_since_first,
)

# ----------------- gamma-distributed capture weights as a few nodes that give the same expectations


_N_GRID = 4000


_Nodes = tuple[Floats, Floats]
"""A discrete distribution: the weights, and their shares, which add up to 1."""


@functools.lru_cache(maxsize=32)
def gamma_grid(cv: float) -> _Nodes:
    """Return the gamma distribution of mean 1 and a coefficient of variation on a fine grid.

    Examples
    --------
    >>> weights, shares = gamma_grid(0.7)
    >>> round(float(shares @ (weights - 1) ** 2), 4)
    0.49
    """
    if cv == 0:
        return np.ones(1), np.ones(1)
    shape = 1 / cv**2
    largest = 1 + 12 * cv + 40 * cv**2
    # The density has a pole at 0 where shape < 1: a power of the grid's variable removes it.
    power = max(1.0, 2 / shape)
    middles = (np.arange(_N_GRID) + 0.5) / _N_GRID * largest ** (1 / power)
    weights = middles**power
    log_density = (power * shape - 1) * np.log(middles) - shape * weights
    shares = np.exp(log_density - log_density.max())
    return weights, shares / shares.sum()


def gauss_nodes(grid: _Nodes, n_nodes: int, breaks: Floats | None = None) -> _Nodes:
    """Put a distribution on few nodes that keep the expectation of polynomials.

    Within each interval between breaks, where the functions to be integrated have a kink,
    expectations of polynomials up to the degree ``2 * n_nodes - 1`` are kept: this is Gauss's
    rule, found by Lanczos's recurrence. Beyond the last break the functions are constant, and one
    node stands for all.

    Examples
    --------
    >>> weights, shares = gauss_nodes(gamma_grid(0.5), 4)
    >>> round(float(shares @ weights**3), 6)
    1.875
    """
    weights, shares = grid
    edges = np.unique([] if breaks is None else breaks)
    interval = np.searchsorted(edges, weights)
    parts = []
    for number in np.unique(interval):
        inside = interval == number
        n_inside = n_nodes if number < max(1, edges.size) else 1
        parts.append(_gauss_rule(weights[inside], shares[inside], n_inside))
    of_weights, of_shares = zip(*parts, strict=True)
    return np.concatenate(of_weights), np.concatenate(of_shares)


def _gauss_rule(weights: Floats, shares: Floats, n_nodes: int) -> _Nodes:
    """Return Gauss's rule for a discrete measure, by Lanczos with full reorthogonalisation."""
    total = shares.sum()
    n_nodes = min(n_nodes, weights.size)
    basis = np.zeros((n_nodes, weights.size))
    diagonal, beside = np.zeros(n_nodes), np.zeros(n_nodes)
    vector = np.sqrt(shares / total)
    for k in range(n_nodes):
        basis[k] = vector
        product = weights * vector
        diagonal[k] = vector @ product
        for _ in range(2):
            product -= basis[: k + 1].T @ (basis[: k + 1] @ product)
        beside[k] = np.linalg.norm(product)
        vector = product / beside[k] if beside[k] > 0 else product
    values, vectors = np.linalg.eigh(
        np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    )
    return np.maximum(values, 0), total * vectors[0] ** 2


# -------------------------------------------------------- from settings and a seed to plain numbers


MAX_NOISY_COVERAGE = 0.97
"""Noise does not raise the coverage of a crawl beyond this."""

_MIN_POPULATION = 2
Stream = Literal["plan", "sets", "counts", "noise"]
_STREAMS: tuple[Stream, ...] = get_args(Stream)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UrnPlan:
    """All that is settled before URLs are born, die and are captured.

    A stratum is the URLs of one class and one part of the scope: an urn by itself, of known size
    at each crawl.

    Parameters
    ----------
    settings, seed
        What the plan was made from.
    dates, labels
        Of the crawls.
    years
        Since the first crawl.
    persistences, weights
        For each stratum the share that lives on for a year, and how readily it is captured.
    counts
        For each stratum (row) and crawl the number of URLs.
    in_scope
        For each stratum and crawl whether the crawl may capture them.
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
    years: Floats
    persistences: tuple[float, ...]
    weights: tuple[float, ...]
    counts: Ints
    in_scope: Bools
    populations: Ints
    sizes: Ints
    host_weights: Floats | None

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return len(self.dates)

    def survival(self, crawl: int) -> Floats:
        """Return for each stratum the share that lives on from the crawl before to this one."""
        years = self.years[crawl] - self.years[crawl - 1]
        return np.array([persistence**years for persistence in self.persistences])

    def capture_scale(self, crawl: int) -> float:
        """Return the factor that turns weights into capture probabilities, where 1 is the most.

        It is found from the distribution of the weights, not from those that were drawn.
        """
        of_grid, shares = gamma_grid(self.settings.capture_cv)
        hosts = np.ones(1) if self.host_weights is None else self.host_weights[crawl]
        inside = self.in_scope[:, crawl]
        by_stratum, n_urls = np.array(self.weights)[inside], self.counts[inside, crawl]
        weights = np.multiply.outer(np.multiply.outer(by_stratum, hosts), of_grid)
        counts = np.multiply.outer(
            np.multiply.outer(n_urls, np.full(hosts.size, 1 / hosts.size)), shares
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
    require(
        populations.min() >= _MIN_POPULATION,
        f"a population of {populations.min()} URLs; at least two are needed",
    )
    persistences, weights, counts, in_scope = _make_strata(settings, years, populations)
    hosts = settings.host_noise
    return UrnPlan(
        settings=settings,
        seed=seed,
        dates=dates,
        labels=label_dates(dates),
        years=years,
        persistences=persistences,
        weights=weights,
        counts=counts,
        in_scope=in_scope,
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
    require(seed >= 0, f"the seed {seed} is negative; use 0 or a positive number")
    return np.random.default_rng([seed, _STREAMS.index(stream)])


def make_truth(plan: UrnPlan, n_urls: Iterable[int], populations: Iterable[int]) -> Truth:
    """Put together what is true of an archive.

    Parameters
    ----------
    plan
        What it was drawn from.
    n_urls, populations
        Size and population of each crawl.
    """
    persistences = set(plan.persistences)
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
        persistence=persistences.pop() if len(persistences) == 1 else None,
        settings=flatten_settings(plan.settings),
    )


def find_capture_scale(weights: Floats, counts: Floats, size: float) -> float:
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
    settings: UrnSettings, years: Floats, populations: Ints, rng: np.random.Generator
) -> Ints:
    series = settings.coverage if settings.size is None else settings.size
    values = course_values(series, years, rng)
    coverages = values if settings.size is None else values / populations
    if is_noisy(series):
        coverages = np.minimum(coverages, MAX_NOISY_COVERAGE)
    require(
        not (coverages.max() > 1 or coverages.min() <= 0),
        f"coverages from {coverages.min():g} to {coverages.max():g}; "
        "every crawl's must be above 0 and at most 1",
    )
    sizes: Ints = np.rint(coverages * populations).astype(np.int64)
    require(
        sizes.min() >= 1,
        f"a crawl of {coverages.min():.3g} of {populations.min()} URLs holds none; raise the "
        "coverage or the population",
    )
    return sizes


def _make_strata(
    settings: UrnSettings, years: Floats, populations: Ints
) -> tuple[tuple[float, ...], tuple[float, ...], Ints, Bools]:
    """Return the strata: persistences, weights, counts, and when they are in scope."""
    always = np.ones(years.size, dtype=np.bool_)
    # Of each part of the scope its share of the population, and when it is in scope.
    parts = [(1.0, always)]
    if (change := settings.scope_change) is not None:
        is_new, rest = np.arange(years.size) >= change.index(years.size), 1 - change.share_common
        parts = [(change.share_common, always)]
        parts += [(rest, ~is_new), (rest, is_new)] if rest else []
    shares = np.array(
        [[kind.share * share for share, _ in parts] for kind in settings.classes]
    ).ravel()
    in_scope = np.array([inside for _, inside in parts] * len(settings.classes))
    counts = np.zeros((shares.size, years.size), dtype=np.int64)
    for crawl, population in enumerate(populations):
        counts[:, crawl] = _apportion(shares, int(population), in_scope[:, crawl])
    persistences = tuple(share for share in settings.class_persistences for _ in parts)
    weights = tuple(kind.weight for kind in settings.classes for _ in parts)
    for persistence, of_stratum in zip(persistences, counts, strict=True):
        before, after = of_stratum[:-1], of_stratum[1:]
        living = before * persistence ** np.diff(years)
        for k in np.flatnonzero(living > after + 1):
            raise SimulationError(
                f"the population falls from {before[k]} to {after[k]} URLs between crawls "
                f"{k} and {k + 1}, but about {living[k]:.0f} live on; let it fall more "
                "slowly or lower the persistence"
            )
    return persistences, weights, counts, in_scope


def _apportion(shares: Floats, population: int, in_scope: Bools) -> Ints:
    """Split a population by shares into whole numbers; those in scope add up to it exactly."""
    exact = shares * population
    counts: Ints = np.floor(exact).astype(np.int64)
    n_left = population - int(counts[in_scope].sum())
    inside = np.flatnonzero(in_scope)
    largest = inside[np.argsort(counts[inside] - exact[inside], kind="stable")]
    counts[largest[:n_left]] += 1
    return counts


# ---- the kinds of URLs that a plan tells apart, each with its probability of capture at each crawl


_MAX_NODES = 24


class UrlTypes(NamedTuple):
    """Kinds of URLs: a stratum each, and within it a weight and a host.

    Parameters
    ----------
    stratum
        Number of the stratum of each type.
    share
        Share of the type among the newborn URLs of its stratum.
    weight
        For each type and crawl, how readily it is captured.
    capture
        For each type and crawl, the probability of capture, where that depends on nothing else;
        0 where the type is out of scope.
    """

    stratum: Ints
    share: Floats
    weight: Floats
    capture: Floats


def list_types(plan: UrnPlan, *, degree: int) -> UrlTypes:
    """List the types of a plan; gamma-distributed weights are put on a few nodes.

    Parameters
    ----------
    plan
        The plan.
    degree
        Of how many crawls at once the capture must be right in expectation.
    """
    settings, n_crawls = plan.settings, plan.n_crawls
    scale = np.ones(n_crawls)
    # What a crawl with a memory captures depends on the others, and is found as it takes place.
    if not (settings.is_even or settings.has_memory):
        # An endless scale captures all; a large one does so too, and can be multiplied.
        scale[:] = [min(plan.capture_scale(crawl), 1e300) for crawl in range(n_crawls)]
    hosts = np.ones((n_crawls, 1)) if plan.host_weights is None else plan.host_weights
    grid = gamma_grid(settings.capture_cv)
    parts = []
    for number, of_stratum in enumerate(plan.weights):
        if settings.has_memory or plan.host_weights is not None:
            weights, shares = gauss_nodes(grid, _MAX_NODES)
        else:
            # Beyond these weights the probability is 1.
            breaks = 1 / (of_stratum * scale)
            weights, shares = gauss_nodes(grid, min(degree // 2 + 1, _MAX_NODES), breaks)
        weight = (of_stratum * np.multiply.outer(weights, hosts.T)).reshape(-1, n_crawls)
        share = np.repeat(shares / hosts.shape[1], hosts.shape[1])
        if settings.is_even:
            capture = np.tile(plan.sizes / plan.populations, (share.size, 1))
        else:
            capture = np.minimum(1, scale * weight)
        parts.append((np.full(share.size, number), share, weight, capture * plan.in_scope[number]))
    return UrlTypes(*(np.concatenate(column) for column in zip(*parts, strict=True)))
