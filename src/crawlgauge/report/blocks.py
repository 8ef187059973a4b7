"""Text in blocks: what to say, apart from how it is set, for a file or for a terminal."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from crawlgauge.report.text_table import Column, render_table

__all__ = [
    "Block",
    "Grid",
    "Item",
    "Paragraph",
    "Role",
    "Trend",
    "render_blocks",
    "render_paragraph",
]

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
