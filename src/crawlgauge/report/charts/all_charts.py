"""All charts, in the order in which a report shows them."""

from collections.abc import Callable

from crawlgauge.model.estimates import Estimates
from crawlgauge.report.charts.agreement import draw_agreement
from crawlgauge.report.charts.capture_frequencies import draw_capture_frequencies
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.containment import draw_containment
from crawlgauge.report.charts.decay import draw_decay
from crawlgauge.report.charts.decay_shapes import draw_decay_shapes
from crawlgauge.report.charts.estimators import draw_estimators
from crawlgauge.report.charts.per_crawl import draw_coverage, draw_population
from crawlgauge.report.charts.planning import draw_plan_by_frequency, draw_plan_by_size
from crawlgauge.report.charts.regression import draw_regression, draw_simulated_regression
from crawlgauge.report.charts.residuals import draw_residuals
from crawlgauge.report.charts.starts import draw_start_intercepts, draw_start_lines
from crawlgauge.report.charts.union import draw_union

__all__ = ["CHARTS", "draw_charts", "try_charts"]

CHARTS: tuple[Callable[[Estimates], Chart | NoChart], ...] = (
    draw_coverage,
    draw_population,
    draw_containment,
    draw_decay,
    draw_regression,
    draw_simulated_regression,
    draw_start_lines,
    draw_start_intercepts,
    draw_residuals,
    draw_decay_shapes,
    draw_union,
    draw_plan_by_size,
    draw_plan_by_frequency,
    draw_estimators,
    draw_agreement,
    draw_capture_frequencies,
)


def draw_charts(estimates: Estimates) -> tuple[Chart, ...]:
    """Draw all charts that the data allow.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    return tuple(chart for chart in try_charts(estimates) if isinstance(chart, Chart))


def try_charts(estimates: Estimates) -> tuple[Chart | NoChart, ...]:
    """Draw all charts, or say why one cannot be drawn.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    return tuple(draw(estimates) for draw in CHARTS)
