"""`Turnover` in words: what each crawl holds, what it left out, and how often URLs are captured."""

from collections.abc import Sequence

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.model.turnover import CrawlTurnover, Turnover
from crawlgauge.report import blocks
from crawlgauge.report.words import explain_ranges, grouped, join, one_in, spread, with_range

_HELD = ("kept", "recovered", "new")
_LEFT_OUT = ("dropped", "forgotten", "lost", "missed")
_NAMES = {"missed_at_least": "share", "self_overlap": "self-overlap"}
_MAX_FREQUENCIES = 12
"""Rows of a table that one still reads; the JSON has them all."""


def to_blocks(turnover: Turnover, *, with_frequencies: bool = True) -> list[blocks.Block]:
    """Return what `crawlgauge history` shows.

    Parameters
    ----------
    turnover
        First comes the answer, then what each crawl holds, what it left out, in how many crawls
        URLs are, and what to be careful about.
    with_frequencies
        Whether to say in how many crawls URLs are, where no figure does.
    """
    has_figure = turnover.capture_frequencies and not with_frequencies
    return [
        [blocks.Paragraph(text=_answer(turnover), role="answer")],
        *_say_held(turnover),
        *_say_left_out(turnover),
        *([] if has_figure else _say_frequencies(turnover)),
        *_say_doubts(turnover),
    ]


def _answer(turnover: Turnover) -> str:
    noun, kept = things(turnover.level), turnover.self_overlap
    if kept.value is None:
        return (
            f"There is nothing to follow yet: that {kept.reason}. Add further crawls of the same "
            "kind."
        )
    forgotten = turnover.forgotten_share.value
    known = [row.missed_at_least.value for row in turnover.per_crawl]
    missed = [share for share in known if share is not None]
    return join(
        f"From one crawl to the next, {percent(kept.value)} of the {noun} are kept.",
        None
        if forgotten is None
        else f"Of those dropped, at least {percent(forgotten)} lived on, as a later crawl holds "
        "them.",
        "By this alone, without any model, the crawls between the first and the last missed at "
        f"least {spread(missed)} of the {noun} that they could have reached."
        if missed
        else None,
    )


def _say_held(turnover: Turnover) -> list[blocks.Block]:
    knows_histories = bool(turnover.capture_frequencies)
    parts = _HELD if knows_histories else ("kept", "added")
    recovered = (
        "Recovered: in an earlier one, but not in the one before. New: in no earlier one. "
        if knows_histories
        else ""
    )
    sizes = {crawl.label: crawl.n_urls for crawl in turnover.crawls}
    return _say_parts(
        turnover,
        "What each crawl holds:",
        (*parts, "self_overlap"),
        f"Kept: also in the crawl before. {recovered}Self-overlap: the share of the crawl before "
        "that is kept.",
        (things(turnover.level), lambda row: sizes[row.label], grouped),
    )


def _say_left_out(turnover: Turnover) -> list[blocks.Block]:
    if not turnover.capture_frequencies:
        note = "Dropped: in the crawl before and not in this one."
        return _say_parts(turnover, "What each crawl left out:", ("dropped",), note)
    return _say_parts(
        turnover,
        "What each crawl left out:",
        (*_LEFT_OUT, "missed_at_least"),
        "Dropped: in the crawl before and not in this one; either forgotten (a later crawl holds "
        "it, so it lived) or lost (none does so far). Missed: captured before and after, but not "
        "by this one. Share: of all that are known to have lived then, how many it missed. Fewer "
        "later crawls find fewer forgotten and missed ones: towards the end, both are too low.",
    )


def _say_parts(
    turnover: Turnover, title: str, parts: Sequence[str], note: str, *others: blocks.Field
) -> list[blocks.Block]:
    """Return a table of numbers of each crawl, why some are missing, and what they are."""

    def to_field(part: str) -> blocks.Field:
        if part in _NAMES:
            return _NAMES[part], part, percent
        header = "not in the crawl before" if part == "added" else part
        return header, lambda row: _number(getattr(row, part)), count

    table = blocks.tabulate(
        turnover.per_crawl,
        (blocks.Column(header="crawl", is_crawl=True), "label"),
        *others,
        *map(to_field, parts),
    )
    below = [*_list_reasons(turnover.per_crawl, parts), *blocks.notes(note)]
    return [[blocks.heading(title)], [table], below]


def _say_frequencies(turnover: Turnover) -> list[blocks.Block]:
    frequencies, noun = turnover.capture_frequencies, things(turnover.level)
    if not frequencies:
        text = (
            f"What is new, recovered, forgotten, lost or missed, and how often {noun} were "
            "captured, takes capture histories, which this table does not have: the overlaps of "
            "pairs do not tell which of them are the same. Histories come from the store, for up "
            "to 64 crawls, or with --histories."
        )
        return [[blocks.Paragraph(text=text)]]
    total = sum(number.value or 0 for number in frequencies)
    rows = [
        ((str(k), k), _number(number), number.value or 0)
        for k, number in enumerate(frequencies[:_MAX_FREQUENCIES], start=1)
    ]
    if len(frequencies) > _MAX_FREQUENCIES:
        rest = sum(number.value or 0 for number in frequencies[_MAX_FREQUENCIES:])
        least = _MAX_FREQUENCIES + 1
        rows.append(((f"{least} or more", least), (grouped(rest), rest), rest))
    table = blocks.tabulate(
        rows,
        ("crawls", lambda row: row[0]),
        (noun, lambda row: row[1], count),
        ("share", lambda row: row[2] / total, percent),
    )
    distinct, _ = _number(turnover.n_distinct)
    return [[blocks.heading(f"In how many crawls each of {distinct} {noun} is:")], [table]]


def _say_doubts(turnover: Turnover) -> list[blocks.Block]:
    noun = things(turnover.level)
    limits = (
        "These are counts, not estimates of coverage: what no crawl ever held is in none of them."
    )
    if turnover.capture_frequencies:
        limits += (
            f" Lost {noun} may be gone, or out of reach, or missed again and again. Forgotten and "
            "missed ones are taken to have lived in between; some may have been gone and come back."
        )
    doubts = [limits, *turnover.warnings]
    if turnover.sample_rate < 1:
        parts = (*_HELD, *_LEFT_OUT, "self_overlap", "missed_at_least")
        numbers = ((part, getattr(row, part)) for row in turnover.per_crawl for part in parts)
        doubts.append(
            f"Counted in a sample of 1 in {one_in(turnover.sample_rate)} {noun} and scaled up. "
            + " ".join(explain_ranges(named for named in numbers if named[1].basis != "none"))
        )
    return blocks.cautions(doubts)


def _list_reasons(rows: Sequence[CrawlTurnover], parts: Sequence[str]) -> list[blocks.Item]:
    """Say once for each reason which numbers of which crawls it keeps unknown."""
    lacks: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        of_row: dict[str, list[str]] = {}
        for part in parts:
            number: Estimate = getattr(row, part)
            if number.value is None and number.reason is not None:
                of_row.setdefault(number.reason, []).append(_NAMES.get(part, part))
        for reason, concerned in of_row.items():
            which = "" if len(concerned) == len(parts) else f" ({', '.join(concerned)})"
            lacks.setdefault((reason, which), []).append(row.label)
    return blocks.lacking(
        *(f"{names(labels)}{which}: {reason}" for (reason, which), labels in lacks.items())
    )


def _number(number: Estimate) -> tuple[str, float | None]:
    """Write a count in full, so that it can be added up, and an estimated one in three digits."""
    return with_range(number, grouped if number.basis == "none" else count), number.value
