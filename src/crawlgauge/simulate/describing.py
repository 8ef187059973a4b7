"""A scenario in plain words, and its settings as plain data."""

import dataclasses
import datetime as dt
from collections.abc import Iterator

from crawlgauge.provenance import Setting
from crawlgauge.simulate.courses import Course, Series
from crawlgauge.simulate.dates import DatePlan
from crawlgauge.simulate.urn_settings import UrnSettings

__all__ = ["describe", "flatten_settings"]

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
