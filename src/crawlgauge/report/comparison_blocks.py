"""A comparison of archives in words, in the order in which people ask."""

from collections.abc import Callable, Iterator

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.comparison import ArchivePair, Comparison, HostHoldings, HostRow
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, names, percent, span, things
from crawlgauge.report import blocks
from crawlgauge.report.words import UNKNOWN, explain_ranges, grouped, one_in, with_range

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

_LEAST_RATIO, _MOST_RATIO = 0.1, 10.0
"""Between these, two decimals say enough of a ratio."""


def to_blocks(comparison: Comparison) -> list[blocks.Block]:
    """Return what `crawlgauge compare` shows.

    Parameters
    ----------
    comparison
        First comes the answer, then what each archive holds, each two of them, what it rests on,
        hosts, and what to be careful about.
    """
    pairs = comparison.pairs
    said = [
        [blocks.Paragraph(text=_answer(comparison), role="answer")],
        *_say_holdings(comparison),
        *(_say_matched(pairs[0]) if len(comparison.archives) == _TWO else _say_pairs(pairs)),
        _say_ranges(comparison),
        [*_say_assumption(comparison)],
        [*_say_unmatched(comparison)],
        *([] if comparison.hosts is None else _say_hosts(comparison.hosts, comparison)),
        *blocks.cautions(comparison.warnings),
    ]
    return [block for block in said if block]


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
        times = with_range(size, _say_ratio)
        many = f"{times} times the {noun} of" if _say_ratio(size.value) != _SAME else "as many as"
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
    share = _divide(part, whole)
    return UNKNOWN if share is None else percent(share)


def _divide(part: Estimate, whole: Estimate) -> float | None:
    return (part.value or 0.0) / whole.value if whole.value else None


def _say_ratio(ratio: float) -> str:
    """Write the size of one crawl over that of another."""
    if ratio >= _MOST_RATIO:
        return count(ratio)
    return f"{ratio:.2f}" if ratio >= _LEAST_RATIO else f"{ratio:.2g}"


def _say_holdings(comparison: Comparison) -> list[blocks.Block]:
    noun = things(comparison.level)
    table = blocks.tabulate(
        comparison.archives,
        ("archive", "name"),
        ("crawls", "n_crawls", str),
        (noun, "n_urls", count),
        ("only here", "n_only", count),
        ("share", lambda item: _divide(item.n_only, item.n_urls), percent),
        ("own coverage", "own_coverage", percent),
    )
    meaning = (
        f"{noun} of all crawls of an archive together; only here: in no other archive; own "
        "coverage: that of a typical crawl by the archive's own series."
    )
    unknown = [
        f"{item.name}: {reason}"
        for item in comparison.archives
        if item.own_coverage.value is None and (reason := item.own_coverage.reason)
    ]
    below = [*blocks.notes(meaning), *blocks.lacking(*unknown)]
    if comparison.sample_rate < 1:
        sample = f"Counted in a sample of 1 in {one_in(comparison.sample_rate)} {noun}."
        below += blocks.notes(sample)
    return [[table], below]


_COVERAGES: tuple[blocks.Field, ...] = (
    ("first covers", "coverage_a", percent),
    ("second covers", "coverage_b", percent),
    ("both cover", "joint_coverage", percent),
)


def _say_matched(pair: ArchivePair) -> list[blocks.Block]:
    """Return the matched crawls of two archives: what is counted, and what follows."""
    if not pair.matched:
        return []
    counted = blocks.tabulate(
        pair.matched,
        (pair.a, "a.label"),
        (pair.b, "b.label"),
        ("apart", lambda item: (_say_gap(item.gap_days), abs(item.gap_days)), grouped),
        ("size ratio", "relative_size", _say_ratio),
        ("first in second", "share_of_a", percent),
        ("second in first", "share_of_b", percent),
    )
    estimated = blocks.tabulate(
        (*pair.matched, pair),
        (pair.a, lambda item: "typical" if item is pair else item.a.label),
        (pair.b, lambda item: "" if item is pair else item.b.label),
        *_COVERAGES,
        ("population", lambda item: ("", None) if item is pair else item.population, count),
    )
    unknown = [
        f"{item.a.label} and {item.b.label}: {item.population.why}"
        for item in pair.matched
        if item.population.value is None
    ]
    return [
        [blocks.heading("Crawls of matching dates, counted:")],
        [counted],
        blocks.notes(
            "Size ratio: the first crawl's size over the second's. First in second: the share of "
            "the first crawl that the second holds too."
        ),
        [blocks.heading("What follows if the crawlers are independent:")],
        [estimated],
        blocks.lacking(*unknown),
    ]


