"""A table of results: its rows, and what it says about the targets; as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A target in words, what was measured in the same unit, and whether that is enough."""

    target: str
    found: str
    is_met: bool


def at_least(what: str, limit: float, value: float, unit: str) -> Verdict:
    """Return whether a value is large enough."""
    words = f"{what}: at least {limit:g} {unit}"
    return Verdict(target=words, found=f"{value:.3g} {unit}", is_met=value >= limit)


def at_most(what: str, limit: float, value: float, unit: str) -> Verdict:
    """Return whether a value is small enough."""
    words = f"{what}: at most {limit:g} {unit}"
    return Verdict(target=words, found=f"{value:.3g} {unit}", is_met=value <= limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a table shows; the first column holds names, all others numbers."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: Sequence[str] = ()
    verdicts: Sequence[Verdict] = ()


def to_markdown(result: Result) -> str:
    """Return a result as Markdown that can be read in a terminal, too."""
    parts = [f"**{result.title}**", _to_table(result.header, result.rows), *result.notes]
    if result.verdicts:
        parts.append("\n".join(map(_to_line, result.verdicts)))
    return "\n\n".join(parts) + "\n"


def _to_line(verdict: Verdict) -> str:
    return f"- {'reached' if verdict.is_met else 'missed'}: {verdict.target}; it is {verdict.found}"


def _to_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(2, *map(len, column)) for column in zip(header, *rows, strict=True)]
    rule = tuple("-" * (width - 1) + (":" if place else "-") for place, width in enumerate(widths))
    lines = []
    for cells in (header, rule, *rows):
        name, *numbers = zip(cells, widths, strict=True)
        padded = [name[0].ljust(name[1]), *(cell.rjust(width) for cell, width in numbers)]
        lines.append(f"| {' | '.join(padded)} |")
    return "\n".join(lines)
