"""From settings and a seed to plain numbers: dates, strata, sizes and capture probabilities."""

import dataclasses
import datetime as dt
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SimulationError
from crawlgauge.provenance import Setting
from crawlgauge.simulate.archive import CrawlTruth, Truth
from crawlgauge.simulate.urn_settings import (
    Course,
    DatePlan,
    Series,
    UrnSettings,
    choose_dates,
    course_values,
    label_dates,
    years_since_first,
)

__all__ = [
    "MAX_NOISY_COVERAGE",
    "Stratum",
    "UrlTypes",
    "UrnPlan",
    "describe",
    "find_capture_scale",
    "flatten_settings",
    "gamma_grid",
    "gauss_nodes",
    "list_types",
    "make_plan",
    "make_random",
    "make_truth",
]


# ---------------------------------------- A scenario in plain words, and its settings as plain data


_MONTHS_IN_WORDS = {1: "a month", 6: "half a year", 12: "a year"}


def describe(settings: UrnSettings) -> str:
    """Tell in plain words what is simulated, a sentence a line.

    Parameters
    ----------
    settings
        What to tell of.

    Examples
    --------
    >>> print(describe(UrnSettings(scenario="pure")))
    pure: 15 crawls, half a year apart, from 2013-12-15 on.
    At any time a crawl could reach 200,000 URLs.
    73 % of them live on for a year; new ones take the places of the others.
    Each crawl captures 46 % of them, chosen at random.
    """
    return "\n".join(_sentences(settings))


def flatten_settings(settings: UrnSettings) -> dict[str, Setting]:
    """Return settings by name, those within others with a dot; what is at rest is left out.

    Parameters
    ----------
    settings
        What to flatten.

    Examples
    --------
    >>> flat = flatten_settings(UrnSettings())
    >>> flat["dates.n_crawls"], flat["coverage"], "avoidance" in flat
    (15, 0.46, False)
    """
    return dict(_flatten("", settings))


def _flatten(name: str, value: object) -> Iterator[tuple[str, Setting]]:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if not (name == "" and field.name == "scenario"):
                yield from _flatten(f"{name}.{field.name}".lstrip("."), getattr(value, field.name))
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            yield from _flatten(f"{name}.{number}", part)
    elif isinstance(value, dt.date):
        yield name, value.isoformat()
    elif isinstance(value, str | int | float):
        yield name, value


def _sentences(settings: UrnSettings) -> Iterator[str]:
    yield f"{settings.scenario}: {_tell_dates(settings)}."
    yield from _tell_population(settings)
    yield from _tell_capture(settings)
    yield from _tell_departures(settings)


def _tell_dates(settings: UrnSettings) -> str:
    dates = settings.dates
    if not isinstance(dates, DatePlan):
        return f"{len(dates)} crawls at given dates from {dates[0]} to {dates[-1]}"
    months = _MONTHS_IN_WORDS.get(dates.months_between, f"{dates.months_between} months")
    if dates.irregular:
        last = dates.regular_dates()[-1]
        return f"{dates.n_crawls} crawls at irregular dates between {dates.first} and {last}"
    return f"{dates.n_crawls} crawls, {months} apart, from {dates.first} on"


def _tell_population(settings: UrnSettings) -> Iterator[str]:
    population = settings.population
    if isinstance(population, Course):
        yield (
            f"The first crawl could reach {population.first:,.0f} URLs{_tell_course(population)}."
        )
    elif isinstance(population, tuple):
        yield (
            f"Crawls could reach from {min(population):,.0f} to {max(population):,.0f} URLs, as "
            "given."
        )
    else:
        yield f"At any time a crawl could reach {population:,.0f} URLs."
    if len(settings.classes) == 1:
        persistence = settings.class_persistences[0]
        yield (
            f"{_percent(persistence)} of them live on for a year; new ones take the places of the "
            "others."
        )
        return
    for kind, persistence in zip(settings.classes, settings.class_persistences, strict=True):
        weight = "" if settings.is_even else f" and are captured with the weight {kind.weight:g}"
        yield (
            f"{_percent(kind.share)} of them are of a kind of which {_percent(persistence)} live "
            f"on for a year{weight}."
        )


def _tell_capture(settings: UrnSettings) -> Iterator[str]:
    if settings.size is not None:
        size = settings.size
        if isinstance(size, Course):
            yield f"{_which(size)} captures {size.first:,.0f} of them{_tell_course(size)}."
        elif isinstance(size, tuple):
            yield f"Crawls capture from {min(size):,.0f} to {max(size):,.0f} of them, as given."
        else:
            yield f"Each crawl captures {size:,.0f} of them."
    else:
        yield _tell_coverage(settings, settings.coverage)
    if settings.capture_cv > 0:
        yield (
            "Some URLs are captured more readily than others, in every crawl: their weights are "
            f"gamma-distributed with a coefficient of variation of {settings.capture_cv:g}."
        )


