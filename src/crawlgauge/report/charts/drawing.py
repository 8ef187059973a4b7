"""What all charts are put together from: their data, the chosen crawl, and the specification."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crawlgauge.report.charts.chart import Cell
from crawlgauge.report.charts.theme import COLUMN_WIDTH

if TYPE_CHECKING:
    import altair as alt

__all__ = [
    "CRAWL",
    "PAIR",
    "Channel",
    "Rows",
    "base_chart",
    "lit_opacity",
    "lit_width",
    "pickable",
    "significant",
    "to_specification",
]

Channel = Any
"""Altair's conditions are dictionaries that any channel takes."""

Rows = tuple[tuple[Cell, ...], ...]

CRAWL = ("crawl",)
"""Columns that name the crawl of a mark."""

PAIR = ("a", "b")
"""Columns that name the two crawls of a mark."""

_DATA = "rows"
_DIGITS = 6
_FAINT = 0.25


def significant(number: float | None) -> float | None:
    """Return a number with the digits that a chart's data need.

    Examples
    --------
    >>> significant(0.123456789), significant(None)
    (0.123457, None)
    """
    return None if number is None else float(f"{number:.{_DIGITS}g}")


def base_chart() -> "alt.Chart":
    """Return a chart of the figure's own data, without marks."""
    import altair as alt

    return alt.Chart(alt.NamedData(name=_DATA))


def pickable(marks: "alt.Chart", fields: Sequence[str]) -> "alt.Chart":
    """Let a click on a mark name its crawls, under the name that a page listens to.

    Parameters
    ----------
    marks
        The layer whose marks can be clicked.
    fields
        `CRAWL` or `PAIR`.
    """
    import altair as alt

    return marks.add_params(alt.selection_point(name="pick", fields=list(fields), on="click"))


def lit_opacity(fields: Sequence[str], plain: float = 1.0) -> Channel:
    """Make marks faint unless they belong to the chosen crawl, or none is chosen.

    Parameters
    ----------
    fields
        `CRAWL` or `PAIR`.
    plain
        Opacity while no crawl is chosen.
    """
    import altair as alt

    chosen = alt.when("chosen === null").then(alt.value(plain))
    return chosen.when(_is_chosen(fields)).then(alt.value(1)).otherwise(alt.value(_FAINT))


def lit_width(fields: Sequence[str], plain: float, lit: float) -> Channel:
    """Draw marks with a stronger stroke if they belong to the chosen crawl.

    Parameters
    ----------
    fields
        `CRAWL` or `PAIR`.
    plain, lit
        Widths of the strokes of other marks and of those.
    """
    import altair as alt

    return alt.when(_is_chosen(fields)).then(alt.value(lit)).otherwise(alt.value(plain))


def to_specification(
    layers: Sequence["alt.Chart"],
    columns: tuple[str, ...],
    rows: Rows,
    *,
    height: int,
    width: int = COLUMN_WIDTH,
    **properties: Any,  # noqa: ANN401 - what Vega-Lite allows
) -> Mapping[str, Any]:
    """Put layers and data together.

    Parameters
    ----------
    layers
        From the back to the front.
    columns, rows
        The figure's data.
    height
        Of the area within the axes.
    width
        Of everything.
    **properties
        Further ones of the specification, such as ``resolve``.
    """
    import altair as alt

    chart = alt.layer(*layers).add_params(alt.param(name="chosen", value=None))
    size = alt.AutoSizeParams(type="fit-x", contains="padding")
    whole: dict[str, Any] = chart.properties(width=width, height=height, autosize=size).to_dict()
    # The data come in here, as checking them against the schema would take seconds.
    values = [dict(zip(columns, row, strict=True)) for row in rows]
    whole["datasets"] = {**whole.get("datasets", {}), _DATA: values}
    whole |= properties
    del whole["config"]
    return whole


def _is_chosen(fields: Sequence[str]) -> str:
    return " || ".join(f"datum.{field} === chosen" for field in fields)
