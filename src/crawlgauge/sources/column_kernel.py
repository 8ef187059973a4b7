"""Judge URLs and read times and statuses that stand in columns, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.line_kernel import NO_SCHEME, SKIPPED, judge_line
from crawlgauge.sources.record_kernel import NO_URL, is_revisit, parse_status
from crawlgauge.sources.time_kernel import is_usual, parse_time, parse_usual
from crawlgauge.sources.white_space import is_space
from crawlgauge.words import load_word

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
        while first < last and is_space(data[first]):
            first += 1
        while last > first and is_space(data[last - 1]):
            last -= 1
        firsts[row], lasts[row] = first, last
        if first < 0 or first == last:
            verdicts[row] = NO_URL
            continue
        verdict = judge_line(data, first, last, max_bytes)
        # What would be a comment in a list is no URL in a column.
        verdicts[row] = NO_SCHEME if verdict == SKIPPED else verdict


@compiled
def read_times(data: _Bytes, starts: _Places, ends: _Places, times: NDArray[np.int64]) -> None:
    """Fill `times` with the seconds since 1970 of times that are written in digits."""
    parts = np.empty(6, dtype=np.int64)
    for row in range(starts.size):
        start, end = int(np.int64(starts[row])), int(np.int64(ends[row]))
        if start >= 0 and is_usual(data, start, end):
            times[row] = parse_usual(load_word(data, start), load_word(data, end - 8))
        else:
            times[row] = parse_time(data, start, end, parts)


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