def _tell_coverage(settings: UrnSettings, coverage: Series) -> str:
    how = ", chosen at random" if settings.is_even and not settings.has_memory else ""
    if isinstance(coverage, Course):
        return (
            f"{_which(coverage)} captures {_percent(coverage.first)} of them{how}"
            f"{_tell_course(coverage)}."
        )
    if isinstance(coverage, tuple):
        return (
            f"Crawls capture from {_percent(min(coverage))} to {_percent(max(coverage))} of "
            f"them{how}, as given."
        )
    return f"Each crawl captures {_percent(coverage)} of them{how}."


def _tell_departures(settings: UrnSettings) -> Iterator[str]:
    if (avoidance := settings.avoidance) is not None:
        last = "crawl" if avoidance.n_crawls == 1 else f"{avoidance.n_crawls} crawls"
        yield (
            f"A crawl passes over {_percent(avoidance.probability)} of the URLs that the last "
            f"{last} captured, as long as others are left."
        )
    if settings.reseeded_share > 0:
        yield (
            f"{_percent(settings.reseeded_share)} of each crawl are URLs taken over from the crawl "
            "before."
        )
    if (change := settings.scope_change) is not None:
        yield (
            f"From crawl {change.index(settings.n_crawls) + 1} on the configuration is another: "
            f"{_percent(change.share_common)} of the old scope are within the new one, which is "
            "as large."
        )
    if (hosts := settings.host_noise) is not None:
        yield (
            f"Each crawl prefers other hosts: it weights each of {hosts.n_hosts} hosts at random, "
            f"with a log-normal factor of sd {hosts.sd:g}."
        )
    if (noise := settings.table_noise) is not None:
        yield (
            "The overlaps themselves have log-normal noise: of each crawl's coverage "
            f"(sd {noise.column_sd:g}), of each crawl's quality as a marker (sd {noise.row_sd:g}) "
            f"and of each pair (sd {noise.pair_sd:g})."
        )


def _which(course: Course) -> str:
    is_level = course.growth_per_year == 0 and course.jump == 1
    return "A typical crawl" if is_level else "The first crawl"


def _tell_course(course: Course) -> str:
    words = []
    if course.growth_per_year > 0:
        words.append(f", {_percent(course.growth_per_year)} more each year")
    elif course.growth_per_year < 0:
        words.append(f", {_percent(-course.growth_per_year)} less each year")
    if course.jump != 1:
        words.append(f", {course.jump:g} times that from the middle of the series on")
    if course.noise_sd > 0:
        words.append(f", with log-normal noise of sd {course.noise_sd:g} from crawl to crawl")
    return "".join(words)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


# ----------------- gamma-distributed capture weights as a few nodes that give the same expectations


_N_GRID = 4000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """A discrete distribution of weights.

    Parameters
    ----------
    weights
        The values.
    shares
        Their probabilities, which add up to 1.
    """

    weights: NDArray[np.float64]
    shares: NDArray[np.float64]

    def __post_init__(self) -> None:
        self.weights.flags.writeable = False
        self.shares.flags.writeable = False


@functools.lru_cache(maxsize=32)
def gamma_grid(cv: float) -> Nodes:
    """Return the gamma distribution of mean 1 on a fine grid.

    Parameters
    ----------
    cv
        Its coefficient of variation; 0 gives the one weight 1.

    Examples
    --------
    >>> grid = gamma_grid(0.7)
    >>> round(float(grid.shares @ (grid.weights - 1) ** 2), 4)
    0.49
    """
    if cv == 0:
        return Nodes(weights=np.ones(1), shares=np.ones(1))
    shape = 1 / cv**2
    largest = 1 + 12 * cv + 40 * cv**2
    # The density has a pole at 0 where shape < 1: a power of the grid's variable removes it.
    power = max(1.0, 2 / shape)
    middles = (np.arange(_N_GRID) + 0.5) / _N_GRID * largest ** (1 / power)
    weights = middles**power
    log_density = (power * shape - 1) * np.log(middles) - shape * weights
    shares = np.exp(log_density - log_density.max())
    return Nodes(weights=weights, shares=shares / shares.sum())


