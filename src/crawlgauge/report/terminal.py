"""Blocks of text on a terminal: tables that fit its width, emphasis, and small pictures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from crawlgauge.report.blocks import Block, Grid, Item, Paragraph, Role, Trend, keep_units

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["draw_sparkline", "print_blocks"]

_STYLES: dict[Role, str] = {
    "answer": "bold",
    "heading": "bold",
    "text": "",
    "note": "dim",
    "fail": "bold red",
    "warn": "yellow",
}
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

    console = Console(file=output, highlight=False, markup=False, emoji=False)
    for number, block in enumerate(blocks):
        if number:
            console.print()
        for item in block:
            console.print(_to_rich(item))


def draw_sparkline(values: Sequence[float | None]) -> str:
    """Draw numbers as bars of different heights, from zero to the largest.

    Examples
    --------
    >>> draw_sparkline([0.1, None, 0.2, 0.4])
    '▂·▄█'
    """
    known = [value for value in values if value is not None]
    largest = max(known, default=0.0)
    return "".join(_GAP if value is None else _BARS[_height(value, largest)] for value in values)


def _height(value: float, largest: float) -> int:
    if largest <= 0:
        return 0
    return max(0, min(len(_BARS), round(value / largest * len(_BARS))) - 1)


def _to_rich(item: Item) -> "RenderableType":
    from rich.text import Text

    if isinstance(item, Grid):
        return _to_rich_table(item)
    if isinstance(item, Trend):
        return Text.assemble(
            f"{item.name}: ", (draw_sparkline(item.values), "cyan"), f" {item.text}"
        )
    return _to_rich_paragraph(item)


def _to_rich_table(grid: Grid) -> "RenderableType":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in grid.columns:
        is_number = column.align == "right"
        table.add_column(
            Text(column.header), justify=column.align, no_wrap=is_number, overflow="fold"
        )
    for row in grid.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _to_rich_paragraph(paragraph: Paragraph) -> "RenderableType":
    from rich.table import Table
    from rich.text import Text

    text = Text(keep_units(paragraph.text), style=_STYLES[paragraph.role])
    if not paragraph.first and not paragraph.rest:
        return text
    # Two columns: what stands before the first line, and the text beside it.
    width = max(len(paragraph.first), len(paragraph.rest))
    beside = Table.grid()
    beside.add_column(width=width)
    beside.add_column(overflow="fold")
    beside.add_row(Text(paragraph.first, style=_STYLES[paragraph.role]), text)
    return beside
