"""What a simulated urn is told: its population, its crawls, and how they depart from the urn."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.errors import SimulationError

__all__ = [
    "Avoidance",
    "Course",
    "DatePlan",
    "HostNoise",
    "ScopeChange",
    "Series",
    "TableNoise",
    "UrlClass",
    "UrnSettings",
    "change_length",
    "change_settings",
    "choose_dates",
    "course_values",
    "first_value",
    "label_dates",
    "years_since_first",
]


# --------------------------------------------------------------------- A number that each crawl has


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A number that changes from crawl to crawl.

    Parameters
    ----------
    first
        Its value at the first crawl, before noise.
    growth_per_year
        What it grows by in a year: 0.2 for a fifth more, -0.2 for a fifth less.
    noise_sd
        Standard deviation of its logarithm around that course, drawn anew for each crawl.
    jump
        Factor by which it is larger from the middle of the series on.
    """

    first: float
    growth_per_year: float = 0.0
    noise_sd: float = 0.0
    jump: float = 1.0

    def __post_init__(self) -> None:
        if not self.growth_per_year > -1:
            raise SimulationError(
                f"a growth of {self.growth_per_year} a year; it must be above -1, "
                "which is a loss of all"
            )
        if not self.noise_sd >= 0:
            raise SimulationError(f"a noise of {self.noise_sd}; it cannot be negative")
        if not self.jump > 0:
            raise SimulationError(f"a jump by the factor {self.jump}; it must be above 0")


Series = float | Course | tuple[float, ...]
"""One number for all crawls, a course, or a number for each crawl."""


