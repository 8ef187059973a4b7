"""Tables in plain text: a header, a rule, and rows in aligned columns."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Column", "render_table"]

_GAP = "  "
_NARROWEST = 12
"""A column is never wrapped below this width: words would be torn apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its header, and the side on which its cells are aligned."""

    header: str
    align: Literal["left", "right"] = "left"


def render_table(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], *, max_width: int | None = None
) -> str:
    """Return a table as text, without trailing spaces and without a final newline.

    Parameters
    ----------
    columns
        Header and alignment of each column.
    rows
        Cells, one for each column.
    max_width
        Where the table is wider, the cells of its widest left-aligned column are wrapped, so
        that nothing is cut off; columns of numbers keep their width.

    Raises
    ------
    ValueError
        If a row has not one cell for each column.

    Examples
    --------
    >>> print(render_table([Column(header="crawl"), Column(header="URLs", align="right")],
    ...                    [["2020-06", "1,000"], ["2020-12", "980"]]))
    crawl     URLs
    ──────────────
    2020-06  1,000
    2020-12    980
    """
    widths = [
        max(len(cell) for cell in cells)
        for cells in zip(*([column.header for column in columns], *rows), strict=True)
    ]
    if max_width is not None:
        widths = _narrow(columns, widths, max_width)
    lines = _render_row(columns, [column.header for column in columns], widths)
    lines.append("─" * (sum(widths) + len(_GAP) * (len(columns) - 1)))
    for row in rows:
        lines += _render_row(columns, row, widths)
    return "\n".join(lines)


def _narrow(columns: Sequence[Column], widths: list[int], max_width: int) -> list[int]:
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - max_width
    texts = [k for k, column in enumerate(columns) if column.align == "left"]
    if excess <= 0 or not texts:
        return widths
    widest = max(texts, key=lambda k: widths[k])
    narrowed = list(widths)
    narrowed[widest] = min(widths[widest], max(widths[widest] - excess, _NARROWEST))
    return narrowed


def _render_row(columns: Sequence[Column], cells: Sequence[str], widths: list[int]) -> list[str]:
    wrapped = [
        textwrap.wrap(cell, width) if len(cell) > width else [cell]
        for cell, width in zip(cells, widths, strict=True)
    ]
    return [
        _GAP.join(
            _align(column, parts[k] if k < len(parts) else "", width)
            for column, parts, width in zip(columns, wrapped, widths, strict=True)
        ).rstrip()
        for k in range(max(len(parts) for parts in wrapped))
    ]


def _align(column: Column, cell: str, width: int) -> str:
    return cell.rjust(width) if column.align == "right" else cell.ljust(width)
