"""What a simulated urn is told: its population, its crawls, and how they depart from the urn."""

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.errors import SimulationError
from crawlgauge.provenance import Setting
from crawlgauge.simulate.archive import Floats


def require(is_possible: bool, message: str) -> None:
    """Refuse settings that are not possible, with a message.

    Parameters
    ----------
    is_possible
        What must be true of them.
    message
        What is wrong if it is not.

    Raises
    ------
    SimulationError
        Of that message.
    """
    if not is_possible:
        raise SimulationError(message)


def require_within(settings: object, **intervals: str) -> None:
    """Refuse settings that lie outside their intervals; None lies in all.

    Parameters
    ----------
    settings
        Whose attributes they are.
    **intervals
        By the attributes' names: ``(0, 1]`` is above 0 and at most 1.

    Raises
    ------
    SimulationError
        If one of them does.
    """
    for name, interval in intervals.items():
        value, (low, high) = getattr(settings, name), map(float, interval[1:-1].split(","))
        if value is None:
            continue
        is_above = value > low if interval[0] == "(" else value >= low
        is_below = value < high if interval[-1] == ")" else value <= high
        words = f"{'above' if interval[0] == '(' else 'at least'} {low:g}"
        if value == high == float("inf"):
            words += " and finite"
        elif high < float("inf"):
            words += f" and {'below' if interval[-1] == ')' else 'at most'} {high:g}"
        require(is_above and is_below, f"{name} is {value}; it must be {words}")


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
        require_within(self, growth_per_year="(-1, inf)", noise_sd="[0, inf)", jump="(0, inf)")


Series = float | Course | tuple[float, ...]
"""One number for all crawls, a course, or a number for each crawl."""


def course_values(series: Series, years: Floats, rng: np.random.Generator) -> Floats:
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
        require(
            len(series) == years.size,
            f"{len(series)} numbers were given for {years.size} crawls; give one for each",
        )
        return np.array(series, dtype=np.float64)
    return np.full(years.size, float(series))


# ----------------------------------------------------------------- when simulated crawls take place


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
        Months from one crawl to the next; the mean of them where dates are irregular. For crawls
        that are closer together give the dates themselves.
    irregular
        Whether all but the first and the last date are drawn at random, at least two weeks apart.
    """

    n_crawls: int = 15
    first: dt.date = dt.date(2013, 12, 15)
    months_between: int = 6
    irregular: bool = False

    def __post_init__(self) -> None:
        require_within(self, n_crawls="[1, inf)", months_between="[1, inf)")
        require(
            self.first.day <= _LAST_DAY_OF_EVERY_MONTH,
            f"a series cannot begin on {self.first}: not every month has that day",
        )

    def regular_dates(self) -> tuple[dt.date, ...]:
        """Return the dates at equal distances."""
        months = self.first.month - 1 + self.months_between * np.arange(self.n_crawls)
        return tuple(
            self.first.replace(year=self.first.year + int(month) // 12, month=int(month) % 12 + 1)
            for month in months
        )


Dates = DatePlan | tuple[dt.date, ...]
"""A plan, or the dates themselves in rising order."""


def require_dates(dates: Dates) -> None:
    """Refuse dates that are given, but none of them or in another order than that of time."""
    is_possible = isinstance(dates, DatePlan) or (dates and list(dates) == sorted(dates))
    require(bool(is_possible), "give at least one date, and dates in rising order")


def choose_dates(plan: Dates, rng: np.random.Generator) -> tuple[dt.date, ...]:
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


def change_length(plan: Dates, n_crawls: int) -> Dates:
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
    require(n_crawls <= len(plan), f"{n_crawls} crawls, but only {len(plan)} dates were given")
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


def years_since_first(dates: tuple[dt.date, ...]) -> Floats:
    """Return for each date the years since the first."""
    return np.array([(date - dates[0]).days / DAYS_PER_YEAR for date in dates])


# --------------------------------------------------------------------- what a simulated urn is told


_LOST_IN_ADDING = 1e-9


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
        require_within(self, share="(0, 1]", persistence="(0, 1]", weight="(0, inf)")


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
        require_within(self, n_crawls="[1, inf)", probability="(0, 1]")


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
        require_within(self, share_common="(0, 1]")

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
        require(
            0 < index < n_crawls,
            f"the scope cannot change from crawl {index} on: with {n_crawls} crawls, counted "
            f"from 0, it must be one of 1 to {n_crawls - 1}",
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
        # Of one host no part is preferred.
        require_within(self, n_hosts="[2, inf)", sd="(0, inf)")


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
        require_within(self, column_sd="[0, inf)", row_sd="[0, inf)", pair_sd="[0, inf)")


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
    dates: Dates = DatePlan()
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
        require_within(self, persistence="(0, 1]", capture_cv="[0, inf)")
        require_within(self, reseeded_share="[0, 1)", n_hosts="[1, inf)")
        require_dates(self.dates)
        total = sum(kind.share for kind in self.classes)
        require(
            abs(total - 1) < _LOST_IN_ADDING,
            f"the shares of the classes add up to {total:g}, not to 1",
        )
        require(
            self.avoidance is None or self.reseeded_share == 0,
            "avoidance and re-seeding contradict each other; choose one of them",
        )
        require(
            not is_noisy(self.population),
            "a population cannot jump at random, as its URLs live on from crawl to crawl; "
            "use noise of the coverage, or the column noise of tables",
        )
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
        has_noise = is_noisy(self.coverage) or is_noisy(self.size)
        is_irregular = isinstance(self.dates, DatePlan) and self.dates.irregular
        return not has_noise and not is_irregular and self.host_noise is None

    @property
    def class_persistences(self) -> tuple[float, ...]:
        """Share of each class that lives on for a year."""
        return tuple(
            self.persistence if kind.persistence is None else kind.persistence
            for kind in self.classes
        )


def change_settings(
    settings: UrnSettings,
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
        require(
            any(kind.persistence is None for kind in settings.classes),
            f"in the scenario {settings.scenario} every class of URLs has a persistence of its "
            "own; it cannot be given another",
        )
        settings = replace(settings, persistence=persistence)
    return settings


def _change_first(series: Series, value: float) -> Series:
    if isinstance(series, Course):
        return replace(series, first=value)
    if isinstance(series, tuple):
        return tuple(number * (value / series[0]) for number in series)
    return value


def is_noisy(series: Series | None) -> bool:
    """Tell whether a series differs from seed to seed."""
    return isinstance(series, Course) and series.noise_sd > 0


# ------------------------------------------------------- settings in plain words, and as plain data


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
    URLs that a crawl could reach: 200,000.
    73 % of them live on for a year; new ones take the places of the others.
    Captured by each crawl: 46 % of them, chosen at random.
    """
    return "\n".join(_list_sentences(settings))


