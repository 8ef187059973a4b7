"""What to say, apart from how it is set for a file, a terminal or a page: blocks, and sections."""

import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TextIO

from crawlgauge.errors import CrawlgaugeError
from crawlgauge.report.words import MARKS, UNKNOWN, Phrase, Tone, with_range

if TYPE_CHECKING:
    from rich.table import Table

    from crawlgauge.report.charts.chart import Chart, NoChart

Role = Literal["answer", "heading", "text", "note", "fail", "warn"]


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
class Column:
    """One column of a table.

    Parameters
    ----------
    header
        What stands above it.
    align
        The side on which its cells are aligned; numbers stand to the right.
    is_crawl
        Whether its cells name crawls, which a page lights when they are chosen.
    """

    header: str
    align: Literal["left", "right"] = "left"
    is_crawl: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table.

    Parameters
    ----------
    columns, rows
        Each row has a cell for each column.
    max_width
        Of a line, where prose in it may be wrapped.
    values
        The numbers that cells stand for, by which a page sorts them; None for text.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    max_width: int | None = None
    values: tuple[tuple[float | None, ...], ...] = ()


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


# ------------------------------------------------------------------ what blocks are put together of


Field = (
    tuple[str | Column, str | Callable[[Any], Any]]
    | tuple[str | Column, str | Callable[[Any], Any], Phrase]
)
"""A column's title, how its value is read from an item, and for numbers how they are written."""


def tabulate(items: Iterable[Any], *fields: Field, max_width: int | None = None) -> Grid:
    """Make a table with a row for each item.

    Parameters
    ----------
    items
        What the rows are of.
    *fields
        A title, the name of an attribute or a function, and for numbers and estimates how one is
        written; what has no such phrase is text.
    max_width
        As that of `Grid`.
    """
    columns, readers = [], []
    for title, read, *phrases in fields:
        plain = title if isinstance(title, Column) else Column(header=title)
        columns.append(Column(header=plain.header, align="right") if phrases else plain)
        get = attrgetter(read) if isinstance(read, str) else read
        readers.append((get, phrases[0] if phrases else None))
    cells = [[to_cell(get(item), phrase) for get, phrase in readers] for item in items]
    return Grid(
        columns=tuple(columns),
        rows=tuple(tuple(text for text, _ in row) for row in cells),
        values=tuple(tuple(value for _, value in row) for row in cells),
        max_width=max_width,
    )


def to_cell(value: Any, phrase: Phrase | None) -> tuple[str, float | None]:  # noqa: ANN401
    """Write what a cell shows, beside the number that it stands for."""
    if isinstance(value, tuple):
        return value
    if phrase is None or isinstance(value, str):
        return value, None
    from crawlgauge.model.estimates import Estimate

    if isinstance(value, Estimate):
        return with_range(value, phrase), value.value
    return (UNKNOWN, None) if value is None else (phrase(value), value)


def heading(text: str) -> Paragraph:
    """Return the heading of what follows."""
    return Paragraph(text=text, role="heading")


def notes(*texts: str) -> list[Item]:
    """Return small print."""
    return [Paragraph(text=text, role="note") for text in texts]


def lacking(*reasons: str) -> list[Item]:
    """Return why numbers are missing, marked as these are."""
    return [Paragraph(text=text, first=f"{UNKNOWN} ", rest="  ", role="note") for text in reasons]


def bullets(texts: Iterable[str], role: Role = "text") -> list[Item]:
    """Return the entries of a list."""
    return [Paragraph(text=text, first="• ", rest="  ", role=role) for text in texts]


def cautions(warnings: Sequence[str]) -> list[Block]:
    """Return what to be careful about, if anything."""
    return [[heading("What to be careful about:"), *bullets(warnings)]] if warnings else []


# --------------------------------------------------------------------------- blocks as plain text


_GAP = "  "
_NARROWEST = 12
"""A column is never wrapped below this width: words would be torn apart."""

_WIDTH = 88
NO_BREAK = "\N{NO-BREAK SPACE}"
UNIT = re.compile(r"(?<=\d) (?=(%|million|billion|trillion|years?|months?|days?)(?!\w))")
"""The space between a number and its unit, where no line is broken."""


