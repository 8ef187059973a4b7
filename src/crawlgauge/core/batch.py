"""What is handed on of captures that were found: a batch of them, in columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROW = np.dtype(
    [
        ("key", "<u8"),
        ("time", "<i8"),
        ("host", "<i4"),
        ("mime", "<i4"),
        ("status", "<i2"),
        ("is_revisit", "u1"),
        ("unused", "u1"),
    ]
)
"""What is known of a capture: hosts and media types are numbers of names."""

LEFT_OUT = np.dtype([("time", "<i8"), ("group", "<i4"), ("reason", "<i4")])
"""What is known of a capture that does not count; the reason is a place in `REASONS`."""

NO_TIME = np.iinfo(np.int64).min
"""Stands for a time that is not known."""

NO_STATUS = np.iinfo(np.int16).max
"""Stands for a status that is not known, and comes after all others."""

NO_CODE = -1
"""Stands for a host, media type or group that is not known."""

NO_TEXT, NOT_HTML = 0, 1
"""Stand for a text that is not known, and for that of what is no HTML page."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Captures:
    """Some captures of a crawl, and what was left out beside them.

    Parameters
    ----------
    keys
        Of all captures that count and are in the sample.
    rows
        Attributes, as `ROW`: of all captures where each has a group, digest or text; else of those
        whose keys are below a threshold.
    groups, digests, texts
        For each row what it is grouped by, as number of a name, the payload's digest (its URL
        where that is wanted instead) and the page's text; None where they are not wanted, and
        texts also where an input has no pages.
    left_out
        Captures that belong to a crawl and do not count, as `LEFT_OUT`, where a collection is cut
        into crawls; else they are counted in `excluded`.
    n_captures
        How many captures count, in the sample or not.
    n_no_status
        How many of these have no status, and are no revisits.
    has_times
        Whether inputs of that format tell when captures were made.
    days
        How many of these were made on each day, by its ordinal.
    first_time, last_time
        When the first and the last of these were made; None if no time is known.
    rejected, excluded
        How many records are no captures, or do not count, by reason.
    """

    keys: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    rows: NDArray[np.void] = field(default_factory=lambda: np.empty(0, ROW))
    groups: NDArray[np.int32] | None = None
    digests: list[bytes | None] | None = None
    texts: NDArray[np.uint64] | None = None
    left_out: NDArray[Any] | None = None
    n_captures: int = 0
    n_no_status: int = 0
    has_times: bool = False
    days: Mapping[int, int] = field(default_factory=dict)
    first_time: int | None = None
    last_time: int | None = None
    rejected: Mapping[str, int] = field(default_factory=dict)
    excluded: Mapping[str, int] = field(default_factory=dict)
