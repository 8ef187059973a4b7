"""What a chart is: a specification to draw, and everything it shows in words and numbers."""

import csv
import io
import json
import os
import re
import secrets
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import quoteattr

from crawlgauge.errors import CrawlgaugeError
from crawlgauge.report.words import read_toml

__all__ = ["Chart"]

# ------------------------------------------------------------------------------ how all charts look
# Sizes for a paper's columns, fonts, and colours that survive print in grey. Charts name what a
# mark is for (its style) and the theme says how that looks, so that a page can switch between light
# and dark by the configuration alone.


DPI = 96
"""Pixels of Vega in an inch, as those of SVG."""

_MM_PER_INCH = 25.4


def pixels(millimetres: float) -> int:
    """Return a length on paper in pixels."""
    return round(millimetres / _MM_PER_INCH * DPI)


COLUMN_WIDTH, HEIGHT = pixels(84), pixels(74)
"""A column of a paper, and the height of all charts in it, so that they can stand side by side."""

PAGE_WIDTH, PAGE_HEIGHT = pixels(174), pixels(110)
"""Both columns of a paper, and the height of charts that take them."""

_THEME = read_toml("charts/theme")
FONT: str = _THEME["config"]["font"]
_TITLE: dict[str, Any] = _THEME["config"]["title"]
_ON_SCREEN = 1.22
"""Letters of a page are larger than those of a paper: a telephone shows a column as it is."""
# Of the widest sans serif fonts in bold; a title that is broken too early does no harm.
_LETTER_WIDTH = 0.62


def themed(
    specification: Mapping[str, Any],
    *,
    dark: bool = False,
    title: str | None = None,
    on_screen: bool = False,
) -> dict[str, Any]:
    """Return a specification with the look of all charts.

    Parameters
    ----------
    specification
        Of a chart.
    dark
        For a dark background.
    title
        To be drawn above the chart, in as many lines as it needs, which add to its height.
    on_screen
        With the larger letters of a page.
    """
    scale = _ON_SCREEN if on_screen else 1.0
    sizes = {name: scale * size for name, size in _THEME["sizes"].items()}
    config = _fill_in(_THEME["config"], {**_THEME["dark" if dark else "light"], **sizes})
    whole = {**specification, "config": {**config, "view": {"stroke": None}}}
    if title is not None:
        width, height = specification["width"], specification["height"]
        n_letters = int(width / (_LETTER_WIDTH * _TITLE["fontSize"]))
        lines = textwrap.wrap(title, n_letters)
        whole["title"] = {"text": lines, "anchor": "start"}
        whole["height"] = height + len(lines) * _TITLE["lineHeight"] + _TITLE["offset"]
    return whole


