"""Anchors in words: what is known from elsewhere, whether it agrees, and which number to quote."""

from collections.abc import Sequence

from crawlgauge.model.anchors import ENOUGH_HOSTS
from crawlgauge.model.estimates import AnchorFinding, Estimates
from crawlgauge.model.phrases import percent, span, things
from crawlgauge.model.statement import name_anchor
from crawlgauge.report.blocks import Block, Paragraph, Section, heading, notes
from crawlgauge.report.words import join, open_sentence, with_range

_MARKS = {"agrees": "✓ ", "contradicts": "✕ ", "untold": "– "}
HOW = (
    "Crawls cannot tell what none of them ever captures. Hold the number against 200 URLs drawn "
    "evenly, or the sitemaps of 20 random hosts:"
)
COMMAND = "crawlgauge anchor sites --draw 20 --from seeds.txt"
"""How to get an anchor, where there is none."""


def to_blocks(estimates: Estimates) -> list[Block]:
    """Return what anchors say; nothing if there are none.

    Parameters
    ----------
    estimates
        Of a series of crawls, which allow for the anchors.
    """
    if not estimates.anchors:
        return []
    noun = things(estimates.level)
    items = [
        Paragraph(text=_say(item, noun), first=_MARKS[item.verdict], rest="  ")
        for item in estimates.anchors
    ]
    return [
        [heading("Held against what is known from elsewhere:"), *items],
        [*notes(conclude(estimates))],
    ]


def to_section(estimates: Estimates) -> Section:
    """Return what the report shows of anchors, if there are some."""
    said = [f"{item.name}: {_VERDICTS[item.verdict]}" for item in estimates.anchors]
    return Section(
        name="anchors",
        title="Held against what is known from elsewhere",
        lead=" ".join(said),
        blocks=tuple(to_blocks(estimates)[:1]),
    )


def _say(item: AnchorFinding, noun: str) -> str:
    gap = span(abs(item.gap_days) / 365.25)
    when = "" if item.gap_days == 0 else f", {gap} {'before' if item.gap_days > 0 else 'after'} it,"
    own = "nothing" if item.by_crawls.value is None else with_range(item.by_crawls, percent)
    name = open_sentence(name_anchor(item))
    is_test = item.kind == "complete" and (item.n_hosts or 0) < ENOUGH_HOSTS
    if item.kind == "frontier":
        return join(
            f"{name} leave it at most {percent(item.by_anchor.value or 0.0)} of the {noun}, if "
            f"they exist and are in scope; the crawls alone say {own}.",
            _VERDICTS[item.verdict],
        )
    if item.by_anchor.value is None:
        return f"{name}{when} tell nothing: {item.by_anchor.reason}."
    return join(
        f"{name}{when} say that {item.label} covers {with_range(item.by_anchor, percent)}: it "
        f"holds {item.n_held:,} of {item.n_looked_for:,}. The crawls alone say {own}.",
        _VERDICTS[item.verdict],
        "A test only: fewer than 20 hosts do not move the number." if is_test else None,
    )


_VERDICTS = {
    "agrees": "They agree.",
    "contradicts": "They contradict each other.",
    "untold": "There is nothing to compare them with.",
}


def conclude(estimates: Estimates) -> str:
    """Say which number to quote, where there are anchors."""
    typical, alone = estimates.headline.coverage, estimates.by_crawls
    counting = [item for item in estimates.anchors if item.counts]
    if not counting:
        if any(item.verdict == "contradicts" for item in estimates.anchors):
            return "Quote no number: what is known from elsewhere contradicts the crawls."
        return "The number is that of the crawls alone, which nothing here contradicts."
    if alone is None or alone.value is None:
        return (
            f"Quote {with_range(typical, percent)} for {counting[0].label}, by the anchors alone."
        )
    if all(item.kind == "frontier" for item in counting):
        return f"Quote at most {percent(typical.high or 1.0)} for a typical crawl."
    return join(
        f"Quote {with_range(typical, percent)} for a typical crawl and "
        f"{with_range(estimates.newest.coverage, percent)} for the newest, "
        f"{estimates.newest.label}: both allow for the anchors.",
        f"By the crawls alone it would be {with_range(alone, percent)} for a typical one.",
        "The anchors contradict each other: see how each was drawn."
        if _are_at_odds(counting)
        else None,
    )


def _are_at_odds(counting: Sequence[AnchorFinding]) -> bool:
    """Tell whether no ratio to the crawls' own coverage fits all of them."""
    lows, highs = [], []
    for item in counting:
        own = item.by_crawls.value
        if own and item.by_anchor.low is not None and item.by_anchor.high is not None:
            lows.append(item.by_anchor.low / own)
            highs.append(item.by_anchor.high / own)
    return max(lows, default=0.0) > min(highs, default=1.0)
