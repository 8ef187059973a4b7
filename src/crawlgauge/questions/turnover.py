"""What became of URLs from crawl to crawl: kept, dropped, forgotten, recovered, missed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawlgauge.model.turnover import Turnover, follow_crawls
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report import history_blocks, result_json
from crawlgauge.report.blocks import render_blocks
from crawlgauge.report.section import Section

if TYPE_CHECKING:
    from crawlgauge.report.charts.chart import Chart

__all__ = ["History", "history"]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What became of URLs from crawl to crawl, ready to be read, printed or drawn.

    Parameters
    ----------
    turnover
        The numbers.
    """

    turnover: Turnover

    def summary(self) -> str:
        """Return the numbers as text for a terminal."""
        return render_blocks(history_blocks.to_blocks(self.turnover))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data, in the form of the JSON schema."""
        return result_json.history_document(self.turnover)

    def to_json(self) -> str:
        """Return the numbers as JSON."""
        return result_json.to_json(self.to_dict())

    def section(self) -> Section:
        """Return what the report shows of the numbers, in place of the usual ones."""
        from crawlgauge.report.standard_sections import show_turnover

        return show_turnover(self.turnover)

    def figure(self) -> "Chart":
        """Draw what each crawl kept, recovered, found anew and missed; a notebook shows it."""
        from crawlgauge.report.charts.turnover import draw_turnover

        return draw_turnover(self.turnover)


def history(table: OverlapTable) -> History:
    """Follow URLs from crawl to crawl, by counting alone.

    Parameters
    ----------
    table
        Overlaps with capture histories, from `count_overlaps`, `read_overlaps` or
        `read_histories`. Without histories, what the overlaps of pairs tell.

    Returns
    -------
    History
        What is not known is None with a reason.

    Examples
    --------
    >>> import crawlgauge as cg
    >>> table = cg.simulate_table(n_crawls=4, population=1000, seed=1)
    >>> second = cg.history(table).turnover.per_crawl[1]
    >>> second.kept.value + second.new.value == table.crawls[1].n_urls
    True
    """
    return History(turnover=follow_crawls(table))