def _fill_in(part: Any, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any TOML
    if isinstance(part, dict):
        return {key: _fill_in(value, values) for key, value in part.items()}
    return values.get(part, part) if isinstance(part, str) else part


# ---------------------------------------------------------------------------------- what a chart is


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
        suffix = Path(path).suffix.lower().removeprefix(".")
        if suffix not in SUFFIXES:
            raise CrawlgaugeError(
                f"{path}: the suffix does not name a format of figures; possible are "
                f"{', '.join(f'.{known}' for known in SUFFIXES)}"
            )
        write_file(Path(path), render_chart(self, suffix))

    def resized(self, width: int, height: int) -> "Chart":
        """Return the figure with another size in pixels."""
        specification = {**self.specification, "width": width, "height": height}
        return replace(self, specification=specification)

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
    is_formula = isinstance(value, str) and value.startswith(_FORMULA_STARTS)
    return f"'{value}" if is_formula else value


# -------------------------------------- charts as pictures, drawn on this machine without a network


_PNG_DPI = 300
"""What printers ask for."""

_POINTS_PER_INCH = 72
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


def render_svg(chart: Chart, *, has_title: bool = True, on_screen: bool = False) -> str:
    """Draw a chart as SVG.

    Parameters
    ----------
    chart
        What to draw.
    has_title
        Whether the title is drawn; a page or a caption may have it beside the picture.
    on_screen
        With the larger letters of a page.
    """
    import vl_convert
    from altair import SCHEMA_VERSION

    title = chart.title if has_title else None
    drawn = themed(chart.specification, title=title, on_screen=on_screen)
    version = ".".join(SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    # All data are within the specification: nothing may be fetched.
    svg: str = vl_convert.vegalite_to_svg(drawn, vl_version=version, allowed_base_urls=[])
    label = quoteattr(f"{chart.title}. {chart.alternative}")
    return svg.replace("<svg ", f'<svg role="img" aria-label={label} ', 1)


def read_size(svg: str) -> tuple[float, float]:
    """Read width and height of a drawing."""
    size = _SIZE.search(svg)
    if size is None:
        raise ValueError("a drawing without width and height")
    return float(size[1]), float(size[2])


def convert_svg(svg: str, suffix: str) -> bytes:
    """Return a drawing as ``svg``, ``png`` or ``pdf`` of the same size on paper."""
    import vl_convert

    if suffix == "png":
        scale = _POINTS_PER_INCH / DPI
        png: bytes = vl_convert.svg_to_png(svg, scale=scale, ppi=_PNG_DPI)
        return png
    if suffix == "pdf":
        # A page of PDF takes the numbers of these attributes for points; the view box scales the
        # rest.
        pdf: bytes = vl_convert.svg_to_pdf(_SIZE.sub(_to_points, svg, count=1))
        return pdf
    return svg.encode()


def _to_points(size: re.Match[str]) -> str:
    width, height = (float(side) * _POINTS_PER_INCH / DPI for side in size.groups())
    return f'width="{width:g}" height="{height:g}"'


def render_chart(chart: Chart, suffix: str, *, has_title: bool = True) -> bytes:
    """Return the content of a chart's file.

    Parameters
    ----------
    chart
        What to write.
    suffix
        One of `SUFFIXES`.
    has_title
        As for `render_svg`.
    """
    if suffix == "csv":
        return chart.to_csv().encode()
    if suffix == "json":
        return chart.to_json().encode()
    return convert_svg(render_svg(chart, has_title=has_title), suffix)


PICTURES = ("svg", "png", "pdf")
SUFFIXES = (*PICTURES, "csv", "json")
"""What a chart is written as, by the suffix of its file."""


# ------------------------------------------------------ drawings that stand within something larger


_SVG = "http://www.w3.org/2000/svg"
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


def to_inline_svg(svg: str, name: str) -> str:
    """Make a drawing fit to stand among others, in a page or on a plate.

    Its ids get the chart's name, so that none occurs twice; the background, roles and labels go, as
    what it stands in has them; and what weighs without being seen goes too.

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
    # What is around it names the picture; a screen reader need not walk through its parts.
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    return ET.tostring(root, encoding="unicode")


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


_LETTER = 20
"""Room above a panel for its letter."""


def draw_plate(panels: Sequence[Chart | NoChart], *, has_titles: bool = True) -> str:
    """Draw charts as the panels (a), (b), ... of one picture, two side by side, as SVG.

    Parameters
    ----------
    panels
        In order; one that cannot be drawn leaves its place empty, so that letters stay the same.
    has_titles
        Whether each panel has its title above it.
    """
    gap = PAGE_WIDTH - 2 * COLUMN_WIDTH
    drawn, height = [], 0.0
    for row in range(0, len(panels), 2):
        tallest = 0.0
        for place, panel in enumerate(panels[row : row + 2]):
            x = place * (COLUMN_WIDTH + gap)
            name = f"({chr(ord('a') + row + place)})"
            drawn.append(f'<text x="{x + 4}" y="{height + 14}" font-weight="bold">{name}</text>')
            if isinstance(panel, Chart):
                svg = to_inline_svg(render_svg(panel, has_title=has_titles), panel.name)
                drawn.append(svg.replace("<svg ", f'<svg x="{x}" y="{height + _LETTER}" ', 1))
                tallest = max(tallest, read_size(svg)[1])
        height += _LETTER + tallest
    label = quoteattr(". ".join(panel.title for panel in panels))
    return (
        f'<svg xmlns="{_SVG}" role="img" aria-label={label} width="{PAGE_WIDTH}" '
        f'height="{height:g}" viewBox="0 0 {PAGE_WIDTH} {height:g}" font-family="{FONT}" '
        f'font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>{"".join(drawn)}</svg>'
    )


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
    except FileExistsError as error:
        raise CrawlgaugeError(f"{path} is a file; name a folder") from error
    except OSError as error:
        raise CrawlgaugeError(
            f"the folder {path} cannot be made: {error.strerror}; name another one"
        ) from error
