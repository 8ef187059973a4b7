"""How each question is answered: in words, in a notebook, as data, and in the report."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, NamedTuple

from crawlgauge.crawl import Crawl
from crawlgauge.frames import Rows, Tabular
from crawlgauge.model.comparison import Comparison
from crawlgauge.model.newest import NewestCheck
from crawlgauge.model.plan import Plan
from crawlgauge.model.recall import Recall
from crawlgauge.model.sensitivity import Movements
from crawlgauge.model.strata import Strata
from crawlgauge.model.turnover import Turnover
from crawlgauge.report import (
    alarm_blocks,
    comparison_blocks,
    history_blocks,
    plan_blocks,
    recall_blocks,
    result_json,
    sensitivity_blocks,
    strata_blocks,
)
from crawlgauge.report.blocks import (
    Block,
    Grid,
    Item,
    Paragraph,
    Section,
    Verdict,
    notes,
    render_blocks,
)
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.words import COURSES, Tone

__all__ = ["Answer"]


def _draw(numbers: Any) -> Chart | NoChart:  # noqa: ANN401 - of any type that has a chart
    # Only here, as libraries of charts take long to load.
    from crawlgauge.report.charts.questions import draw_strata, draw_turnover

    return draw_turnover(numbers) if isinstance(numbers, Turnover) else draw_strata(numbers)


class _Shown(NamedTuple):
    """Place and title of an answer in the report, what it is in words and as data, its figure.

    `rows` names the attribute that a data frame is made of. `to_page` gives other words where the
    page says some of them elsewhere; `lead` stands beside the title.
    """

    name: str
    title: str
    rows: str
    to_blocks: Callable[[Any], list[Block]]
    to_document: Callable[[Any], dict[str, Any]]
    draw: Callable[[Any], Chart | NoChart] | None = None
    to_page: Callable[[Any], list[Block]] | None = None
    lead: str = ""


# By the type of the numbers, which braces stand for.
_SHOWN: dict[type, _Shown] = {
    NewestCheck: _Shown(
        "newest-check",
        "Is the newest crawl in line with the others?",
        "measures",
        alarm_blocks.to_blocks,
        result_json.check_document,
        # The answer stands at the top of the page.
        to_page=lambda check: alarm_blocks.to_blocks(check)[1:],
    ),
    Turnover: _Shown(
        "history",
        "What each crawl kept, dropped and missed",
        "per_crawl",
        history_blocks.to_blocks,
        result_json.history_document,
        _draw,
        to_page=partial(history_blocks.to_blocks, with_frequencies=False),
    ),
    Plan: _Shown(
        "plan",
        "Planning the next crawls",
        "schedules",
        plan_blocks.to_blocks,
        result_json.plan_document,
        lead="What larger or more frequent crawls would hold",
    ),
    Movements: _Shown(
        "sensitivity",
        "What moves the number",
        "movements",
        sensitivity_blocks.to_blocks,
        result_json.sensitivity_document,
    ),
    Comparison: _Shown(
        "comparison",
        "Beside other archives",
        "pairs",
        comparison_blocks.to_blocks,
        result_json.comparison_document,
    ),
    Recall: _Shown(
        "recall",
        "How much of a reference list the crawls hold",
        "per_crawl",
        recall_blocks.to_blocks,
        result_json.recall_document,
    ),
    Strata: _Shown(
        "strata-{0.by}",
        "Coverage by {0.noun[0]}",
        "strata",
        strata_blocks.to_blocks,
        result_json.strata_document,
        _draw,
    ),
}


# ------------------------------------------------------------- what answers look like in a notebook


_MOST_ROWS = 10
"""Of a table in a notebook; a data frame has them all."""


def tell(name: str, blocks: Sequence[Block]) -> str:
    """Write what stands before the first table of an answer.

    Parameters
    ----------
    name
        What it is.
    blocks
        The answer.
    """
    opening = list(itertools.takewhile(lambda block: not _has_grid(block), blocks))
    is_cut = len(opening) < len(blocks)
    if is_cut and getattr(opening[-1][-1], "role", "") == "heading":
        del opening[-1]
    return render_blocks([[Paragraph(text=f"<{name}>")], *opening])


def tell_in_html(blocks: Sequence[Block]) -> str:
    """Write an answer as far as its first table, of that the first rows.

    Parameters
    ----------
    blocks
        The answer.
    """
    from crawlgauge.report.page.templates import load_template

    n_told = next((k for k, block in enumerate(blocks, start=1) if _has_grid(block)), len(blocks))
    told = [[_cut(item) for item in block] for block in blocks[:n_told]]
    most = max((len(item.rows) for item in blocks[n_told - 1] if isinstance(item, Grid)), default=0)
    if most > _MOST_ROWS:
        told.append(notes(f"And {most - _MOST_ROWS:,} more rows, which to_polars() returns."))
    return load_template("notebook.html").render(blocks=told, in_notebook=True)


def _has_grid(block: Block) -> bool:
    return any(isinstance(item, Grid) for item in block)


def _cut(item: Item) -> Item:
    if not isinstance(item, Grid):
        return item
    return replace(item, rows=item.rows[:_MOST_ROWS], values=item.values[:_MOST_ROWS])


def to_rows(items: Iterable[Any]) -> list[dict[str, object]]:
    """Return a row for each dataclass: numbers beside the ends of their ranges, crawls by label.

    Parameters
    ----------
    items
        All of one type. What is a list itself has no place in a row.
    """
    return [dict(_to_cells(item)) for item in items]


def _to_cells(item: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 - a dataclass
    for field in fields(item):
        name, value = field.name, getattr(item, field.name)
        if isinstance(value, Crawl):
            yield from (("label", value.label), ("date", value.date), ("n_urls", value.n_urls))
        elif "Estimate" in str(field.type):
            ends = (None,) * 3 if value is None else (value.value, value.low, value.high)
            yield from zip((name, f"{name}_low", f"{name}_high"), ends, strict=True)
        elif not isinstance(value, tuple):
            yield name, value


class Answer(Tabular):
    """What a further question has been answered with; its last field holds the numbers."""

    __slots__ = ()

    @property
    def _numbers(self) -> Any:  # noqa: ANN401 - of any type that is shown
        return getattr(self, fields(self)[-1].name)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return tell(type(self).__name__, self.to_blocks())

    def _repr_html_(self) -> str:
        return tell_in_html(self.to_blocks())

    def _rows(self) -> Rows:
        return to_rows(getattr(self._numbers, _SHOWN[type(self._numbers)].rows))

    def to_blocks(self) -> list[Block]:
        """Return the answer in blocks of text, in the order in which people ask."""
        return _SHOWN[type(self._numbers)].to_blocks(self._numbers)

    def summary(self) -> str:
        """Return the answer as text for a terminal."""
        return render_blocks(self.to_blocks())

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data, in the form of the JSON schema."""
        return _SHOWN[type(self._numbers)].to_document(self._numbers)

    def to_json(self) -> str:
        """Return the answer as JSON."""
        return result_json.to_json(self.to_dict())

    def section(self) -> Section:
        """Return what the report shows of it, in place of what every report has of the question."""
        return show(self._numbers)


# ------------------------------------------------------------------- what answers are in the report


_TONES: dict[str, Tone] = {"in-line": "good", "drop": "bad", "rise": "look", "unknown": "plain"}


def show(numbers: object) -> Section:
    """Return what the report shows of an answer."""
    shown = _SHOWN[type(numbers)]
    section = Section(
        name=shown.name.format(numbers),
        title=shown.title.format(numbers),
        lead=shown.lead,
        blocks=tuple((shown.to_page or shown.to_blocks)(numbers)),
        charts=() if shown.draw is None else (shown.draw(numbers),),
    )
    if not isinstance(numbers, NewestCheck):
        return section
    word = COURSES[numbers.status]
    verdict = Verdict(_TONES[numbers.status], word, numbers.statement)
    return replace(section, lead=f"{numbers.newest.label}: {word}", verdict=verdict)


def show_no_plan(reason: str) -> Section:
    """Return what the report shows where nothing can be planned."""
    text = f"Nothing can be planned: {reason}."
    shown = _SHOWN[Plan]
    answer = Paragraph(text=text, role="answer")
    return Section(name=shown.name, title=shown.title, blocks=([answer],))
