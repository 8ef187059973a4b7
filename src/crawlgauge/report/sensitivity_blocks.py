"""`Movements` in words: what moves the number most, and what that means."""

from collections.abc import Sequence

from crawlgauge.model.phrases import names, percent, things
from crawlgauge.model.sensitivity import Movement, Movements, signed_percent
from crawlgauge.report.blocks import Block, Column, Grid, Item, Paragraph
from crawlgauge.report.range_text import UNKNOWN

__all__ = ["to_blocks"]

_MAX_CRAWLS = 8
"""Crawls in the table; those that move the coverage less are summed up in a sentence."""

_PAIRS, _FILES = "short-lags", ("identity", "status", "mime")


def to_blocks(movements: Movements) -> list[Block]:
    """Return what `crawlgauge estimate --sensitivity` shows after the estimates.

    Parameters
    ----------
    movements
        First comes what moves the coverage most, then what that means, then all changes.
    """
    meanings = [Paragraph(text=text, first="• ", rest="  ") for text in movements.meanings]
    blocks: list[Block] = [
        [
            Paragraph(text="What moves the number:", role="heading"),
            Paragraph(text=movements.verdict),
            *meanings,
        ]
    ]
    known = [movement for movement in movements.movements if movement.size >= 0]
    if known:
        hidden = _hidden(known)
        blocks.append([_table([movement for movement in known if movement not in hidden])])
    notes = _notes(movements, known)
    if notes:
        blocks.append(notes)
    return blocks


def _hidden(known: Sequence[Movement]) -> list[Movement]:
    """Return the crawls that the table does not show."""
    return [movement for movement in known if movement.kind == "crawl"][_MAX_CRAWLS:]


def _table(movements: Sequence[Movement]) -> Grid:
    rows = tuple(
        (
            movement.change,
            percent(movement.coverage.value or 0.0),
            signed_percent(movement.coverage_moves or 0.0),
            UNKNOWN if movement.persistence.value is None else percent(movement.persistence.value),
            UNKNOWN
            if movement.persistence_moves is None
            else signed_percent(movement.persistence_moves),
        )
        for movement in movements
    )
    columns = (
        Column(header="change"),
        Column(header="coverage", align="right"),
        Column(header="moves by", align="right"),
        Column(header="persistence", align="right"),
        Column(header="moves by", align="right"),
    )
    return Grid(columns=columns, rows=rows)


def _notes(movements: Movements, known: Sequence[Movement]) -> list[Item]:
    noun = things(movements.level)
    texts = []
    hidden = _hidden(known)
    if hidden:
        largest = signed_percent(abs(hidden[0].coverage_moves or 0.0)).removeprefix("+")
        by = "less than 0.1 %" if largest == percent(0) else f"{largest} at most"
        texts.append(f"Leaving out one of {len(hidden)} further crawls moves the coverage by {by}.")
    if any(movement.kind == _PAIRS for movement in known):
        before = next(m.coverage_before for m in known if m.kind == _PAIRS)
        if before is not None and before != movements.coverage.value:
            texts.append(
                "Short lags are left out of the pairs of crawls alone, and compared with the "
                f"coverage by pairs, {percent(before)}."
            )
    if movements.part_rate is not None:
        texts.append(f"Each part holds 1 in {_one_in(movements.part_rate)} of the {noun}.")
    if movements.reading_rate is not None:
        texts.append(_say_reading(movements, known))
    others = {
        m.change: m.estimator for m in known if m.estimator not in (movements.estimator, None)
    }
    switched = [change for change in others if not _is_by_pairs(change, known)]
    if switched:
        texts.append(
            f"By another estimator than the headline's ({movements.estimator}): {names(switched)}."
        )
    notes: list[Item] = [Paragraph(text=text, role="note") for text in texts]
    notes += [
        Paragraph(
            text=f"{movement.change}: {movement.coverage.reason}",
            first=f"{UNKNOWN} ",
            rest="  ",
            role="note",
        )
        for movement in movements.movements
        if movement.size < 0
    ]
    notes += [
        Paragraph(text=f"Not tried: {text}.", rest="  ", role="note")
        for text in movements.not_tried
    ]
    return notes


def _is_by_pairs(change: str, known: Sequence[Movement]) -> bool:
    return any(m.change == change and m.kind == _PAIRS for m in known)


def _say_reading(movements: Movements, known: Sequence[Movement]) -> str:
    rate = movements.reading_rate or 1.0
    what = "in full" if rate == 1 else f"in a sample of 1 in {_one_in(rate)}"
    before = next((m.coverage_before for m in known if m.kind in _FILES), None)
    compared = "" if before is None else f", and compared with the {percent(before)} that they give"
    return f"The files were read again {what}{compared} as they were added."


def _one_in(rate: float) -> str:
    return f"{1 / rate:,.1f}".removesuffix(".0")
