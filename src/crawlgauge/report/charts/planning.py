"""What larger or more frequent crawls would hold, if all goes on as it did."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from crawlgauge.model.estimates import Basis, Estimate, Estimates
from crawlgauge.model.panels import Panels
from crawlgauge.model.phrases import count, percent, things
from crawlgauge.model.plan import CurvePoint, PlanningCurves, why_no_plan
from crawlgauge.report.charts import drawing
from crawlgauge.report.words import join, with_range

# A gain of a hundredth is within what the assumptions leave open.
_NO_MATTER = 0.01
_CONDITION = "All this holds if the web and the way of crawling stay as they are."
_NO_POINTS = "there are only ranges to plan with, or nothing says how often crawls take place"


def draw_plan_by_size(estimates: Estimates, panels: Panels) -> drawing.Picture | str:
    """Draw the coverage of a crawl against its size."""
    noun, newest = things(estimates.level), estimates.crawls[-1]
    curves = panels.curves
    if curves is None:
        return why_no_plan(estimates) or _NO_POINTS
    points = curves.coverage_by_size
    now = f"A crawl of the newest one's size ({count(newest.n_urls)} {noun}, dashed)"
    held = f"{now} holds {_at(points, newest.n_urls)}"
    return _draw(
        estimates,
        points,
        ("n_urls", "coverage"),
        drawing.size_axis("Size of the crawl", noun, points[-1].x),
        "Coverage of the crawl",
        newest.n_urls,
        caption=f"{held}; one of twice the size would hold {_at(points, 2 * newest.n_urls)}.",
        alternative=f"A rising curve. {held}.",
    )


def draw_plan_by_frequency(estimates: Estimates, panels: Panels) -> drawing.Picture | str:
    """Draw the union coverage against the number of crawls a year, at the same yearly effort."""
    noun, curves = things(estimates.level), panels.curves
    if curves is None:
        return why_no_plan(estimates) or _NO_POINTS
    points = curves.union_by_frequency
    x = alt.X(
        "crawls_per_year:Q",
        title="Crawls a year (log)",
        scale=alt.Scale(type="log", domain=[points[0].x, points[-1].x], nice=False),
        axis=alt.Axis(values=[0.25, 0.5, 1, 2, 4, 6, 12, 26, 52, 365], format="~g", grid=False),
    )
    now = (
        f"As now, with {curves.crawls_per_year:.2g} crawls a year (dashed): "
        f"{_at(points, curves.crawls_per_year)}; {_say_best(points, curves)}."
    )
    return _draw(
        estimates,
        points,
        ("crawls_per_year", "union_coverage"),
        x,
        f"Share of the living {noun}",
        curves.crawls_per_year,
        caption=join(
            f"Share of the living {noun} that all crawls together hold, on average over time, if "
            f"the yearly effort of {count(curves.budget)} {noun} is split into so many crawls. "
            f"{now}",
            _warn_of_size(points, curves, noun),
        ),
        alternative=f"A curve over the number of crawls a year. {now}",
    )


def _draw(
    estimates: Estimates,
    points: Sequence[CurvePoint],
    columns: tuple[str, str],
    x: alt.X,
    title: str,
    now: float,
    *,
    caption: str,
    alternative: str,
) -> drawing.Picture:
    across, up = columns
    has_band = any(point.low is not None for point in points)
    shown = [point.value for point in points] + [point.high for point in points if point.high]
    base = drawing.base_chart().encode(x=x)
    band = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    tips = [alt.Tooltip(f"{name}:Q", format=".1%") for name in (up, "low", "high")]
    tips.insert(0, alt.Tooltip(f"{across}:Q", format=",.3~r"))
    return drawing.Picture(
        rows=[
            {
                across: drawing.significant(point.x),
                up: drawing.significant(point.value),
                "low": drawing.significant(point.low),
                "high": drawing.significant(point.high),
            }
            for point in points
        ],
        layers=[
            band.mark_area(style="band", clip=True).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
            drawing.draw_line(drawing.significant(now), "x"),
            base.mark_line(style="fit", clip=True).encode(
                y=drawing.share_axis(title, [min(1.0, max(shown))], up), tooltip=tips
            ),
        ],
        caption=join(
            caption,
            "Band: 95 %." if has_band else "No band: the range of the population is not known.",
            _CONDITION,
            drawing.say_trust(estimates),
        ),
        alternative=alternative,
    )


def _at(points: Sequence[CurvePoint], place: float) -> str:
    """Write what a curve has at some place between its points."""

    def read(end: str) -> float | None:
        numbers = [getattr(point, end) for point in points]
        if None in numbers:
            return None
        return float(np.interp(place, [point.x for point in points], numbers))

    value, low, high = map(read, ("value", "low", "high"))
    if low is None or high is None:
        low = high = None
    if (value or 0) >= 1 and (low is None or low >= 1):
        return "all"
    basis: Basis = "none" if low is None else "interval"
    return with_range(Estimate(value=value, low=low, high=high, basis=basis), percent)


def _say_best(points: Sequence[CurvePoint], curves: PlanningCurves) -> str:
    best = max(points, key=lambda point: point.value)
    now = float(np.interp(curves.crawls_per_year, [p.x for p in points], [p.value for p in points]))
    if best.value - now < _NO_MATTER:
        return "another number would change little"
    return f"with {best.x:.2g} it would be {percent(best.value)}, the most"


def _warn_of_size(points: Sequence[CurvePoint], curves: PlanningCurves, noun: str) -> str:
    """Say where a curve speaks of crawls that are larger than any that was made."""
    best = max(points, key=lambda point: point.value)
    fewest = curves.budget / curves.largest
    if best.x >= (1 - _NO_MATTER) * fewest:
        return ""
    return (
        f"Fewer than {fewest:.2g} crawls a year means crawls larger than the largest so far "
        f"({count(curves.largest)} {noun}), and {best.x:.2g} a year crawls of "
        f"{count(curves.budget / best.x)}: whether the curve holds there has not been seen."
    )
