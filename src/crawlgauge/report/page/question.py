"""A further question of the page: blocks of text as paragraphs, lists and tables."""

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from crawlgauge.report.blocks import Block, Grid, Item, Paragraph, Role, Trend
from crawlgauge.report.page.figure import Figure, make_figure
from crawlgauge.report.page.table import Cell, Column, Table, number_cell, text_cell
from crawlgauge.report.section import Section

__all__ = ["Question", "make_question"]

_BULLET = "•"
_NUMBER = re.compile(r"[−+-]?\d[\d,]*(?:\.\d+)?")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Something that stands in a section.

    Parameters
    ----------
    kind
        ``answer``, ``heading``, ``text``, ``note``, ``fail``, ``warn``, ``list`` or ``table``.
    texts
        A paragraph, or the entries of a list.
    table
        Where it is one.
    """

    kind: Role | Literal["list", "table"]
    texts: tuple[str, ...] = ()
    table: Table | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the page shows of a section: the first block, the figures, and the rest."""

    name: str
    title: str
    first: tuple[Piece, ...]
    figures: tuple[Figure, ...]
    rest: tuple[Piece, ...]


def make_question(section: Section) -> Question:
    """Arrange a section for the page.

    Parameters
    ----------
    section
        What is asked and answered.
    """
    arranging = _Arranging(section)
    pieces = [arranging.arrange(block) for block in section.blocks]
    return Question(
        name=section.name,
        title=section.title,
        first=tuple(pieces[0]) if pieces else (),
        figures=tuple(make_figure(chart) for chart in section.charts),
        rest=tuple(piece for block in pieces[1:] for piece in block),
    )


class _Arranging:
    """Turns blocks into pieces; a table is named by the heading above it."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._heading = section.title
        self._n_tables = 0

    def arrange(self, block: Block) -> list[Piece]:
        pieces: list[Piece] = []
        for is_listed, items in groupby(block, _is_listed):
            if is_listed:
                pieces.append(Piece(kind="list", texts=tuple(_text(item) for item in items)))
            else:
                pieces += [
                    self._to_piece(item)
                    for item in items
                    if not isinstance(item, Trend) and not self._repeats_title(item)
                ]
        return pieces

    def _repeats_title(self, item: Paragraph | Grid) -> bool:
        """Tell whether a heading, which a terminal needs, says what stands above the section."""
        is_heading = isinstance(item, Paragraph) and item.role == "heading"
        return is_heading and _text(item).removesuffix(":") == self._section.title

    def _to_piece(self, item: Paragraph | Grid) -> Piece:
        if isinstance(item, Grid):
            self._n_tables += 1
            name = f"{self._section.name}-{self._n_tables}"
            return Piece(kind="table", table=_to_table(item, name, self._heading))
        if item.role == "heading":
            self._heading = _text(item).removesuffix(":")
            return Piece(kind="heading", texts=(self._heading,))
        return Piece(kind=item.role, texts=(_text(item),))


def _is_listed(item: Item) -> bool:
    return isinstance(item, Paragraph) and item.first.strip() == _BULLET


def _text(item: Item) -> str:
    """Return the words of a paragraph, with a mark before them that means something."""
    if isinstance(item, (Grid, Trend)):
        return ""
    mark = item.first.strip()
    return item.text if mark in {"", _BULLET} else f"{mark} {item.text}"


def _to_table(grid: Grid, name: str, caption: str) -> Table:
    return Table(
        name=name,
        caption=caption,
        is_headed=True,
        columns=tuple(
            # Readers who do not see the table hear the names of its columns.
            Column(header=column.header or "note", is_number=column.align == "right")
            for column in grid.columns
        ),
        rows=tuple(
            tuple(
                _to_cell(cell, is_number=column.align == "right")
                for column, cell in zip(grid.columns, row, strict=True)
            )
            for row in grid.rows
        ),
    )


def _to_cell(text: str, *, is_number: bool) -> Cell:
    """Make a cell that is sorted by the number that it begins with, if it is one of numbers."""
    found = _NUMBER.match(text) if is_number else None
    if found is None:
        return text_cell(text)
    value = float(found[0].replace(",", "").replace("−", "-"))
    scale = text[found.end() :].split(maxsplit=1)
    return number_cell(text, value * _SCALES.get(scale[0] if scale else "", 1.0))
