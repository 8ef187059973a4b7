"""The date that stands for a crawl: as given, the median capture, or what its label says."""

import datetime as dt
from collections.abc import Mapping

from crawlgauge.crawl import date_from_label
from crawlgauge.errors import CrawlError

__all__ = ["choose_date", "median_day", "needs_times"]


def needs_times(label: str, date: dt.date | None) -> bool:
    """Tell whether a crawl's date can only come from the times of its captures."""
    return date is None and date_from_label(label) is None


def choose_date(label: str, date: dt.date | None, days: Mapping[int, int]) -> dt.date:
    """Return the date of a crawl.

    Parameters
    ----------
    label
        May contain a date.
    date
        As the user gave it.
    days
        How many captures were made on each day, by its ordinal.

    Raises
    ------
    CrawlError
        If none can be found.
    """
    found = date or median_day(days) or date_from_label(label)
    if found is None:
        raise CrawlError(
            f"crawl {label!r} has no date: its files have no capture times, and its label "
            "contains none; say it with --date 2021-12-15"
        )
    return found


def median_day(days: Mapping[int, int]) -> dt.date | None:
    """Return the day on which half of the captures had been made; None if there are none.

    Examples
    --------
    >>> median_day({737791: 1, 737800: 3})
    datetime.date(2021, 1, 10)
    """
    half, n_so_far = sum(days.values()) / 2, 0
    for day in sorted(days):
        n_so_far += days[day]
        if n_so_far >= half:
            return dt.date.fromordinal(day)
    return None
