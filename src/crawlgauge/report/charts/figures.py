"""The figures of an estimate: all of them, by name, and as files."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from crawlgauge.errors import CrawlgaugeError, FitError
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.panels import Panels
from crawlgauge.model.phrases import things
from crawlgauge.report.charts import estimators, pairs, per_crawl, planning
from crawlgauge.report.charts.chart import (
    COLUMN_WIDTH,
    HEIGHT,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    PICTURES,
    Chart,
    NoChart,
    convert_svg,
    draw_plate,
    make_folder,
    render_chart,
    write_file,
)
from crawlgauge.report.charts.drawing import Picture, make_chart
from crawlgauge.report.words import read_toml

__all__ = ["Figures"]

# -------------------------------------------- all charts, in the order in which a report shows them


class Kind(NamedTuple):
    """A figure: its section, its title, where {noun} is what is counted, and what draws it.

    What draws it says why if it cannot.
    """

    section: str
    title: str
    draw: Callable[[Estimates, Panels], Picture | str]


_FUNCTIONS = vars(per_crawl) | vars(pairs) | vars(planning) | vars(estimators)
CHARTS: Mapping[str, Kind] = {
    name: Kind(texts["section"], texts["title"], _FUNCTIONS[f"draw_{name.replace('-', '_')}"])
    for name, texts in read_toml("charts/charts").items()
}
"""What ``charts.toml`` lists, each with its function ``draw_NAME``."""


def try_chart(name: str, estimates: Estimates, panels: Panels) -> Chart | NoChart:
    """Draw a chart, or say why it cannot be drawn."""
    _, title, draw = CHARTS[name]
    return make_chart(name, title.format(noun=things(estimates.level)), draw(estimates, panels))


def try_charts(estimates: Estimates, panels: Panels) -> tuple[Chart | NoChart, ...]:
    """Draw all charts, or say why one cannot be drawn.

    Parameters
    ----------
    estimates
        Of the crawls.
    panels
        What is drawn beside them.
    """
    return tuple(try_chart(name, estimates, panels) for name in CHARTS)


# ------------------------------------------ charts as files for papers: pictures, captions and data


CAPTIONS = "captions.md"
PLATE = "plate"
_PANELS = (
    "containment",
    "decay",
    "regression",
    "simulated-regression",
    "start-lines",
    "start-intercepts",
)
"""Of the plate, in the order of the paper: figures 1a to 3b."""

WIDTHS = {84: (COLUMN_WIDTH, HEIGHT), 174: (PAGE_WIDTH, PAGE_HEIGHT)}
"""Width and height of pictures, by the millimetres of a paper's columns."""


def _fit_width(figure: Chart | NoChart, width: int | None) -> Chart | NoChart:
    """Give a chart one of the two sizes; one with a row for each of some names keeps its height."""
    if isinstance(figure, NoChart) or width is None:
        return figure
    across, up = WIDTHS[width]
    own = figure.specification
    is_list = own["width"] == COLUMN_WIDTH and own["height"] > HEIGHT
    return figure.resized(across, own["height"] if is_list else up)


def _list_captions(figures: Iterable[Chart | NoChart]) -> str:
    by_name = {figure.name: figure for figure in figures}
    letters = zip("abcdef", (by_name[name] for name in _PANELS), strict=True)
    panels = [f"({letter}) {figure.title}: `{figure.name}`." for letter, figure in letters]
    parts = ["# Figures", f"## The plate\n\n`{PLATE}`\n\n{' '.join(panels)}"]
    for figure in by_name.values():
        if isinstance(figure, Chart):
            parts.append(f"## {figure.title}\n\n`{figure.name}`\n\n{figure.caption}")
        else:
            parts.append(f"## {figure.title}\n\nNot drawn: {figure.reason}.")
    return "\n\n".join(parts) + "\n"


# ------------------------------------ the figures of an estimate by name, for notebooks and scripts


@dataclass(frozen=True, slots=True)
class Figures:
    """Every figure of an estimate, by name: ``decay()``, ``start_lines()`` and so on.

    A notebook shows what such a method returns. It raises `FitError` where the data do not allow
    its figure, and says why.

    Parameters
    ----------
    estimates, panels
        What is drawn.
    """

    estimates: Estimates
    panels: Panels

    def __getattr__(self, name: str) -> Callable[[], Chart]:
        chart = name.replace("_", "-")
        if chart not in CHARTS:
            raise AttributeError(f"there is no figure {name}; there are {', '.join(_METHODS)}")
        return partial(self._draw, chart)

    def __dir__(self) -> list[str]:
        return ["save", *_METHODS]

    def _draw(self, name: str) -> Chart:
        figure = try_chart(name, self.estimates, self.panels)
        if isinstance(figure, NoChart):
            raise FitError(f"there is no figure {figure.name}: {figure.reason}")
        return figure

    def save(
        self,
        folder: str | os.PathLike[str],
        formats: Iterable[str] = ("svg",),
        *,
        width: int | None = None,
        titles: bool = True,
    ) -> tuple[Path, ...]:
        """Write every figure into a folder, with its data as CSV, a plate of six, and all captions.

        Parameters
        ----------
        folder
            Made if it is missing; files of the same names are replaced.
        formats
            Some of ``svg``, ``png`` and ``pdf``.
        width
            Of all figures, in millimetres: 84, a column of a paper, or 174, both. By default 84,
            but 174 for heatmaps of more than 40 crawls.
        titles
            Whether pictures have their titles in them.

        Returns
        -------
        tuple
            What was written.

        Raises
        ------
        CrawlgaugeError
            If there is no such format or width, or the folder cannot be written to.
        """
        wanted = list(dict.fromkeys(formats))
        unknown = [name for name in wanted if name not in PICTURES]
        if unknown or not wanted:
            raise CrawlgaugeError(
                f"figures cannot be written as {', '.join(unknown) or 'nothing'}; possible are "
                f"{', '.join(PICTURES)}"
            )
        if width not in (None, *WIDTHS):
            raise CrawlgaugeError(f"figures are 84 or 174 mm wide, not {width}")
        place = Path(folder)
        make_folder(place)
        figures = try_charts(self.estimates, self.panels)
        contents = {
            f"{chart.name}.{form}": render_chart(chart, form, has_title=titles)
            for chart in (_fit_width(figure, width) for figure in figures)
            if isinstance(chart, Chart)
            for form in (*wanted, "csv")
        }
        by_name = {figure.name: _fit_width(figure, 84) for figure in figures}
        plate = draw_plate([by_name[name] for name in _PANELS], has_titles=titles)
        contents |= {f"{PLATE}.{suffix}": convert_svg(plate, suffix) for suffix in wanted}
        contents[CAPTIONS] = _list_captions(figures).encode()
        for name, content in contents.items():
            write_file(place / name, content)
        return tuple(place / name for name in contents)


_METHODS = [name.replace("-", "_") for name in CHARTS]
