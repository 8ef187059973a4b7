"""Everything that the page says, put together before anything is drawn."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from crawlgauge._version import __version__
from crawlgauge.model.estimates import Check, Estimates
from crawlgauge.model.histories.checks import EXPLANATIONS
from crawlgauge.report.blocks import Column, Grid, Paragraph, Role, write_blocks
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.page.answer import Verdict, find_answer, judge_newest, judge_status
from crawlgauge.report.page.figure import Figure, make_figure
from crawlgauge.report.page.methods import GLOSSARY, describe_methods, list_citations
from crawlgauge.report.page.prose import (
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
    Table,
    compare_half_lives,
    list_assumptions,
    list_crawls,
    list_estimators,
    list_inputs,
    list_pairs,
)
from crawlgauge.report.section import Section
from crawlgauge.report.words import STATUSES, signed

__all__ = ["count_verdicts", "list_checks", "make_page", "make_question"]


# --------------------------- the checks in words: what each asks, what it found, and how to read it


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
    """Return the checks, the gravest first."""
    gravest_first = list(STATUSES)
    ordered = sorted(estimates.checks, key=lambda check: gravest_first.index(check.status))
    return tuple(_describe(check) for check in ordered)


def _describe(check: Check) -> CheckCard:
    explanation, effect = EXPLANATIONS.get(check.id), ""
    if check.effect is not None:
        limit = "" if check.threshold is None else f", threshold {check.threshold:g}"
        effect = f"Effect {signed(check.effect)}{limit}"
    return CheckCard(
        id=check.id,
        question=check.id if explanation is None else explanation.question,
        verdict=judge_status(check.status, check.message),
        effect=effect,
        explanations=()
        if explanation is None
        else (
            ("What it means", explanation.meaning),
            ("How it is computed", explanation.computation),
            ("What to do", explanation.advice),
        ),
    )


def count_verdicts(estimates: Estimates) -> str:
    """Write how many checks say what."""
    n_checks = len(estimates.checks)
    if n_checks == 0:
        return "So few crawls leave nothing to check."
    said = [check.status for check in estimates.checks]
    parts = [
        f"{said.count(status)} {words.one if said.count(status) == 1 else words.several}"
        for status, words in STATUSES.items()
        if status in said
    ]
    if len(parts) > 1:
        return f"Of {n_checks} checks, {', '.join(parts[:-1])} and {parts[-1]}."
    words = STATUSES[said[0]]
    if n_checks == 1:
        return f"The one check {words.one}."
    if words.none:
        return f"None of {n_checks} checks {words.none}."
    return f"All {n_checks} checks {words.several}."


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
    """Arrange a section for the page; a table is named by the heading above it."""
    title, n_tables = section.title, 0

    def arrange_table(grid: Grid) -> Piece:
        nonlocal n_tables
        n_tables += 1
        name = f"{section.name}-{n_tables}"
        table = Table(name=name, caption=title, grid=_to_sortable(grid), is_headed=True)
        return Piece(kind="table", table=table)

    def arrange_text(item: Paragraph) -> Piece:
        nonlocal title
        mark = item.first.strip()
        if mark == _BULLET:
            return Piece(kind="list", texts=(item.text,))
        # Other marks mean something.
        text = f"{mark} {item.text}" if mark else item.text
        if item.role == "heading":
            title = text = text.removesuffix(":")
        return Piece(kind=item.role, texts=(text,))

    ways: dict[type, Callable[[Any], Piece]] = {Grid: arrange_table, Paragraph: arrange_text}
    # A heading that a terminal needs may say what stands above the section.
    repeated = Piece(kind="heading", texts=(section.title,))
    blocks = [
        _join_lists(piece for piece in block if piece != repeated)
        for block in write_blocks(section.blocks, ways)
    ]
    return Question(
        name=section.name,
        title=section.title,
        first=tuple(blocks[0]) if blocks else (),
        figures=tuple(make_figure(chart) for chart in section.charts),
        rest=tuple(piece for block in blocks[1:] for piece in block),
    )


def _join_lists(pieces: Iterable[Piece]) -> list[Piece]:
    """Make one list of entries that follow each other."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and piece.kind == joined[-1].kind == "list":
            joined[-1] = Piece(kind="list", texts=joined[-1].texts + piece.texts)
        else:
            joined.append(piece)
    return joined


