"""`Estimates` in words, in the order in which people ask."""

import textwrap
from collections.abc import Callable, Mapping, Sequence

from crawlgauge.model.estimates import (
    Check,
    CrawlEstimate,
    Estimate,
    Estimates,
    PaperFit,
    Status,
    Union,
)
from crawlgauge.model.explanations import explain_check
from crawlgauge.model.phrases import count, growth_per_year, names, per_year, percent, span, things
from crawlgauge.report.blocks import (
    Block,
    Column,
    Grid,
    Item,
    Paragraph,
    Role,
    Trend,
    render_blocks,
    render_table,
)
from crawlgauge.report.range_text import UNKNOWN, explain_ranges, with_range

__all__ = ["say_union", "say_untestable", "to_blocks", "to_text"]


# ---------------------------------------------------------- what all crawls together hold, in words


_INDENT = " " * len("Persistence  ")


def say_union(union: Union, what: str) -> Block:
    """Return what all crawls together hold of the living, what of it is gone, what none holds.

    Parameters
    ----------
    union
        The numbers.
    what
        What is counted, in the plural.
    """
    numbers = [
        ("all crawls", union.coverage),
        ("dead", union.dead_share),
        ("unseen", union.n_unseen),
    ]
    lines = [
        _line(
            "All crawls",
            f"{union.n_distinct:,} different {what}, {{}} of those that lived at the newest crawl",
            union.coverage,
            with_range(union.coverage, percent),
        ),
        _line(
            "Dead",
            "{} of what all crawls hold did not live any more",
            union.dead_share,
            with_range(union.dead_share, percent),
        ),
        _line(
            "Unseen",
            f"{{}} {what} lived at the time of a crawl and are in none",
            union.n_unseen,
            with_range(union.n_unseen, count),
        ),
    ]
    notes = [*explain_ranges(numbers), *([union.caution] if union.caution else [])]
    return [*lines, *(Paragraph(text=text, role="note") for text in notes)]


def _line(name: str, sentence: str, number: Estimate, text: str) -> Paragraph:
    said = sentence.format(text)
    if number.value is None:
        said = f"unknown ({number.reason})"
    return Paragraph(text=said, first=name.ljust(len(_INDENT)), rest=_INDENT)


# ------------------------------------------- `Estimates` in words, in the order in which people ask


_TABLE_WIDTH = 100
_VERDICTS: Mapping[Status, str] = {
    "fail": "failed",
    "warn": "look",
    "info": "finding",
    "ok": "ok",
    "na": "not testable",
}
_ROLES: Mapping[Status, Role] = {"fail": "fail", "warn": "warn"}
_IN_BRIEF: tuple[Status, ...] = ("ok", "na")


def to_blocks(estimates: Estimates) -> list[Block]:
    """Return what `crawlgauge estimate` shows.

    Parameters
    ----------
    estimates
        First comes the answer in one sentence, then a table of the crawls, the turnover, what all
        crawls together hold, the published method's fit, the checks, and what to be careful
        about.
    """
    blocks: list[Block] = [
        [Paragraph(text=estimates.headline.statement, role="answer")],
        *_say_crawls(estimates),
        _say_turnover(estimates),
        *([] if estimates.union is None else [say_union(estimates.union, things(estimates.level))]),
        _say_paper(estimates.paper, things(estimates.level)),
    ]
    if estimates.agreement.grade != "none":
        blocks.insert(1, _say_trust(estimates))
        blocks += _say_estimators(estimates)
    if estimates.checks:
        blocks.append(_say_checks(estimates.checks))
    if estimates.warnings:
        bullets = [Paragraph(text=text, first="• ", rest="  ") for text in estimates.warnings]
        blocks.append([Paragraph(text="What to be careful about:", role="heading"), *bullets])
    return blocks


def _say_trust(estimates: Estimates) -> Block:
    """Say what the grade rests on, and what no grade can tell."""
    agreement = estimates.agreement
    texts = (f"Grade {agreement.grade}: {agreement.reason}", *say_untestable(estimates))
    return [Paragraph(text=text) for text in texts]


