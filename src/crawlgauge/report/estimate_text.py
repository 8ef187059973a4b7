"""`Estimates` in words, for a terminal."""

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence

from crawlgauge.model.estimates import (
    Check,
    CrawlEstimate,
    Estimate,
    Estimates,
    PaperFit,
    Status,
)
from crawlgauge.model.phrases import count, growth_per_year, names, per_year, percent, span, things
from crawlgauge.report.range_text import UNKNOWN, explain_ranges, with_range
from crawlgauge.report.text_table import Column, render_table

__all__ = ["to_text"]

_WIDTH = 88
_TABLE_WIDTH = 100
_VERDICTS: Mapping[Status, str] = {
    "fail": "do not trust",
    "warn": "look",
    "info": "finding",
    "ok": "ok",
    "na": "not testable",
}
_IN_BRIEF: tuple[Status, ...] = ("ok", "na")
_NO_BREAK = "\N{NO-BREAK SPACE}"
_UNIT = re.compile(r"(?<=\d) (?=(%|million|billion|trillion|years?|months?|days?)(?!\w))")


def to_text(estimates: Estimates) -> str:
    """Return what `crawlgauge estimate` shows, without a final newline.

    Parameters
    ----------
    estimates
        First comes the answer in one sentence, then a table of the crawls, the turnover, the
        published method's fit, the checks, and what to be careful about.
    """
    parts = [
        _wrap(estimates.headline.statement),
        _render_crawls(estimates),
        _render_turnover(estimates),
        _render_paper(estimates.paper, things(estimates.level)),
    ]
    if estimates.agreement.grade != "none":
        grade = f"Grade {estimates.agreement.grade}: {estimates.agreement.reason}"
        parts.insert(1, _wrap(grade))
        parts.append(_render_estimators(estimates))
    if estimates.checks:
        parts.append(_render_checks(estimates.checks))
    if estimates.warnings:
        bullets = [_wrap(caution, first="• ", rest="  ") for caution in estimates.warnings]
        parts.append("\n".join(["What to be careful about:", *bullets]))
    return "\n\n".join(parts)


def _render_crawls(estimates: Estimates) -> str:
    noun = things(estimates.level)
    columns = [
        Column(header="crawl"),
        Column(header="date"),
        Column(header=noun, align="right"),
        Column(header="coverage", align="right"),
        Column(header="population", align="right"),
    ]
    rows = [
        [
            crawl.label,
            crawl.date.isoformat(),
            f"{crawl.n_urls:,}",
            with_range(row.coverage, percent),
            with_range(row.population, count),
        ]
        for crawl, row in zip(estimates.crawls, estimates.per_crawl, strict=True)
    ]
    footnotes = _list_reasons(estimates.per_crawl)
    notes = [row.note for row in estimates.per_crawl]
    if any(notes):
        width = len(_rule(render_table(columns, rows))) + len("  ")
        columns.append(Column(header="note"))
        if width + max(map(len, notes)) > _TABLE_WIDTH:
            notes, explained = _number_notes(notes)
            footnotes += explained
        rows = [[*row, note] for row, note in zip(rows, notes, strict=True)]
    footnotes.append(
        f"Population: the {noun} that a crawl could have reached; coverage: the share it holds."
    )
    return "\n".join([render_table(columns, rows), "", *footnotes])


def _rule(table: str) -> str:
    return table.split("\n")[1]


def _number_notes(notes: list[str]) -> tuple[list[str], list[str]]:
    """Return a mark for each note that is too long for the table, and the notes by their marks."""
    marks = {note: f"[{k}]" for k, note in enumerate(dict.fromkeys(filter(None, notes)), start=1)}
    explained = [_wrap(note, first=f"{mark} ", rest="    ") for note, mark in marks.items()]
    return [marks.get(note, "") for note in notes], explained


def _list_reasons(rows: tuple[CrawlEstimate, ...]) -> list[str]:
    """Say once for each reason which crawls lack a value because of it."""
    lacking: dict[str, list[str]] = {}
    for row in rows:
        coverage, population = _why_unknown(row.coverage), _why_unknown(row.population)
        if coverage == population:
            reasons = {coverage: row.label}
        else:
            reasons = {
                coverage: f"{row.label} (coverage)",
                population: f"{row.label} (population)",
            }
        for reason, name in reasons.items():
            if reason:
                lacking.setdefault(reason, []).append(name)
    return [
        _wrap(f"{names(labels)}: {reason}", first=f"{UNKNOWN} ", rest="  ")
        for reason, labels in lacking.items()
    ]


