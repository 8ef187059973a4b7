"""`Estimates` in words, in the order in which people ask."""

import textwrap
from collections.abc import Iterable, Sequence

from crawlgauge.model.estimates import (
    Check,
    CrawlEstimate,
    Estimate,
    Estimates,
    PaperFit,
    Union,
)
from crawlgauge.model.phrases import count, growth_per_year, names, per_year, percent, span, things
from crawlgauge.report.blocks import (
    Block,
    Field,
    Item,
    Paragraph,
    Role,
    Trend,
    bullets,
    cautions,
    heading,
    lacking,
    notes,
    render_blocks,
    render_table,
    tabulate,
)
from crawlgauge.report.words import (
    STATUSES,
    Phrase,
    explain_ranges,
    grouped,
    number_of,
    with_range,
)

__all__ = [
    "explain",
    "numbers_per_crawl",
    "say_untestable",
    "to_blocks",
    "to_text",
]

_TABLE_WIDTH = 100
_INDENT = " " * len("Persistence  ")
_GRAVE: dict[str, Role] = {"fail": "fail", "warn": "warn"}
_IN_BRIEF = ("ok", "na")


def to_blocks(estimates: Estimates) -> list[Block]:
    """Return what `crawlgauge estimate` shows.

    Parameters
    ----------
    estimates
        First comes the answer in one sentence, then a table of the crawls, the turnover, what all
        crawls together hold, the published method's fit, the checks, and what to be careful
        about.
    """
    noun, union = things(estimates.level), estimates.union
    trust: list[Block] = []
    estimators: list[Block] = []
    if estimates.agreement.grade != "none":
        # What the grade rests on, and what no grade can tell.
        grade = f"Grade {estimates.agreement.grade}: {estimates.agreement.reason}"
        trust = [[Paragraph(text=text) for text in (grade, *say_untestable(estimates))]]
        estimators = _say_estimators(estimates)
    return [
        [Paragraph(text=estimates.headline.statement, role="answer")],
        *trust,
        *_say_crawls(estimates),
        _say_turnover(estimates),
        *([] if union is None else [_say_union(union, noun)]),
        _say_paper(estimates.paper, noun),
        *estimators,
        *([_say_checks(estimates.checks)] if estimates.checks else []),
        *cautions(estimates.warnings),
    ]


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
    fields: list[Field] = [
        ("crawl", lambda row: row[0].label),
        ("date", lambda row: row[0].date.isoformat()),
        (noun, lambda row: row[0].n_urls, grouped),
        ("coverage", lambda row: row[1].coverage, percent),
        ("population", lambda row: row[1].population, count),
    ]
    rows = list(zip(estimates.crawls, estimates.per_crawl, strict=True))
    table = tabulate(rows, *fields)
    footnotes = _list_reasons(estimates.per_crawl)
    remarks = [row.note for row in estimates.per_crawl]
    if any(remarks):
        rule = render_table(table.columns, table.rows).split("\n")[1]
        shown = {remark: remark for remark in remarks}
        if len(rule) + len("  ") + max(map(len, remarks)) > _TABLE_WIDTH:
            # Too long for the table: marks stand in it, and the notes below.
            several = dict.fromkeys(filter(None, remarks))
            shown |= {remark: f"[{k}]" for k, remark in enumerate(several, start=1)}
            footnotes += [
                Paragraph(text=remark, first=f"{shown[remark]} ", rest="    ", role="note")
                for remark in several
            ]
        table = tabulate(rows, *fields, ("note", lambda row: shown[row[1].note]))
    meaning = (
        f"Population: the {noun} that a crawl could have reached; coverage: the share it holds."
    )
    return [[table, *_trend(estimates.per_crawl)], [*footnotes, *notes(meaning)]]


def _trend(rows: tuple[CrawlEstimate, ...]) -> list[Trend]:
    values = tuple(row.coverage.value for row in rows)
    known = [value for value in values if value is not None]
    if len(known) < 2:  # noqa: PLR2004 - a single number has no trend
        return []
    text = f"from {percent(min(known))} to {percent(max(known))}"
    return [Trend(name="Coverage over time", values=values, text=text)]