def say_untestable(estimates: Estimates) -> tuple[str, ...]:
    """Name what histories cannot tell, and what it does to the coverage.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    noun, readings, first = (
        things(estimates.level),
        estimates.readings,
        estimates.first_captures,
    )
    texts = []
    if readings is not None:
        texts.append(
            "What is captured once is captured more readily afterwards. If the crawler returns to "
            f"what it holds, a typical crawl holds {percent(readings.returning)}; if {noun} go "
            f"absent for a while, {percent(readings.absent)}. Histories cannot tell which."
        )
    if first is not None:
        texts.append(
            f"Not testable by histories: {noun} never captured before are taken to be as likely "
            f"to be captured as known ones. If half as likely, coverage would be "
            f"{percent(first.half)}; if twice as likely, {percent(first.twice)}."
        )
    return tuple(texts)


def _say_crawls(estimates: Estimates) -> list[Block]:
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
        Paragraph(
            text=f"Population: the {noun} that a crawl could have reached; coverage: the share "
            "it holds.",
            role="note",
        )
    )
    grid = Grid(columns=tuple(columns), rows=tuple(map(tuple, rows)))
    return [[grid, *_trend(estimates.per_crawl)], footnotes]


def _trend(rows: tuple[CrawlEstimate, ...]) -> list[Trend]:
    values = tuple(row.coverage.value for row in rows)
    known = [value for value in values if value is not None]
    if len(known) < 2:  # noqa: PLR2004 - a single number has no trend
        return []
    text = f"from {percent(min(known))} to {percent(max(known))}"
    return [Trend(name="Coverage over time", values=values, text=text)]


def _rule(table: str) -> str:
    return table.split("\n")[1]


def _number_notes(notes: list[str]) -> tuple[list[str], list[Paragraph]]:
    """Return a mark for each note that is too long for the table, and the notes by their marks."""
    marks = {note: f"[{k}]" for k, note in enumerate(dict.fromkeys(filter(None, notes)), start=1)}
    explained = [
        Paragraph(text=note, first=f"{mark} ", rest="    ", role="note")
        for note, mark in marks.items()
    ]
    return [marks.get(note, "") for note in notes], explained


def _list_reasons(rows: tuple[CrawlEstimate, ...]) -> list[Paragraph]:
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
        Paragraph(text=f"{names(labels)}: {reason}", first=f"{UNKNOWN} ", rest="  ", role="note")
        for reason, labels in lacking.items()
    ]


def _why_unknown(number: Estimate) -> str | None:
    return number.reason if number.value is None else None


def _say_turnover(estimates: Estimates) -> Block:
    noun = things(estimates.level)
    persistence, growth = estimates.persistence, estimates.growth_per_year
    half_life = estimates.half_life_years
    lives_on = f"{{}} of the {noun} live on for a year"
    lines = [
        _say_number("Persistence", persistence, percent, lives_on),
        _say_number("Half-life", half_life, span, f"half of the {noun} are gone after {{}}"),
        _say_number("Growth", growth, growth_per_year, "the population changes by {}"),
    ]
    per_crawl = [
        named
        for row in estimates.per_crawl
        for named in (("coverage", row.coverage), ("population", row.population))
    ]
    turnover = [("persistence", persistence), ("half-life", half_life), ("growth", growth)]
    ranges = explain_ranges([*per_crawl, *turnover])
    return [*lines, *(Paragraph(text=sentence, role="note") for sentence in ranges)]


def _say_number(
    name: str, number: Estimate, phrase: Callable[[float], str], sentence: str
) -> Paragraph:
    if number.value is None:
        text = f"unknown ({number.reason})"
    else:
        text = sentence.format(with_range(number, phrase))
    indent = " " * len("Persistence  ")
    return Paragraph(text=text, first=name.ljust(len(indent)), rest=indent)


def _say_paper(paper: PaperFit, noun: str) -> Block:
    pairs = "1 pair" if paper.n_pairs == 1 else f"{paper.n_pairs:,} pairs"
    heading = f"The published method (one line through the overlaps of {pairs} of crawls)"
    if paper.coverage is None or paper.persistence is None:
        text = (
            f"{heading}: no line can be drawn, as that takes pairs of two different time "
            "differences."
        )
        return [Paragraph(text=text, rest="  ")]
    numbers = [
        f"coverage {percent(paper.coverage)}",
        f"persistence {per_year(paper.persistence)}",
        "no half-life"
        if paper.half_life_years is None
        else f"half-life {span(paper.half_life_years)}",
        "R² unknown" if paper.r_squared is None else f"R² {paper.r_squared:.2f}",
    ]
    found, again = ("earlier", "later") if paper.direction == "forward" else ("later", "earlier")
    sentences = [
        ", ".join(numbers),
        f"Overlap is the share of the {found} crawl's {noun} found again in the {again} one.",
        "A line for each starting crawl: crawlgauge estimate --json, under paper.per_start.",
    ]
    return [
        Paragraph(text=f"{heading}:", role="heading"),
        *(Paragraph(text=sentence, first="  ", rest="  ") for sentence in sentences),
    ]


def _say_estimators(estimates: Estimates) -> list[Block]:
    columns = (
        Column(header="estimator"),
        Column(header="coverage", align="right"),
        Column(header="persistence", align="right"),
        Column(header="population", align="right"),
    )
    rows = tuple(
        (
            row.name,
            _possible(row.coverage),
            _possible(row.persistence),
            UNKNOWN if row.population is None else count(row.population),
        )
        for row in estimates.estimators
    )
    heading = (
        "Estimators side by side (what each assumes: crawlgauge estimate --explain estimators)"
    )
    return [[Paragraph(text=heading, role="heading")], [Grid(columns=columns, rows=rows)]]


def _possible(share: float | None) -> str:
    """Write a share; more than all is no share."""
    if share is None:
        return UNKNOWN
    return percent(share) if share <= 1 else "over 100 %"


def _say_checks(checks: Sequence[Check]) -> Block:
    heading = "Checks (more on each: crawlgauge estimate --explain CHECK):"
    items: list[Item] = [Paragraph(text=heading, role="heading")]
    for check in sorted(checks, key=lambda check: list(_VERDICTS).index(check.status)):
        if check.status not in _IN_BRIEF:
            text = f"{_VERDICTS[check.status]} ({check.id}): {check.message}"
            role = _ROLES.get(check.status, "text")
            items.append(Paragraph(text=text, first="• ", rest="  ", role=role))
    for status in _IN_BRIEF:
        alike = [check.id for check in checks if check.status == status]
        if alike:
            text = f"{_VERDICTS[status]}: {', '.join(alike)}"
            items.append(Paragraph(text=text, first="• ", rest="  "))
    return items


# ------------------------------------------------------------------------ `Estimates` as plain text


def to_text(estimates: Estimates) -> str:
    """Return what `crawlgauge estimate` writes into a file or a pipe, without a final newline.

    Parameters
    ----------
    estimates
        The numbers.
    """
    return render_blocks(to_blocks(estimates))


# --------------------------------------------- what a check means and what it found, for a terminal


ESTIMATORS = "estimators"
"""Stands for all estimators where a check is named."""

_WIDTH = 88


def explain(check_id: str, estimates: Estimates) -> str:
    """Return what `crawlgauge estimate --explain` shows, without a final newline.

    Parameters
    ----------
    check_id
        The check to explain; ``estimators`` for what each estimator assumes.
    estimates
        Whose check it is.

    Raises
    ------
    FitError
        If there is no such check.
    """
    if check_id == ESTIMATORS:
        return _explain_estimators(estimates)
    return "\n\n".join(
        f"{heading}\n{textwrap.fill(text, _WIDTH, initial_indent='  ', subsequent_indent='  ')}"
        for heading, text in explain_check(check_id, estimates.checks)
    )


def _explain_estimators(estimates: Estimates) -> str:
    parts = []
    for row in estimates.estimators:
        value = "unknown" if row.coverage is None else percent(row.coverage)
        text = textwrap.fill(row.assumes, _WIDTH, initial_indent="  ", subsequent_indent="  ")
        parts.append(f"{row.name}: coverage {value}\n{text}")
    return "\n\n".join(parts)
