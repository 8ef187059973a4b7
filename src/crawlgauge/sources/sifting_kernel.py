"""Tell which captures count, in compiled code."""

import numpy as np
from numpy.typing import NDArray

from crawlgauge.compiled import compiled
from crawlgauge.sources.captures import NO_STATUS
from crawlgauge.sources.robots import is_robots, is_robots_key

__all__ = [
    "COUNTS",
    "ERROR",
    "MAX_STATUS",
    "NOT_FETCHED",
    "NO_STATUS_KNOWN",
    "N_REASONS",
    "OTHER_STATUS",
    "REDIRECT",
    "ROBOTS",
    "sift",
]

COUNTS, NOT_FETCHED, REDIRECT, ERROR, OTHER_STATUS, NO_STATUS_KNOWN, ROBOTS = range(7)
"""Why a capture is left out; the first stands for no reason."""
N_REASONS = 7

MAX_STATUS = 999
_OK, _NOT_MODIFIED = 200, 304


@compiled
def sift(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    are_keys: bool,
    statuses: NDArray[np.int32],
    are_revisits: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
    wants_unknown: bool,
    wants_any: bool,
    reasons: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> None:
    """Fill `reasons` with why each capture is left out, and count them.

    Parameters
    ----------
    data, starts, ends, are_keys
        The captures' URLs, or their SURTs, as in `Texts`.
    statuses, are_revisits
        `NO_STATUS` where there is none; both empty if the input has no statuses.
    wanted, wants_unknown, wants_any
        Which statuses count, from 0 to `MAX_STATUS`; whether captures without one do; whether all
        do, and captures of robots.txt too.
    reasons, counts
        Filled for each capture, and added to for each reason.
    """
    for capture in range(starts.size):
        reason = COUNTS
        if statuses.size:
            status = int(np.int64(statuses[capture]))
            is_known = status != NO_STATUS
            if is_known and status <= 0:
                reason = NOT_FETCHED
            elif not wants_any:
                if are_revisits[capture] and (not is_known or status == _NOT_MODIFIED):
                    status, is_known = _OK, True
                if is_known and not wanted[min(status, MAX_STATUS)]:
                    reason = _judge_status(status)
                elif not is_known and not wants_unknown:
                    reason = NO_STATUS_KNOWN
        if reason == COUNTS and not wants_any:
            start, end = int(np.int64(starts[capture])), int(np.int64(ends[capture]))
            is_found = is_robots_key(data, start, end) if are_keys else is_robots(data, start, end)
            if is_found:
                reason = ROBOTS
        reasons[capture] = reason
        counts[reason] += 1


@compiled
def _judge_status(status: int) -> int:
    hundreds = status // 100
    if hundreds == 3:
        return REDIRECT
    return ERROR if hundreds == 4 or hundreds == 5 else OTHER_STATUS
