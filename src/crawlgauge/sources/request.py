"""What the user wants of an input: which columns, and how it is to be read."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["DEFAULT_MAX_EXPANSION", "Field", "Request"]

Field = Literal["key", "time", "status", "mime", "digest"]

DEFAULT_MAX_EXPANSION = 500.0
"""Real indexes and logs expand 5 to 50 times, highly repetitive ones 200 times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a reader is asked for; it gives what its format has of it.

    Parameters
    ----------
    fields
        Columns that are needed beside the URL. ``status`` includes whether it is a revisit.
    format
        Name of the format, where the user states it.
    column
        Which column holds the URLs: its name, or its position from 1. None for the usual one.
    group
        Field by which the captures are cut into crawls: ``filename``, the name of another column,
        or None.
    needs_url
        Whether captures must have their URLs even where their keys are known to say enough.
    reads_bodies
        Whether digests that the records of WARC and ARC files lack are computed from their bodies.
    reads_texts
        Whether the texts of HTML pages are read from them too.
    hosts
        What the hosts of all captures that can count begin with, as ``org,example``; a reader may
        pass over others. None for all hosts.
    max_expansion
        How many times its compressed size an input may have before it counts as damaged.
    """

    fields: frozenset[Field] = frozenset()
    format: str | None = None
    column: str | None = None
    group: str | None = None
    needs_url: bool = True
    reads_bodies: bool = False
    reads_texts: bool = False
    hosts: tuple[bytes, ...] | None = None
    max_expansion: float = DEFAULT_MAX_EXPANSION
