"""Objects of a bucket, with the conditions that a store rests on: made if new, changed if same."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

__all__ = ["Conflict", "Head", "Listed", "Objects", "Stored"]


class Conflict(Exception):  # noqa: N818 - the name says what was met
    """An object is not in the state that was the condition of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a server says of an object.

    Parameters
    ----------
    tag
        Another one for each other content.
    n_bytes
        Its size.
    age
        Seconds since it was last written, by the server's own clock.
    """

    tag: str
    n_bytes: int
    age: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An object with its content."""

    content: bytes
    head: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """An object as a listing shows it, which may be late.

    Parameters
    ----------
    name
        Relative to the place that was listed.
    age
        Seconds since it was written, by the server's own clock.
    """

    name: str
    age: float


class Objects(Protocol):
    """All objects below one place; names are relative to it, with ``/`` between their parts.

    What the server refuses, or what cannot be reached, is an `OSError`.
    """

    def read(self, name: str) -> Stored | None:
        """Return an object, None if there is none."""

    def head(self, name: str) -> Head | None:
        """Return what is known of an object, None if there is none."""

    def listed(self, folder: str) -> list[Listed]:
        """Return all objects whose names begin with `folder`."""

    def put(self, name: str, content: bytes) -> None:
        """Write an object, whatever is there."""

    def put_new(self, name: str, content: bytes) -> str:
        """Write an object where there is none; return its tag, or raise `Conflict`."""

    def put_if(self, name: str, content: bytes, tag: str) -> str:
        """Write in place of the object with that tag; return the new tag, or raise `Conflict`."""

    def delete(self, name: str) -> None:
        """Delete an object if it is there."""

    def delete_if(self, name: str, tag: str) -> None:
        """Delete the object with that tag; one that is gone is no matter, else `Conflict`."""

    def upload(self, name: str, path: Path) -> None:
        """Write an object from a file of any size."""

    def unfinished_uploads(self, folder: str) -> list[str]:
        """Return the names, beginning with `folder`, of which parts were sent and no whole."""

    def abort_uploads(self, name: str) -> None:
        """Throw away the parts that were sent of an object."""
