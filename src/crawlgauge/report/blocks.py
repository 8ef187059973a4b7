"""Text in blocks: what to say, apart from how it is set, for a file or for a terminal."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Block",
    "Column",
    "Grid",
    "Item",
    "Paragraph",
    "Role",
    "Trend",
    "render_blocks",
    "render_paragraph",
    "render_table",
]


# ------------------------------ tables in plain text: a header, a rule, and rows in aligned columns


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


# ----------------------------------------------------------------------------------- text in blocks


Role = Literal["answer", "heading", "text", "note", "fail", "warn"]

_WIDTH = 88
_NO_BREAK = "\N{NO-BREAK SPACE}"
_UNIT = re.compile(r"(?<=\d) (?=(%|million|billion|trillion|years?|months?|days?)(?!\w))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Words that are broken into lines as need be.

    Parameters
    ----------
    text
        The words.
    first, rest
        What the first line, and all further lines, begin with.
    role
        What the words are for.
    """

    text: str
    first: str = ""
    rest: str = ""
    role: Role = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    max_width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Numbers in a row, for a small picture where one can be shown; None where one is missing.

    Parameters
    ----------
    name
        What they are.
    values
        In order of time.
    text
        The numbers in words: from where to where.
    """

    name: str
    values: tuple[float | None, ...]
    text: str


Item = Paragraph | Grid | Trend
Block = Sequence[Item]


def render_blocks(blocks: Sequence[Block]) -> str:
    """Return blocks as plain text with a blank line between them, without a final newline.

    Trends are left out: their numbers stand in a table.
    """
    return "\n\n".join(
        "\n".join(_render(item) for item in block if not isinstance(item, Trend))
        for block in blocks
    )


def _render(item: Paragraph | Grid) -> str:
    if isinstance(item, Grid):
        return render_table(item.columns, item.rows, max_width=item.max_width)
    return render_paragraph(item)


def render_paragraph(paragraph: Paragraph, width: int = _WIDTH) -> str:
    """Break words into lines, but no number from its unit.

    Parameters
    ----------
    paragraph
        The words.
    width
        Of a line.
    """
    wrapped = textwrap.fill(
        _UNIT.sub(_NO_BREAK, paragraph.text),
        width,
        initial_indent=paragraph.first,
        subsequent_indent=paragraph.rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped.replace(_NO_BREAK, " ")
