"""`Strata` in words: the answer, and the table of what is missing most."""

import csv
import io

from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.model.strata import Strata, StratumEstimate
from crawlgauge.report.blocks import Block, Column, Grid, Paragraph
from crawlgauge.report.range_text import UNKNOWN, explain_ranges, with_range

__all__ = ["to_blocks"]

DEFAULT_TOP = 20
"""As many rows as fit a screen with what is said around them."""

_ALIKE = 0.05
"""A sum that is nearer than this is not worth a word."""

_MAX_NAME = 40
_ELLIPSIS = "…"


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
    blocks: list[Block] = [
        [Paragraph(text=strata.statement, role="answer")],
        [_table(strata, shown)],
        _footnotes(strata, shown),
    ]
    if strata.warnings:
        bullets = [Paragraph(text=text, first="• ", rest="  ") for text in strata.warnings]
        blocks.append([Paragraph(text="What to be careful about:", role="heading"), *bullets])
    return blocks


def _table(strata: Strata, shown: tuple[StratumEstimate, ...]) -> Grid:
    columns = (
        Column(header=strata.noun[0]),
        Column(header="held", align="right"),
        Column(header="coverage", align="right"),
        Column(header="population", align="right"),
        Column(header="missing", align="right"),
        Column(header="persistence", align="right"),
    )
    rows = tuple(
        (
            _write_name(stratum),
            count(stratum.n_urls),
            with_range(stratum.coverage, percent),
            with_range(stratum.population, count),
            UNKNOWN if stratum.missing.value is None else count(stratum.missing.value),
            with_range(stratum.persistence, percent),
        )
        for stratum in shown
    )
    return Grid(columns=columns, rows=rows)


def _write_name(stratum: StratumEstimate) -> str:
    """Write a name that breaks no line; hosts are what others chose to call them."""
    name = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in stratum.name
    )
    if stratum.n_pooled:
        return f"{name} [{stratum.n_pooled:,}]"
    if len(name) > _MAX_NAME:
        # The end of a host says more than its beginning.
        name = _ELLIPSIS + name[1 - _MAX_NAME :]
    return name


def _footnotes(strata: Strata, shown: tuple[StratumEstimate, ...]) -> Block:
    noun, many = things("url"), strata.noun[1]
    notes: list[str] = []
    n_left = len(strata.strata) - len(shown)
    if n_left:
        notes.append(f"{n_left:,} more, of which less is missing: crawlgauge strata --top all.")
    notes += [f"{names(labels)}: {reason}." for reason, labels in _lacking(shown).items()]
    notes.append(
        f"Of crawl {strata.newest}: held, the {noun} that it has; population, those that it could "
        "have reached; coverage, the share that it holds of them; missing, the others. "
        "Persistence: the share that lives on for a year."
    )
    if strata.post_stratified.population.value is not None:
        notes.append(_say_whole(strata))
    if strata.n_pooled:
        notes.append(
            f"In square brackets: how many small {many} a row stands for. {strata.n_pooled:,} of "
            f"{strata.n_distinct:,} {many} share fewer than {strata.min_shared} {noun} in the "
            "median pair of crawls, and are pooled."
        )
    numbers = [
        (name, getattr(stratum, name))
        for stratum in shown
        for name in ("coverage", "population", "persistence")
    ]
    notes += explain_ranges(numbers)
    if strata.sample_rate < 1:
        notes.append(
            f"Counted in a sample of 1 in {1 / strata.sample_rate:,.3g} {noun}, which each crawl "
            "keeps with their attributes; numbers of URLs are scaled up."
        )
    if strata.suffix_list is not None:
        notes.append(f"Registered domains by the public suffix list of {strata.suffix_list}.")
    return [Paragraph(text=note, role="note") for note in notes]


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


def _lacking(shown: tuple[StratumEstimate, ...]) -> dict[str, list[str]]:
    lacking: dict[str, list[str]] = {}
    for stratum in shown:
        if stratum.coverage.value is None and stratum.coverage.reason:
            lacking.setdefault(stratum.coverage.reason, []).append(_write_name(stratum))
    return lacking


# ------------------------------------------------------------------------------------------- CSV

_ESTIMATES = ("coverage", "population", "missing", "persistence", "typical_coverage")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_csv(strata: Strata) -> str:
    """Return all strata as CSV, a row each, safe to be opened by a spreadsheet.

    A name that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    columns = [f"{name}{end}" for name in _ESTIMATES for end in ("", "_low", "_high")]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([strata.by, "n_pooled", "n_urls", "n_crawls", *columns, "note"])
    for stratum in strata.strata:
        numbers = [getattr(stratum, name) for name in _ESTIMATES]
        ends = [_cell(end) for number in numbers for end in (number.value, number.low, number.high)]
        is_formula = stratum.name.startswith(_FORMULA_STARTS)
        name = f"'{stratum.name}" if is_formula else stratum.name
        writer.writerow(
            [name, stratum.n_pooled, stratum.n_urls, stratum.n_crawls, *ends, stratum.note]
        )
    return text.getvalue()


def _cell(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"
