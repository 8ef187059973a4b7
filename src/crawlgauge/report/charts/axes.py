"""Axes that are read without thinking: percentages, counts, dates, time differences, crawls."""

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

__all__ = [
    "count_axis",
    "crawl_axis",
    "date_axis",
    "lag_axis",
    "log_share_axis",
    "share_axis",
    "size_axis",
]

_TICKS = (1, 2, 5)
_FEW_TICKS = 3
_NARROW = 1.1
_UNITS = ((1e9, "billion "), (1e6, "million "), (1e3, "thousand "), (1, ""))
_LABEL_WIDTH = 78
_SHORT_LABEL = 11
_WORDS = re.compile(r"([A-Za-z]+[-_.+=])+")
# So that no mark is cut at the edge.
_MARK_ROOM = 8


def log_share_axis(title: str, shares: Iterable[float], field: str = "containment") -> "alt.Y":
    """Return a logarithmic axis of shares, with labels in per cent.

    Parameters
    ----------
    title
        What the share is of.
    shares
        All that is drawn, above 0.
    field
        The column.
    """
    import altair as alt

    known = list(shares)
    low, high = min(known) / _NARROW, max(known) * _NARROW
    return alt.Y(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=_log_ticks(low, high), format="~%", grid=True),
    )


def share_axis(title: str, shares: Iterable[float], field: str, *, zero: bool = True) -> "alt.Y":
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
    import altair as alt

    known = list(shares)
    low = 0.0 if zero else min(known) / _NARROW
    return alt.Y(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=[low, max(known) * _NARROW], nice=False),
        axis=alt.Axis(format="~%", tickCount=6, grid=True),
    )


def count_axis(
    title: str, noun: str, counts: Iterable[float], field: str, *, below: float = 0
) -> "alt.Y":
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
    import altair as alt

    most = max(counts)
    unit, name = _find_unit(max(most, below))
    return alt.Y(
        f"{field}:Q",
        title=f"{title} ({name}{noun})",
        scale=alt.Scale(domain=[-below * _NARROW, most * _NARROW], nice=False),
        axis=alt.Axis(labelExpr=f"format(abs(datum.value) / {unit:.0f}, '~g')", tickCount=6),
    )


def size_axis(title: str, noun: str, most: float) -> "alt.X":
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
    import altair as alt

    unit, name = _find_unit(most)
    return alt.X(
        "n_urls:Q",
        title=f"{title} ({name}{noun})",
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=alt.Axis(labelExpr=f"format(datum.value / {unit:.0f}, '~g')", tickCount=6, grid=False),
    )


def date_axis(title: str = "Date of the crawl") -> "alt.X":
    """Return an axis of dates, for data whose column ``date`` is read into ``when``."""
    import altair as alt

    # In universal time, so that a date is the same day everywhere.
    scale = alt.Scale(type="utc", padding=_MARK_ROOM)
    return alt.X("when:T", title=title, scale=scale, axis=alt.Axis(tickCount=6, grid=False))


def lag_axis(longest: float) -> "alt.X":
    """Return an axis of time differences in years.

    Parameters
    ----------
    longest
        The last that is drawn.
    """
    import altair as alt

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
        Of the crawls.
    **axis
        Further options of the axis.
    """
    import altair as alt

    beginning = _shared_beginning(labels)
    if beginning:
        # Only what tells the crawls apart has room.
        title = f"{title} ({beginning}…)"
        axis["labelExpr"] = f"slice(datum.label, {len(beginning)})"
    return channel(
        f"{field}:N",
        title=title,
        scale=alt.Scale(domain=labels),
        axis=alt.Axis(labelOverlap="parity", labelLimit=_LABEL_WIDTH, **axis),
    )


def _shared_beginning(labels: list[str]) -> str:
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
