"""What a chart is: a specification to draw, and everything it shows in words and numbers."""

import csv
import io
import json
import os
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from crawlgauge.errors import CrawlgaugeError
from crawlgauge.report.charts.theme import DPI, themed

__all__ = [
    "MAX_DRAWN_ROWS",
    "RENDERERS",
    "Cell",
    "Chart",
    "NoChart",
    "make_folder",
    "render_svg",
    "to_inert",
    "write_file",
]

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

    def to_csv(self) -> str:
        """Return the data as CSV, safe to be opened by a spreadsheet.

        Text that a spreadsheet would take for a formula gets an apostrophe before it.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([to_inert(value) for value in row] for row in self.rows)
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
        render = RENDERERS.get(Path(path).suffix.lower().removeprefix("."))
        if render is None:
            raise CrawlgaugeError(
                f"{path}: the suffix does not name a format of figures; possible are "
                f"{', '.join(f'.{suffix}' for suffix in RENDERERS)}"
            )
        write_file(Path(path), render(self))

    def _repr_mimebundle_(self, **_options: object) -> dict[str, Any]:
        from altair import SCHEMA_VERSION

        # Notebooks draw the first that they know, and keep the picture for pages without scripts.
        major = SCHEMA_VERSION.removeprefix("v").partition(".")[0]
        return {
            _VEGA_LITE.format(major): themed(self.specification, title=self.title),
            "image/svg+xml": render_svg(self),
            "text/plain": f"{self.title}\n{self.caption}",
        }


def to_inert(value: Cell) -> Cell:
    """Return what a spreadsheet does not take for a formula."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value


# -------------------------------------- charts as pictures, drawn on this machine without a network


_PNG_DPI = 300
"""What printers ask for."""

_POINTS_PER_INCH = 72
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


def render_svg(chart: Chart, *, has_title: bool = True) -> str:
    """Draw a chart as SVG.

    Parameters
    ----------
    chart
        What to draw.
    has_title
        Whether the title is drawn; a page may have it beside the picture.
    """
    import vl_convert

    drawn = themed(chart.specification, title=chart.title if has_title else None)
    svg: str = vl_convert.vegalite_to_svg(drawn, **_options())
    label = quoteattr(f"{chart.title}. {chart.alternative}")
    return svg.replace("<svg ", f'<svg role="img" aria-label={label} ', 1)


def _render_png(chart: Chart) -> bytes:
    """Draw a chart as PNG of the same size on paper."""
    import vl_convert

    drawn, scale = themed(chart.specification, title=chart.title), _POINTS_PER_INCH / DPI
    png: bytes = vl_convert.vegalite_to_png(drawn, scale=scale, ppi=_PNG_DPI, **_options())
    return png


def _render_pdf(chart: Chart) -> bytes:
    """Draw a chart as PDF of the same size on paper."""
    import vl_convert

    drawn = themed(chart.specification, title=chart.title)
    svg = vl_convert.vegalite_to_svg(drawn, **_options())
    # A page of PDF takes the numbers of these attributes for points; the view box scales the rest.
    pdf: bytes = vl_convert.svg_to_pdf(_SIZE.sub(_to_points, svg, count=1))
    return pdf


def _to_points(size: re.Match[str]) -> str:
    width, height = (float(side) * _POINTS_PER_INCH / DPI for side in size.groups())
    return f'width="{width:g}" height="{height:g}"'


def _options() -> dict[str, Any]:
    from altair import SCHEMA_VERSION

    version = ".".join(SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    # All data are within the specification: nothing may be fetched.
    return {"vl_version": version, "allowed_base_urls": []}


RENDERERS: Mapping[str, Callable[[Chart], bytes]] = {
    "svg": lambda chart: render_svg(chart).encode(),
    "png": _render_png,
    "pdf": _render_pdf,
    "csv": lambda chart: chart.to_csv().encode(),
    "json": lambda chart: chart.to_json().encode(),
}
"""What writes a chart, by the suffix of its file."""


# ---------------------------------------------------- files of figures, written whole or not at all


def write_file(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it, so that it is never seen unfinished.

    Parameters
    ----------
    path
        Where; a file of the same name is replaced.
    content
        What.

    Raises
    ------
    CrawlgaugeError
        If it cannot be written.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        raise CrawlgaugeError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder if it is missing.

    Raises
    ------
    CrawlgaugeError
        If it cannot be made, or something else has its name.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CrawlgaugeError(
            f"the folder {path} cannot be made: {error.strerror}; name another one"
        ) from error