def _why_unknown(number: Estimate) -> str | None:
    return number.reason if number.value is None else None


def _render_turnover(estimates: Estimates) -> str:
    noun = things(estimates.level)
    persistence, growth = estimates.persistence, estimates.growth_per_year
    half_life = estimates.half_life_years
    lives_on = f"{{}} of the {noun} live on for a year"
    if (persistence.value or 0) > 1:
        lives_on = f"no {noun} seem to be lost: {{}} live on for a year"
    lines = [
        _render_number("Persistence", persistence, percent, lives_on),
        _render_number("Half-life", half_life, span, f"half of the {noun} are gone after {{}}"),
        _render_number("Growth", growth, growth_per_year, "the population changes by {}"),
    ]
    per_crawl = [
        named
        for row in estimates.per_crawl
        for named in (("coverage", row.coverage), ("population", row.population))
    ]
    turnover = [("persistence", persistence), ("half-life", half_life), ("growth", growth)]
    return "\n".join([*lines, *map(_wrap, explain_ranges([*per_crawl, *turnover]))])


def _render_number(
    name: str, number: Estimate, phrase: Callable[[float], str], sentence: str
) -> str:
    if number.value is None:
        text = f"unknown ({number.reason})"
    else:
        text = sentence.format(with_range(number, phrase))
    indent = " " * len("Persistence  ")
    return _wrap(text, first=name.ljust(len(indent)), rest=indent)


def _render_paper(paper: PaperFit, noun: str) -> str:
    pairs = "1 pair" if paper.n_pairs == 1 else f"{paper.n_pairs:,} pairs"
    heading = f"The published method (one line through the overlaps of {pairs} of crawls)"
    if paper.coverage is None or paper.persistence is None:
        return _wrap(
            f"{heading}: no line can be drawn, as that takes pairs of two different time "
            "differences.",
            rest="  ",
        )
    numbers = [
        f"coverage {percent(paper.coverage)}",
        f"persistence {per_year(paper.persistence)}",
        "no half-life"
        if paper.half_life_years is None
        else f"half-life {span(paper.half_life_years)}",
        "R² unknown" if paper.r_squared is None else f"R² {paper.r_squared:.2f}",
    ]
    found, again = ("earlier", "later") if paper.direction == "forward" else ("later", "earlier")
    return "\n".join(
        [
            f"{heading}:",
            f"  {', '.join(numbers)}",
            f"  Overlap is the share of the {found} crawl's {noun} found again in the {again} one.",
            "  A line for each starting crawl: crawlgauge estimate --json, under paper.per_start.",
        ]
    )


def _render_estimators(estimates: Estimates) -> str:
    columns = [
        Column(header="estimator"),
        Column(header="coverage", align="right"),
        Column(header="persistence", align="right"),
        Column(header="population", align="right"),
    ]
    rows = [
        [
            row.name,
            UNKNOWN if row.coverage is None else percent(row.coverage),
            UNKNOWN if row.persistence is None else percent(row.persistence),
            UNKNOWN if row.population is None else count(row.population),
        ]
        for row in estimates.estimators
    ]
    heading = (
        "Estimators side by side (what each assumes: crawlgauge estimate --explain estimators)"
    )
    return f"{heading}\n\n{render_table(columns, rows)}"


def _render_checks(checks: Sequence[Check]) -> str:
    lines = ["Checks (more on each: crawlgauge estimate --explain CHECK):"]
    for check in sorted(checks, key=lambda check: list(_VERDICTS).index(check.status)):
        if check.status not in _IN_BRIEF:
            verdict = _VERDICTS[check.status]
            lines.append(_wrap(f"{verdict} ({check.id}): {check.message}", first="• ", rest="  "))
    for status in _IN_BRIEF:
        alike = [check.id for check in checks if check.status == status]
        if alike:
            lines.append(_wrap(f"{_VERDICTS[status]}: {', '.join(alike)}", first="• ", rest="  "))
    return "\n".join(lines)


def _wrap(text: str, *, first: str = "", rest: str = "") -> str:
    wrapped = textwrap.fill(
        _UNIT.sub(_NO_BREAK, text),
        _WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped.replace(_NO_BREAK, " ")
