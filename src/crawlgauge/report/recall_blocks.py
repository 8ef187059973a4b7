"""The recall of a reference in words, in the order in which people ask."""

from collections.abc import Iterator

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.phrases import count, percent, span
from crawlgauge.model.recall import FrontierBound, Recall, UniformCheck
from crawlgauge.overlaps.table import Reference
from crawlgauge.report import blocks
from crawlgauge.report.crawls import list_reasons
from crawlgauge.report.words import explain_ranges, grouped, with_range

_NOUNS = {"url": "URLs", "host": "hosts", "domain": "domains"}


def to_blocks(recall: Recall) -> list[blocks.Block]:
    """Return what `crawlgauge recall` shows.

    Parameters
    ----------
    recall
        First comes the answer, then the reference, each crawl, what a uniform reference or the
        queues say, and what to be careful about.
    """
    said: list[blocks.Block] = []
    if recall.reference is not None:
        said += [
            [blocks.Paragraph(text=_answer(recall, recall.reference), role="answer")],
            _say_reference(recall.reference, recall),
            *_say_crawls(recall, recall.reference),
        ]
    if recall.uniform is not None:
        said.append(_say_uniform(recall.uniform))
    if recall.frontier is not None:
        said.append(_say_frontier(recall.frontier))
    return [*said, *blocks.cautions(recall.warnings)]


def _answer(recall: Recall, reference: Reference) -> str:
    noun = _NOUNS[reference.kind]
    least = "at least " if any(row.is_least for row in recall.per_crawl) else ""
    newest = recall.per_crawl[-1]
    name = "standard input" if reference.name == "-" else reference.name
    return (
        f"All crawls together hold {least}{with_range(recall.union, percent)} of the {noun} of "
        f"{name}: {recall.n_held:,} of {recall.n_looked_for:,}. The newest, "
        f"{newest.crawl.label}, holds {least}{with_range(newest.recall, percent)}."
    )


def _say_reference(reference: Reference, recall: Recall) -> blocks.Block:
    noun = _NOUNS[reference.kind]
    parts = [f"{reference.n_distinct:,} different {noun}"]
    if reference.n_distinct == 1:
        parts = [f"1 {noun.removesuffix('s')}"]
    if reference.n_repeated:
        parts.append(f"{reference.n_repeated:,} repeated")
    if reference.left_out:
        parts.append(f"left out: {list_reasons(dict(reference.left_out))}")
    said: list[blocks.Item] = [blocks.Paragraph(text=f"The reference has {'; '.join(parts)}.")]
    if recall.n_looked_for < reference.n_distinct:
        said += blocks.notes(
            f"The crawls are samples: only the {recall.n_looked_for:,} of them that belong to the "
            "sample can be looked for, and count."
        )
    return said


def _say_crawls(recall: Recall, reference: Reference) -> list[blocks.Block]:
    fields: list[blocks.Field] = [
        (blocks.Column(header="crawl", is_crawl=True), "crawl.label"),
        ("date", lambda row: row.crawl.date.isoformat()),
        ("held", "n_held", grouped),
        ("of", "n_looked_for", grouped),
        ("recall", "recall", percent),
    ]
    if reference.kind == "url":
        fields.append(("by the series", "coverage", percent))
    if recall.uniform is not None:
        fields.append(("by the reference", "by_reference", percent))
    return [
        [blocks.tabulate(recall.per_crawl, *fields)],
        blocks.notes(*_list_notes(recall, reference)),
    ]


def _list_notes(recall: Recall, reference: Reference) -> Iterator[str]:
    is_url = reference.kind == "url"
    numbers = [("recall", row.recall) for row in recall.per_crawl]
    if is_url:
        numbers += [("coverage by the series", row.coverage) for row in recall.per_crawl]
    numbers += [
        ("coverage by the reference", row.by_reference)
        for row in recall.per_crawl
        if row.by_reference is not None
    ]
    yield from explain_ranges(numbers)
    yield (
        "The intervals of recall, Wilson's, take the reference for a sample of what it stands for."
    )
    if is_url:
        yield "By the series: coverage as crawlgauge estimate gives it."
    if recall.uniform is not None:
        yield (
            "By the reference: coverage as its recall gives it, carried over the time between "
            "reference and crawl by what lives on."
        )
    elif is_url:
        yield (
            "Recall is coverage only if the reference is a uniform sample of what could be "
            "crawled (--uniform, with its --date): most lists favour well-known pages, and are "
            "held better than the rest."
        )
    if not is_url:
        yield (
            f"A {reference.kind} is held if a crawl has a URL of it. That is no share of URLs, "
            "and cannot be compared with coverage."
        )


def _say_uniform(check: UniformCheck) -> blocks.Block:
    apart = (
        "on the same day"
        if check.gap_days == 0
        else f"{span(abs(check.gap_days) / DAYS_PER_YEAR)} "
        f"{'later' if check.gap_days > 0 else 'earlier'}"
    )
    said = [
        blocks.Paragraph(
            text=f"The nearest crawl is {check.label}, {apart}. It covers "
            f"{with_range(check.by_reference, percent)} by the reference, whatever the crawler "
            f"favours, and {with_range(check.by_series, percent)} by the series of crawls."
        ),
        blocks.Paragraph(text=check.verdict),
    ]
    if check.union_by_reference.value is not None:
        text = (
            "Of what lived at the newest crawl, all crawls together hold "
            f"{with_range(check.union_by_reference, percent)} by the reference"
        )
        if check.union_by_series.value is not None:
            text += f", and {with_range(check.union_by_series, percent)} by the series"
        said.append(blocks.Paragraph(text=f"{text}."))
    return [blocks.heading("As a uniform sample of what could be crawled:"), *said]


def _say_frontier(bound: FrontierBound) -> blocks.Block:
    return [
        blocks.heading("By what was left in the queues:"),
        blocks.Paragraph(
            text=f"{bound.label} holds {count(bound.n_urls)} URLs and knew of "
            f"{count(bound.n_queued)} more. {bound.verdict} URLs that no page links to, or that "
            "were never found, are in neither."
        ),
    ]
