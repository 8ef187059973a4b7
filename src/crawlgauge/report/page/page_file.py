"""A report that was written: where it lies and what is in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["ReportFile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFile:
    """A page on the disk.

    Parameters
    ----------
    path
        Where it lies.
    n_bytes
        Its size.
    n_charts
        How many figures are drawn in it.
    """

    path: Path
    n_bytes: int
    n_charts: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {"path": str(self.path), "n_bytes": self.n_bytes, "n_charts": self.n_charts}
