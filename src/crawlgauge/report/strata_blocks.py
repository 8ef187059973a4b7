"""`Strata` in words: the answer, and the table of what is missing most."""

import csv
import io
from collections.abc import Iterator

from crawlgauge.errors import printable
from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.model.strata import Strata, StratumEstimate
from crawlgauge.report.blocks import Block, Paragraph, cautions, notes, tabulate
from crawlgauge.report.charts.chart import to_inert
from crawlgauge.report.words import explain_ranges, with_range

DEFAULT_TOP = 20
"""As many rows as fit a screen with what is said around them."""

_ALIKE = 0.05
"""A sum that is nearer than this is not worth a word."""

_MAX_NAME = 40


def to_blocks(strata: Strata, *, top: int | None = DEFAULT_TOP) -> list[Block]:
    """Return what `crawlgauge strata` shows.

    Parameters
    ----------
    strata
        The numbers.
    top
        How many strata the table has at most; None for all.
    """
    shown = strata.strata if top is None else strata.strata[:top]
    table = tabulate(
        shown,
        (strata.noun[0], _write_name),
        ("held", "n_urls", count),
        ("coverage", "coverage", percent),
        ("population", "population", count),
        ("missing", "missing.value", count),
        ("persistence", "persistence", percent),
    )
    return [
        [Paragraph(text=strata.statement, role="answer")],
        [table],
        notes(*_list_notes(strata, shown)),
        *cautions(strata.warnings),
    ]


def _write_name(stratum: StratumEstimate) -> str:
    """Write a name that breaks no line; hosts are what others chose to call them."""
    name = printable(stratum.name)
    if stratum.n_pooled:
        return f"{name} [{stratum.n_pooled:,}]"
    if len(name) > _MAX_NAME:
        # The end of a host says more than its beginning.
        name = f"…{name[1 - _MAX_NAME :]}"
    return name


def _list_notes(strata: Strata, shown: tuple[StratumEstimate, ...]) -> Iterator[str]:
    noun, many = things("url"), strata.noun[1]
    n_left = len(strata.strata) - len(shown)
    if n_left:
        yield f"{n_left:,} more, of which less is missing: crawlgauge strata --top all."
    unknown: dict[str, list[str]] = {}
    # What holds for all of them, the answer has said.
    differ = len({stratum.coverage.reason for stratum in strata.strata}) > 1
    for stratum in shown if differ else ():
        if stratum.coverage.value is None and stratum.coverage.reason:
            unknown.setdefault(stratum.coverage.reason, []).append(_write_name(stratum))
    for reason, labels in unknown.items():
        yield f"{names(labels)}: {reason}."
    yield (
        f"Of crawl {strata.newest}: held, the {noun} that it has; population, those that it could "
        "have reached; coverage, the share that it holds of them; missing, the others. "
        "Persistence: the share that lives on for a year."
    )
    if strata.post_stratified.population.value is not None:
        yield _say_whole(strata)
    if strata.n_pooled:
        yield (
            f"In square brackets: how many small {many} a row stands for. {strata.n_pooled:,} of "
            f"{strata.n_distinct:,} {many} share fewer than {strata.min_shared} {noun} in the "
            "median pair of crawls, and are pooled."
        )
    yield from explain_ranges(
        (name, getattr(stratum, name))
        for stratum in shown
        for name in ("coverage", "population", "persistence")
    )
    if strata.sample_rate < 1:
        yield (
            f"Counted in a sample of 1 in {1 / strata.sample_rate:,.3g} {noun}, which each crawl "
            "keeps with their attributes; numbers of URLs are scaled up."
        )
    if strata.suffix_list is not None:
        yield f"Registered domains by the public suffix list of {strata.suffix_list}."


def _say_whole(strata: Strata) -> str:
    coverage, population = strata.post_stratified.coverage, strata.post_stratified.population
    many, own = strata.noun[1], strata.own_sum
    text = (
        f"Together they are what crawlgauge estimate gives: coverage "
        f"{with_range(coverage, percent)}, population {with_range(population, count)}. How {many} "
        "differ from each other is told by their own overlaps"
    )
    if own is None or abs(own / (coverage.value or own) - 1) < _ALIKE:
        return f"{text}."
    return (
        f"{text}, which alone would add up to {percent(own)}: they take capture to be even within "
        f"each of the {many}."
    )


# ------------------------------------------------------------------------------------------- CSV

_ESTIMATES = ("coverage", "population", "missing", "persistence", "typical_coverage")


def to_csv(strata: Strata) -> str:
    """Return all strata as CSV, a row each, safe to be opened by a spreadsheet."""
    columns = [f"{name}{end}" for name in _ESTIMATES for end in ("", "_low", "_high")]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([strata.by, "n_pooled", "n_urls", "n_crawls", *columns, "note"])
    for stratum in strata.strata:
        numbers = [getattr(stratum, name) for name in _ESTIMATES]
        ends = [end for number in numbers for end in (number.value, number.low, number.high)]
        cells = ["" if end is None else f"{end:.6g}" for end in ends]
        name = to_inert(stratum.name)
        writer.writerow(
            [name, stratum.n_pooled, stratum.n_urls, stratum.n_crawls, *cells, stratum.note]
        )
    return text.getvalue()
