"""What was damaged in an input, and what was lost by it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Damage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """One place where an input ends early or breaks.

    Parameters
    ----------
    file
        The input as the user named it.
    byte
        Where in the file, from 0; None where it is not known.
    reason
        What is wrong there.
    lost
        What could not be read because of it.
    """

    file: str
    byte: int | None
    reason: str
    lost: str

    def __str__(self) -> str:
        where = "" if self.byte is None else f" at byte {self.byte:,}"
        return f"{self.file} is damaged{where}: {self.reason}; lost: {self.lost}"

    def to_dict(self) -> dict[str, Any]:
        """Return the damage as plain data for JSON."""
        return {"file": self.file, "byte": self.byte, "reason": self.reason, "lost": self.lost}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Damage":
        """Read what `to_dict` wrote."""
        return cls(
            file=str(document["file"]),
            byte=document["byte"],
            reason=str(document["reason"]),
            lost=str(document["lost"]),
        )