def _list_reasons(rows: tuple[CrawlEstimate, ...]) -> list[Item]:
    """Say once for each reason which crawls lack a value because of it."""
    lacks: dict[str, list[str]] = {}
    for row in rows:
        coverage, population = (
            number.reason if number.value is None else None
            for number in (row.coverage, row.population)
        )
        concerned = [
            (coverage, f"{row.label} (coverage)"),
            (population, f"{row.label} (population)"),
        ]
        if coverage == population:
            concerned = [(coverage, row.label)]
        for reason, name in concerned:
            if reason:
                lacks.setdefault(reason, []).append(name)
    return lacking(*(f"{names(labels)}: {reason}" for reason, labels in lacks.items()))


def _say_turnover(estimates: Estimates) -> Block:
    noun = things(estimates.level)
    persistence, growth = estimates.persistence, estimates.growth_per_year
    half_life = estimates.half_life_years
    lives_on = f"{{}} of the {noun} live on for a year"
    turnover = [("persistence", persistence), ("half-life", half_life), ("growth", growth)]
    return [
        _say_number("Persistence", persistence, percent, lives_on),
        _say_number("Half-life", half_life, span, f"half of the {noun} are gone after {{}}"),
        _say_number("Growth", growth, growth_per_year, "the population changes by {}"),
        *notes(*explain_ranges([*numbers_per_crawl(estimates), *turnover])),
    ]


def numbers_per_crawl(estimates: Estimates) -> list[tuple[str, Estimate]]:
    """Return coverage and population of each crawl by name."""
    return [
        named
        for row in estimates.per_crawl
        for named in (("coverage", row.coverage), ("population", row.population))
    ]


def _say_number(name: str, number: Estimate, phrase: Phrase, sentence: str) -> Paragraph:
    text = sentence.format(with_range(number, phrase))
    if number.value is None:
        text = f"unknown ({number.reason})"
    return Paragraph(text=text, first=name.ljust(len(_INDENT)), rest=_INDENT)


def _say_union(union: Union, what: str) -> Block:
    """Return what all crawls together hold of the living, what of it is gone, what none holds."""
    ranges = explain_ranges(
        [("all crawls", union.coverage), ("dead", union.dead_share), ("unseen", union.n_unseen)]
    )
    held = f"{union.n_distinct:,} different {what}, {{}} of those that lived at the newest crawl"
    unseen = f"{{}} {what} lived at the time of a crawl and are in none"
    dead = "{} of what all crawls hold did not live any more"
    return [
        _say_number("All crawls", union.coverage, percent, held),
        _say_number("Dead", union.dead_share, percent, dead),
        _say_number("Unseen", union.n_unseen, count, unseen),
        *notes(*filter(None, (*ranges, union.caution))),
    ]


def _say_paper(paper: PaperFit, noun: str) -> Block:
    pairs = number_of(paper.n_pairs, "pair")
    title = f"The published method (one line through the overlaps of {pairs} of crawls)"
    if paper.coverage is None or paper.persistence is None:
        text = (
            f"{title}: no line can be drawn, as that takes pairs of two different time differences."
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
        heading(f"{title}:"),
        *(Paragraph(text=sentence, first="  ", rest="  ") for sentence in sentences),
    ]


def _say_estimators(estimates: Estimates) -> list[Block]:
    table = tabulate(
        estimates.estimators,
        ("estimator", "name"),
        ("coverage", "coverage", _possible),
        ("persistence", "persistence", _possible),
        ("population", "population", count),
    )
    title = "Estimators side by side (what each assumes: crawlgauge estimate --explain estimators)"
    return [[heading(title)], [table]]


def _possible(share: float) -> str:
    """Write a share; more than all is no share."""
    return percent(share) if share <= 1 else "over 100 %"


def _say_checks(checks: Sequence[Check]) -> Block:
    items: list[Item] = [heading("Checks (more on each: crawlgauge estimate --explain CHECK):")]
    for status, words in STATUSES.items():
        alike = [check for check in checks if check.status == status]
        texts: Iterable[str] = (f"{words.word} ({check.id}): {check.message}" for check in alike)
        if alike and status in _IN_BRIEF:
            texts = [f"{words.word}: {', '.join(check.id for check in alike)}"]
        items += bullets(texts, role=_GRAVE.get(status, "text"))
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
    # The models behind the checks take a while to load, and most who read estimates need none.
    from crawlgauge.model.histories.checks import explain_check

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
