"""When simulated crawls take place: at regular or irregular dates, and what they are called."""

import datetime as dt
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.errors import SimulationError

__all__ = [
    "DatePlan",
    "change_length",
    "choose_dates",
    "label_dates",
    "years_since_first",
]


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
