"""What became of URLs from crawl to crawl: kept, dropped, forgotten, recovered, missed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawlgauge.model.turnover import Turnover, follow_crawls
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report import history_blocks, result_json
from crawlgauge.report.section import Answer, Section, show_turnover

if TYPE_CHECKING:
    from crawlgauge.report.blocks import Block
    from crawlgauge.report.charts.chart import Chart

__all__ = ["History", "history"]


@dataclass(frozen=True, slots=True, kw_only=True)
class History(Answer):
    """What became of URLs from crawl to crawl, ready to be read, printed or drawn.

    Parameters
    ----------
    turnover
        The numbers.
    """

    turnover: Turnover

    def _blocks(self) -> "list[Block]":
        return history_blocks.to_blocks(self.turnover)

    def _document(self) -> dict[str, Any]:
        return result_json.history_document(self.turnover)

    def _section(self) -> Section:
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