def _say_gap(days: int) -> str:
    return "same day" if days == 0 else span(abs(days) / DAYS_PER_YEAR)


def _say_pairs(pairs: tuple[ArchivePair, ...]) -> list[blocks.Block]:
    """Return a row for each two archives."""
    table = blocks.tabulate(
        pairs,
        ("first", "a"),
        ("second", "b"),
        ("matched", lambda pair: len(pair.matched), str),
        ("shared", "n_shared", count),
        ("size ratio", "relative_size", _say_ratio),
        *_COVERAGES,
    )
    return [
        [blocks.heading("Each two archives:")],
        [table],
        blocks.notes(
            "Ratios of sizes and coverages are typical values of crawls of matching dates; each "
            "matched pair is in --json."
        ),
    ]


def _say_ranges(comparison: Comparison) -> blocks.Block:
    numbers = [("own coverage", item.own_coverage) for item in comparison.archives]
    for pair in comparison.pairs:
        coverages = pair.coverage_a, pair.coverage_b, pair.joint_coverage
        numbers.append(("relative size", pair.relative_size))
        numbers += [("coverage", coverage) for coverage in coverages]
    return blocks.notes(*explain_ranges(numbers))


def _say_assumption(comparison: Comparison) -> Iterator[blocks.Paragraph]:
    noun, persistence = things(comparison.level), comparison.persistence
    if all(pair.coverage_a.value is None for pair in comparison.pairs):
        return
    yield blocks.Paragraph(text=_ASSUMPTION.format(noun=noun))
    gaps = [abs(item.gap_days) for pair in comparison.pairs for item in pair.matched]
    if any(gaps) and persistence.value is not None:
        yield blocks.Paragraph(
            text=f"Between matched crawls lie up to {span(max(gaps) / DAYS_PER_YEAR)}. Overlaps "
            f"are carried over that time as if {with_range(persistence, percent)} of the {noun} "
            "lived on for a year and their number stayed the same."
        )


def _say_unmatched(comparison: Comparison) -> Iterator[blocks.Paragraph]:
    apart = span(comparison.max_gap_days / DAYS_PER_YEAR)
    for pair in comparison.pairs:
        if not pair.matched:
            text = (
                f"No crawls of {pair.a} and {pair.b} lie within {apart} of each other, so that "
                "their sizes and coverages cannot be compared; allow for more time between them "
                "with --max-gap."
            )
            yield blocks.Paragraph(text=text, role="warn")
            continue
        of_a, of_b = (pair.a, pair.b, pair.unmatched_a), (pair.b, pair.a, pair.unmatched_b)
        for own, other, labels in (of_a, of_b):
            if labels:
                text = (
                    f"Not matched of {own}: {names(list(labels))}; no crawl of {other} that is "
                    f"still free lies within {apart} (--max-gap)."
                )
                yield blocks.Paragraph(text=text)


def _say_hosts(hosts: HostHoldings, comparison: Comparison) -> list[blocks.Block]:
    if not hosts.rows:
        return []
    noun, rate = things(comparison.level), hosts.sample_rate

    def share_of(k: int) -> Callable[[HostRow], float]:
        return lambda row: row.n_only[k] / row.n_urls

    only: list[blocks.Field] = [
        (f"only {item.name}", share_of(k), percent) for k, item in enumerate(comparison.archives)
    ]
    table = blocks.tabulate(
        hosts.rows,
        ("host", "host"),
        (noun, lambda row: row.n_urls / rate, count),
        *only,
        ("several", lambda row: row.n_several / row.n_urls, percent),
    )
    texts = []
    if rate < 1:
        texts.append(
            f"Hosts are known of 1 in {1 / rate:,.0f} {noun}; numbers are scaled up from these."
        )
    silent = [
        f"{item.name} (about {count(n / rate)})"
        for item, n in zip(comparison.archives, hosts.n_undisclosed, strict=True)
        if n
    ]
    if silent:
        texts.append(
            f"{noun} of one archive alone whose hosts are not disclosed are missing here: "
            f"{names(silent)}."
        )
    is_part = hosts.n_hosts > len(hosts.rows)
    part = f" ({len(hosts.rows)} of {hosts.n_hosts:,})" if is_part else ""
    title = f"Hosts with the most that one archive alone holds{part}:"
    return [[blocks.heading(title)], [table], blocks.notes(*texts)]
