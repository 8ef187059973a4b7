"""A table of results: its rows, and what it says about the targets; as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Result", "Verdict", "to_markdown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A target and whether it was reached.

    Parameters
    ----------
    target
        In words.
    found
        What was measured instead, in the same unit.
    is_met
        Whether that is enough.
    """

    target: str
    found: str
    is_met: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one table shows.

    Parameters
    ----------
    title
        What was done, with how much data.
    header, rows
        The table; the first column holds names, all others numbers.
    notes
        Sentences below the table.
    verdicts
        What the targets say.
    """

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: Sequence[str] = ()
    verdicts: Sequence[Verdict] = field(default_factory=tuple)


def to_markdown(result: Result) -> str:
    """Return a result as Markdown that can be read in a terminal, too."""
    parts = [f"**{result.title}**", _to_table(result.header, result.rows)]
    parts.extend(result.notes)
    if result.verdicts:
        rows = [
            (item.target, item.found, "reached" if item.is_met else "missed")
            for item in result.verdicts
        ]
        parts.append(_to_table(("target", "measured", ""), rows))
    return "\n\n".join(parts) + "\n"


def _to_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [_to_line(header, widths)]
    rule = ["-" * widths[0], *("-" * (max(width, 2) - 1) + ":" for width in widths[1:])]
    lines.append(f"| {' | '.join(rule)} |")
    lines.extend(_to_line(row, widths) for row in rows)
    return "\n".join(lines)


def _to_line(cells: tuple[str, ...], widths: list[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(max(width, 2)) for cell, width in others)]
    return f"| {' | '.join(padded)} |"
