"""Whether the newest crawl is in line with the ones before it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawlgauge.api import Fit, estimate
from crawlgauge.locations import StrPath
from crawlgauge.model.newest import (
    FALSE_ALARMS,
    MIN_CRAWLS,
    THRESHOLD,
    NewestCheck,
    check_newest_crawl,
)
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report import alarm_blocks, result_json
from crawlgauge.report.section import Answer, Section, show_check

if TYPE_CHECKING:
    from crawlgauge.report.blocks import Block

__all__ = ["CrawlCheck", "check_newest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlCheck(Answer):
    """A check of the newest crawl, ready to be read, printed or saved.

    Parameters
    ----------
    result
        The numbers and the verdict.
    """

    result: NewestCheck

    @property
    def has_drop(self) -> bool:
        """Whether coverage, size or overlap is below what the earlier crawls predict."""
        return self.result.has_drop

    def _blocks(self) -> "list[Block]":
        return alarm_blocks.to_blocks(self.result)

    def _document(self) -> dict[str, Any]:
        return result_json.check_document(self.result)

    def _section(self) -> Section:
        return show_check(self.result)

    def to_json(self) -> str:
        """Return the check as one line of JSON."""
        return result_json.to_json(self.to_dict(), indent=None)


def check_newest(
    fit_or_table: Fit | OverlapTable,
    *,
    false_alarms: float = FALSE_ALARMS,
    threshold: float = THRESHOLD,
    store: StrPath | None = None,
) -> CrawlCheck:
    """Say whether the newest crawl is in line with the ones before it.

    Parameters
    ----------
    fit_or_table
        What `estimate` returned, or the overlaps, which are then estimated from.
    false_alarms
        How often a crawl that is in line may be taken for a drop.
    threshold
        Least drop that is worth an alarm: 0.2 for a fifth less than expected.
    store
        As for `estimate`, where overlaps are given.

    Returns
    -------
    CrawlCheck
        With fewer than five crawls its status is ``unknown``.

    Raises
    ------
    FitError
        If `false_alarms` or `threshold` is out of bounds.

    Examples
    --------
    >>> import crawlgauge as cg
    >>> table = cg.simulate_table(n_crawls=5, seed=1, with_histories=False)
    >>> cg.check_newest(table).result.status
    'in-line'
    """
    table = fit_or_table.table if isinstance(fit_or_table, Fit) else fit_or_table
    estimates = None
    # One crawl cannot be estimated from, and a few are not compared.
    if isinstance(fit_or_table, Fit):
        estimates = fit_or_table.estimates
    elif table.n_crawls >= MIN_CRAWLS:
        estimates = estimate(table, store=store).estimates
    return CrawlCheck(
        result=check_newest_crawl(table, estimates, false_alarms=false_alarms, threshold=threshold)
    )
