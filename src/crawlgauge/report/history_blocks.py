"""`Turnover` in words: what each crawl holds, what it left out, and how often URLs are captured."""

from collections.abc import Iterable, Sequence

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, names, percent, things
from crawlgauge.model.turnover import CrawlTurnover, Turnover
from crawlgauge.report.blocks import Block, Column, Grid, Item, Paragraph
from crawlgauge.report.range_text import UNKNOWN, explain_ranges, with_range

__all__ = ["to_blocks"]

_HELD = ("kept", "recovered", "new")
_LEFT_OUT = ("dropped", "forgotten", "lost", "missed")
_NAMES = {"missed_at_least": "share", "self_overlap": "self-overlap"}
_MAX_FREQUENCIES = 12
"""Rows of a table that one still reads; the JSON has them all."""


def to_blocks(turnover: Turnover) -> list[Block]:
    """Return what `crawlgauge history` shows.

    Parameters
    ----------
    turnover
        First comes the answer, then what each crawl holds, what it left out, in how many crawls
        URLs are, and what to be careful about.
    """
    blocks: list[Block] = [[Paragraph(text=_answer(turnover), role="answer")]]
    blocks += _say_held(turnover)
    blocks += _say_left_out(turnover)
    blocks += _say_frequencies(turnover)
    blocks.append(_say_doubts(turnover))
    return blocks


def _answer(turnover: Turnover) -> str:
    noun, kept = things(turnover.level), turnover.self_overlap
    if kept.value is None:
        return (
            f"There is nothing to follow yet: that {kept.reason}. Add further crawls of the same "
            "kind."
        )
    sentences = [f"From one crawl to the next, {percent(kept.value)} of the {noun} are kept."]
    forgotten = turnover.forgotten_share
    if forgotten.value is not None:
        sentences.append(
            f"Of those dropped, at least {percent(forgotten.value)} lived on, as a later crawl "
            "holds them."
        )
    missed = [
        row.missed_at_least.value
        for row in turnover.per_crawl
        if row.missed_at_least.value is not None
    ]
    if missed:
        sentences.append(
            "By this alone, without any model, the crawls between the first and the last missed at "
            f"least {_from_to(missed)} of the {noun} that they could have reached."
        )
    return " ".join(sentences)


