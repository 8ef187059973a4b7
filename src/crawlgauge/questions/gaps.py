"""How far apart two crawls may lie and still be held against each other."""

import re

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.errors import CrawlgaugeError

__all__ = ["DEFAULT_MAX_GAP", "parse_gap"]

DEFAULT_MAX_GAP = "3 months"
"""With a half-life of two years, nine URLs of ten live on as long; farther apart, more of the
answer comes from the persistence than from the overlap."""

_DAYS = {"d": 1.0, "w": 7.0, "m": DAYS_PER_YEAR / 12, "y": DAYS_PER_YEAR}
_GAP = re.compile(r"(\d+(?:\.\d+)?) *(d|w|m|y|days?|weeks?|months?|years?)?")


def parse_gap(text: str | int) -> int:
    """Return the days of a time such as ``3 months``.

    Raises
    ------
    CrawlgaugeError
        If it is none.

    Examples
    --------
    >>> parse_gap("90"), parse_gap("6w"), parse_gap("3 months")
    (90, 42, 91)
    """
    match = _GAP.fullmatch(str(text).strip().lower())
    if match is None:
        raise CrawlgaugeError(
            f"{text!r} is no time between crawls; write 90 days, 12 weeks, 3 months or 1 year"
        )
    return round(float(match[1]) * _DAYS[(match[2] or "d")[0]])
