"""Everything that the page says, put together before anything is drawn."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from crawlgauge._version import __version__
from crawlgauge.model.estimates import Check, Estimates, Status
from crawlgauge.model.explanations import EXPLANATIONS
from crawlgauge.report.blocks import Block, Grid, Item, Paragraph, Role, Trend
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.page.answer import Answer, Verdict, find_answer, judge_newest, judge_status
from crawlgauge.report.page.figure import Figure, make_figure
from crawlgauge.report.page.methods import GLOSSARY, describe_methods, list_citations
from crawlgauge.report.page.prose import (
    Remark,
    describe_agreement,
    describe_crawls,
    describe_paper,
    describe_provenance,
    describe_ranges,
    describe_turnover,
    describe_union,
    list_limits,
    list_readings,
)
from crawlgauge.report.page.tables import (
    Cell,
    Column,
    Table,
    compare_half_lives,
    list_assumptions,
    list_crawls,
    list_estimators,
    list_pairs,
    number_cell,
    text_cell,
)
from crawlgauge.report.section import Section
from crawlgauge.report.words import UNKNOWN

__all__ = ["count_verdicts", "list_checks", "make_page", "make_question"]


# --------------------------- the checks in words: what each asks, what it found, and how to read it


_GRAVEST_FIRST: tuple[Status, ...] = ("fail", "warn", "info", "ok", "na")
_COUNTED: tuple[tuple[Status, str, str], ...] = (
    ("fail", "says not to trust the number", "say not to trust the number"),
    ("warn", "asks for a look", "ask for a look"),
    ("info", "is a finding and no fault", "are findings and no faults"),
    ("ok", "is ok", "are ok"),
    ("na", "could not be run with this data", "could not be run with this data"),
)
"""What the checks of a status say, if it is one and if they are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCard:
    """One check.

    Parameters
    ----------
    id
        Its name in the program.
    question
        What it asks.
    verdict
        What it found.
    effect
        How large the deviation is, beside the threshold; empty if it was not measured.
    explanations
        Headings with a paragraph each: what it means, how it is computed, what to do.
    """

    id: str
    question: str
    verdict: Verdict
    effect: str
    explanations: tuple[tuple[str, str], ...]


def list_checks(estimates: Estimates) -> tuple[CheckCard, ...]:
    """Return the checks, the gravest first.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    ordered = sorted(estimates.checks, key=lambda check: _GRAVEST_FIRST.index(check.status))
    return tuple(_describe(check) for check in ordered)


def _describe(check: Check) -> CheckCard:
    explanation = EXPLANATIONS.get(check.id)
    return CheckCard(
        id=check.id,
        question=check.id if explanation is None else explanation.question,
        verdict=judge_status(check.status, check.message),
        effect=_describe_effect(check),
        explanations=()
        if explanation is None
        else (
            ("What it means", explanation.meaning),
            ("How it is computed", explanation.computation),
            ("What to do", explanation.advice),
        ),
    )


def _describe_effect(check: Check) -> str:
    if check.effect is None:
        return ""
    effect = f"Effect {check.effect:+.3f}".replace("-", "−")
    return effect if check.threshold is None else f"{effect}, threshold {check.threshold:g}"


def count_verdicts(estimates: Estimates) -> str:
    """Write how many checks say what.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    n_checks = len(estimates.checks)
    if n_checks == 0:
        return "So few crawls leave nothing to check."
    counted = [
        (sum(check.status == status for check in estimates.checks), one, several)
        for status, one, several in _COUNTED
    ]
    parts = [f"{n} {one if n == 1 else several}" for n, one, several in counted if n]
    if len(parts) > 1:
        return f"Of {n_checks} checks, {', '.join(parts[:-1])} and {parts[-1]}."
    phrase = parts[0].partition(" ")[2]
    if n_checks == 1:
        return f"The one check {phrase}."
    return (
        f"None of {n_checks} checks {phrase.replace('not ', '')}."
        if "not" in phrase
        else (f"All {n_checks} checks {phrase}.")
    )


# ------------------- A further question of the page: blocks of text as paragraphs, lists and tables


_BULLET = "•"
_NUMBER = re.compile(r"[−+-]?\d[\d,]*(?:\.\d+)?")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Something that stands in a section.

    Parameters
    ----------
    kind
        ``answer``, ``heading``, ``text``, ``note``, ``fail``, ``warn``, ``list`` or ``table``.
    texts
        A paragraph, or the entries of a list.
    table
        Where it is one.
    """

    kind: Role | Literal["list", "table"]
    texts: tuple[str, ...] = ()
    table: Table | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the page shows of a section: the first block, the figures, and the rest."""

    name: str
    title: str
    first: tuple[Piece, ...]
    figures: tuple[Figure, ...]
    rest: tuple[Piece, ...]