def _from_to(shares: Sequence[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _say_held(turnover: Turnover) -> list[Block]:
    noun = things(turnover.level)
    knows_histories = bool(turnover.capture_frequencies)
    parts = _HELD if knows_histories else ("kept", "added")
    heads = {"added": "not in the crawl before"}
    columns = (
        Column(header="crawl"),
        Column(header=noun, align="right"),
        *(Column(header=heads.get(part, part), align="right") for part in parts),
        Column(header="self-overlap", align="right"),
    )
    rows = tuple(
        (
            crawl.label,
            f"{crawl.n_urls:,}",
            *(_cell(getattr(row, part)) for part in parts),
            with_range(row.self_overlap, percent),
        )
        for crawl, row in zip(turnover.crawls, turnover.per_crawl, strict=True)
    )
    meaning = (
        "Kept: also in the crawl before. Recovered: in an earlier one, but not in the one before. "
        "New: in no earlier one. "
        if knows_histories
        else "Kept: also in the crawl before. "
    )
    note = f"{meaning}Self-overlap: the share of the crawl before that is kept."
    return [
        [Paragraph(text="What each crawl holds:", role="heading")],
        [Grid(columns=columns, rows=rows)],
        [
            *_list_reasons(turnover.per_crawl, (*parts, "self_overlap")),
            Paragraph(text=note, role="note"),
        ],
    ]


def _say_left_out(turnover: Turnover) -> list[Block]:
    knows_histories = bool(turnover.capture_frequencies)
    parts = _LEFT_OUT if knows_histories else ("dropped",)
    columns = [Column(header="crawl")]
    columns += [Column(header=part, align="right") for part in parts]
    if knows_histories:
        columns.append(Column(header=_NAMES["missed_at_least"], align="right"))
    rows = tuple(
        (
            row.label,
            *(_cell(getattr(row, part)) for part in parts),
            *([with_range(row.missed_at_least, percent)] if knows_histories else []),
        )
        for row in turnover.per_crawl
    )
    if knows_histories:
        note = (
            "Dropped: in the crawl before and not in this one; either forgotten (a later crawl "
            "holds it, so it lived) or lost (none does so far). Missed: captured before and after, "
            "but not by this one. Share: of all that are known to have lived then, how many it "
            "missed. Fewer later crawls find fewer forgotten and missed ones: towards the end, "
            "both are too low."
        )
    else:
        note = "Dropped: in the crawl before and not in this one."
    return [
        [Paragraph(text="What each crawl left out:", role="heading")],
        [Grid(columns=tuple(columns), rows=rows)],
        [
            *_list_reasons(turnover.per_crawl, (*parts, *(["missed_at_least"] * knows_histories))),
            Paragraph(text=note, role="note"),
        ],
    ]


def _say_frequencies(turnover: Turnover) -> list[Block]:
    frequencies, noun = turnover.capture_frequencies, things(turnover.level)
    if not frequencies:
        text = (
            f"What is new, recovered, forgotten, lost or missed, and how often {noun} were "
            "captured, takes capture histories, which this table does not have: the overlaps of "
            "pairs do not tell which of them are the same. Histories come from the store, for up "
            "to 64 crawls, or with --histories."
        )
        return [[Paragraph(text=text)]]
    total = sum(number.value or 0 for number in frequencies)
    shown = frequencies[:_MAX_FREQUENCIES]
    rows = [
        (str(k), _cell(number), percent((number.value or 0) / total))
        for k, number in enumerate(shown, start=1)
    ]
    rest = [number.value or 0 for number in frequencies[_MAX_FREQUENCIES:]]
    if rest:
        rows.append(
            (f"{_MAX_FREQUENCIES + 1} or more", _count(sum(rest)), percent(sum(rest) / total))
        )
    columns = (
        Column(header="in just so many crawls"),
        Column(header=noun, align="right"),
        Column(header="share", align="right"),
    )
    distinct = _cell(turnover.n_distinct)
    heading = f"How often {noun} were captured ({distinct} different ones):"
    return [
        [Paragraph(text=heading, role="heading")],
        [Grid(columns=columns, rows=tuple(rows))],
    ]


def _say_doubts(turnover: Turnover) -> Block:
    noun = things(turnover.level)
    items: list[Item] = [Paragraph(text="What to be careful about:", role="heading")]
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
        doubts.append(
            f"Counted in a sample of 1 in {_one_in(turnover.sample_rate)} {noun} and scaled up. "
            + " ".join(explain_ranges(_all_numbers(turnover)))
        )
    items += [Paragraph(text=text, first="• ", rest="  ") for text in doubts]
    return items


def _all_numbers(turnover: Turnover) -> Iterable[tuple[str, Estimate]]:
    for row in turnover.per_crawl:
        for part in (*_HELD, *_LEFT_OUT, "self_overlap", "missed_at_least"):
            number: Estimate = getattr(row, part)
            if number.basis != "none":
                yield part, number


def _list_reasons(rows: Sequence[CrawlTurnover], parts: Sequence[str]) -> list[Paragraph]:
    """Say once for each reason which numbers of which crawls it keeps unknown."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        of_row: dict[str, list[str]] = {}
        for part in parts:
            number: Estimate = getattr(row, part)
            if number.value is None and number.reason is not None:
                of_row.setdefault(number.reason, []).append(_NAMES.get(part, part))
        for reason, concerned in of_row.items():
            which = "" if len(concerned) == len(parts) else f" ({', '.join(concerned)})"
            lacking.setdefault((reason, which), []).append(row.label)
    return [
        Paragraph(
            text=f"{names(labels)}{which}: {reason}", first=f"{UNKNOWN} ", rest="  ", role="note"
        )
        for (reason, which), labels in lacking.items()
    ]


def _one_in(rate: float) -> str:
    return f"{1 / rate:,.1f}".removesuffix(".0")


def _cell(number: Estimate) -> str:
    """Write a count in full, so that it can be added up, and an estimated one in three digits."""
    return with_range(number, _count if number.basis == "none" else count)


def _count(number: float) -> str:
    return f"{number:,.0f}"