def _to_sortable(grid: Grid) -> Grid:
    # Readers who do not see the table hear the names of its columns.
    columns = tuple(
        Column(header=column.header or "note", align=column.align) for column in grid.columns
    )
    values = tuple(
        tuple(
            _read_number(cell) if column.align == "right" else None
            for column, cell in zip(columns, row, strict=True)
        )
        for row in grid.rows
    )
    return Grid(columns=columns, rows=grid.rows, values=values)


def _read_number(text: str) -> float | None:
    """Return the number that a cell begins with, by which it is sorted."""
    found = _NUMBER.match(text)
    if found is None:
        return None
    value = float(found[0].replace(",", "").replace("−", "-"))
    scale = text[found.end() :].split(maxsplit=1)
    return value * _SCALES.get(scale[0] if scale else "", 1.0)


# ----------------------------- everything that the page says, put together before anything is drawn


_FIGURES = {
    "time": ("coverage", "population"),
    "paper": (
        "containment",
        "decay",
        "regression",
        "simulated-regression",
        "start-lines",
        "start-intercepts",
    ),
    "residuals": ("residuals", "decay-shapes"),
    "union": ("union", "capture-frequencies"),
    "planning": ("plan-by-size", "plan-by-frequency"),
    "estimators": ("estimators", "agreement"),
}
"""The figures of each section; what is in none is further."""


def make_page(
    estimates: Estimates, charts: Sequence[Chart | NoChart], sections: Sequence[Section] = ()
) -> dict[str, Any]:
    """Put together what the template shows.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    charts
        Its figures.
    sections
        Further questions, in their order.
    """
    answer, union = find_answer(estimates), describe_union(estimates)
    questions = tuple(make_question(section) for section in sections)
    figures = _arrange(charts)
    has_union = bool(union) or _has_drawn(figures["union"])
    estimators = list_estimators(estimates)
    citations = list_citations(estimates)
    alarm = next((section.alarm for section in sections if section.alarm), "")
    contents = (
        (True, "checks", "Can it be trusted?"),
        (True, "time", "Coverage and population over time"),
        (True, "paper", "The published method’s figures"),
        (True, "residuals", "How far each pair lies from the model"),
        (has_union, "union", "All crawls together"),
        (_has_drawn(figures["planning"]), "planning", "Planning the next crawls"),
        *((True, question.name, question.title) for question in questions),
        (bool(estimators.grid.rows), "estimators", "The other estimators"),
        (bool(figures["further"]), "further", "Further figures"),
        (True, "meaning", "Three ways to read coverage"),
        (True, "limits", "What this number does not mean"),
        (True, "half-life", "The half-life beside published ones"),
        (True, "methods", "For your paper: methods and citations"),
        (True, "provenance", "Where the numbers come from, downloads"),
        (True, "glossary", "Glossary"),
    )
    return {
        "version": __version__,
        "title": f"Crawl coverage: {answer.figure} – crawlgauge report",
        "about": describe_crawls(estimates),
        "labels": tuple(crawl.label for crawl in estimates.crawls),
        "answer": answer,
        "newest_label": estimates.newest.label,
        "newest": judge_newest(estimates, alarm),
        "contents": tuple((id_, heading) for is_there, id_, heading in contents if is_there),
        "checks_summary": count_verdicts(estimates),
        "checks": list_checks(estimates),
        "warnings": estimates.warnings,
        "turnover": describe_turnover(estimates),
        "figures": figures,
        "crawls": list_crawls(estimates),
        "ranges": describe_ranges(estimates),
        "paper": describe_paper(estimates),
        "pairs": list_pairs(estimates),
        "union": union,
        "has_union": has_union,
        "questions": questions,
        "agreement": describe_agreement(estimates),
        "estimators": estimators,
        "assumptions": list_assumptions(estimates),
        "readings": list_readings(estimates),
        "limits": list_limits(estimates),
        "half_lives": compare_half_lives(estimates),
        "methods": describe_methods(estimates),
        "citations": citations,
        "n_citations": citations.count("@"),
        "provenance": describe_provenance(estimates),
        "inputs": list_inputs(estimates),
        "glossary": tuple(GLOSSARY.items()),
    }


def _arrange(charts: Sequence[Chart | NoChart]) -> dict[str, tuple[Figure, ...]]:
    made = {chart.name: make_figure(chart) for chart in charts}
    placed = {
        section: tuple(made.pop(name) for name in names if name in made)
        for section, names in _FIGURES.items()
    }
    return {**placed, "further": tuple(made.values())}


def _has_drawn(figures: tuple[Figure, ...]) -> bool:
    return any(figure.still is not None for figure in figures)
