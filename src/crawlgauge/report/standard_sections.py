"""The further questions that every report answers, as they take the overlaps alone."""

from collections import Counter
from collections.abc import Sequence

from crawlgauge.errors import CrawlgaugeError, FitError
from crawlgauge.model.estimates import Estimates
from crawlgauge.model.newest import NewestCheck, check_newest_crawl
from crawlgauge.model.plan import plan_crawls, usual_wishes
from crawlgauge.model.turnover import Turnover, follow_crawls
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.report import alarm_blocks, history_blocks, plan_blocks
from crawlgauge.report.blocks import Block, Paragraph
from crawlgauge.report.charts.turnover import draw_turnover
from crawlgauge.report.section import Section

__all__ = ["combine_sections", "list_sections", "show_check", "show_plan", "show_turnover"]


def list_sections(table: OverlapTable, estimates: Estimates) -> tuple[Section, ...]:
    """Return what every report asks further.

    Parameters
    ----------
    table
        The overlaps.
    estimates
        Made from them.
    """
    return (
        show_check(check_newest_crawl(table, estimates)),
        show_turnover(follow_crawls(table)),
        _show_usual_plan(estimates),
    )


def combine_sections(usual: Sequence[Section], asked: Sequence[Section]) -> list[Section]:
    """Put what was asked in place of what every report has of the same question, or behind it.

    Raises
    ------
    CrawlgaugeError
        If two answers are of the same question.
    """
    answers = {section.name: section for section in asked}
    if len(answers) < len(asked):
        names = Counter(section.name for section in asked)
        raise CrawlgaugeError(
            f"two answers are of the same question, {names.most_common(1)[0][0]}; a report shows "
            "one of each"
        )
    return [answers.pop(section.name, section) for section in usual] + list(answers.values())


def show_check(check: NewestCheck) -> Section:
    """Return what the report shows of a check of the newest crawl."""
    return Section(
        name="newest-check",
        title="Is the newest crawl in line with the others?",
        blocks=tuple(alarm_blocks.to_blocks(check)),
        alarm=check.statement if check.has_drop else "",
    )


def show_turnover(turnover: Turnover) -> Section:
    """Return what the report shows of what became of URLs from crawl to crawl."""
    return Section(
        name="history",
        title="What each crawl kept, dropped and missed",
        blocks=tuple(history_blocks.to_blocks(turnover)),
        charts=(draw_turnover(turnover),),
    )


def show_plan(blocks: list[Block]) -> Section:
    """Return what the report shows of a plan."""
    return Section(name="plan", title="What the next crawls would bring", blocks=tuple(blocks))


def _show_usual_plan(estimates: Estimates) -> Section:
    try:
        plan = plan_crawls(estimates, **usual_wishes(estimates))
    except FitError as error:
        # Nothing was wished for here that could be wrong: the series is too short.
        return show_plan([[Paragraph(text=f"Nothing can be planned: {error}.")]])
    return show_plan(plan_blocks.to_blocks(plan))
