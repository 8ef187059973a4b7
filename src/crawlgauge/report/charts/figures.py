"""The figures of an estimate: all of them, by name, and as files."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from crawlgauge.errors import CrawlgaugeError, FitError
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import things
from crawlgauge.report.charts.chart import RENDERERS, Chart, NoChart, make_folder, write_file
from crawlgauge.report.charts.decay import draw_decay, draw_decay_shapes
from crawlgauge.report.charts.drawing import Picture, make_chart
from crawlgauge.report.charts.estimators import (
    draw_agreement,
    draw_capture_frequencies,
    draw_estimators,
)
from crawlgauge.report.charts.matrices import draw_containment, draw_residuals
from crawlgauge.report.charts.per_crawl import draw_coverage, draw_population, draw_union
from crawlgauge.report.charts.planning import draw_plan_by_frequency, draw_plan_by_size
from crawlgauge.report.charts.regression import draw_regression, draw_simulated_regression
from crawlgauge.report.charts.starts import draw_start_intercepts, draw_start_lines

__all__ = ["CHARTS", "FORMATS", "Figures", "try_charts", "write_figures"]


# -------------------------------------------- all charts, in the order in which a report shows them


class Kind(NamedTuple):
    """A figure: its title, where {noun} is what is counted, and what draws it or says why not."""

    title: str
    draw: Callable[[Estimates], Picture | str]


CHARTS: dict[str, Kind] = {
    "coverage": Kind(
        "Coverage: share of the {noun} within reach that each crawl holds", draw_coverage
    ),
    "population": Kind("Population: {noun} that each crawl could have reached", draw_population),
    "containment": Kind(
        "Share of each crawl's {noun} found in each other crawl, with the estimated "
        "self-intersection on the diagonal",
        draw_containment,
    ),
    "decay": Kind(
        "Containment of pairs of crawls against the time between them, on a logarithmic scale",
        draw_decay,
    ),
    "regression": Kind(
        "The published method: one line through the containments of all pairs", draw_regression
    ),
    "simulated-regression": Kind(
        "The same line through a simulated urn with the fitted coverage and persistence",
        draw_simulated_regression,
    ),
    "start-lines": Kind(
        "A line for each starting crawl, through its containments in later crawls",
        draw_start_lines,
    ),
    "start-intercepts": Kind(
        "Where the line of each starting crawl begins, by the date of the crawl",
        draw_start_intercepts,
    ),
    "residuals": Kind(
        "Residuals log R: pairs that share more or less than the published line expects",
        draw_residuals,
    ),
    "decay-shapes": Kind(
        "Shapes of decay that compete, and the coverage that each reaches at zero",
        draw_decay_shapes,
    ),
    "union": Kind(
        "Share of the living {noun} that all crawls so far hold together, after each crawl",
        draw_union,
    ),
    "plan-by-size": Kind(
        "Coverage that a crawl would have by its number of {noun}", draw_plan_by_size
    ),
    "plan-by-frequency": Kind(
        "Share that the whole archive would hold by the number of crawls a year",
        draw_plan_by_frequency,
    ),
    "estimators": Kind(
        "Typical coverage by all estimators, each with other assumptions", draw_estimators
    ),
    "agreement": Kind(
        "Coverage of each crawl by the estimators that allow for turnover", draw_agreement
    ),
    "capture-frequencies": Kind(
        "How many {noun} are in just one crawl, in just two, and so on", draw_capture_frequencies
    ),
}


def try_chart(name: str, estimates: Estimates) -> Chart | NoChart:
    """Draw a chart, or say why it cannot be drawn."""
    title, draw = CHARTS[name]
    return make_chart(name, title.format(noun=things(estimates.level)), draw(estimates))


def try_charts(estimates: Estimates) -> tuple[Chart | NoChart, ...]:
    """Draw all charts, or say why one cannot be drawn.

    Parameters
    ----------
    estimates
        Of the crawls.
    """
    return tuple(try_chart(name, estimates) for name in CHARTS)


# ------------------------------------------ charts as files for papers: pictures, captions and data


CAPTIONS = "captions.md"


FORMATS = ("svg", "png", "pdf")
"""Suffixes of pictures."""


def write_figures(
    estimates: Estimates, folder: str | os.PathLike[str], formats: Iterable[str] = ("svg",)
) -> tuple[Path, ...]:
    """Write every figure into a folder, with its data as CSV, and all captions.

    Parameters
    ----------
    estimates
        Of the crawls.
    folder
        Made if it is missing; files of the same names are replaced.
    formats
        Some of ``svg``, ``png`` and ``pdf``.

    Returns
    -------
    tuple
        What was written.

    Raises
    ------
    CrawlgaugeError
        If there is no such format, or the folder cannot be written to.
    """
    wanted = list(dict.fromkeys(formats))
    unknown = [name for name in wanted if name not in FORMATS]
    if unknown or not wanted:
        raise CrawlgaugeError(
            f"figures cannot be written as {', '.join(unknown) or 'nothing'}; possible are "
            f"{', '.join(FORMATS)}"
        )
    place = Path(folder)
    make_folder(place)
    figures = try_charts(estimates)
    written = []
    for chart in figures:
        if isinstance(chart, Chart):
            for suffix in (*wanted, "csv"):
                written.append(place / f"{chart.name}.{suffix}")
                write_file(written[-1], RENDERERS[suffix](chart))
    written.append(place / CAPTIONS)
    write_file(written[-1], _list_captions(figures).encode())
    return tuple(written)


def _list_captions(figures: Iterable[Chart | NoChart]) -> str:
    parts = ["# Figures"]
    for figure in figures:
        if isinstance(figure, Chart):
            parts.append(f"## {figure.title}\n\n`{figure.name}`\n\n{figure.caption}")
        else:
            parts.append(f"## {figure.title}\n\nNot drawn: {figure.reason}.")
    return "\n\n".join(parts) + "\n"


# ------------------------------------ the figures of an estimate by name, for notebooks and scripts


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
        return self._draw("coverage")

    def population(self) -> Chart:
        """Draw the population of each crawl, with ranges."""
        return self._draw("population")

    def containment(self) -> Chart:
        """Draw the share of each crawl found in each other: figure 1a of the paper."""
        return self._draw("containment")

    def decay(self) -> Chart:
        """Draw log containment against time difference: figure 1b of the paper."""
        return self._draw("decay")

    def regression(self) -> Chart:
        """Draw the published line with its interval: figure 2a of the paper."""
        return self._draw("regression")

    def simulated_regression(self) -> Chart:
        """Draw the line of a simulated urn that was fitted: figure 2b of the paper."""
        return self._draw("simulated-regression")

    def start_lines(self) -> Chart:
        """Draw a line for each starting crawl: figure 3a of the paper."""
        return self._draw("start-lines")

    def start_intercepts(self) -> Chart:
        """Draw where those lines begin against the date: figure 3b of the paper."""
        return self._draw("start-intercepts")

    def residuals(self) -> Chart:
        """Draw the residuals log R of all pairs as a heatmap."""
        return self._draw("residuals")

    def decay_shapes(self) -> Chart:
        """Draw the shapes of decay that compete."""
        return self._draw("decay-shapes")

    def union(self) -> Chart:
        """Draw what all crawls so far hold together, after each crawl."""
        return self._draw("union")

    def plan_by_size(self) -> Chart:
        """Draw the coverage of a crawl against its size."""
        return self._draw("plan-by-size")

    def plan_by_frequency(self) -> Chart:
        """Draw what the archive would hold against the number of crawls a year."""
        return self._draw("plan-by-frequency")

    def estimators(self) -> Chart:
        """Draw all estimators side by side."""
        return self._draw("estimators")

    def agreement(self) -> Chart:
        """Draw the coverage of each crawl by several estimators."""
        return self._draw("agreement")

    def capture_frequencies(self) -> Chart:
        """Draw how many URLs are in just one crawl, in two, and so on."""
        return self._draw("capture-frequencies")

    def _draw(self, name: str) -> Chart:
        figure = try_chart(name, self.estimates)
        if isinstance(figure, NoChart):
            raise FitError(f"there is no figure {figure.name}: {figure.reason}")
        return figure