def describe_dates(dates: Dates) -> str:
    """Tell how many crawls there are, and when."""
    if not isinstance(dates, DatePlan):
        return f"{len(dates)} crawls at given dates from {dates[0]} to {dates[-1]}"
    if dates.irregular:
        last = dates.regular_dates()[-1]
        return f"{dates.n_crawls} crawls at irregular dates between {dates.first} and {last}"
    months = _MONTHS_IN_WORDS.get(dates.months_between, f"{dates.months_between} months")
    return f"{dates.n_crawls} crawls, {months} apart, from {dates.first} on"


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
    if is_dataclass(value):
        for field in fields(value):
            if not (name == "" and field.name == "scenario"):
                yield from _flatten(f"{name}.{field.name}".lstrip("."), getattr(value, field.name))
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            yield from _flatten(f"{name}.{number}", part)
    elif isinstance(value, dt.date):
        yield name, value.isoformat()
    elif isinstance(value, str | int | float):
        yield name, value


def _list_sentences(settings: UrnSettings) -> Iterator[str]:
    yield f"{settings.scenario}: {describe_dates(settings.dates)}."
    yield f"URLs that a crawl could reach: {_tell_series(settings.population, _count)}."
    kinds = list(zip(settings.classes, settings.class_persistences, strict=True))
    for kind, persistence in kinds if len(kinds) > 1 else ():
        weight = "" if settings.is_even else f" and are captured with the weight {kind.weight:g}"
        yield (
            f"{_percent(kind.share)} of them are of a kind of which {_percent(persistence)} live "
            f"on for a year{weight}."
        )
    if len(kinds) == 1:
        lives_on = _percent(kinds[0][1])
        yield f"{lives_on} of them live on for a year; new ones take the places of the others."
    captured = _tell_series(settings.coverage, lambda share: f"{_percent(share)} of them")
    if settings.size is not None:
        captured = _tell_series(settings.size, _count)
    at_random = settings.is_even and not settings.has_memory
    yield f"Captured by each crawl: {captured}{', chosen at random' if at_random else ''}."
    if settings.capture_cv > 0:
        yield (
            "Some URLs are captured more readily than others, in every crawl: their weights are "
            f"gamma-distributed with a coefficient of variation of {settings.capture_cv:g}."
        )
    if (avoidance := settings.avoidance) is not None:
        last = "crawl" if avoidance.n_crawls == 1 else f"{avoidance.n_crawls} crawls"
        yield (
            f"A crawl passes over {_percent(avoidance.probability)} of the URLs that the last "
            f"{last} captured, as long as others are left."
        )
    if settings.reseeded_share > 0:
        yield f"{_percent(settings.reseeded_share)} of each crawl are taken from the one before."
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


def _tell_series(series: Series, tell: Callable[[float], str]) -> str:
    if isinstance(series, tuple):
        return f"from {tell(min(series))} to {tell(max(series))}, as given"
    if not isinstance(series, Course):
        return tell(series)
    growth, words = series.growth_per_year, [tell(series.first)]
    if growth != 0:
        words += ["at first", f"{_percent(abs(growth))} {'more' if growth > 0 else 'less'} a year"]
    if series.jump != 1:
        words.append(f"{series.jump:g} times that from the middle of the series on")
    if series.noise_sd > 0:
        words.append(f"with log-normal noise of sd {series.noise_sd:g} from crawl to crawl")
    return ", ".join(words).replace(", at first", " at first")


def _percent(number: float) -> str:
    return f"{100 * number:.3g} %"


def _count(number: float) -> str:
    return f"{number:,.0f}"
