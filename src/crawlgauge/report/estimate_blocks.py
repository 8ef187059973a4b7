"""`Estimates` in words, in the order in which people ask."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Check, CrawlEstimate, Estimate, Estimates, PaperFit, Union
from crawlgauge.model.phrases import count, growth_per_year, names, per_year, percent, span, things
from crawlgauge.report import anchor_blocks, blocks, words

_TABLE_WIDTH = 100
_INDENT = " " * len("Persistence  ")
_MOST_CAUTIONS, _MOST_CRAWLS, _NEWEST = 3, 7, 5
"""What a screen shows: of cautions, of crawls if these are all, else of the newest ones."""
_GRAVE: dict[str, blocks.Role] = {"fail": "fail", "warn": "warn"}


def to_blocks(estimates: Estimates, *, is_full: bool = True) -> list[blocks.Block]:
    """Return what `crawlgauge estimate` shows.

    Parameters
    ----------
    estimates
        First comes the answer in one sentence, then what it rests on and what to be careful about,
        a table of the crawls, the turnover, and what all crawls together hold.
    is_full
        Whether all crawls, the estimators and what every check found follow; else a screenful.
    """
    trust: list[blocks.Block] = []
    if estimates.agreement.grade != "none":
        # What the grade rests on, and what no grade can tell.
        grade = f"Grade {estimates.agreement.grade}: {estimates.agreement.reason}"
        trust = [[blocks.Paragraph(text=text) for text in (grade, *say_untestable(estimates))]]
    answer = [blocks.Paragraph(text=estimates.headline.statement, role="answer")]
    return [answer, *trust, *(_say_all(estimates) if is_full else _say_most(estimates))]


def to_brief(estimates: Estimates) -> list[blocks.Block]:
    """Return the answer, its grade and the newest crawls: what a notebook shows.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    answer, *others = to_blocks(estimates, is_full=False)
    graded = [others[0][:1]] if estimates.agreement.grade != "none" else []
    table = next(block for block in others if any(isinstance(item, blocks.Grid) for item in block))
    return [answer, *graded, table]


def _say_all(estimates: Estimates) -> list[blocks.Block]:
    title = "Estimators side by side (what each assumes: crawlgauge estimate --explain estimators)"
    table = blocks.tabulate(estimates.estimators, *ESTIMATOR_FIELDS)
    estimators: list[blocks.Block] = [[blocks.heading(title)], [table]]
    return [
        *blocks.cautions(estimates.warnings),
        *show_crawls(estimates),
        *show_union(estimates),
        _say_paper(estimates.paper, things(estimates.level)),
        *(estimators if estimates.agreement.grade != "none" else []),
        *([_say_checks(estimates.checks)] if estimates.checks else []),
        *anchor_blocks.to_blocks(estimates),
    ]


def _say_most(estimates: Estimates) -> list[blocks.Block]:
    """Say what fits on a screen: the gravest cautions, the newest crawls, checks by name."""
    noun, union, paper = things(estimates.level), estimates.union, estimates.paper
    warnings = list(estimates.warnings[:_MOST_CAUTIONS])
    if n_more := len(estimates.warnings) - len(warnings):
        warnings.append(f"And {n_more} more, which the full text names.")
    rows = list(zip(estimates.crawls, estimates.per_crawl, strict=True))
    n_earlier = 0 if len(rows) <= _MOST_CRAWLS else len(rows) - _NEWEST
    table, below = _say_crawls(estimates, rows[n_earlier:])
    shares = [row.coverage.value for _, row in rows[:n_earlier] if row.coverage.value is not None]
    if shares:
        first, hold = rows[0][0].label, words.spread(shares)
        below += blocks.notes(f"The {n_earlier} earlier crawls, from {first} on, hold {hold}.")
    lives_on = f"{{}} of the {noun} live on for a year"
    numbers = [("persistence", estimates.persistence), ("growth", estimates.growth_per_year)]
    turnover = [
        _say_number("Persistence", estimates.persistence, percent, lives_on),
        _say_growth(estimates),
    ]
    if union is not None:
        numbers.append(("all crawls", union.coverage))
        turnover.append(_say_held(union, noun))
    ranges = words.explain_ranges([*numbers_per_crawl(estimates), *numbers])
    closing = []
    if (line := say_line(paper, with_half_life=False)) is not None:
        closing.append(f"The published method says: {line}.")
    parts = []
    for status, called in words.STATUSES.items():
        if ids := [check.id for check in estimates.checks if check.status == status]:
            named = "" if status == "ok" else f" ({names(ids)})"
            parts.append(f"{len(ids)} {called.word}{named}")
    if parts:
        closing.append(f"Checks: {'; '.join(parts)}.")
    return [
        *blocks.cautions(warnings),
        [table, *_trend(estimates.per_crawl), *below],
        [*turnover, *blocks.notes(*ranges)],
        *([[blocks.Paragraph(text=text) for text in closing]] if closing else []),
        *anchor_blocks.to_blocks(estimates),
    ]


