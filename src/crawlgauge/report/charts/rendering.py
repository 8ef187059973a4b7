"""Specifications as pictures, drawn on this machine without a network."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

from crawlgauge.report.charts.theme import DPI, themed

__all__ = ["PNG_DPI", "Drawing", "render_pdf", "render_png", "render_svg"]

PNG_DPI = 300
"""What printers ask for."""

_POINTS_PER_INCH = 72
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A picture to be drawn: what, under which title, and what it says to those who cannot see."""

    specification: Mapping[str, Any]
    title: str
    alternative: str


def render_svg(drawing: Drawing, *, dark: bool = False, has_title: bool = True) -> str:
    """Draw a picture as SVG.

    Parameters
    ----------
    drawing
        What to draw.
    dark
        For a dark background.
    has_title
        Whether the title is drawn; a page may have it beside the picture.
    """
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(
        _to_draw(drawing, dark=dark, has_title=has_title), **_options()
    )
    label = quoteattr(f"{drawing.title}. {drawing.alternative}")
    return svg.replace("<svg ", f'<svg role="img" aria-label={label} ', 1)


def render_png(drawing: Drawing, *, dots_per_inch: float = PNG_DPI) -> bytes:
    """Draw a picture as PNG of the same size on paper.

    Parameters
    ----------
    drawing
        What to draw.
    dots_per_inch
        How finely.
    """
    import vl_convert

    png: bytes = vl_convert.vegalite_to_png(
        _to_draw(drawing), scale=_POINTS_PER_INCH / DPI, ppi=dots_per_inch, **_options()
    )
    return png


def render_pdf(drawing: Drawing) -> bytes:
    """Draw a picture as PDF of the same size on paper.

    Parameters
    ----------
    drawing
        What to draw.
    """
    import vl_convert

    svg = vl_convert.vegalite_to_svg(_to_draw(drawing), **_options())
    # A page of PDF takes the numbers of these attributes for points; the view box scales the rest.
    pdf: bytes = vl_convert.svg_to_pdf(_SIZE.sub(_to_points, svg, count=1))
    return pdf


def _to_points(size: re.Match[str]) -> str:
    width, height = (float(side) * _POINTS_PER_INCH / DPI for side in size.groups())
    return f'width="{width:g}" height="{height:g}"'


def _to_draw(drawing: Drawing, *, dark: bool = False, has_title: bool = True) -> dict[str, Any]:
    title = drawing.title if has_title else None
    return themed(drawing.specification, dark=dark, title=title)


def _options() -> dict[str, Any]:
    from altair import SCHEMA_VERSION

    version = ".".join(SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    # All data are within the specification: nothing may be fetched.
    return {"vl_version": version, "allowed_base_urls": []}