def make_question(section: Section) -> Question:
    """Arrange a section for the page.

    Parameters
    ----------
    section
        What is asked and answered.
    """
    arranging = _Arranging(section)
    pieces = [arranging.arrange(block) for block in section.blocks]
    return Question(
        name=section.name,
        title=section.title,
        first=tuple(pieces[0]) if pieces else (),
        figures=tuple(make_figure(chart) for chart in section.charts),
        rest=tuple(piece for block in pieces[1:] for piece in block),
    )


class _Arranging:
    """Turns blocks into pieces; a table is named by the heading above it."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._heading = section.title
        self._n_tables = 0

    def arrange(self, block: Block) -> list[Piece]:
        pieces: list[Piece] = []
        for is_listed, items in groupby(block, _is_listed):
            if is_listed:
                pieces.append(Piece(kind="list", texts=tuple(_text(item) for item in items)))
            else:
                pieces += [
                    self._to_piece(item)
                    for item in items
                    if not isinstance(item, Trend) and not self._repeats_title(item)
                ]
        return pieces

    def _repeats_title(self, item: Paragraph | Grid) -> bool:
        """Tell whether a heading, which a terminal needs, says what stands above the section."""
        is_heading = isinstance(item, Paragraph) and item.role == "heading"
        return is_heading and _text(item).removesuffix(":") == self._section.title

    def _to_piece(self, item: Paragraph | Grid) -> Piece:
        if isinstance(item, Grid):
            self._n_tables += 1
            name = f"{self._section.name}-{self._n_tables}"
            return Piece(kind="table", table=_to_table(item, name, self._heading))
        if item.role == "heading":
            self._heading = _text(item).removesuffix(":")
            return Piece(kind="heading", texts=(self._heading,))
        return Piece(kind=item.role, texts=(_text(item),))


def _is_listed(item: Item) -> bool:
    return isinstance(item, Paragraph) and item.first.strip() == _BULLET


def _text(item: Item) -> str:
    """Return the words of a paragraph, with a mark before them that means something."""
    if isinstance(item, (Grid, Trend)):
        return ""
    mark = item.first.strip()
    return item.text if mark in {"", _BULLET} else f"{mark} {item.text}"


def _to_table(grid: Grid, name: str, caption: str) -> Table:
    return Table(
        name=name,
        caption=caption,
        is_headed=True,
        columns=tuple(
            # Readers who do not see the table hear the names of its columns.
            Column(header=column.header or "note", is_number=column.align == "right")
            for column in grid.columns
        ),
        rows=tuple(
            tuple(
                _to_cell(cell, is_number=column.align == "right")
                for column, cell in zip(grid.columns, row, strict=True)
            )
            for row in grid.rows
        ),
    )


def _to_cell(text: str, *, is_number: bool) -> Cell:
    """Make a cell that is sorted by the number that it begins with, if it is one of numbers."""
    found = _NUMBER.match(text) if is_number else None
    if found is None:
        return text_cell(text)
    value = float(found[0].replace(",", "").replace("−", "-"))
    scale = text[found.end() :].split(maxsplit=1)
    return number_cell(text, value * _SCALES.get(scale[0] if scale else "", 1.0))


# ----------------------------- everything that the page says, put together before anything is drawn


_TIME = ("coverage", "population")
_PAPER = (
    "containment",
    "decay",
    "regression",
    "simulated-regression",
    "start-lines",
    "start-intercepts",
)
_RESIDUALS = ("residuals", "decay-shapes")
_UNION = ("union", "capture-frequencies")
_PLANNING = ("plan-by-size", "plan-by-frequency")
_ESTIMATORS = ("estimators", "agreement")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures by the section that they stand in; what fits in none is further."""

    time: tuple[Figure, ...]
    paper: tuple[Figure, ...]
    residuals: tuple[Figure, ...]
    union: tuple[Figure, ...]
    planning: tuple[Figure, ...]
    estimators: tuple[Figure, ...]
    further: tuple[Figure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the template shows, in its order."""

    version: str
    title: str
    about: str
    labels: tuple[str, ...]
    answer: Answer
    newest_label: str
    newest: Verdict
    contents: tuple[tuple[str, str], ...]
    checks_summary: str
    checks: tuple[CheckCard, ...]
    warnings: tuple[str, ...]
    turnover: str
    figures: Figures
    crawls: Table
    ranges: tuple[str, ...]
    paper: str
    pairs: Table
    union: tuple[str, ...]
    has_union: bool
    questions: tuple[Question, ...]
    agreement: str
    estimators: Table
    assumptions: tuple[tuple[str, str], ...]
    readings: tuple[Remark, ...]
    limits: tuple[Remark, ...]
    half_lives: Table
    methods: str
    citations: str
    n_citations: int
    provenance: tuple[str, ...]
    inputs: Table
    glossary: tuple[tuple[str, str], ...]


def make_page(
    estimates: Estimates, charts: Sequence[Chart | NoChart], sections: Sequence[Section] = ()
) -> Page:
    """Put together what the page says.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    charts
        Its figures.
    sections
        Further questions, in their order.
    """
    answer = find_answer(estimates)
    questions = tuple(make_question(section) for section in sections)
    figures = _arrange(charts)
    union = describe_union(estimates)
    has_union = bool(union) or _has_drawn(figures.union)
    estimators = list_estimators(estimates)
    citations = list_citations(estimates)
    return Page(
        version=__version__,
        title=f"Crawl coverage: {answer.figure} – crawlgauge report",
        about=describe_crawls(estimates),
        labels=tuple(crawl.label for crawl in estimates.crawls),
        answer=answer,
        newest_label=estimates.newest.label,
        newest=judge_newest(estimates, _find_alarm(sections)),
        contents=_list_contents(
            figures, questions, has_union=has_union, has_estimators=bool(estimators.rows)
        ),
        checks_summary=count_verdicts(estimates),
        checks=list_checks(estimates),
        warnings=estimates.warnings,
        turnover=describe_turnover(estimates),
        figures=figures,
        crawls=list_crawls(estimates),
        ranges=describe_ranges(estimates),
        paper=describe_paper(estimates),
        pairs=list_pairs(estimates),
        union=union,
        has_union=has_union,
        questions=questions,
        agreement=describe_agreement(estimates),
        estimators=estimators,
        assumptions=list_assumptions(estimates),
        readings=list_readings(estimates),
        limits=list_limits(estimates),
        half_lives=compare_half_lives(estimates),
        methods=describe_methods(estimates),
        citations=citations,
        n_citations=citations.count("@"),
        provenance=describe_provenance(estimates),
        inputs=_list_inputs(estimates),
        glossary=tuple(GLOSSARY.items()),
    )


def _find_alarm(sections: Sequence[Section]) -> str:
    return next((section.alarm for section in sections if section.alarm), "")


def _arrange(charts: Sequence[Chart | NoChart]) -> Figures:
    made = {chart.name: make_figure(chart) for chart in charts}

    def take(names: Iterable[str]) -> tuple[Figure, ...]:
        return tuple(made.pop(name) for name in names if name in made)

    return Figures(
        time=take(_TIME),
        paper=take(_PAPER),
        residuals=take(_RESIDUALS),
        union=take(_UNION),
        planning=take(_PLANNING),
        estimators=take(_ESTIMATORS),
        further=tuple(made.values()),
    )


def _has_drawn(figures: tuple[Figure, ...]) -> bool:
    return any(figure.still is not None for figure in figures)


def _list_contents(
    figures: Figures, questions: Sequence[Question], *, has_union: bool, has_estimators: bool
) -> tuple[tuple[str, str], ...]:
    entries = (
        (True, "checks", "Can it be trusted?"),
        (True, "time", "Coverage and population over time"),
        (True, "paper", "The published method’s figures"),
        (True, "residuals", "How far each pair lies from the model"),
        (has_union, "union", "All crawls together"),
        (_has_drawn(figures.planning), "planning", "Planning the next crawls"),
        *((True, question.name, question.title) for question in questions),
        (has_estimators, "estimators", "The other estimators"),
        (bool(figures.further), "further", "Further figures"),
        (True, "meaning", "Three ways to read coverage"),
        (True, "limits", "What this number does not mean"),
        (True, "half-life", "The half-life beside published ones"),
        (True, "methods", "For your paper: methods and citations"),
        (True, "provenance", "Where the numbers come from, downloads"),
        (True, "glossary", "Glossary"),
    )
    return tuple((id_, heading) for is_there, id_, heading in entries if is_there)


def _list_inputs(estimates: Estimates) -> Table:
    rows = tuple(
        (
            text_cell(entry.name),
            number_cell(UNKNOWN if entry.n_bytes is None else f"{entry.n_bytes:,}", entry.n_bytes),
            text_cell(entry.checksum),
        )
        for entry in estimates.provenance.inputs
    )
    columns = (
        Column(header="Input"),
        Column(header="Bytes", is_number=True),
        Column(header="Checksum"),
    )
    return Table(name="inputs", caption="What was read, with checksums", columns=columns, rows=rows)
