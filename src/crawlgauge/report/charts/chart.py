"""What a chart is: a specification to draw, and everything it shows in words and numbers."""

import csv
import io
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlgauge.errors import CrawlgaugeError
from crawlgauge.report.charts.rendering import Drawing, render_pdf, render_png, render_svg
from crawlgauge.report.charts.theme import themed
from crawlgauge.report.charts.writing import write_file

__all__ = ["MAX_DRAWN_ROWS", "Cell", "Chart", "NoChart"]

Cell = str | float | int | None

MAX_DRAWN_ROWS = 40 * 40
"""Rows of a heatmap of 40 crawls; charts of more weigh a page down and are shown as pictures."""

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_VEGA_LITE = "application/vnd.vegalite.v{}+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoChart:
    """A figure that the data do not allow.

    Parameters
    ----------
    name, title
        As those of `Chart`.
    reason
        Why there is no figure, as a clause without a full stop.
    """

    name: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One figure.

    Parameters
    ----------
    name
        Name of its file and of its place in the page, such as ``containment``.
    title
        States what the figure shows.
    caption
        In words, with the numbers in it.
    alternative
        The text for readers who cannot see the figure: what is drawn, and what follows.
    columns, rows
        The data that are drawn, for downloads and for tables.
    specification
        In Vega-Lite, with the data in it; it has no title and no colours of its own.
    """

    name: str
    title: str
    caption: str
    alternative: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    specification: Mapping[str, Any]

    @property
    def is_dense(self) -> bool:
        """Whether it has so many marks that a picture serves better than an interactive chart."""
        return len(self.rows) > MAX_DRAWN_ROWS

    @property
    def drawing(self) -> Drawing:
        """What is needed to draw it as a picture."""
        return Drawing(
            specification=self.specification, title=self.title, alternative=self.alternative
        )

    def to_csv(self) -> str:
        """Return the data as CSV, safe to be opened by a spreadsheet.

        Text that a spreadsheet would take for a formula gets an apostrophe before it.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_to_cell(value) for value in row] for row in self.rows)
        return text.getvalue()

    def to_json(self) -> str:
        """Return the figure as a Vega-Lite specification that draws as it is."""
        return json.dumps(themed(self.specification, title=self.title), ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure into a file, in the format that its suffix names.

        Parameters
        ----------
        path
            Ends in ``.svg``, ``.png`` or ``.pdf`` for a picture, ``.csv`` for the data, or
            ``.json`` for a Vega-Lite specification.

        Raises
        ------
        CrawlgaugeError
            If the suffix is another one, or the file cannot be written.
        """
        render = _RENDERERS.get(Path(path).suffix.lower())
        if render is None:
            raise CrawlgaugeError(
                f"{path}: the suffix does not name a format of figures; possible are "
                f"{', '.join(_RENDERERS)}"
            )
        write_file(Path(path), render(self))

    def _repr_mimebundle_(self, **_options: object) -> dict[str, Any]:
        from altair import SCHEMA_VERSION

        # Notebooks draw the first that they know, and keep the picture for pages without scripts.
        major = SCHEMA_VERSION.removeprefix("v").partition(".")[0]
        return {
            _VEGA_LITE.format(major): themed(self.specification, title=self.title),
            "image/svg+xml": render_svg(self.drawing),
            "text/plain": f"{self.title}\n{self.caption}",
        }


def _to_cell(value: Cell) -> Cell:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value


_RENDERERS: Mapping[str, Callable[[Chart], bytes]] = {
    ".svg": lambda chart: render_svg(chart.drawing).encode(),
    ".png": lambda chart: render_png(chart.drawing),
    ".pdf": lambda chart: render_pdf(chart.drawing),
    ".csv": lambda chart: chart.to_csv().encode(),
    ".json": lambda chart: chart.to_json().encode(),
}
