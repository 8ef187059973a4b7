"""A figure of the page: the still picture, its words, and its data as a table."""

import base64
import re
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from xml.etree import ElementTree as ET

from crawlgauge.report.blocks import Column, Grid
from crawlgauge.report.charts.chart import Chart, NoChart, render_svg
from crawlgauge.report.charts.theme import COLUMN_WIDTH
from crawlgauge.report.page.safe_text import to_visible
from crawlgauge.report.page.tables import Table
from crawlgauge.report.words import UNKNOWN

__all__ = ["Figure", "draw_still", "make_figure", "to_inline_svg", "to_live"]


# --------------------------------------------------------- charts as still pictures within the page


_SVG = "http://www.w3.org/2000/svg"
_PNG_SCALE = 2
"""Twice the pixels of a page: sharp on fine screens and on paper."""

_PNG_HEADER = 8
_DROPPED = {"role", "font-family", "pointer-events", "class", "version"}
"""What the page itself says for all charts, or what only a live chart needs."""

_INHERITED = (
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "font-size",
    "font-weight",
    "text-anchor",
)
"""What may be said once for a group, as its parts take it over."""

_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """A picture.

    Parameters
    ----------
    width, height
        In pixels of the page.
    svg
        An SVG element; empty if the picture is dense.
    png
        A data URL of a PNG; empty if it is not.
    """

    width: float
    height: float
    svg: str = ""
    png: str = ""


def draw_still(chart: Chart) -> Still:
    """Draw a chart as SVG, or as PNG if it has too many marks for a page.

    Parameters
    ----------
    chart
        What to draw.
    """
    import vl_convert

    # Characters that XML does not allow would end the program, not only the drawing.
    visible = replace(chart, specification=_make_visible(chart.specification))
    svg = to_visible(render_svg(visible, has_title=False))
    width, height = _read_size(svg)
    if not chart.is_dense:
        return Still(width=width, height=height, svg=to_inline_svg(svg, chart.name))
    png = _compress_png(vl_convert.svg_to_png(svg, scale=_PNG_SCALE))
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return Still(width=width, height=height, png=url)


def to_inline_svg(svg: str, name: str) -> str:
    """Make a drawing fit to stand within a page among others.

    Its ids get the chart's name, so that none occurs twice; the background, roles and labels go, as
    the page has them; and what weighs without being seen goes too.

    Parameters
    ----------
    svg
        As it was drawn.
    name
        Of the chart.
    """
    ET.register_namespace("", _SVG)
    root = ET.fromstring(svg)  # noqa: S314 - drawn by this program a moment ago
    background = root.find(f"{{{_SVG}}}rect")
    if background is not None:
        root.remove(background)
    for element in root.iter():
        for child in [child for child in element if child.get("display") == "none"]:
            element.remove(child)
        _clean(element, name)
    for group in root.iter(f"{{{_SVG}}}g"):
        _say_once(group)
    # The page names the picture; a screen reader need not walk through its parts.
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    return ET.tostring(root, encoding="unicode")


def _make_visible(part: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(part, str):
        return to_visible(part)
    if isinstance(part, Mapping):
        return {to_visible(key): _make_visible(value) for key, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_make_visible(value) for value in part]
    return part


def _clean(element: ET.Element, name: str) -> None:
    for key, value in list(element.attrib.items()):
        if key in _DROPPED or key.startswith("aria-") or (key, value) == ("opacity", "1"):
            del element.attrib[key]
        elif key == "id":
            element.set(key, f"{name}-{value}")
        else:
            shortened = _LONG_NUMBER.sub(_shorten, value)
            element.set(key, _REFERENCE.sub(rf"url(#{name}-\1)", shortened))


def _shorten(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _say_once(group: ET.Element) -> None:
    """Move what all parts of a group have in common to the group."""
    for key in _INHERITED:
        values = {part.get(key) for part in group}
        if len(values) == 1 and len(group) > 1 and None not in values:
            group.set(key, values.pop() or "")
            for part in group:
                del part.attrib[key]


def _read_size(svg: str) -> tuple[float, float]:
    """Read the size from the opening tag."""
    tag = svg[: svg.index(">")]
    width, height = (re.search(rf'\s{side}="([\d.]+)"', tag) for side in ("width", "height"))
    if width is None or height is None:
        raise ValueError("a drawing without width and height")
    return float(width[1]), float(height[1])


def _compress_png(png: bytes) -> bytes:
    """Pack the pixels of a PNG as tightly as can be; drawing packs them in haste."""
    before, pixels, after = bytearray(png[:_PNG_HEADER]), bytearray(), bytearray()
    place = _PNG_HEADER
    while place < len(png):
        n_bytes, kind = struct.unpack(">I4s", png[place : place + 8])
        end = place + 12 + n_bytes
        if kind == b"IDAT":
            pixels += png[place + 8 : end - 4]
        else:
            (after if pixels else before).extend(png[place:end])
        place = end
    packed = b"IDAT" + zlib.compress(zlib.decompress(pixels), 9)
    chunk = struct.pack(">I", len(packed) - 4) + packed + struct.pack(">I", zlib.crc32(packed))
    return bytes(before + chunk + after)


# ---------------------- A figure of the page: the still picture, its words, and its data as a table


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

    def to_column(place: int) -> Column:
        values = [row[place] for row in chart.rows]
        is_numeric = all(isinstance(value, (int, float, type(None))) for value in values)
        header = chart.columns[place]
        align: Literal["left", "right"] = "right" if is_numeric else "left"
        return Column(header=header, align=align, is_crawl=header in _CRAWL_COLUMNS)

    return Table(
        name=f"data-{chart.name}",
        caption=f"Data: {chart.title}",
        grid=Grid(
            columns=tuple(map(to_column, places)),
            rows=tuple(tuple(_write(row[place]) for place in places) for row in chart.rows),
        ),
        is_plain=True,
    )


def _write(value: str | float | None) -> str:
    if value is None or isinstance(value, str):
        return UNKNOWN if value is None else value
    text = f"{value:,}" if isinstance(value, int) else f"{value:.{_DIGITS}g}"
    return text.replace("-", "−")
