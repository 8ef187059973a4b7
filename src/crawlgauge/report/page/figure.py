"""A figure of the page: the still picture, its words, and its data as a table."""

from dataclasses import dataclass
from typing import Any

from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.theme import COLUMN_WIDTH
from crawlgauge.report.page.still import Still, draw_still
from crawlgauge.report.page.table import Cell, Column, Table
from crawlgauge.report.range_text import UNKNOWN

__all__ = ["Figure", "make_figure", "to_live"]

_CRAWL_COLUMNS = frozenset({"crawl", "a", "b"})
"""Columns in which charts name crawls."""

_OF_CRAWLS = frozenset({"date_a", "n_a", "date_b", "n_b"})
"""Columns that repeat what the table of crawls says; downloads have them, the page needs not."""

_DIGITS = 6
_WIDE = 1.5 * COLUMN_WIDTH
"""A chart wider than this takes the whole width of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What the page shows of a chart.

    Parameters
    ----------
    name, title
        Of the chart.
    caption, alternative
        In words, for all and for those who do not see the picture.
    reason
        Why there is no picture; empty if there is one.
    still
        The picture; None if there is none.
    table
        Its data; None if the chart is dense, or if there is none.
    n_rows
        How many rows the data have.
    """

    name: str
    title: str
    caption: str = ""
    alternative: str = ""
    reason: str = ""
    still: Still | None = None
    table: Table | None = None
    n_rows: int = 0

    @property
    def is_wide(self) -> bool:
        """Whether it needs the whole width of the page."""
        return self.still is not None and self.still.width > _WIDE


def make_figure(chart: Chart | NoChart) -> Figure:
    """Draw a chart and put its words and data beside it.

    Parameters
    ----------
    chart
        What to show; or why there is nothing.
    """
    if isinstance(chart, NoChart):
        return Figure(name=chart.name, title=chart.title, reason=chart.reason)
    return Figure(
        name=chart.name,
        title=chart.title,
        caption=chart.caption,
        alternative=chart.alternative,
        still=draw_still(chart),
        table=None if chart.is_dense else _to_table(chart),
        n_rows=len(chart.rows),
    )


def to_live(chart: Chart) -> dict[str, Any]:
    """Return what the script needs: the data once, and how to draw them.

    Parameters
    ----------
    chart
        Not a dense one: of that the page has the picture only.
    """
    values = [dict(zip(chart.columns, row, strict=True)) for row in chart.rows]
    datasets = chart.specification.get("datasets", {})
    own = [name for name, rows in datasets.items() if rows == values]
    # The script puts the rows into the specification, so that they stand in the page once.
    others = {name: rows for name, rows in datasets.items() if name not in own}
    return {
        "name": chart.name,
        "columns": chart.columns,
        "rows": chart.rows,
        "datasets": own,
        "specification": {**chart.specification, "datasets": others},
    }


def _to_table(chart: Chart) -> Table:
    places = [k for k, column in enumerate(chart.columns) if column not in _OF_CRAWLS]
    return Table(
        name=f"data-{chart.name}",
        caption=f"Data: {chart.title}",
        columns=tuple(
            Column(
                header=chart.columns[place],
                is_number=_is_numeric(chart, place),
                is_crawl=chart.columns[place] in _CRAWL_COLUMNS,
            )
            for place in places
        ),
        rows=tuple(tuple(_to_cell(row[place]) for place in places) for row in chart.rows),
        is_plain=True,
    )


def _is_numeric(chart: Chart, place: int) -> bool:
    return all(isinstance(row[place], (int, float, type(None))) for row in chart.rows)


def _to_cell(value: str | float | None) -> Cell:
    if value is None:
        return Cell(text=UNKNOWN)
    if isinstance(value, str):
        return Cell(text=value)
    text = f"{value:,}" if isinstance(value, int) else f"{value:.{_DIGITS}g}"
    return Cell(text=text.replace("-", "−"), value=value)
