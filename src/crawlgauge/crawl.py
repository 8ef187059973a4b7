"""What a crawl is: its label, date and size, and how dates are read."""

import datetime as dt
import re
from dataclasses import dataclass
from typing import Literal

from crawlgauge.errors import CrawlError

__all__ = ["Crawl"]

DAYS_PER_YEAR = 365.25

AnchorKind = Literal["uniform", "complete", "frontier"]
"""What something known from elsewhere is: an even sample, complete lists, or a crawler's queue."""

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]{0,119}")
_ISO_DATE_TIME = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"
)
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_COMPACT_DATE = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?:\d{6})?(?!\d)")
_MONTH = re.compile(r"(?<!\d)(?<!\d-)(\d{4})-(\d{2})(?!-?\d)")
_YEAR = re.compile(r"((?:19|20)\d\d)")
_COMMON_CRAWL = re.compile(r"CC-MAIN-(\d{4})-(\d{2})(?!\d)")

_MIDDLE = {_YEAR: (7, 1), _MONTH: (15,)}
"""Which month and day stand for a year, and which day for a month."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """One crawl of a series: when it was taken and how many URLs it holds.

    Parameters
    ----------
    label
        Name of the crawl, safe as a file name.
    date
        The date that stands for the crawl.
    n_urls
        Distinct URLs; estimated where only a sample of them is known.
    n_sampled
        Distinct URLs in the sample; None where all are known.
    first_capture, last_capture
        Times of the first and last capture, where known.
    damaged
        Whether part of the input was damaged and left out.
    """

    label: str
    date: dt.date
    n_urls: int
    n_sampled: int | None = None
    first_capture: dt.datetime | None = None
    last_capture: dt.datetime | None = None
    damaged: bool = False

    def __post_init__(self) -> None:
        check_label(self.label)
        if self.n_urls < 1:
            raise CrawlError(f"crawl {self.label!r} has {self.n_urls} URLs; at least one is needed")
        if self.n_sampled is not None and not 0 < self.n_sampled <= self.n_urls:
            raise CrawlError(
                f"crawl {self.label!r} has {self.n_sampled} sampled of {self.n_urls} URLs; "
                "the sample must hold at least one URL and no more than the crawl"
            )

    @property
    def n_counted(self) -> int:
        """Number of URLs that overlaps are counted among: the sample where there is one."""
        return self.n_urls if self.n_sampled is None else self.n_sampled


def check_label(label: str) -> str:
    """Return `label` if it is safe as a file name.

    Raises
    ------
    CrawlError
        If it is not.

    Examples
    --------
    >>> check_label("2021-12")
    '2021-12'
    """
    if not _LABEL.fullmatch(label):
        raise CrawlError(
            f"{label!r} is no usable label: use 1 to 120 letters, digits and . _ + = -, "
            "beginning with a letter or digit"
        )
    return label


def parse_date(text: str, *, at: Literal["start", "middle", "end"] = "middle") -> dt.date:
    """Read a date as people write it.

    Parameters
    ----------
    text
        ``2013-12-15``, ``20131215``, ``2013-12``, ``2013``, a 14-digit or ISO 8601 time, or
        ``CC-MAIN-2023-40`` (Monday of that ISO week).
    at
        Which day stands for a month or a year: the first, the last, or one in its middle (the 15th,
        1 July).

    Raises
    ------
    CrawlError
        If it is no such date.

    Examples
    --------
    >>> parse_date("2013-12")
    datetime.date(2013, 12, 15)
    >>> parse_date("2013", at="end")
    datetime.date(2013, 12, 31)
    >>> parse_date("CC-MAIN-2023-40")
    datetime.date(2023, 10, 2)
    """
    stripped = text.strip()
    for pattern in (_ISO_DATE_TIME, _ISO_DATE, _COMPACT_DATE, _MONTH, _YEAR, _COMMON_CRAWL):
        if (match := pattern.fullmatch(stripped)) and (found := _to_date(pattern, match)):
            if pattern in _MIDDLE and at != "middle":
                import calendar

                month = found.month if pattern is _MONTH else 1 if at == "start" else 12
                day = 1 if at == "start" else calendar.monthrange(found.year, month)[1]
                return found.replace(month=month, day=day)
            return found
    raise CrawlError(
        f"{text!r} is not a date; write it as 2013-12-15, 20131215, 2013-12, 2013 or "
        "CC-MAIN-2023-40"
    )


def date_from_label(label: str) -> dt.date | None:
    """Read the one date that a label contains, or None if it contains none or several.

    Examples
    --------
    >>> date_from_label("gaw-2013-12")
    datetime.date(2013, 12, 15)
    >>> date_from_label("first-crawl") is None
    True
    """
    found = _find_dates(label)
    return next(iter(found)) if len(found) == 1 else None


def label_from_name(name: str) -> str | None:
    """Return the one date that a file's name contains, as a label; None if there is not just one.

    Examples
    --------
    >>> label_from_name("gaw-20131215.cdx.gz"), label_from_name("CC-MAIN-2023-40.paths")
    ('2013-12-15', 'CC-MAIN-2023-40')
    """
    found = _find_dates(name)
    return next(iter(found.values())) if len(found) == 1 else None


def _find_dates(text: str) -> dict[dt.date, str]:
    """Find the dates in a text, each with what it is called there."""
    if match := _COMMON_CRAWL.search(text):
        date = _to_date(_COMMON_CRAWL, match)
        return {} if date is None else {date: match[0]}
    matches = [
        (pattern, match)
        for pattern in (_ISO_DATE, _COMPACT_DATE, _MONTH)
        for match in pattern.finditer(text)
    ]
    return {
        date: match[0] if pattern is _MONTH else date.isoformat()
        for pattern, match in matches
        if (date := _to_date(pattern, match)) is not None
    }


def format_time(time: dt.datetime | None) -> str | None:
    """Write a time as ISO 8601 in UTC; one without a zone counts as UTC.

    Examples
    --------
    >>> format_time(dt.datetime(2021, 12, 15, 8, 30))
    '2021-12-15T08:30:00Z'
    """
    if time is None:
        return None
    return _in_utc(time).isoformat().replace("+00:00", "Z")


def parse_time(text: str | None) -> dt.datetime | None:
    """Read a time in ISO 8601; one without a zone counts as UTC.

    Raises
    ------
    ValueError
        If it is no such time.
    """
    return None if text is None else _in_utc(dt.datetime.fromisoformat(text))


def _in_utc(time: dt.datetime) -> dt.datetime:
    return time.replace(tzinfo=dt.UTC) if time.tzinfo is None else time.astimezone(dt.UTC)


def _to_date(pattern: re.Pattern[str], match: re.Match[str]) -> dt.date | None:
    year, *rest = map(int, match.groups())
    try:
        if pattern is _COMMON_CRAWL:
            return dt.date.fromisocalendar(year, rest[0], 1)
        return dt.date(year, *rest, *_MIDDLE.get(pattern, ()))
    except ValueError:
        return None
