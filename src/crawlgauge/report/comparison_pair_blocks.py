"""Two archives in tables: their matched crawls, or one row for each two of several."""

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.comparison import ArchivePair
from crawlgauge.model.phrases import count, percent, span
from crawlgauge.report.blocks import Block, Grid, Paragraph
from crawlgauge.report.range_text import UNKNOWN, with_range
from crawlgauge.report.text_table import Column

__all__ = ["say_matched", "say_pairs", "say_ratio"]

_LEAST_RATIO, _MOST_RATIO = 0.1, 10.0
"""Between these, two decimals say enough of a ratio."""


def say_ratio(ratio: float) -> str:
    """Write the size of one crawl over that of another."""
    if ratio >= _MOST_RATIO:
        return count(ratio)
    return f"{ratio:.2f}" if ratio >= _LEAST_RATIO else f"{ratio:.2g}"


def say_matched(pair: ArchivePair) -> list[Block]:
    """Return the matched crawls of two archives: what is counted, and what follows."""
    if not pair.matched:
        return []
    counted_columns = (
        Column(header=pair.a),
        Column(header=pair.b),
        Column(header="apart", align="right"),
        Column(header="size ratio", align="right"),
        Column(header="first in second", align="right"),
        Column(header="second in first", align="right"),
    )
    counted = tuple(
        (
            item.a.label,
            item.b.label,
            _say_gap(item.gap_days),
            with_range(item.relative_size, say_ratio),
            percent(item.share_of_a),
            percent(item.share_of_b),
        )
        for item in pair.matched
    )
    estimated_columns = (
        Column(header=pair.a),
        Column(header=pair.b),
        Column(header="first covers", align="right"),
        Column(header="second covers", align="right"),
        Column(header="both cover", align="right"),
        Column(header="population", align="right"),
    )
    estimated = tuple(
        (
            item.a.label,
            item.b.label,
            with_range(item.coverage_a, percent),
            with_range(item.coverage_b, percent),
            with_range(item.joint_coverage, percent),
            with_range(item.population, count),
        )
        for item in pair.matched
    )
    typical = (
        "typical",
        "",
        with_range(pair.coverage_a, percent),
        with_range(pair.coverage_b, percent),
        with_range(pair.joint_coverage, percent),
        "",
    )
    return [
        [Paragraph(text="Crawls of matching dates, counted:", role="heading")],
        [Grid(columns=counted_columns, rows=counted)],
        [
            Paragraph(
                text="Size ratio: the first crawl's size over the second's. First in second: the "
                "share of the first crawl that the second holds too.",
                role="note",
            )
        ],
        [Paragraph(text="What follows if the crawlers are independent:", role="heading")],
        [Grid(columns=estimated_columns, rows=(*estimated, typical))],
        [
            Paragraph(text=reason, first=f"{UNKNOWN} ", rest="  ", role="note")
            for reason in dict.fromkeys(
                item.population.reason
                for item in pair.matched
                if item.population.value is None and item.population.reason
            )
        ],
    ]


def _say_gap(days: int) -> str:
    return "same day" if days == 0 else span(abs(days) / DAYS_PER_YEAR)


def say_pairs(pairs: tuple[ArchivePair, ...]) -> list[Block]:
    """Return a row for each two archives."""
    columns = (
        Column(header="first"),
        Column(header="second"),
        Column(header="matched", align="right"),
        Column(header="shared", align="right"),
        Column(header="size ratio", align="right"),
        Column(header="first covers", align="right"),
        Column(header="second covers", align="right"),
        Column(header="both cover", align="right"),
    )
    rows = tuple(
        (
            pair.a,
            pair.b,
            f"{len(pair.matched)}",
            with_range(pair.n_shared, count),
            with_range(pair.relative_size, say_ratio),
            with_range(pair.coverage_a, percent),
            with_range(pair.coverage_b, percent),
            with_range(pair.joint_coverage, percent),
        )
        for pair in pairs
    )
    note = (
        "Ratios of sizes and coverages are typical values of crawls of matching dates; each "
        "matched pair is in --json."
    )
    return [
        [Paragraph(text="Each two archives:", role="heading")],
        [Grid(columns=columns, rows=rows)],
        [Paragraph(text=note, role="note")],
    ]