def gauss_nodes(grid: Nodes, n_nodes: int, breaks: NDArray[np.float64] | None = None) -> Nodes:
    """Put a distribution on few nodes that keep the expectation of polynomials.

    Within each interval between breaks, expectations of polynomials up to the degree
    ``2 * n_nodes - 1`` are kept: this is Gauss's rule, found by Lanczos's recurrence. Beyond the
    last break one node stands for all.

    Parameters
    ----------
    grid
        The distribution.
    n_nodes
        Nodes in each interval.
    breaks
        Weights at which the functions to be integrated have a kink; they are constant beyond the
        last.

    Examples
    --------
    >>> nodes = gauss_nodes(gamma_grid(0.5), 4)
    >>> round(float(nodes.shares @ nodes.weights**3), 6)
    1.875
    """
    if breaks is None or breaks.size == 0:
        return _gauss_rule(grid, n_nodes)
    edges = np.unique(breaks)
    interval = np.searchsorted(edges, grid.weights)
    parts = []
    for number in range(edges.size + 1):
        inside = interval == number
        if inside.any():
            part = Nodes(weights=grid.weights[inside], shares=grid.shares[inside])
            parts.append(_gauss_rule(part, n_nodes if number < edges.size else 1))
    return Nodes(
        weights=np.concatenate([part.weights for part in parts]),
        shares=np.concatenate([part.shares for part in parts]),
    )


def _gauss_rule(grid: Nodes, n_nodes: int) -> Nodes:
    """Return Gauss's rule for a discrete measure, by Lanczos with full reorthogonalisation."""
    total = grid.shares.sum()
    n_nodes = min(n_nodes, grid.weights.size)
    basis = np.zeros((n_nodes, grid.weights.size))
    diagonal, beside = np.zeros(n_nodes), np.zeros(n_nodes)
    vector = np.sqrt(grid.shares / total)
    for k in range(n_nodes):
        basis[k] = vector
        product = grid.weights * vector
        diagonal[k] = vector @ product
        for _ in range(2):
            product -= basis[: k + 1].T @ (basis[: k + 1] @ product)
        beside[k] = np.linalg.norm(product)
        vector = product / beside[k] if beside[k] > 0 else product
    values, vectors = np.linalg.eigh(
        np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    )
    return Nodes(weights=np.maximum(values, 0), shares=total * vectors[0] ** 2)


# -------------------------------------------------------- from settings and a seed to plain numbers


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


# ---- the kinds of URLs that a plan tells apart, each with its probability of capture at each crawl


_MAX_NODES = 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UrlTypes:
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

    stratum: NDArray[np.int64]
    share: NDArray[np.float64]
    weight: NDArray[np.float64]
    capture: NDArray[np.float64]

    @property
    def n_types(self) -> int:
        """Number of types."""
        return self.stratum.size


def list_types(plan: UrnPlan, *, degree: int) -> UrlTypes:
    """List the types of a plan; gamma-distributed weights are put on a few nodes.

    Parameters
    ----------
    plan
        The plan.
    degree
        Of how many crawls at once the capture must be right in expectation.
    """
    scale = np.array([_scale_of(plan, crawl) for crawl in range(plan.n_crawls)])
    hosts = np.ones((plan.n_crawls, 1)) if plan.host_weights is None else plan.host_weights
    parts = []
    for number, stratum in enumerate(plan.strata):
        nodes = _find_nodes(plan, stratum.weight * scale[:, None] * hosts, degree)
        weight = stratum.weight * np.multiply.outer(nodes.weights, hosts.T)
        share = np.repeat(nodes.shares / hosts.shape[1], hosts.shape[1])
        weight = weight.reshape(-1, plan.n_crawls)
        if plan.settings.is_even:
            capture = np.tile(plan.sizes / plan.populations, (share.size, 1))
        else:
            capture = np.minimum(1, scale * weight)
        parts.append((np.full(share.size, number), share, weight, capture * stratum.in_scope))
    stratum_of, share_of, weight_of, capture_of = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return UrlTypes(stratum=stratum_of, share=share_of, weight=weight_of, capture=capture_of)


def _scale_of(plan: UrnPlan, crawl: int) -> float:
    # What a crawl with a memory captures depends on the others, and is found as it takes place.
    if plan.settings.is_even or plan.settings.has_memory:
        return 1.0
    # An endless scale captures all; a large one does so too, and can be multiplied.
    return min(plan.capture_scale(crawl), 1e300)


def _find_nodes(plan: UrnPlan, factors: NDArray[np.float64], degree: int) -> Nodes:
    grid = gamma_grid(plan.settings.capture_cv)
    n_nodes = min(degree // 2 + 1, _MAX_NODES)
    if plan.settings.has_memory or plan.host_weights is not None:
        return gauss_nodes(grid, _MAX_NODES)
    # Beyond these weights the probability is 1.
    return gauss_nodes(grid, n_nodes, 1 / factors.ravel())
