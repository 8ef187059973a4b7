"""Which captures count: by HTTP status, media type and path, with the reason for the others."""

import re
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from crawlgauge.arrow_columns import to_values
from crawlgauge.errors import SourceError
from crawlgauge.sources import sifting_kernel
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.request import Field
from crawlgauge.sources.texts import Texts

__all__ = ["DEFAULT_STATUS", "WhatCounts", "keep", "select_captures"]

DEFAULT_STATUS = "2xx,none"

_ANY = "any"
_NONE = "none"
_STATUS_WORD = re.compile(r"([1-9])xx|(\d{3})(?:-(\d{3}))?")
_MIME_WORD = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/(\*|[A-Za-z0-9!#$&^_.+-]+)")
_UNKNOWN_MIMES = (b"", b"-", b"unk", b"no-type", b"unknown", b"warc/revisit")
"""What indexes and logs write where the media type is not known, or not that of the page."""


_NO_STATUSES, _NO_REVISITS = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.bool_)
# As those of all batches: numba compiles for each kind of array.
_NO_STATUSES.flags.writeable = _NO_REVISITS.flags.writeable = False

_NO_MIME, _OTHER_MIME = range(sifting_kernel.N_REASONS, sifting_kernel.N_REASONS + 2)
_EXCLUDED = MappingProxyType(
    {
        sifting_kernel.NOT_FETCHED: "not-fetched",
        sifting_kernel.REDIRECT: "redirect",
        sifting_kernel.ERROR: "error",
        sifting_kernel.OTHER_STATUS: "status",
        sifting_kernel.NO_STATUS_KNOWN: "no-status",
        sifting_kernel.ROBOTS: "robots.txt",
        _NO_MIME: "no-mime",
        _OTHER_MIME: "mime",
    }
)


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
    reasons = np.empty(len(captures), dtype=np.uint8)
    counts = np.zeros(sifting_kernel.N_REASONS, dtype=np.int64)
    wanted, wants_unknown = _wanted_statuses(rule.status)
    # Where there are no URLs, which are all there or all missing, the keys tell as much.
    are_keys = captures.key is not None and captures.url.null_count > 0
    names = captures.key if captures.key is not None and are_keys else captures.url
    sifting_kernel.sift(
        names.data,
        names.starts,
        names.ends,
        are_keys,
        *_statuses(captures),
        wanted,
        wants_unknown,
        rule.status == _ANY,
        reasons,
        counts,
    )
    is_left = reasons == sifting_kernel.COUNTS
    excluded = dict(captures.excluded)
    for reason in np.flatnonzero(counts[1:]).tolist():
        _add(excluded, reason + 1, int(counts[reason + 1]))
    if rule.mime is not None and captures.mime is not None:
        _sift_by_mime(is_left, excluded, captures.mime, _split(rule.mime))
    if excluded == captures.excluded:
        return captures
    return captures.take(np.flatnonzero(is_left), excluded)


def keep(captures: Captures, chosen: NDArray[np.bool_]) -> Captures:
    """Return some of the captures of a batch, with all its counts."""
    return captures.take(np.flatnonzero(chosen), captures.excluded)


def _add(excluded: dict[str, int], reason: int, n_out: int) -> None:
    excluded[_EXCLUDED[reason]] = excluded.get(_EXCLUDED[reason], 0) + n_out


def _statuses(captures: Captures) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return status and whether it is a revisit of each capture; none if there are no statuses."""
    if captures.status is None:
        return _NO_STATUSES, _NO_REVISITS
    if captures.revisit is None:
        are_revisits = np.zeros(captures.status.size, dtype=np.bool_)
        are_revisits.flags.writeable = False
        return captures.status, are_revisits
    return captures.status, captures.revisit


def _sift_by_mime(
    is_left: NDArray[np.bool_], excluded: dict[str, int], mime: Texts, words: list[str]
) -> None:
    # There are few media types, however many captures.
    encoded = mime.to_arrow().dictionary_encode()
    texts = (*encoded.dictionary.to_pylist(), b"")
    kinds = [text.partition(b";")[0].strip().lower() for text in texts]
    codes = to_values(encoded.indices, np.int64, missing=len(kinds) - 1)
    is_unknown = np.array([kind in _UNKNOWN_MIMES for kind in kinds], dtype=np.bool_)
    is_wanted = np.array([_fits(kind, words) for kind in kinds], dtype=np.bool_)
    for reason, is_out in ((_NO_MIME, is_unknown[codes]), (_OTHER_MIME, ~is_wanted[codes])):
        if n_out := int(np.count_nonzero(is_left & is_out)):
            _add(excluded, reason, n_out)
            is_left[is_out] = False


def _fits(kind: bytes, words: list[str]) -> bool:
    for word in words:
        wanted = word.lower().encode()
        if kind == wanted or (wanted.endswith(b"/*") and kind.startswith(wanted[:-1])):
            return True
    return False


@lru_cache(maxsize=8)
def _wanted_statuses(words: str) -> tuple[NDArray[np.bool_], bool]:
    """Return which statuses are wanted, and whether captures without one are."""
    wanted = np.zeros(sifting_kernel.MAX_STATUS + 1, dtype=np.bool_)
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
