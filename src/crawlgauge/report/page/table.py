"""A table of the page: cells that are read by people, sorted by value and tied to crawls."""

from dataclasses import dataclass

__all__ = ["Cell", "Column", "Table", "number_cell", "text_cell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column.

    Parameters
    ----------
    header
        What stands above it.
    is_number
        Whether its cells stand to the right.
    is_crawl
        Whether its cells name crawls, which are lit when they are chosen.
    """

    header: str
    is_number: bool = False
    is_crawl: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell.

    Parameters
    ----------
    text
        What is shown.
    value
        What is sorted by; None to sort by the text.
    """

    text: str
    value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with a caption.

    Parameters
    ----------
    name
        Its place in the page and the name of its file.
    caption
        What it holds.
    columns, rows
        Each row has a cell for each column.
    is_plain
        Whether it is so long that its rows are written as briefly as can be: cells are sorted by
        what they show, and crawls in it are no buttons.
    is_headed
        Whether a heading above it says the same as its caption, which is then not seen.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    is_plain: bool = False
    is_headed: bool = False


def text_cell(text: str) -> Cell:
    """Make a cell that is sorted by its text."""
    return Cell(text=text)


def number_cell(text: str, value: float | None) -> Cell:
    """Make a cell that shows a number in words and is sorted by it."""
    return Cell(text=text, value=value)
