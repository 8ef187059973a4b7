"""The recall of a reference in words, in the order in which people ask."""

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, percent, span
from crawlgauge.model.recall import FrontierBound, Recall, Reference, UniformCheck
from crawlgauge.report.blocks import Block, Column, Grid, Item, Paragraph
from crawlgauge.report.range_text import explain_ranges, with_range

__all__ = ["to_blocks"]

_NOUNS = {"url": "URLs", "host": "hosts", "domain": "domains"}


def to_blocks(recall: Recall) -> list[Block]:
    """Return what `crawlgauge recall` shows.

    Parameters
    ----------
    recall
        First comes the answer, then the reference, each crawl, what a uniform reference or the
        queues say, and what to be careful about.
    """
    blocks: list[Block] = []
    if recall.reference is not None:
        blocks += [
            [Paragraph(text=_answer(recall, recall.reference), role="answer")],
            _say_reference(recall.reference, recall),
            *_say_crawls(recall, recall.reference),
        ]
    if recall.uniform is not None:
        blocks.append(_say_uniform(recall.uniform))
    if recall.frontier is not None:
        blocks.append(_say_frontier(recall.frontier))
    if recall.warnings:
        bullets = [Paragraph(text=text, first="• ", rest="  ") for text in recall.warnings]
        blocks.append([Paragraph(text="What to be careful about:", role="heading"), *bullets])
    return [block for block in blocks if block]


def _answer(recall: Recall, reference: Reference) -> str:
    noun = _NOUNS[reference.kind]
    least = "at least " if any(row.is_least for row in recall.per_crawl) else ""
    newest = recall.per_crawl[-1]
    return (
        f"All crawls together hold {least}{with_range(recall.union, percent)} of the {noun} of "
        f"{_name(reference)}: {recall.n_held:,} of {recall.n_looked_for:,}. The newest, "
        f"{newest.crawl.label}, holds {least}{with_range(newest.recall, percent)}."
    )


def _name(reference: Reference) -> str:
    return "standard input" if reference.name == "-" else reference.name


def _say_reference(reference: Reference, recall: Recall) -> Block:
    noun = _NOUNS[reference.kind]
    parts = [f"{reference.n_distinct:,} different {noun}"]
    if reference.n_distinct == 1:
        parts = [f"1 {noun.removesuffix('s')}"]
    if reference.n_repeated:
        parts.append(f"{reference.n_repeated:,} repeated")
    if reference.left_out:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in reference.left_out)
        parts.append(f"left out: {reasons}")
    items: list[Item] = [Paragraph(text=f"The reference has {'; '.join(parts)}.")]
    if recall.n_looked_for < reference.n_distinct:
        items.append(
            Paragraph(
                text=f"The crawls are samples: only the {recall.n_looked_for:,} of them that "
                "belong to the sample can be looked for, and count.",
                role="note",
            )
        )
    return items


def _say_crawls(recall: Recall, reference: Reference) -> list[Block]:
    is_url = reference.kind == "url"
    columns = [
        Column(header="crawl"),
        Column(header="date"),
        Column(header="held", align="right"),
        Column(header="of", align="right"),
        Column(header="recall", align="right"),
    ]
    if is_url:
        columns.append(Column(header="by the series", align="right"))
    if recall.uniform is not None:
        columns.append(Column(header="by the reference", align="right"))
    rows = []
    for row in recall.per_crawl:
        cells = [
            row.crawl.label,
            row.crawl.date.isoformat(),
            f"{row.n_held:,}",
            f"{row.n_looked_for:,}",
            with_range(row.recall, percent),
        ]
        if is_url:
            cells.append(with_range(row.coverage, percent))
        if row.by_reference is not None:
            cells.append(with_range(row.by_reference, percent))
        rows.append(tuple(cells))
    notes: list[Item] = [
        Paragraph(text=text, role="note") for text in explain_ranges(_list_numbers(recall, is_url))
    ]
    notes.append(
        Paragraph(
            text="The intervals of recall, Wilson's, take the reference for a sample of what it "
            "stands for.",
            role="note",
        )
    )
    if is_url:
        notes.append(
            Paragraph(text="By the series: coverage as crawlgauge estimate gives it.", role="note")
        )
    if recall.uniform is not None:
        notes.append(
            Paragraph(
                text="By the reference: coverage as its recall gives it, carried over the time "
                "between reference and crawl by what lives on.",
                role="note",
            )
        )
    elif is_url:
        notes.append(
            Paragraph(
                text="Recall is coverage only if the reference is a uniform sample of what could "
                "be crawled (--uniform, with its --date): most lists favour well-known pages, and "
                "are held better than the rest.",
                role="note",
            )
        )
    if not is_url:
        notes.append(
            Paragraph(
                text=f"A {reference.kind} is held if a crawl has a URL of it. That is no share of "
                "URLs, and cannot be compared with coverage.",
                role="note",
            )
        )
    return [[Grid(columns=tuple(columns), rows=tuple(rows))], notes]


def _list_numbers(recall: Recall, is_url: bool) -> list[tuple[str, Estimate]]:
    numbers = [("recall", row.recall) for row in recall.per_crawl]
    if is_url:
        numbers += [("coverage by the series", row.coverage) for row in recall.per_crawl]
    return numbers + [
        ("coverage by the reference", row.by_reference)
        for row in recall.per_crawl
        if row.by_reference is not None
    ]


def _say_uniform(check: UniformCheck) -> Block:
    apart = (
        "on the same day"
        if check.gap_days == 0
        else f"{span(abs(check.gap_days) / DAYS_PER_YEAR)} "
        f"{'later' if check.gap_days > 0 else 'earlier'}"
    )
    return [
        Paragraph(text="As a uniform sample of what could be crawled:", role="heading"),
        Paragraph(
            text=f"The nearest crawl is {check.label}, {apart}. It covers "
            f"{with_range(check.by_reference, percent)} by the reference, whatever the crawler "
            f"favours, and {with_range(check.by_series, percent)} by the series of crawls."
        ),
        Paragraph(text=check.verdict),
        *_say_union(check),
    ]


def _say_union(check: UniformCheck) -> list[Paragraph]:
    if check.union_by_reference.value is None:
        return []
    text = (
        "Of what lived at the newest crawl, all crawls together hold "
        f"{with_range(check.union_by_reference, percent)} by the reference"
    )
    if check.union_by_series.value is not None:
        text += f", and {with_range(check.union_by_series, percent)} by the series"
    return [Paragraph(text=f"{text}.")]


def _say_frontier(bound: FrontierBound) -> Block:
    return [
        Paragraph(text="By what was left in the queues:", role="heading"),
        Paragraph(
            text=f"{bound.label} holds {count(bound.n_urls)} URLs and knew of "
            f"{count(bound.n_queued)} more. {bound.verdict} URLs that no page links to, or that "
            "were never found, are in neither."
        ),
    ]
