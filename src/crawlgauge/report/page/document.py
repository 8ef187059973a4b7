"""Everything that the page says, put together before anything is drawn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crawlgauge._version import __version__
from crawlgauge.model.estimates import Estimates
from crawlgauge.report.charts.chart import Chart, NoChart
from crawlgauge.report.page.answer import Answer, find_answer
from crawlgauge.report.page.check_cards import CheckCard, count_verdicts, list_checks
from crawlgauge.report.page.citations import list_citations
from crawlgauge.report.page.figure import Figure, make_figure
from crawlgauge.report.page.glossary import GLOSSARY
from crawlgauge.report.page.half_life import compare_half_lives
from crawlgauge.report.page.leads import (
    describe_agreement,
    describe_crawls,
    describe_paper,
    describe_provenance,
    describe_ranges,
    describe_turnover,
    describe_union,
)
from crawlgauge.report.page.meaning import Remark, list_limits, list_readings
from crawlgauge.report.page.methods_text import describe_methods
from crawlgauge.report.page.newest_verdict import judge_newest
from crawlgauge.report.page.number_tables import (
    list_assumptions,
    list_crawls,
    list_estimators,
    list_pairs,
)
from crawlgauge.report.page.question import Question, make_question
from crawlgauge.report.page.table import Column, Table, number_cell, text_cell
from crawlgauge.report.page.verdict import Verdict
from crawlgauge.report.range_text import UNKNOWN
from crawlgauge.report.section import Section

__all__ = ["make_page"]

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
