"""What the user wants of inputs: which captures count, what makes them the same, what is kept."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crawlgauge.errors import SourceError
from crawlgauge.keys.names import UNKNOWN_TYPES, Names, host_of_capture
from crawlgauge.keys.rules import BY_TEXT, BY_URL, GIVEN, SURT, KeyRule
from crawlgauge.keys.scope import Scope
from crawlgauge.keys.surt import canonical_surt

DEFAULT_STATUS = "2xx,none"
DEFAULT_MAX_EXPANSION = 500.0
"""Real indexes and logs expand 5 to 50 times, highly repetitive ones 200 times."""

DEFAULT_RATE = 20.0
"""Requests a minute to one CDX server: the Wayback Machine allows about 24."""

_ANY = "any"
_NONE = "none"
_N_STATUSES = 1000
_STATUS_WORD = re.compile(r"([1-9])xx|(\d{3})(?:-(\d{3}))?")
_MIME_WORD = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/(\*|[A-Za-z0-9!#$&^_.+-]+)")


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
        self.wanted_statuses()
        for word in _split(self.mime or ""):
            if not _MIME_WORD.fullmatch(word):
                raise SourceError(
                    f"{word!r} is no media type; write --mime text/html,application/pdf or "
                    "--mime 'text/*'"
                )

    def wanted_statuses(self) -> NDArray[np.bool_]:
        """Return for each status whether captures with it count."""
        words = _split(self.status)
        wanted = np.full(_N_STATUSES, words == [_ANY])
        if not words:
            raise SourceError("--status names no status; write --status any, or 2xx,none")
        for word in words:
            match = _STATUS_WORD.fullmatch(word)
            if word == _NONE or words == [_ANY]:
                continue
            if match is None:
                raise SourceError(
                    f"{word!r} is no HTTP status; write --status any, or some of 2xx, 200, "
                    "200-299 and none between commas"
                )
            hundreds, first, last = match.groups()
            low = 100 * int(hundreds) if hundreds else int(first)
            high = low + 99 if hundreds else int(last or first)
            wanted[low : high + 1] = True
        return wanted

    def judge_type(self, text: bytes) -> str:
        """Return why captures of a media type do not count; nothing if they do."""
        kind = text.partition(b";")[0].strip().lower()
        if kind in (b"", *UNKNOWN_TYPES):
            return "no-mime"
        for word in _split(self.mime or ""):
            wanted = word.lower().encode()
            if kind == wanted or (wanted.endswith(b"/*") and kind.startswith(wanted[:-1])):
                return ""
        return "mime"


def _split(words: str) -> list[str]:
    return [word for word in (part.strip() for part in words.split(",")) if word]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wishes:
    """What the user wants of inputs.

    Parameters
    ----------
    key_rule
        When two URLs are the same.
    counts, scope
        Which captures count.
    levels
        What is kept of them: their URLs, contents, texts.
    format, column
        The format of the inputs, and which column holds the URLs; None to find out.
    max_expansion
        How many times its compressed size an input may have.
    keep_damaged
        Whether damage is noted and got over; else it is an error.
    memory
        How many bytes reading, sorting and all else may take together.
    rate_per_minute
        How often a CDX server may be asked.
    """

    key_rule: KeyRule = SURT
    counts: WhatCounts = field(default_factory=WhatCounts)
    scope: Scope | None = None
    levels: tuple[str, ...] = (BY_URL,)
    format: str | None = None
    column: str | None = None
    max_expansion: float = DEFAULT_MAX_EXPANSION
    keep_damaged: bool = False
    memory: int = 1 << 31
    rate_per_minute: float = DEFAULT_RATE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settings(Wishes):
    """All that readers are asked for; the collector of captures asks for the properties.

    Parameters
    ----------
    is_split, group
        Whether inputs are cut into crawls, and the field to cut them by; None for the time.
    names
        Numbers the hosts and media types of all captures.
    keeps_urls
        Whether the URLs themselves are wanted, in the place of digests.
    site, own_agents
        Of access logs: the address of the host that the log is of, where its lines do not say it,
        and parts of the names of crawlers whose fetches do not count.
    """

    is_split: bool = False
    group: str | None = None
    names: Names = field(default_factory=Names)
    keeps_urls: bool = False
    site: str | None = None
    own_agents: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """The name of the rule."""
        return self.key_rule.name

    @property
    def needs_url(self) -> bool:
        """Whether keys of an index are not enough."""
        return self.key_rule != GIVEN or self.scope is not None or self.column is not None

    @property
    def wanted_statuses(self) -> NDArray[np.bool_]:
        """For each status whether captures with it count."""
        return self.counts.wanted_statuses()

    @property
    def wants_any_status(self) -> bool:
        """Whether captures count whatever their status."""
        return _split(self.counts.status) == [_ANY]

    @property
    def wants_unknown_status(self) -> bool:
        """Whether captures count that have no status."""
        return self.wants_any_status or _NONE in _split(self.counts.status)

    @property
    def judge_type(self) -> Callable[[bytes], str] | None:
        """Says why captures of a media type do not count; None if all do."""
        return None if self.counts.mime is None else self.counts.judge_type

    @property
    def keeps_digests(self) -> bool:
        """Whether digests are wanted: also texts fall back to them."""
        return self.levels != (BY_URL,)

    @property
    def keeps_texts(self) -> bool:
        """Whether the texts of pages are wanted."""
        return BY_TEXT in self.levels

    canonical_surt = staticmethod(canonical_surt)
    host_of_capture = staticmethod(host_of_capture)

    @staticmethod
    def lacks_keys() -> SourceError:
        """Return the error for a record without a key, where the index's own are wanted."""
        return SourceError(
            "the identity given takes keys from the index, but an input has none; only CDX, CDXJ, "
            "ZipNum, CDX servers' JSON and Parquet with a SURT column have keys. Use --identity "
            "surt"
        )
