"""`Movements` in words: what moves the number most, and what that means."""

from collections.abc import Iterator, Sequence

from crawlgauge.model.phrases import names, percent, things
from crawlgauge.model.sensitivity import Movement, Movements, signed_percent
from crawlgauge.report.blocks import Block, Paragraph, bullets, heading, lacking, notes, tabulate
from crawlgauge.report.words import one_in

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
    known = [movement for movement in movements.movements if movement.size >= 0]
    # Of many crawls those that move it least are summed up in a sentence.
    hidden = [movement for movement in known if movement.kind == "crawl"][_MAX_CRAWLS:]
    table = tabulate(
        (movement for movement in known if movement not in hidden),
        ("change", "change"),
        ("coverage", lambda movement: movement.coverage.value or 0.0, percent),
        ("moves by", lambda movement: movement.coverage_moves or 0.0, signed_percent),
        ("persistence", "persistence.value", percent),
        ("moves by", "persistence_moves", signed_percent),
    )
    unknown = [movement for movement in movements.movements if movement.size < 0]
    blocks: list[Block] = [
        [
            heading("What moves the number:"),
            Paragraph(text=movements.verdict),
            *bullets(movements.meanings),
        ],
        [table] if known else [],
        [
            *notes(*_list_notes(movements, known, hidden)),
            *lacking(*(f"{movement.change}: {movement.coverage.reason}" for movement in unknown)),
            *(
                Paragraph(text=f"Not tried: {text}.", rest="  ", role="note")
                for text in movements.not_tried
            ),
        ],
    ]
    return [block for block in blocks if block]


def _list_notes(
    movements: Movements, known: Sequence[Movement], hidden: Sequence[Movement]
) -> Iterator[str]:
    if hidden:
        largest = signed_percent(abs(hidden[0].coverage_moves or 0.0)).removeprefix("+")
        by = "less than 0.1 %" if largest == percent(0) else f"{largest} at most"
        yield f"Leaving out one of {len(hidden)} further crawls moves the coverage by {by}."
    before = next((m.coverage_before for m in known if m.kind == _PAIRS), None)
    if before is not None and before != movements.coverage.value:
        yield (
            "Short lags are left out of the pairs of crawls alone, and compared with the coverage "
            f"by pairs, {percent(before)}."
        )
    if movements.part_rate is not None:
        noun = things(movements.level)
        yield f"Each part holds 1 in {one_in(movements.part_rate)} of the {noun}."
    if movements.reading_rate is not None:
        yield _say_reading(movements.reading_rate, known)
    by_pairs = {m.change for m in known if m.kind == _PAIRS}
    own = movements.estimator
    by_others = (m.change for m in known if m.estimator not in (own, None))
    if switched := [change for change in dict.fromkeys(by_others) if change not in by_pairs]:
        yield f"By another estimator than the headline's ({own}): {names(switched)}."


def _say_reading(rate: float, known: Sequence[Movement]) -> str:
    what = "in full" if rate == 1 else f"in a sample of 1 in {one_in(rate)}"
    before = next((m.coverage_before for m in known if m.kind in _FILES), None)
    compared = "" if before is None else f", and compared with the {percent(before)} that they give"
    return f"The files were read again {what}{compared} as they were added."
