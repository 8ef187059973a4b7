"""How all charts look: sizes for a paper's columns, fonts, and colours that survive print in grey.

Charts name what a mark is for (its style) and the theme says how that looks, so that a page can
switch between light and dark by the configuration alone.
"""

import textwrap
from collections.abc import Mapping
from typing import Any

__all__ = ["COLUMN_WIDTH", "DPI", "PAGE_WIDTH", "themed"]

DPI = 96
"""Pixels of Vega in an inch, as those of SVG."""

_MM_PER_INCH = 25.4
COLUMN_WIDTH = round(84 / _MM_PER_INCH * DPI)
"""A column of a paper, 84 mm."""

PAGE_WIDTH = round(174 / _MM_PER_INCH * DPI)
"""Both columns of a paper, 174 mm."""

_FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"
_LABEL_SIZE = 9
_TEXT_SIZE = 10
_TITLE_SIZE = 11
# Of the widest sans serif fonts in bold; a title that is broken too early does no harm.
_LETTER_WIDTH = 0.62

_LIGHT = {
    "background": "#ffffff",
    "ink": "#1a1a1a",
    "muted": "#595959",
    "grid": "#e3e3e3",
    "data": "#1f5a94",
    "fit": "#b84a00",
    "ramp": ["#79cf50", "#23a785", "#2b778d", "#424586", "#46085c"],
    "series": ["#1f5a94", "#b84a00", "#4d4d4d", "#0f7b6c", "#8a5a9e", "#8c6d00", "#a3195b"],
}
_DARK = {
    "background": "#16181c",
    "ink": "#ececec",
    "muted": "#a8a8a8",
    "grid": "#33363c",
    "data": "#7db8f0",
    "fit": "#ff9a4d",
    "ramp": ["#46558c", "#2a788e", "#22a884", "#7ad151", "#fde725"],
    "series": ["#7db8f0", "#ff9a4d", "#c4c4c4", "#4cc9b0", "#c79bdc", "#e0c04d", "#f07aad"],
}


def themed(
    specification: Mapping[str, Any], *, dark: bool = False, title: str | None = None
) -> dict[str, Any]:
    """Return a specification with the look of all charts.

    Parameters
    ----------
    specification
        Of a chart.
    dark
        For a dark background.
    title
        To be drawn above the chart, in as many lines as it needs.
    """
    whole = {**specification, "config": _configure(_DARK if dark else _LIGHT)}
    if title is not None:
        width = specification.get("width", COLUMN_WIDTH)
        n_letters = int(width / (_LETTER_WIDTH * _TITLE_SIZE))
        whole["title"] = {"text": textwrap.wrap(title, n_letters), "anchor": "start"}
    return whole


def _configure(colours: Mapping[str, Any]) -> dict[str, Any]:
    ink, muted, data, fit = (colours[name] for name in ("ink", "muted", "data", "fit"))
    return {
        # A title or a text alternative stands beside each chart; thousands of labelled marks
        # would keep a screen reader busy for hours.
        "aria": False,
        "background": colours["background"],
        "font": _FONT,
        "padding": 4,
        "view": {"stroke": None},
        "title": {
            "color": ink,
            "fontSize": _TITLE_SIZE,
            "fontWeight": "bold",
            "frame": "bounds",
            "offset": 8,
        },
        "axis": {
            "labelColor": ink,
            "labelFontSize": _LABEL_SIZE,
            "titleColor": ink,
            "titleFontSize": _TEXT_SIZE,
            "titleFontWeight": "normal",
            "gridColor": colours["grid"],
            "domainColor": muted,
            "tickColor": muted,
            "tickSize": 3,
            "titlePadding": 5,
        },
        "axisBand": {"grid": False, "domain": False, "ticks": False},
        "legend": {
            "labelColor": ink,
            "labelFontSize": _LABEL_SIZE,
            "titleColor": ink,
            "titleFontSize": _LABEL_SIZE,
            "titleFontWeight": "normal",
            "orient": "bottom",
            "labelLimit": 200,
            "titleLimit": 300,
            "symbolStrokeWidth": 1.5,
            "gradientThickness": 8,
            "padding": 0,
            "offset": 6,
        },
        "mark": {"color": data},
        "point": {"filled": False, "strokeWidth": 1.2, "size": 26},
        "line": {"strokeWidth": 1.6},
        "rect": {"stroke": ink, "strokeWidth": 0},
        "bar": {"color": data},
        "style": {
            "data": {"color": data},
            "muted": {"color": muted},
            "dot": {"fill": data, "stroke": data},
            "fit": {"color": fit, "strokeWidth": 2},
            "band": {"color": fit, "fillOpacity": 0.22, "strokeWidth": 0},
            "edge": {"color": fit, "strokeDash": [2, 2], "strokeWidth": 1},
            "guide": {"color": muted, "strokeDash": [5, 3], "strokeWidth": 1},
            "unknown": {"color": muted, "shape": "cross", "filled": True, "size": 34},
            "outline": {"stroke": ink, "filled": False, "strokeWidth": 1},
            "note": {"color": ink, "fontSize": _LABEL_SIZE},
        },
        "range": {
            # Dark is much, on paper and on a screen, as the numbers in the cells expect.
            "heatmap": {"scheme": ["#fde725", "#5ec962", "#21918c", "#3b528b", "#440154"]},
            "ramp": {"scheme": colours["ramp"]},
            "diverging": {"scheme": "blueorange"},
            "category": colours["series"],
        },
    }