def say_untestable(estimates: Estimates) -> Iterator[str]:
    """Name what histories cannot tell, and what it does to the coverage.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    noun, readings, first = (things(estimates.level), estimates.readings, estimates.first_captures)
    if readings is not None:
        yield (
            "What is captured once is captured more readily afterwards. If the crawler returns to "
            f"what it holds, a typical crawl holds {percent(readings.returning)}; if {noun} go "
            f"absent for a while, {percent(readings.absent)}. Histories cannot tell which."
        )
    if first is not None:
        yield (
            f"Not testable by histories: if {noun} never captured before were half as likely to "
            f"be captured as known ones, coverage would be {percent(first.half)}; if twice as "
            f"likely, {percent(first.twice)}."
        )


def show_crawls(estimates: Estimates) -> list[blocks.Block]:
    """Return a row for each crawl, how coverage went on, and what of the URLs lives on."""
    rows = list(zip(estimates.crawls, estimates.per_crawl, strict=True))
    table, below = _say_crawls(estimates, rows)
    meaning = (
        f"Population: the {things(estimates.level)} that a crawl could have reached; coverage: "
        "the share it holds."
    )
    return [
        [table, *_trend(estimates.per_crawl)],
        [*below, *blocks.notes(meaning)],
        _say_turnover(estimates),
    ]


def _say_crawls(
    estimates: Estimates, rows: list[tuple[Crawl, CrawlEstimate]]
) -> tuple[blocks.Grid, list[blocks.Item]]:
    """Return a table of crawls, and what stands below it: reasons and remarks."""
    fields: list[blocks.Field] = [
        (blocks.Column(header="crawl", is_crawl=True), lambda row: row[0].label),
        ("date", lambda row: row[0].date.isoformat()),
        (things(estimates.level), lambda row: row[0].n_urls, words.grouped),
        ("coverage", lambda row: row[1].coverage, percent),
        ("population", lambda row: row[1].population, count),
    ]
    table = blocks.tabulate(rows, *fields)
    footnotes = _list_reasons([row for _, row in rows])
    remarks = [row.note for _, row in rows]
    if any(remarks):
        rule = blocks.render_table(table.columns, table.rows).split("\n")[1]
        shown = {remark: remark for remark in remarks}
        if len(rule) + len("  ") + max(map(len, remarks)) > _TABLE_WIDTH:
            # Too long for the table: marks stand in it, and the notes below.
            several = dict.fromkeys(filter(None, remarks))
            shown |= {remark: f"[{k}]" for k, remark in enumerate(several, start=1)}
            footnotes += [
                blocks.Paragraph(text=remark, first=f"{shown[remark]} ", rest="    ", role="note")
                for remark in several
            ]
        table = blocks.tabulate(rows, *fields, ("note", lambda row: shown[row[1].note]))
    return table, footnotes


def _trend(rows: tuple[CrawlEstimate, ...]) -> list[blocks.Trend]:
    values = tuple(row.coverage.value for row in rows)
    known = [value for value in values if value is not None]
    if len(known) < 2:  # noqa: PLR2004 - a single number has no trend
        return []
    return [blocks.Trend(name="Coverage over time", values=values, text=words.spread(known))]


def _list_reasons(rows: Sequence[CrawlEstimate]) -> list[blocks.Item]:
    """Say once for each reason which crawls lack a value because of it."""
    lacks: dict[str, list[str]] = {}
    for row in rows:
        coverage, population = (
            number.why if number.value is None else None
            for number in (row.coverage, row.population)
        )
        concerned = [(coverage, f"{row.label} (coverage)")]
        concerned += [(population, f"{row.label} (population)")]
        if coverage == population:
            concerned = [(coverage, row.label)]
        for reason, name in concerned:
            if reason:
                lacks.setdefault(reason, []).append(name)
    return blocks.lacking(*(f"{names(labels)}: {reason}" for reason, labels in lacks.items()))


def _say_turnover(estimates: Estimates) -> blocks.Block:
    noun = things(estimates.level)
    persistence, growth = estimates.persistence, estimates.growth_per_year
    half_life = estimates.half_life_years
    lives_on = f"{{}} of the {noun} live on for a year"
    turnover = [("persistence", persistence), ("half-life", half_life), ("growth", growth)]
    return [
        _say_number("Persistence", persistence, percent, lives_on),
        _say_number("Half-life", half_life, span, f"half of the {noun} are gone after {{}}"),
        _say_growth(estimates),
        *blocks.notes(*words.explain_ranges([*numbers_per_crawl(estimates), *turnover])),
    ]


def _say_growth(estimates: Estimates) -> blocks.Paragraph:
    growth = estimates.growth_per_year
    return _say_number("Growth", growth, growth_per_year, "the population changes by {}")


def numbers_per_crawl(estimates: Estimates) -> list[tuple[str, Estimate]]:
    """Return coverage and population of each crawl by name."""
    return [
        named
        for row in estimates.per_crawl
        for named in (("coverage", row.coverage), ("population", row.population))
    ]


def _say_number(
    name: str, number: Estimate, phrase: words.Phrase, sentence: str
) -> blocks.Paragraph:
    text = sentence.format(words.with_range(number, phrase))
    if number.value is None:
        text = f"unknown ({number.why})"
    return blocks.Paragraph(text=text, first=name.ljust(len(_INDENT)), rest=_INDENT)


def show_union(estimates: Estimates) -> list[blocks.Block]:
    """Return what all crawls together hold of the living, what of it is gone, what none holds."""
    union, what = estimates.union, things(estimates.level)
    if union is None:
        return []
    if union.coverage.value is None and union.coverage.low is None:
        text = f"{union.n_distinct:,} different {what}; the share of those alive is unknown "
        text += f"({union.coverage.why})"
        return [[blocks.Paragraph(text=text, first="All crawls".ljust(len(_INDENT)), rest=_INDENT)]]
    ranges = words.explain_ranges(
        [("all crawls", union.coverage), ("dead", union.dead_share), ("unseen", union.n_unseen)]
    )
    unseen = f"{{}} {what} were alive during a crawl, but are in none"
    dead = "{} of what all crawls hold was gone at the newest crawl"
    return [
        [
            _say_held(union, what),
            _say_number("Dead", union.dead_share, percent, dead),
            _say_number("Unseen", union.n_unseen, count, unseen),
            *blocks.notes(*filter(None, (*ranges, union.caution))),
        ]
    ]


def _say_held(union: Union, what: str) -> blocks.Paragraph:
    held = f"{union.n_distinct:,} different {what}, {{}} of those alive at the newest crawl"
    return _say_number("All crawls", union.coverage, percent, held)


def say_line(paper: PaperFit, *, with_half_life: bool = True) -> str | None:
    """Say what the published method gives; None if no line can be drawn."""
    if paper.coverage is None or paper.persistence is None:
        return None
    life = paper.half_life_years
    numbers = [f"coverage {percent(paper.coverage)}", f"persistence {per_year(paper.persistence)}"]
    if with_half_life:
        numbers.append("no half-life" if life is None else f"half-life {span(life)}")
    numbers.append("R² unknown" if paper.r_squared is None else words.r_squared(paper.r_squared))
    return ", ".join(numbers)


def _say_paper(paper: PaperFit, noun: str) -> blocks.Block:
    pairs, line = words.number_of(paper.n_pairs, "pair"), say_line(paper)
    title = f"The published method (one line through the overlaps of {pairs} of crawls)"
    if line is None:
        text = (
            f"{title}: no line can be drawn, as that takes pairs of two different time differences."
        )
        return [blocks.Paragraph(text=text, rest="  ")]
    found, again = ("earlier", "later") if paper.direction == "forward" else ("later", "earlier")
    sentences = [
        line,
        f"Overlap is the share of the {found} crawl's {noun} found again in the {again} one.",
        "A line for each starting crawl: crawlgauge estimate --json, under paper.per_start.",
    ]
    return [
        blocks.heading(f"{title}:"),
        *(blocks.Paragraph(text=sentence, first="  ", rest="  ") for sentence in sentences),
    ]


def _possible(share: float) -> str:
    """Write a share; more than all is no share."""
    return percent(share) if share <= 1 else "over 100 %"


ESTIMATOR_FIELDS: tuple[blocks.Field, ...] = (
    ("estimator", "name"),
    ("coverage", "coverage", _possible),
    ("persistence", "persistence", _possible),
    ("population", "population", count),
)


def _say_checks(checks: Sequence[Check]) -> blocks.Block:
    title = "Checks (more on each: crawlgauge estimate --explain CHECK):"
    items: list[blocks.Item] = [blocks.heading(title)]
    for status, called in words.STATUSES.items():
        alike = [check for check in checks if check.status == status]
        texts: Iterable[str] = (f"{called.word} ({check.id}): {check.message}" for check in alike)
        if alike and status in {"ok", "na"}:
            texts = [f"{called.word}: {', '.join(check.id for check in alike)}"]
        items += blocks.bullets(texts, role=_GRAVE.get(status, "text"))
    return items


# ------------------------------------------------------------------------ `Estimates` as plain text


def to_text(estimates: Estimates, *, is_full: bool = True) -> str:
    """Return what `crawlgauge estimate` writes into a file or a pipe, without a final newline.

    Parameters
    ----------
    estimates, is_full
        As for `to_blocks`.
    """
    return blocks.render_blocks(to_blocks(estimates, is_full=is_full))


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
        f"{title}\n{textwrap.fill(text, _WIDTH, initial_indent='  ', subsequent_indent='  ')}"
        for title, text in words.explain_check(check_id, estimates.checks)
    )


def _explain_estimators(estimates: Estimates) -> str:
    parts = []
    for row in estimates.estimators:
        value = "unknown" if row.coverage is None else percent(row.coverage)
        text = textwrap.fill(row.assumes, _WIDTH, initial_indent="  ", subsequent_indent="  ")
        parts.append(f"{row.name}: coverage {value}\n{text}")
    return "\n\n".join(parts)
