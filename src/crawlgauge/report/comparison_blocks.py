"""A comparison of archives in words, in the order in which people ask."""

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.comparison import ArchivePair, Comparison, HostHoldings
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, names, percent, span, things
from crawlgauge.report.blocks import Block, Column, Grid, Item, Paragraph
from crawlgauge.report.range_text import UNKNOWN, explain_ranges, with_range

__all__ = ["to_blocks"]


# ----------------- two archives in tables: their matched crawls, or one row for each two of several


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


# ------------------------------ A comparison of archives in words, in the order in which people ask


_TWO = 2
_ASSUMPTION = (
    "Coverage and population rest on one assumption: that the archives' crawlers choose "
    "independently of each other. Crawlers that favour the same {noun}, as most do, share more "
    "than independent ones would: then the population is at least as large as said here, and "
    "coverage at most as high. Crawlers that avoid each other's {noun} would err the other way. "
    "Relative sizes and what each alone holds are counted, and need no assumption."
)

_SAME = "1.00"
"""A ratio that is none."""


def to_blocks(comparison: Comparison) -> list[Block]:
    """Return what `crawlgauge compare` shows.

    Parameters
    ----------
    comparison
        First comes the answer, then what each archive holds, each two of them, what it rests on,
        hosts, and what to be careful about.
    """
    noun = things(comparison.level)
    blocks: list[Block] = [
        [Paragraph(text=_answer(comparison), role="answer")],
        *_say_holdings(comparison),
    ]
    if len(comparison.archives) == _TWO:
        blocks += say_matched(comparison.pairs[0])
    else:
        blocks += say_pairs(comparison.pairs)
    blocks.append(_say_ranges(comparison))
    if any(pair.coverage_a.value is not None for pair in comparison.pairs):
        blocks.append([Paragraph(text=_ASSUMPTION.format(noun=noun)), *_say_carrying(comparison)])
    blocks.append(_say_unmatched(comparison))
    if comparison.hosts is not None:
        blocks += _say_hosts(comparison.hosts, comparison)
    if comparison.warnings:
        bullets = [Paragraph(text=text, first="• ", rest="  ") for text in comparison.warnings]
        blocks.append([Paragraph(text="What to be careful about:", role="heading"), *bullets])
    return [block for block in blocks if block]


def _answer(comparison: Comparison) -> str:
    noun, joint = things(comparison.level), comparison.joint
    held = f"hold {with_range(joint.n_distinct, count)} different {noun}"
    alone = _share_of(joint.n_in_one, joint.n_distinct)
    if len(comparison.archives) > _TWO:
        return (
            f"{len(comparison.archives)} archives together {held}; {alone} of them are in one "
            f"archive alone, and {_share_of(joint.n_in_all, joint.n_distinct)} in all."
        )
    pair = comparison.pairs[0]
    text = f"{pair.a} and {pair.b} together {held}; {alone} of them are in one of the two alone."
    size = pair.relative_size
    if size.value is not None:
        times = with_range(size, say_ratio)
        many = f"{times} times the {noun} of" if say_ratio(size.value) != _SAME else "as many as"
        text += f" A crawl of {pair.a} has {many} one of {pair.b}."
    if pair.joint_coverage.value is not None:
        text += (
            f" If their crawlers choose independently, a crawl of {pair.a} covers "
            f"{with_range(pair.coverage_a, percent)} of what can be reached, one of {pair.b} "
            f"{with_range(pair.coverage_b, percent)}, and two of the same time together "
            f"{with_range(pair.joint_coverage, percent)}; if they favour the same {noun}, less."
        )
    return text


def _share_of(part: Estimate, whole: Estimate) -> str:
    return percent((part.value or 0.0) / whole.value) if whole.value else UNKNOWN


