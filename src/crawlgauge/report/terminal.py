"""Blocks of text on a terminal: tables that fit its width, emphasis, and small pictures."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from crawlgauge.report.blocks import (
    Block,
    Grid,
    Paragraph,
    Role,
    Trend,
    render_paragraph,
    render_table,
    write_blocks,
)

if TYPE_CHECKING:
    from rich.table import Table

_STYLES: dict[Role, str] = {
    "answer": "bold",
    "heading": "bold",
    "text": "",
    "note": "dim",
    "fail": "bold red",
    "warn": "yellow",
}
_MOST_READABLE = 100
"""Longer lines tire the eye."""
_GAP_WIDTH = 2
_BARS = "▁▂▃▄▅▆▇█"
_GAP = "·"


def print_blocks(blocks: Sequence[Block], output: TextIO) -> None:
    """Print blocks with a blank line between them.

    Parameters
    ----------
    blocks
        What to say.
    output
        A terminal.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(file=output, highlight=False, markup=False, emoji=False)

    # Lines are broken by what they say; rich would part numbers from their units.
    def print_paragraph(item: Paragraph) -> None:
        text = render_paragraph(item, min(console.width, _MOST_READABLE))
        console.print(Text(text, style=_STYLES[item.role]), soft_wrap=True)

    def print_trend(item: Trend) -> None:
        bars = (_draw_sparkline(item.values), "cyan")
        console.print(Text.assemble(f"{item.name}: ", bars, f" {item.text}"), soft_wrap=True)

    def print_grid(item: Grid) -> None:
        table, least = _to_rich_table(item, console.width)
        # A table that is too wide is broken by the terminal: nothing is cut off.
        console.print(table, width=max(console.width, least), crop=False)

    ways: dict[type, Callable[[Any], None]] = {
        Paragraph: print_paragraph,
        Trend: print_trend,
        Grid: print_grid,
    }
    for number, block in enumerate(blocks):
        if number:
            console.print()
        write_blocks([block], ways)


def _draw_sparkline(values: Sequence[float | None]) -> str:
    """Draw numbers as bars of different heights, from zero to the largest."""
    largest = max((value for value in values if value is not None), default=0.0)

    def draw(value: float) -> str:
        eighths = round(value / largest * len(_BARS)) if largest > 0 else 0
        return _BARS[max(0, min(len(_BARS), eighths) - 1)]

    return "".join(_GAP if value is None else draw(value) for value in values)


def _to_rich_table(grid: Grid, width: int) -> tuple["Table", int]:
    """Return a table, and the least width that it takes."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    rows = grid.rows
    if len(render_table(grid.columns, rows).split("\n")[1]) > width:
        # Ranges go below their numbers.
        rows = tuple(tuple(cell.replace(" (", "\n(") for cell in row) for row in rows)
    least = 0
    for column, cells in zip(grid.columns, zip(*rows, strict=True), strict=True):
        is_prose = column.align == "left" and any(" " in cell for cell in cells)
        pieces = [piece for cell in (column.header, *cells) for piece in cell.split("\n")]
        words = [word for piece in pieces for word in piece.split()] if is_prose else pieces
        longest = max(map(len, words))
        least += longest + _GAP_WIDTH
        table.add_column(Text(column.header), justify=column.align, min_width=longest)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table, least