def render_blocks(blocks: Sequence[Block]) -> str:
    """Return blocks as plain text with a blank line between them, without a final newline.

    Trends are left out: their numbers stand in a table.
    """
    ways: dict[type, Callable[[Any], str]] = {Paragraph: render_paragraph, Grid: _render_grid}
    written = ([ways[type(item)](item) for item in block if type(item) in ways] for block in blocks)
    return "\n\n".join("\n".join(items) for items in written)


def _render_grid(grid: Grid) -> str:
    return render_table(grid.columns, grid.rows, max_width=grid.max_width)


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
        UNIT.sub(NO_BREAK, paragraph.text),
        width,
        initial_indent=paragraph.first,
        subsequent_indent=paragraph.rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped.replace(NO_BREAK, " ")


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
    lines = [[column.header for column in columns], *rows]
    widths = [max(len(cell) for cell in cells) for cells in zip(*lines, strict=True)]
    gaps = len(_GAP) * (len(columns) - 1)
    prose = [k for k, column in enumerate(columns) if column.align == "left"]
    if max_width is not None and prose:
        widest = max(prose, key=lambda k: widths[k])
        excess = max(0, sum(widths) + gaps - max_width)
        widths[widest] = min(widths[widest], max(widths[widest] - excess, _NARROWEST))
    header, *rendered = ["\n".join(_render_row(columns, cells, widths)) for cells in lines]
    return "\n".join([header, "─" * (sum(widths) + gaps), *rendered])


def _render_row(columns: Sequence[Column], cells: Sequence[str], widths: list[int]) -> list[str]:
    wrapped = [
        textwrap.wrap(cell, width) if len(cell) > width else [cell]
        for cell, width in zip(cells, widths, strict=True)
    ]
    return [
        _GAP.join(
            part.rjust(width) if column.align == "right" else part.ljust(width)
            for column, part, width in zip(columns, parts, widths, strict=True)
        ).rstrip()
        for parts in itertools.zip_longest(*wrapped, fillvalue="")
    ]


# ------------------- blocks on a terminal: tables that fit its width, emphasis, and small pictures


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
_COLUMN_GAP = 2
_BARS = "▁▂▃▄▅▆▇█"
_MISSING = "·"


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
        for item in block:
            ways[type(item)](item)


def _draw_sparkline(values: Sequence[float | None]) -> str:
    """Draw numbers as bars of different heights, from zero to the largest."""
    largest = max((value for value in values if value is not None), default=0.0)

    def draw(value: float) -> str:
        eighths = round(value / largest * len(_BARS)) if largest > 0 else 0
        return _BARS[max(0, min(len(_BARS), eighths) - 1)]

    return "".join(_MISSING if value is None else draw(value) for value in values)


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
        least += longest + _COLUMN_GAP
        table.add_column(Text(column.header), justify=column.align, min_width=longest)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table, least


# ------------------------- a section: one question, its answer in a line, in blocks and in figures


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement.

    Parameters
    ----------
    tone
        How it is coloured and marked.
    word
        The judgement in a word or two.
    sentence
        What it rests on.
    """

    tone: Tone
    word: str
    sentence: str

    @property
    def mark(self) -> str:
        """The sign beside the word."""
        return MARKS[self.tone]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the report.

    Parameters
    ----------
    name
        Its place in the page, such as ``strata-host``; no two sections have the same.
    title
        The question that it answers.
    blocks
        The answer. Where it begins with a paragraph that is one, this stands beside the title.
    charts
        Its figures, which stand behind the first block.
    lead
        What stands beside the title, also while the section is folded.
    verdict
        Of the newest crawl, which the top of the page shows.
    """

    name: str
    title: str
    blocks: tuple[Block, ...] = ()
    charts: "tuple[Chart | NoChart, ...]" = ()
    lead: str = ""
    verdict: Verdict | None = None


def combine_sections(usual: Sequence[Section], asked: Sequence[Section]) -> list[Section]:
    """Put what was asked in place of what every report has of the same question, or behind it.

    Raises
    ------
    CrawlgaugeError
        If two answers are of the same question.
    """
    answers = {section.name: section for section in asked}
    if len(answers) < len(asked):
        names = Counter(section.name for section in asked)
        raise CrawlgaugeError(
            f"two answers are of the same question, {names.most_common(1)[0][0]}; a report shows "
            "one of each"
        )
    return [answers.pop(section.name, section) for section in usual] + list(answers.values())
