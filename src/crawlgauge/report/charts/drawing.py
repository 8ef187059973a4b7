"""What all charts are put together from: their data, the chosen crawl, axes and captions."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import things
from crawlgauge.report.charts.chart import COLUMN_WIDTH, HEIGHT, PAGE_WIDTH, Cell, Chart, NoChart
from crawlgauge.report.words import explain_ranges, join, name_checks

# --------------------------------------------------------------------------------- one description


Row = dict[str, Cell]

ROWS = "rows"
"""What a specification calls its data."""

_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What a chart is made of.

    Parameters
    ----------
    rows
        The data that are drawn, by column; not every row needs a value in each.
    layers
        Drawn from the back to the front.
    caption, alternative
        As those of `Chart`.
    width, height
        Of everything.
    """

    rows: Sequence[Row]
    layers: Sequence[alt.Chart]
    caption: str
    alternative: str
    width: int = COLUMN_WIDTH
    height: int = HEIGHT


def make_chart(name: str, title: str, picture: Picture | str) -> Chart | NoChart:
    """Make the chart of a picture, or of the reason why there is none."""
    if isinstance(picture, str):
        return NoChart(name=name, title=title, reason=picture)
    columns = tuple(dict.fromkeys(column for row in picture.rows for column in row))
    chart = alt.layer(*picture.layers).add_params(alt.param(name="chosen", value=None))
    size = alt.AutoSizeParams(type="fit", contains="padding")
    sized = chart.properties(width=picture.width, height=picture.height, autosize=size)
    specification: dict[str, Any] = sized.to_dict()
    # The data come in here, as checking them against the schema would take seconds.
    values = [{column: row.get(column) for column in columns} for row in picture.rows]
    specification["datasets"] = {**specification.get("datasets", {}), ROWS: values}
    del specification["config"]
    return Chart(
        name=name,
        title=title,
        caption=picture.caption,
        alternative=picture.alternative,
        columns=columns,
        rows=tuple(tuple(row.values()) for row in values),
        specification=specification,
    )


def significant(number: float | None) -> float | None:
    """Return a number with the digits that a chart's data need.

    Examples
    --------
    >>> significant(0.123456789), significant(None)
    (0.123457, None)
    """
    return None if number is None else float(f"{number:.{_DIGITS}g}")


# ---------------------------- sentences that several captions share, no surer than the checks allow


def explain_bars(numbers: Iterable[Estimate]) -> str:
    """Say what the bars of a chart rest on, or why there are none."""
    return join(*explain_ranges((("", number) for number in numbers), "Bars", "bars"))


def say_trust(estimates: Estimates) -> str:
    """Say what the numbers of a chart rest on, and which checks speak against them.

    Parameters
    ----------
    estimates
        With their checks.
    """
    assumption = (
        f"This assumes that all {things(estimates.level)} are equally likely to be captured, which "
        "overlaps of pairs cannot test."
    )
    failed, warned = (
        [check.id for check in estimates.checks if check.status == status]
        for status in ("fail", "warn")
    )
    doubt = ""
    if failed:
        doubt = f"Do not trust these numbers: the {name_checks(failed)} failed."
    elif warned:
        doubt = f"Read these numbers with the {name_checks(warned)} in mind, which found something."
    return join(assumption if estimates.headline.estimator == "two-way" else None, doubt)


# --------------------------------------------------------------------- marks, and the chosen crawl


PAIR = ("a", "b")
"""Columns that name the two crawls of a mark."""

_FAINT = 0.25


def base_chart() -> alt.Chart:
    """Return a chart of the figure's own data, without marks."""
    return alt.Chart(alt.NamedData(name=ROWS))


def dated_chart() -> alt.Chart:
    """Return a chart of the figure's own data, whose column ``date`` is read into ``when``."""
    return base_chart().transform_calculate(when="toDate(datum.date)")


def draw_band(number: Estimate, side: str) -> list[alt.Chart]:
    """Draw the range of a number, if it has one, across the axis ``x`` or ``y``."""
    if number.low is None or number.high is None:
        return []
    low, high = (alt.datum(significant(end)) for end in (number.low, number.high))
    band = _mark_at().mark_rect(style="band", clip=True)
    return [band.encode(**{side: low, f"{side}2": high})]


def draw_line(number: float | None, side: str, style: str = "guide") -> alt.Chart:
    """Draw a line where the axis ``x`` or ``y`` has a number."""
    line: alt.Chart = _mark_at().mark_rule(style=style).encode(**{side: alt.datum(number)})
    return line