def _say_holdings(comparison: Comparison) -> list[Block]:
    noun = things(comparison.level)
    columns = (
        Column(header="archive"),
        Column(header="crawls", align="right"),
        Column(header=noun, align="right"),
        Column(header="only here", align="right"),
        Column(header="share", align="right"),
        Column(header="own coverage", align="right"),
    )
    rows = tuple(
        (
            item.name,
            f"{item.n_crawls}",
            with_range(item.n_urls, count),
            with_range(item.n_only, count),
            _share_of(item.n_only, item.n_urls),
            with_range(item.own_coverage, percent),
        )
        for item in comparison.archives
    )
    notes: list[Item] = [
        Paragraph(
            text=f"{noun} of all crawls of an archive together; only here: in no other archive; "
            "own coverage: that of a typical crawl by the archive's own series.",
            role="note",
        ),
        *(
            Paragraph(text=f"{item.name}: {reason}", first=f"{UNKNOWN} ", rest="  ", role="note")
            for item in comparison.archives
            if item.own_coverage.value is None and (reason := item.own_coverage.reason)
        ),
    ]
    if comparison.sample_rate < 1:
        one_in = f"{1 / comparison.sample_rate:,.1f}".removesuffix(".0")
        notes.append(Paragraph(text=f"Counted in a sample of 1 in {one_in} {noun}.", role="note"))
    return [[Grid(columns=columns, rows=rows)], notes]


def _say_ranges(comparison: Comparison) -> Block:
    numbers = [("own coverage", item.own_coverage) for item in comparison.archives]
    numbers += [
        named
        for pair in comparison.pairs
        for named in (
            ("relative size", pair.relative_size),
            ("coverage", pair.coverage_a),
            ("coverage", pair.coverage_b),
            ("coverage", pair.joint_coverage),
        )
    ]
    return [Paragraph(text=text, role="note") for text in explain_ranges(numbers)]


def _say_carrying(comparison: Comparison) -> Block:
    gaps = [abs(item.gap_days) for pair in comparison.pairs for item in pair.matched]
    persistence = comparison.persistence
    if not any(gaps) or persistence.value is None:
        return []
    noun = things(comparison.level)
    return [
        Paragraph(
            text=f"Between matched crawls lie up to {span(max(gaps) / DAYS_PER_YEAR)}. Overlaps "
            f"are carried over that time as if {with_range(persistence, percent)} of the {noun} "
            "lived on for a year and their number stayed the same."
        )
    ]


def _say_unmatched(comparison: Comparison) -> Block:
    items: list[Item] = []
    apart = span(comparison.max_gap_days / DAYS_PER_YEAR)
    for pair in comparison.pairs:
        if not pair.matched:
            text = (
                f"No crawls of {pair.a} and {pair.b} lie within {apart} of each other, so that "
                "their sizes and coverages cannot be compared; allow for more time between them "
                "with --max-gap."
            )
            items.append(Paragraph(text=text, role="warn"))
            continue
        for own, other, labels in (
            (pair.a, pair.b, pair.unmatched_a),
            (pair.b, pair.a, pair.unmatched_b),
        ):
            if labels:
                text = (
                    f"Not matched of {own}: {names(list(labels))}; no crawl of {other} that is "
                    f"still free lies within {apart} (--max-gap)."
                )
                items.append(Paragraph(text=text))
    return items


def _say_hosts(hosts: HostHoldings, comparison: Comparison) -> list[Block]:
    if not hosts.rows:
        return []
    noun, rate = things(comparison.level), hosts.sample_rate
    columns = (
        Column(header="host"),
        Column(header=noun, align="right"),
        *(Column(header=f"only {item.name}", align="right") for item in comparison.archives),
        Column(header="several", align="right"),
    )
    rows = tuple(
        (
            row.host,
            count(row.n_urls / rate),
            *(percent(n / row.n_urls) for n in row.n_only),
            percent(row.n_several / row.n_urls),
        )
        for row in hosts.rows
    )
    notes: list[Item] = []
    if rate < 1:
        text = f"Hosts are known of 1 in {1 / rate:,.0f} {noun}; numbers are scaled up from these."
        notes.append(Paragraph(text=text, role="note"))
    silent = [
        f"{item.name} (about {count(n / rate)})"
        for item, n in zip(comparison.archives, hosts.n_undisclosed, strict=True)
        if n
    ]
    if silent:
        text = (
            f"{noun} of one archive alone whose hosts are not disclosed are missing here: "
            f"{names(silent)}."
        )
        notes.append(Paragraph(text=text, role="note"))
    heading = "Hosts with the most that one archive alone holds"
    if hosts.n_hosts > len(hosts.rows):
        heading += f" ({len(hosts.rows)} of {hosts.n_hosts:,})"
    return [
        [Paragraph(text=f"{heading}:", role="heading")],
        [Grid(columns=columns, rows=rows)],
        notes,
    ]
