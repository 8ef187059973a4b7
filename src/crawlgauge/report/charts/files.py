"""Charts as files for papers: pictures, captions and data."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from crawlgauge.errors import CrawlgaugeError
from crawlgauge.model.estimates import Estimates
from crawlgauge.report.charts.all_charts import try_charts
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.charts.rendering import PNG_DPI, render_pdf, render_png, render_svg
from crawlgauge.report.charts.writing import make_folder, write_file

__all__ = ["FORMATS", "to_pdf", "to_png", "to_svg", "write_figures"]

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
