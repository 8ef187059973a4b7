"""Count captures by the day on which they were made, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled

__all__ = ["NOT_A_TIME", "count_days", "find_ends"]

NOT_A_TIME = np.iinfo(np.int64).min
"""As numpy stores a time that is not known."""

_DAY_SECONDS = 86_400


@compiled
def find_ends(times: NDArray[np.int64]) -> tuple[int, int]:
    """Return the earliest and the latest time; the latter is `NOT_A_TIME` if none is known.

    Parameters
    ----------
    times
        In seconds since 1970.
    """
    first, last = np.iinfo(np.int64).max, NOT_A_TIME
    for time in times:
        first = first if time == NOT_A_TIME else min(first, time)
        last = max(last, time)
    return first, last


@compiled
def count_days(times: NDArray[np.int64], first_day: int, counts: NDArray[np.int64]) -> None:
    """Add the captures of each day to its counter.

    Parameters
    ----------
    times
        In seconds since 1970, or `NOT_A_TIME`.
    first_day
        The day of the first counter, in days since 1970.
    counts
        Added to; up to the last day.
    """
    first_second = first_day * _DAY_SECONDS
    for time in times:
        if time != NOT_A_TIME:
            counts[np.uint64(time - first_second) // np.uint64(_DAY_SECONDS)] += 1
