"""One more question in the report: its answer in blocks, as on a terminal, and its figures."""

from dataclasses import dataclass
from typing import Protocol

from crawlgauge.report.blocks import Block
from crawlgauge.report.charts.chart import Chart, NoChart

__all__ = ["Answer", "Section"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the report.

    Parameters
    ----------
    name
        Its place in the page, such as ``strata-host``; no two sections have the same.
    title
        The question that it answers.
    blocks
        The answer.
    charts
        Its figures, which stand behind the first block.
    alarm
        What is wrong with the newest crawl, which the top of the page then says too; empty if
        nothing is.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    charts: tuple[Chart | NoChart, ...] = ()
    alarm: str = ""


class Answer(Protocol):
    """What a further question has been answered with."""

    def section(self) -> Section:
        """Return what the report shows of it."""
