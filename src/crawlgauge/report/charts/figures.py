"""The figures of an estimate by name, for notebooks and scripts."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from crawlgauge.errors import CrawlgaugeError, FitError
from crawlgauge.model.estimates import Estimates
from crawlgauge.report.charts.chart import (
    PNG_DPI,
    Chart,
    NoChart,
    make_folder,
    render_pdf,
    render_png,
    render_svg,
    write_file,
)
from crawlgauge.report.charts.decay import draw_decay, draw_decay_shapes
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

__all__ = [
    "CHARTS",
    "FORMATS",
    "Figures",
    "draw_charts",
    "to_pdf",
    "to_png",
    "to_svg",
    "try_charts",
    "write_figures",
]


# -------------------------------------------- all charts, in the order in which a report shows them


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


# ------------------------------------------ charts as files for papers: pictures, captions and data


CAPTIONS = "captions.md"


def to_svg(chart: Chart, *, dark: bool = False, has_title: bool = True) -> str:
    """Return a chart as an SVG picture.

    Parameters
    ----------
    chart
        The chart.
    dark
        For a dark background.
    has_title
        Whether the title is drawn.
    """
    return render_svg(chart.drawing, dark=dark, has_title=has_title)


def to_png(chart: Chart, *, dots_per_inch: float = PNG_DPI) -> bytes:
    """Return a chart as a PNG picture with its title.

    Parameters
    ----------
    chart
        The chart.
    dots_per_inch
        How finely it is drawn.
    """
    return render_png(chart.drawing, dots_per_inch=dots_per_inch)


def to_pdf(chart: Chart) -> bytes:
    """Return a chart as a PDF page of its size, with its title.

    Parameters
    ----------
    chart
        The chart.
    """
    return render_pdf(chart.drawing)


FORMATS: Mapping[str, Callable[[Chart], bytes]] = {
    "svg": lambda chart: to_svg(chart).encode(),
    "png": to_png,
    "pdf": to_pdf,
}
"""What draws a chart, by the suffix of its file."""


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
            contents = {suffix: FORMATS[suffix](chart) for suffix in wanted}
            contents["csv"] = chart.to_csv().encode()
            for suffix, content in contents.items():
                written.append(place / f"{chart.name}.{suffix}")
                write_file(written[-1], content)
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
