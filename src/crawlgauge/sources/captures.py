"""What a reader yields: batches of captures as Arrow columns, with what it had to leave out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pyarrow as pa

__all__ = ["Captures", "Rejection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """An example of a record that is no capture, and where it stands.

    Parameters
    ----------
    file
        The input as the user named it.
    line
        Its line, from 1.
    offset
        Its first byte, from 0, in the decompressed input.
    reason
        Why it was rejected, as a slug such as ``no-scheme``.
    text
        Its beginning, readable on a terminal.
    """

    file: str
    line: int
    offset: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Captures:
    """A batch of captures in Arrow columns of equal length.

    Parameters
    ----------
    url
        URLs as bytes, as the input has them.
    time, status, mime, digest
        When, with which HTTP status, as which media type and with which payload digest the URL
        was captured; None where the format does not say.
    rejected
        How many records of the batch were no captures, by reason.
    excluded
        How many records of the batch were captures of something that does not count, by reason.
    examples
        The first of the rejected records.
    """

    url: pa.Array
    time: pa.Array | None = None
    status: pa.Array | None = None
    mime: pa.Array | None = None
    digest: pa.Array | None = None
    rejected: Mapping[str, int] = field(default_factory=dict)
    excluded: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[Rejection, ...] = ()

    def __post_init__(self) -> None:
        if self.url.type != pa.binary():
            raise TypeError(f"URLs must be an Arrow binary array, not {self.url.type}")
        for column in (self.time, self.status, self.mime, self.digest):
            if column is not None and len(column) != len(self.url):
                raise ValueError("the columns of a batch differ in length")
        object.__setattr__(self, "rejected", MappingProxyType(dict(self.rejected)))
        object.__setattr__(self, "excluded", MappingProxyType(dict(self.excluded)))