def _mark_at() -> alt.Chart:
    """Return a chart without data, for what stands at one place."""
    return alt.Chart(alt.InlineData(values=[{}]))


def lit(
    marks: alt.Chart,
    fields: Sequence[str] = ("crawl",),
    *,
    opacity: float = 1.0,
    widths: tuple[float, float] | None = None,
    pick: bool = False,
) -> alt.Chart:
    """Make marks faint unless they belong to the chosen crawl, or none is chosen.

    Parameters
    ----------
    marks
        The layer.
    fields
        Columns that name the crawl of a mark, or `PAIR`.
    opacity
        While no crawl is chosen.
    widths
        Of the strokes: of other marks, and of those of the chosen crawl.
    pick
        Whether a click on a mark names its crawls, under the name that a page listens to.
    """
    is_chosen = " || ".join(f"datum.{field} === chosen" for field in fields)
    faint = alt.when("chosen === null").then(alt.value(opacity))
    faint = faint.when(is_chosen).then(alt.value(1))
    marks = marks.encode(opacity=faint.otherwise(alt.value(_FAINT)))
    if widths is not None:
        plain, strong = map(alt.value, widths)
        marks = marks.encode(strokeWidth=alt.when(is_chosen).then(strong).otherwise(plain))
    if pick:
        click = alt.selection_point(name="pick", fields=list(fields), on="click")
        marks = marks.add_params(click)
    return marks


# -------------------------------------------------------------- axes that are read without thinking


_TICKS = (1, 2, 5)
_FEW_TICKS = 3
_NARROW = 1.1
_UNITS = ((1e9, "billion "), (1e6, "million "), (1e3, "thousand "), (1, ""))
_LABEL_WIDTH = 78
_MAX_LABELS = 9
_SHORT_LABEL = 11
_WORDS = re.compile(r"([A-Za-z]+[-_.+=])+")
# A month never stands without its year.
_DATE = "utcFormat(datum.value, utcmonth(datum.value) === 0 ? '%Y' : '%b %Y')"
# So that no mark is cut at the edge.
_MARK_ROOM = 8


def log_share_axis(shares: Iterable[float]) -> alt.Y:
    """Return a logarithmic axis of containments, with labels in per cent.

    Parameters
    ----------
    shares
        All that is drawn, above 0.
    """
    known = list(shares)
    low, high = min(known) / _NARROW, max(known) * _NARROW
    return alt.Y(
        "containment:Q",
        title="Share found in the later crawl (log)",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=_log_ticks(low, high), format="~%", grid=True),
    )


def share_axis(title: str, shares: Iterable[float], field: str, *, zero: bool = True) -> alt.Y:
    """Return an axis of shares with labels in per cent.

    Parameters
    ----------
    title
        What the share is of.
    shares
        All that must be seen.
    field
        The column.
    zero
        Whether it begins at 0.
    """
    known = list(shares)
    low = 0.0 if zero else min(known) / _NARROW
    return alt.Y(f"{field}:Q", title=title, **_in_percent(low, max(known) * _NARROW))


def range_axis(title: str, most: float) -> alt.X:
    """Return a horizontal axis of coverages from 0 on."""
    # Beside long names there is room for few labels.
    return alt.X("coverage:Q", title=title, **_in_percent(0, most, labelFlush=False, tickCount=4))


def _in_percent(low: float, high: float, **axis: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "scale": alt.Scale(domain=[low, high], nice=False),
        "axis": alt.Axis(**{"format": "~%", "tickCount": 6, "grid": True, **axis}),
    }


def count_axis(
    title: str, noun: str, counts: Iterable[float], field: str, *, below: float = 0
) -> alt.Y:
    """Return an axis of counts from 0 on, in thousands, millions or billions.

    Parameters
    ----------
    title
        What the counts mean.
    noun
        What is counted.
    counts
        All that must be seen.
    field
        The column.
    below
        The largest count that is drawn downwards, as a negative number.
    """
    most = max(counts)
    unit, name = _find_unit(max(most, below))
    return alt.Y(
        f"{field}:Q",
        title=f"{title} ({name}{noun})",
        scale=alt.Scale(domain=[-below * _NARROW, most * _NARROW], nice=False),
        axis=alt.Axis(labelExpr=f"format(abs(datum.value) / {unit:.0f}, '~g')", tickCount=6),
    )


