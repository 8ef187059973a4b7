"""One more question in the report: its answer in blocks, as on a terminal, and its figures."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crawlgauge.errors import CrawlgaugeError
from crawlgauge.model.newest import NewestCheck
from crawlgauge.model.plan import Plan
from crawlgauge.model.turnover import Turnover
from crawlgauge.report import alarm_blocks, history_blocks, plan_blocks, result_json
from crawlgauge.report.blocks import Block, Paragraph, render_blocks
from crawlgauge.report.charts.chart import Chart, NoChart

__all__ = ["Answer", "Section", "combine_sections", "show_check", "show_plan", "show_turnover"]


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


class Answer(ABC):
    """What a further question has been answered with, ready to be read, printed or saved."""

    __slots__ = ()

    @abstractmethod
    def _blocks(self) -> Sequence[Block]: ...

    @abstractmethod
    def _document(self) -> dict[str, Any]: ...

    @abstractmethod
    def _section(self) -> Section: ...

    def summary(self) -> str:
        """Return the answer as text for a terminal."""
        return render_blocks(self._blocks())

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data, in the form of the JSON schema."""
        return self._document()

    def to_json(self) -> str:
        """Return the answer as JSON."""
        return result_json.to_json(self.to_dict())

    def section(self) -> Section:
        """Return what the report shows of it, in place of what every report has of the question."""
        return self._section()


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
    from crawlgauge.report.charts.turnover import draw_turnover

    return Section(
        name="history",
        title="What each crawl kept, dropped and missed",
        blocks=tuple(history_blocks.to_blocks(turnover)),
        charts=(draw_turnover(turnover),),
    )


def show_plan(plan: Plan | str) -> Section:
    """Return what the report shows of a plan, or of the reason why there is none."""
    if isinstance(plan, str):
        blocks: list[Block] = [[Paragraph(text=f"Nothing can be planned: {plan}.")]]
    else:
        blocks = plan_blocks.to_blocks(plan)
    return Section(name="plan", title="What the next crawls would bring", blocks=tuple(blocks))


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
