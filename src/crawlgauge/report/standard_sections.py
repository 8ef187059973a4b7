"""The further questions that every report answers, as they take the overlaps alone."""

from crawlgauge.errors import FitError
from crawlgauge.model.alarm.checking_newest import check_newest_crawl
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.planning.making_plans import plan_crawls
from crawlgauge.model.planning.usual_wishes import usual_wishes
from crawlgauge.model.turnover.following import follow_crawls
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report import alarm_blocks, history_blocks, plan_blocks
from crawlgauge.report.blocks import Block, Paragraph
from crawlgauge.report.charts.turnover import draw_turnover
from crawlgauge.report.section import Section

__all__ = ["list_sections"]


def list_sections(table: OverlapTable, estimates: Estimates) -> tuple[Section, ...]:
    """Return what every report asks further.

    Parameters
    ----------
    table
        The overlaps.
    estimates
        Made from them.
    """
    check = check_newest_crawl(table, estimates)
    return (
        Section(
            name="newest-check",
            title="Is the newest crawl in line with the others?",
            blocks=tuple(alarm_blocks.to_blocks(check)),
            alarm=check.statement if check.has_drop else "",
        ),
        _follow(table),
        Section(
            name="plan",
            title="What the next crawls would bring",
            blocks=tuple(_plan(estimates)),
        ),
    )


def _follow(table: OverlapTable) -> Section:
    turnover = follow_crawls(table)
    return Section(
        name="history",
        title="What each crawl kept, dropped and missed",
        blocks=tuple(history_blocks.to_blocks(turnover)),
        charts=(draw_turnover(turnover),),
    )


def _plan(estimates: Estimates) -> list[Block]:
    wishes = usual_wishes(estimates)
    try:
        plan = plan_crawls(
            estimates,
            target=wishes.target,
            union_target=wishes.union_target,
            floor=wishes.floor,
        )
    except FitError as error:
        # Nothing was wished for here that could be wrong: the series is too short.
        return [[Paragraph(text=f"Nothing can be planned: {error}.")]]
    return plan_blocks.to_blocks(plan)
