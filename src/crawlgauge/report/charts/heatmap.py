"""The size of heatmaps: a column of a paper where that is enough, else the whole page."""

from typing import TypedDict

from crawlgauge.report.charts.theme import COLUMN_WIDTH, PAGE_WIDTH

__all__ = ["cell_size", "heatmap_size", "numbers_fit"]

_MAX_COLUMN_CRAWLS = 40
_MAX_NUMBER_CRAWLS = 16
# What labels and the axis title take from the width.
_MARGIN = 100
_MAX_CELL = 60


class HeatmapSize(TypedDict):
    """Width of everything and height within the axes."""

    width: int
    height: int


def heatmap_size(n_crawls: int) -> HeatmapSize:
    """Return a size in which cells are about square.

    Parameters
    ----------
    n_crawls
        Number of rows, and of columns.
    """
    width = COLUMN_WIDTH if n_crawls <= _MAX_COLUMN_CRAWLS else PAGE_WIDTH
    inner = width - _MARGIN
    return HeatmapSize(width=width, height=min(inner, _MAX_CELL * n_crawls))


def cell_size(n_crawls: int) -> float:
    """Return the height of a cell."""
    return heatmap_size(n_crawls)["height"] / n_crawls


def numbers_fit(n_crawls: int) -> bool:
    """Tell whether each cell has room for its number."""
    return n_crawls <= _MAX_NUMBER_CRAWLS
