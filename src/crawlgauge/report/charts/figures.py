"""The figures of an estimate by name, for notebooks and scripts."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from crawlgauge.errors import FitError
from crawlgauge.model.estimates import Estimates
from crawlgauge.report.charts.agreement import draw_agreement
from crawlgauge.report.charts.capture_frequencies import draw_capture_frequencies
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.containment import draw_containment
from crawlgauge.report.charts.decay import draw_decay
from crawlgauge.report.charts.decay_shapes import draw_decay_shapes
from crawlgauge.report.charts.estimators import draw_estimators
from crawlgauge.report.charts.files import write_figures
from crawlgauge.report.charts.per_crawl import draw_coverage, draw_population
from crawlgauge.report.charts.planning import draw_plan_by_frequency, draw_plan_by_size
from crawlgauge.report.charts.regression import draw_regression, draw_simulated_regression
from crawlgauge.report.charts.residuals import draw_residuals
from crawlgauge.report.charts.starts import draw_start_intercepts, draw_start_lines
from crawlgauge.report.charts.union import draw_union

__all__ = ["Figures"]


@dataclass(frozen=True, slots=True)
class Figures:
    """Every figure of an estimate; a notebook shows what a method returns.

    Each method raises `FitError` where the data do not allow its figure, and says why.

    Parameters
    ----------
    estimates
        What is drawn.
    """

    estimates: Estimates

    def save(
        self, folder: str | os.PathLike[str], formats: Iterable[str] = ("svg",)
    ) -> tuple[Path, ...]:
        """Write all figures that the data allow, their data as CSV, and the captions.

        Parameters
        ----------
        folder
            Made if it is missing; files of the same names are replaced.
        formats
            Some of ``svg``, ``png`` and ``pdf``.
        """
        return write_figures(self.estimates, folder, formats)

    def coverage(self) -> Chart:
        """Draw the coverage of each crawl, with ranges, and the typical coverage."""
        return _require(draw_coverage(self.estimates))

    def population(self) -> Chart:
        """Draw the population of each crawl, with ranges."""
        return _require(draw_population(self.estimates))

    def containment(self) -> Chart:
        """Draw the share of each crawl found in each other: figure 1a of the paper."""
        return _require(draw_containment(self.estimates))

    def decay(self) -> Chart:
        """Draw log containment against time difference: figure 1b of the paper."""
        return _require(draw_decay(self.estimates))

    def regression(self) -> Chart:
        """Draw the published line with its interval: figure 2a of the paper."""
        return _require(draw_regression(self.estimates))

    def simulated_regression(self) -> Chart:
        """Draw the line of a simulated urn that was fitted: figure 2b of the paper."""
        return _require(draw_simulated_regression(self.estimates))

    def start_lines(self) -> Chart:
        """Draw a line for each starting crawl: figure 3a of the paper."""
        return _require(draw_start_lines(self.estimates))

    def start_intercepts(self) -> Chart:
        """Draw where those lines begin against the date: figure 3b of the paper."""
        return _require(draw_start_intercepts(self.estimates))

    def residuals(self) -> Chart:
        """Draw the residuals log R of all pairs as a heatmap."""
        return _require(draw_residuals(self.estimates))

    def decay_shapes(self) -> Chart:
        """Draw the shapes of decay that compete."""
        return _require(draw_decay_shapes(self.estimates))

    def union(self) -> Chart:
        """Draw what all crawls so far hold together, after each crawl."""
        return _require(draw_union(self.estimates))

    def plan_by_size(self) -> Chart:
        """Draw the coverage of a crawl against its size."""
        return _require(draw_plan_by_size(self.estimates))

    def plan_by_frequency(self) -> Chart:
        """Draw what the archive would hold against the number of crawls a year."""
        return _require(draw_plan_by_frequency(self.estimates))

    def estimators(self) -> Chart:
        """Draw all estimators side by side."""
        return _require(draw_estimators(self.estimates))

    def agreement(self) -> Chart:
        """Draw the coverage of each crawl by several estimators."""
        return _require(draw_agreement(self.estimates))

    def capture_frequencies(self) -> Chart:
        """Draw how many URLs are in just one crawl, in two, and so on."""
        return _require(draw_capture_frequencies(self.estimates))


def _require(figure: Chart | NoChart) -> Chart:
    if isinstance(figure, NoChart):
        raise FitError(f"there is no figure {figure.name}: {figure.reason}")
    return figure