def size_axis(title: str, noun: str, most: float) -> alt.X:
    """Return a horizontal axis of sizes from 0 on, in thousands, millions or billions.

    Parameters
    ----------
    title
        What the sizes are of.
    noun
        What is counted.
    most
        The last that is drawn.
    """
    unit, name = _find_unit(most)
    return alt.X(
        "n_urls:Q",
        title=f"{title} ({name}{noun})",
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=alt.Axis(labelExpr=f"format(datum.value / {unit:.0f}, '~g')", tickCount=6, grid=False),
    )


def date_axis(title: str = "Date of the crawl") -> alt.X:
    """Return an axis of dates, for data whose column ``date`` is read into ``when``."""
    # In universal time, so that a date is the same day everywhere.
    scale = alt.Scale(type="utc", padding=_MARK_ROOM)
    axis = alt.Axis(tickCount=6, grid=False, labelExpr=_DATE)
    return alt.X("when:T", title=title, scale=scale, axis=axis)


def lag_axis(longest: float) -> alt.X:
    """Return an axis of time differences in years.

    Parameters
    ----------
    longest
        The last that is drawn.
    """
    return alt.X(
        "lag_years:Q",
        title="Time difference (years)",
        scale=alt.Scale(domain=[0, longest * 1.02 or 1], nice=False),
        axis=alt.Axis(tickCount=8),
    )


def crawl_axis(channel: type, field: str, title: str, labels: list[str], **axis: Any) -> Any:  # noqa: ANN401
    """Return an axis with a place for each crawl, in order of date.

    Parameters
    ----------
    channel
        Such as ``alt.X``.
    field
        The column.
    title
        Of the axis.
    labels
        Of the crawls; so many of them are named that their names do not touch.
    **axis
        Further options of the axis.
    """
    beginning, last = shared_beginning(labels), len(labels) - 1
    if beginning and channel is alt.X:
        # Only what tells the crawls apart has room; across it is said what all begin with.
        title = f"{title} ({beginning}…)"
    # At even distances, and the newest among them. By their places: labels are no code.
    step = math.ceil(len(labels) / _MAX_LABELS)
    shown = f"slice(datum.label, {len(beginning)})"
    if step > 1:
        shown = f"round((1 - datum.index) * {last}) % {step} === 0 ? {shown} : ''"
    return channel(
        f"{field}:N",
        title=title,
        scale=alt.Scale(domain=labels),
        axis=alt.Axis(labelExpr=shown, labelOverlap=False, labelLimit=_LABEL_WIDTH, **axis),
    )


def shared_beginning(labels: list[str]) -> str:
    """Return the words that all labels begin with, where labels are long; dates are no words."""
    if max(map(len, labels)) <= _SHORT_LABEL:
        return ""
    shared = _WORDS.match(labels[0])
    if shared is None or not all(label.startswith(shared[0]) for label in labels):
        return ""
    return shared[0]


def _find_unit(most: float) -> tuple[float, str]:
    return next((unit, name) for unit, name in _UNITS if most >= unit or unit == 1)


def _log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two limits: powers of ten, then halves, then even steps."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), _TICKS):
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) > _FEW_TICKS:
            return ticks
    rough = (high - low) / 5
    step = 10.0 ** math.floor(math.log10(rough))
    step *= next(factor for factor in (*_TICKS, 10) if factor * step >= rough)
    first = math.ceil(low / step)
    return [round(step * number, 12) for number in range(first, math.floor(high / step) + 1)]


# ----------------------------------------------------------------------------- the size of heatmaps


_MAX_COLUMN_CRAWLS = 40
_MAX_NUMBER_CRAWLS = 15
_ROW, _AROUND_ROWS = 16, 95


def heatmap_size(n_crawls: int) -> dict[str, int]:
    """Return width and height of a heatmap: a column, or the page where cells would be specks.

    Parameters
    ----------
    n_crawls
        Number of rows, and of columns.
    """
    if n_crawls <= _MAX_COLUMN_CRAWLS:
        return {"width": COLUMN_WIDTH, "height": HEIGHT}
    return {"width": PAGE_WIDTH, "height": PAGE_WIDTH}


def rows_height(n_rows: int) -> int:
    """Return the height of a chart with a row for each of some names."""
    return max(HEIGHT, n_rows * _ROW + _AROUND_ROWS)


def numbers_fit(n_crawls: int) -> bool:
    """Tell whether each cell has room for its number."""
    return n_crawls <= _MAX_NUMBER_CRAWLS
