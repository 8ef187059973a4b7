"""Judge URLs and read times and statuses that stand in columns, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.record_kernel import is_revisit, judge_url, parse_status, read_time

__all__ = ["find_revisits", "judge_urls", "read_statuses", "read_times"]

_Bytes = NDArray[np.uint8]
_Places = NDArray[np.int32]


@compiled
def judge_urls(
    data: _Bytes,
    starts: _Places,
    ends: _Places,
    max_bytes: int,
    verdicts: NDArray[np.uint8],
    firsts: _Places,
    lasts: _Places,
) -> None:
    """Judge URLs as `record_kernel.judge_records` does.

    Parameters
    ----------
    data, starts, ends
        The URLs, as in `Texts`.
    max_bytes
        Longest URL that is taken.
    verdicts
        Filled for each URL.
    firsts, lasts
        Filled with where it stands without the space around it.
    """
    for row in range(starts.size):
        first, last = int(np.int64(starts[row])), int(np.int64(ends[row]))
        verdicts[row], firsts[row], lasts[row] = judge_url(data, first, last, max_bytes)


@compiled
def read_times(data: _Bytes, starts: _Places, ends: _Places, times: NDArray[np.int64]) -> None:
    """Fill `times` with the seconds since 1970 of times that are written in digits."""
    parts = np.empty(6, dtype=np.int64)
    for row in range(starts.size):
        start, end = int(np.int64(starts[row])), int(np.int64(ends[row]))
        times[row] = read_time(data, start, end, parts)


@compiled
def read_statuses(data: _Bytes, starts: _Places, ends: _Places, statuses: _Places) -> None:
    """Fill `statuses` with the numbers that are written, `NO_STATUS` where there is none."""
    for row in range(starts.size):
        start, end = int(np.int64(starts[row])), int(np.int64(ends[row]))
        statuses[row] = parse_status(data, start, end)


@compiled
def find_revisits(
    data: _Bytes, starts: _Places, ends: _Places, revisits: NDArray[np.bool_]
) -> None:
    """Fill `revisits` with whether media types are that of revisit records."""
    for row in range(starts.size):
        revisits[row] = is_revisit(data, int(np.int64(starts[row])), int(np.int64(ends[row])))