def course_values(
    series: Series, years: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the value of a series at each crawl.

    Parameters
    ----------
    series
        A number, a course, or a number for each crawl.
    years
        When the crawls take place.
    rng
        Used for noise only.

    Raises
    ------
    SimulationError
        If there is not one number for each crawl.
    """
    if isinstance(series, Course):
        values = series.first * (1 + series.growth_per_year) ** years
        values[years.size // 2 :] *= series.jump
        if series.noise_sd > 0:
            values = values * np.exp(series.noise_sd * rng.standard_normal(years.size))
        return values
    if isinstance(series, Sequence):
        if len(series) != years.size:
            raise SimulationError(
                f"{len(series)} numbers were given for {years.size} crawls; give one for each"
            )
        return np.array(series, dtype=np.float64)
    return np.full(years.size, float(series))


def first_value(series: Series) -> float:
    """Return the value of a series at the first crawl, before noise."""
    if isinstance(series, Course):
        return series.first
    return float(series[0]) if isinstance(series, Sequence) else float(series)


# ----------------------------------------------------------------- when simulated crawls take place


_MONTHS_PER_YEAR = 12
_LAST_DAY_OF_EVERY_MONTH = 28
_MIN_DAYS_BETWEEN = 14
_DAY_OF_A_MONTH_LABEL = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class DatePlan:
    """Crawls at equal distances, or at random dates between the first and the last of those.

    Parameters
    ----------
    n_crawls
        Number of crawls.
    first
        Date of the first.
    months_between
        Months from one crawl to the next; the mean of them where dates are irregular.
    irregular
        Whether all but the first and the last date are drawn at random, at least two weeks apart.
    """

    n_crawls: int = 15
    first: dt.date = dt.date(2013, 12, 15)
    months_between: int = 6
    irregular: bool = False

    def __post_init__(self) -> None:
        if self.n_crawls < 1:
            raise SimulationError(f"{self.n_crawls} crawls; an archive needs at least one")
        if self.months_between < 1:
            raise SimulationError(
                f"{self.months_between} months between crawls; at least one is needed. "
                "Give the dates themselves for crawls that are closer together"
            )
        if self.first.day > _LAST_DAY_OF_EVERY_MONTH:
            raise SimulationError(
                f"a series cannot begin on {self.first}: not every month has that day"
            )

    def regular_dates(self) -> tuple[dt.date, ...]:
        """Return the dates at equal distances."""
        return tuple(
            _add_months(self.first, self.months_between * number) for number in range(self.n_crawls)
        )


def choose_dates(
    plan: DatePlan | tuple[dt.date, ...], rng: np.random.Generator
) -> tuple[dt.date, ...]:
    """Return the dates of a plan, or those that were given.

    Parameters
    ----------
    plan
        The plan, or the dates themselves in rising order.
    rng
        Used for irregular dates only.
    """
    if not isinstance(plan, DatePlan):
        return plan
    dates = plan.regular_dates()
    n_inner = plan.n_crawls - 2
    if not plan.irregular or n_inner < 1:
        return dates
    n_free = (dates[-1] - dates[0]).days - _MIN_DAYS_BETWEEN * (plan.n_crawls - 1)
    inner = np.sort(rng.integers(0, n_free + 1, n_inner)) + _MIN_DAYS_BETWEEN * np.arange(
        1, n_inner + 1
    )
    return (dates[0], *(dates[0] + dt.timedelta(days=int(day)) for day in inner), dates[-1])


def change_length(
    plan: DatePlan | tuple[dt.date, ...], n_crawls: int
) -> DatePlan | tuple[dt.date, ...]:
    """Return a plan for another number of crawls, or the first of the given dates.

    Parameters
    ----------
    plan
        The plan, or the dates themselves.
    n_crawls
        Number of crawls.

    Raises
    ------
    SimulationError
        If fewer dates were given.
    """
    if isinstance(plan, DatePlan):
        return replace(plan, n_crawls=n_crawls)
    if n_crawls > len(plan):
        raise SimulationError(f"{n_crawls} crawls, but only {len(plan)} dates were given")
    return plan[:n_crawls]


def label_dates(dates: tuple[dt.date, ...]) -> tuple[str, ...]:
    """Return a distinct label for each date, from which the date can be read.

    Examples
    --------
    >>> label_dates((dt.date(2013, 12, 15), dt.date(2014, 6, 15)))
    ('2013-12', '2014-06')
    >>> label_dates((dt.date(2013, 12, 1), dt.date(2013, 12, 1)))
    ('2013-12-01', '2013-12-01-2')
    """
    months = {(date.year, date.month) for date in dates}
    by_month = len(months) == len(dates) and all(
        date.day == _DAY_OF_A_MONTH_LABEL for date in dates
    )
    labels = []
    for number, date in enumerate(dates):
        n_before = dates[:number].count(date)
        day = f"{date.isoformat()}-{n_before + 1}" if n_before else date.isoformat()
        labels.append(f"{date:%Y-%m}" if by_month else day)
    return tuple(labels)


def years_since_first(dates: tuple[dt.date, ...]) -> NDArray[np.float64]:
    """Return for each date the years since the first."""
    return np.array([(date - dates[0]).days / DAYS_PER_YEAR for date in dates])


def _add_months(date: dt.date, months: int) -> dt.date:
    years, month = divmod(date.month - 1 + months, _MONTHS_PER_YEAR)
    return date.replace(year=date.year + years, month=month + 1)


# --------------------------------------------------------------------- what a simulated urn is told


_HALF_YEARLY = DatePlan()


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlClass:
    """URLs that are alike in how long they live and how readily they are captured.

    Parameters
    ----------
    share
        Share of the population at any time; the shares of all classes add up to 1.
    persistence
        Share of them that lives on for a year; None for the urn's own.
    weight
        How readily they are captured, in relation to other classes.
    """

    share: float = 1.0
    persistence: float | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise SimulationError(f"a class with the share {self.share}; above 0 and at most 1")
        if self.persistence is not None:
            _check_persistence(self.persistence)
        if not 0 < self.weight < float("inf"):
            raise SimulationError(f"a class with the weight {self.weight}; it must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Avoidance:
    """A policy of not visiting again what was captured lately.

    Parameters
    ----------
    n_crawls
        How many of the last crawls are looked at.
    probability
        With which a URL that one of them holds is passed over, unless too few others are left.
    """

    n_crawls: int = 1
    probability: float = 1.0

    def __post_init__(self) -> None:
        if self.n_crawls < 1:
            raise SimulationError(f"avoidance of the last {self.n_crawls} crawls; at least one")
        _check_share("the probability of avoidance", self.probability)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeChange:
    """A change of the crawl's configuration, after which other URLs are in scope.

    Parameters
    ----------
    share_common
        Share of the URLs within the old scope that the new one contains; both are equally large.
    from_crawl
        First crawl with the new scope, counted from 0; None for the middle of the series.
    """

    share_common: float
    from_crawl: int | None = None

    def __post_init__(self) -> None:
        _check_share("the share that two scopes have in common", self.share_common)

    def index(self, n_crawls: int) -> int:
        """Return the first crawl with the new scope.

        Parameters
        ----------
        n_crawls
            Number of crawls.

        Raises
        ------
        SimulationError
            If there is no crawl before or none after the change.
        """
        index = n_crawls // 2 if self.from_crawl is None else self.from_crawl
        if not 0 < index < n_crawls:
            raise SimulationError(
                f"the scope cannot change from crawl {index} on: with {n_crawls} crawls, counted "
                f"from 0, it must be one of 1 to {n_crawls - 1}"
            )
        return index


@dataclass(frozen=True, slots=True, kw_only=True)
class HostNoise:
    """A passing preference for some hosts: each crawl weights every host anew.

    Parameters
    ----------
    n_hosts
        Number of hosts, all about equally large.
    sd
        Standard deviation of the logarithm of a host's weight.
    """

    n_hosts: int
    sd: float

    def __post_init__(self) -> None:
        if self.n_hosts < 2 or not self.sd > 0:  # noqa: PLR2004 - of one host no part is preferred
            raise SimulationError("host noise needs at least two hosts and an sd above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableNoise:
    """Noise of the overlaps themselves, which sets of URLs cannot have; all as sd of logarithms.

    Parameters
    ----------
    column_sd
        Of each crawl's coverage at its given size: its population differs by as much.
    row_sd
        Of each crawl's quality as a marker: how many of its URLs can be seen again at all.
    pair_sd
        Of each pair's overlap.
    """

    column_sd: float = 0.0
    row_sd: float = 0.0
    pair_sd: float = 0.0

    def __post_init__(self) -> None:
        if not (self.column_sd >= 0 and self.row_sd >= 0 and self.pair_sd >= 0):
            raise SimulationError("the standard deviations of noise cannot be negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrnSettings:
    """A population of URLs that turns over, and the crawls that draw from it.

    As it stands this is the paper's urn: 15 half-yearly crawls that draw at random, each 46 % of a
    population of which 73 % live on for a year.

    Parameters
    ----------
    scenario
        Name of it all.
    dates
        When the crawls take place: a plan, or the dates in rising order.
    population
        URLs that each crawl could reach.
    coverage
        Share of them that it captures; where capture is uneven, the share that it is expected to.
    size
        URLs that it captures, in place of the coverage.
    persistence
        Share of the population that lives on for a year.
    classes
        Kinds of URLs; each kind turns over by itself and keeps its share of the population.
    capture_cv
        Coefficient of variation of a gamma-distributed weight that each URL has for good, within
        its class; 0 for none.
    avoidance
        A policy of not visiting again.
    reseeded_share
        Share of each crawl that is taken from the crawl before.
    scope_change
        A change of configuration.
    host_noise
        A passing preference for hosts.
    table_noise
        Noise of the overlaps themselves.
    n_hosts
        Hosts that the URLs are spread over, by name.

    Raises
    ------
    SimulationError
        If a setting is impossible or contradicts another.
    """

    scenario: str = "urn"
    dates: DatePlan | tuple[dt.date, ...] = _HALF_YEARLY
    population: Series = 200_000
    coverage: Series = 0.46
    size: Series | None = None
    persistence: float = 0.73
    classes: tuple[UrlClass, ...] = (UrlClass(),)
    capture_cv: float = 0.0
    avoidance: Avoidance | None = None
    reseeded_share: float = 0.0
    scope_change: ScopeChange | None = None
    host_noise: HostNoise | None = None
    table_noise: TableNoise | None = None
    n_hosts: int = 150

    def __post_init__(self) -> None:
        _check_persistence(self.persistence)
        _check_dates(self.dates)
        _check_classes(self.classes)
        if not self.capture_cv >= 0:
            raise SimulationError(f"a capture CV of {self.capture_cv}; it cannot be negative")
        if not 0 <= self.reseeded_share < 1:
            raise SimulationError(
                f"a re-seeded share of {self.reseeded_share}; it must be at least 0 and below 1"
            )
        if self.avoidance is not None and self.reseeded_share > 0:
            raise SimulationError(
                "avoidance and re-seeding contradict each other; choose one of them"
            )
        if isinstance(self.population, Course) and self.population.noise_sd > 0:
            raise SimulationError(
                "a population cannot jump at random, as its URLs live on from crawl to crawl; "
                "use noise of the coverage, or the column noise of tables"
            )
        if self.n_hosts < 1:
            raise SimulationError(f"{self.n_hosts} hosts; at least one is needed")
        if self.scope_change is not None:
            self.scope_change.index(self.n_crawls)

    @property
    def n_crawls(self) -> int:
        """Number of crawls."""
        return self.dates.n_crawls if isinstance(self.dates, DatePlan) else len(self.dates)

    @property
    def is_even(self) -> bool:
        """Whether every crawl captures each URL as readily as any other, all else being equal."""
        weights = {kind.weight for kind in self.classes}
        return len(weights) == 1 and self.capture_cv == 0 and self.host_noise is None

    @property
    def has_memory(self) -> bool:
        """Whether a crawl depends on what earlier ones captured."""
        return self.avoidance is not None or self.reseeded_share > 0

    @property
    def is_same_for_all_seeds(self) -> bool:
        """Whether dates, sizes and weights are settled before anything is drawn."""
        has_noise = any(
            isinstance(series, Course) and series.noise_sd > 0
            for series in (self.coverage, self.size)
        )
        is_irregular = isinstance(self.dates, DatePlan) and self.dates.irregular
        return not has_noise and not is_irregular and self.host_noise is None

    @property
    def class_persistences(self) -> tuple[float, ...]:
        """Share of each class that lives on for a year."""
        return tuple(
            self.persistence if kind.persistence is None else kind.persistence
            for kind in self.classes
        )

    @property
    def common_persistence(self) -> float | None:
        """Persistence of all URLs, or None where classes differ in it."""
        found = set(self.class_persistences)
        return found.pop() if len(found) == 1 else None


def change_settings(
    settings: UrnSettings,
    *,
    n_crawls: int | None = None,
    population: int | None = None,
    coverage: float | None = None,
    persistence: float | None = None,
) -> UrnSettings:
    """Return settings with some of their main numbers changed, and all else as it was.

    Parameters
    ----------
    settings
        What to start from.
    n_crawls
        Number of crawls, from the same first date on.
    population, coverage
        At the first crawl; a course keeps its growth and noise.
    persistence
        Of the URLs whose class has none of its own.

    Raises
    ------
    SimulationError
        If the settings leave no room for such a change.
    """
    if n_crawls is not None:
        settings = replace(settings, dates=change_length(settings.dates, n_crawls))
    if population is not None:
        settings = replace(settings, population=_change_first(settings.population, population))
    if coverage is not None:
        settings = replace(settings, coverage=_change_first(settings.coverage, coverage), size=None)
    if persistence is not None:
        if all(kind.persistence is not None for kind in settings.classes):
            raise SimulationError(
                f"in the scenario {settings.scenario} every class of URLs has a persistence of its "
                "own; it cannot be given another"
            )
        settings = replace(settings, persistence=persistence)
    return settings


def _change_first(series: Series, value: float) -> Series:
    if isinstance(series, Course):
        return replace(series, first=value)
    if isinstance(series, tuple):
        factor = value / first_value(series)
        return tuple(number * factor for number in series)
    return value


def _check_share(name: str, share: float) -> None:
    if not 0 < share <= 1:
        raise SimulationError(f"{name} is {share}; it must be above 0 and at most 1")


def _check_persistence(persistence: float) -> None:
    _check_share("persistence", persistence)


def _check_dates(dates: DatePlan | tuple[dt.date, ...]) -> None:
    if isinstance(dates, tuple):
        if not dates:
            raise SimulationError("no dates were given; an archive needs at least one crawl")
        if list(dates) != sorted(dates):
            raise SimulationError("the dates of crawls must be given in rising order")


def _check_classes(classes: tuple[UrlClass, ...]) -> None:
    total = sum(kind.share for kind in classes)
    if not abs(total - 1) < 1e-9:  # noqa: PLR2004 - what adding up shares may lose
        raise SimulationError(f"the shares of the classes add up to {total:g}, not to 1")
