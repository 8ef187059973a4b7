"""Which captures count: by HTTP status, media type and path, with the reason for the others."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.request import Field
from crawlgauge.sources.robots import find_robots

__all__ = ["DEFAULT_STATUS", "WhatCounts", "keep", "select_captures"]

DEFAULT_STATUS = "2xx,none"

_ANY = "any"
_NONE = "none"
_STATUS_WORD = re.compile(r"([1-9])xx|(\d{3})(?:-(\d{3}))?")
_MIME_WORD = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/(\*|[A-Za-z0-9!#$&^_.+-]+)")
_MAX_STATUS = 999
_NOT_MODIFIED = 304
_REDIRECT = 3
_ERRORS = (4, 5)
_OK = 200
_UNKNOWN = _MAX_STATUS + 1
"""Stands for a missing status."""
_NO_MIME = (b"", b"-", b"unk", b"no-type", b"unknown", b"warc/revisit")
"""What indexes and logs write where the media type is not known, or not that of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatCounts:
    """Which captures the user wants to count.

    Parameters
    ----------
    status
        ``any``, or statuses between commas: ``2xx``, ``404``, ``200-299``, and ``none`` for
        captures without a status.
    mime
        Media types between commas, such as ``text/html`` or ``text/*``; None for all.

    Raises
    ------
    SourceError
        If one of them cannot be understood.
    """

    status: str = DEFAULT_STATUS
    mime: str | None = None

    def __post_init__(self) -> None:
        _wanted_statuses(self.status)
        if self.mime is not None:
            for word in _split(self.mime):
                if not _MIME_WORD.fullmatch(word):
                    raise SourceError(
                        f"{word!r} is no media type; write --mime text/html,application/pdf or "
                        "--mime 'text/*'"
                    )

    @property
    def fields(self) -> frozenset[Field]:
        """The columns that it takes to decide."""
        return frozenset({"status"} if self.mime is None else {"status", "mime"})


def select_captures(captures: Captures, rule: WhatCounts) -> Captures:
    """Return the captures that count, and count the others by reason.

    A revisit record says that a page was there and had not changed: without a status of its own,
    or with 304, it counts as 200. A negative status or 0, by which Heritrix says that nothing was
    fetched, never counts. What is left out is, in this order: ``not-fetched``, ``redirect``
    (3xx), ``error`` (4xx, 5xx), ``status`` (others), ``no-status``, ``robots.txt`` (unless all
    statuses are wanted), ``no-mime`` and ``mime``.

    Parameters
    ----------
    captures
        A batch.
    rule
        What the user wants.
    """
    sieve = _Sieve(captures)
    if captures.status is not None:
        _sift_by_status(sieve, captures.status, captures.revisit, rule)
    if rule.status != _ANY:
        sieve.leave_out("robots.txt", find_robots(captures.url))
    if rule.mime is not None and captures.mime is not None:
        _sift_by_mime(sieve, captures.mime, _split(rule.mime))
    return keep(replace(captures, excluded=sieve.excluded), sieve.is_left)


def keep(captures: Captures, chosen: NDArray[np.bool_]) -> Captures:
    """Return some of the captures of a batch, with all its counts."""
    if chosen.all():
        return captures
    mask = pa.array(chosen)
    columns = {name: column.filter(mask) for name, column in captures.columns().items()}
    return replace(captures, **columns)


class _Sieve:
    """What is left of a batch, and how many captures each reason has taken out."""

    def __init__(self, captures: Captures) -> None:
        self.is_left = np.ones(len(captures), dtype=np.bool_)
        self.excluded = dict(captures.excluded)

    def leave_out(self, reason: str, which: NDArray[np.bool_]) -> None:
        n_out = int(np.count_nonzero(which & self.is_left))
        if n_out:
            self.excluded[reason] = self.excluded.get(reason, 0) + n_out
            self.is_left[which] = False


def _sift_by_status(
    sieve: _Sieve, statuses: pa.Array, revisit: pa.Array | None, rule: WhatCounts
) -> None:
    status = statuses.fill_null(_UNKNOWN).to_numpy(zero_copy_only=False)
    sieve.leave_out("not-fetched", status <= 0)
    if rule.status == _ANY:
        return
    wanted, wants_unknown = _wanted_statuses(rule.status)
    if revisit is not None:
        is_revisit = revisit.to_numpy(zero_copy_only=False)
        is_unchanged = is_revisit & ((status == _UNKNOWN) | (status == _NOT_MODIFIED))
        status = np.where(is_unchanged, _OK, status)
    is_known = status != _UNKNOWN
    is_unwanted = is_known & ~wanted[np.clip(status, 0, _MAX_STATUS)]
    sieve.leave_out("redirect", is_unwanted & (status // 100 == _REDIRECT))
    sieve.leave_out("error", is_unwanted & np.isin(status // 100, _ERRORS))
    sieve.leave_out("status", is_unwanted)
    if not wants_unknown:
        sieve.leave_out("no-status", ~is_known)


def _sift_by_mime(sieve: _Sieve, mime: pa.Array, words: list[str]) -> None:
    # There are few media types, however many captures.
    encoded = mime.fill_null(b"").dictionary_encode()
    kinds = [kind.partition(b";")[0].strip().lower() for kind in encoded.dictionary.to_pylist()]
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    is_unknown = np.array([kind in _NO_MIME for kind in kinds], dtype=np.bool_)
    is_wanted = np.array([_fits(kind, words) for kind in kinds], dtype=np.bool_)
    sieve.leave_out("no-mime", is_unknown[codes])
    sieve.leave_out("mime", ~is_wanted[codes])


def _fits(kind: bytes, words: list[str]) -> bool:
    for word in words:
        wanted = word.lower().encode()
        if kind == wanted or (wanted.endswith(b"/*") and kind.startswith(wanted[:-1])):
            return True
    return False


def _wanted_statuses(words: str) -> tuple[NDArray[np.bool_], bool]:
    """Return which statuses are wanted, and whether captures without one are."""
    wanted = np.zeros(_MAX_STATUS + 1, dtype=np.bool_)
    parts = _split(words)
    if parts == [_ANY]:
        wanted[:] = True
        return wanted, True
    for word in parts:
        match = _STATUS_WORD.fullmatch(word)
        if word == _NONE:
            continue
        if match is None:
            raise SourceError(
                f"{word!r} is no HTTP status; write --status any, or some of 2xx, 200, 200-299 "
                "and none between commas"
            )
        hundreds, first, last = match.groups()
        low = 100 * int(hundreds) if hundreds else int(first)
        high = low + 99 if hundreds else int(last or first)
        wanted[low : high + 1] = True
    if not parts:
        raise SourceError("--status names no status; write --status any, or 2xx,none")
    return wanted, _NONE in parts


def _split(words: str) -> list[str]:
    return [word for word in (part.strip() for part in words.split(",")) if word]
