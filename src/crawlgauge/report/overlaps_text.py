"""An overlap table in words, for a terminal."""

import itertools
import textwrap
from collections.abc import Callable, Iterable

from crawlgauge.model.phrases import percent, things
from crawlgauge.overlaps.table import OverlapTable, Pair
from crawlgauge.report.blocks import Column, render_table
from crawlgauge.report.words import UNKNOWN, number_of, one_in

_WIDTH = 100
_MOST_CRAWLS_IN_PAIRS = 12
Pairs = dict[tuple[str, str], Pair]
_HOW_TO_GET_ALL = "All numbers: crawlgauge overlaps -o overlaps.csv"


def to_text(table: OverlapTable) -> str:
    """Return what `crawlgauge overlaps` shows, without a final newline.

    Parameters
    ----------
    table
        Up to twelve crawls are shown pair by pair, more as a matrix of percentages, and more
        than fit side by side as each crawl with the next.
    """
    parts = [textwrap.fill(_describe(table), _WIDTH, break_on_hyphens=False)]
    pairs = {(pair.a.label, pair.b.label): pair for pair in table.pairs()}
    if table.n_crawls == 1:
        parts.append("One crawl has no overlaps; add another with: crawlgauge add LABEL FILE...")
    elif table.n_crawls <= _MOST_CRAWLS_IN_PAIRS:
        every = itertools.combinations([crawl.label for crawl in table.crawls], 2)
        parts.append(_render_pairs(table, every, pairs))
    else:
        parts += [_render_many(table, pairs), _HOW_TO_GET_ALL]
    damaged = [crawl.label for crawl in table.crawls if crawl.damaged]
    if damaged:
        parts.append(f"Incomplete, because the input was damaged: {', '.join(damaged)}")
    return "\n\n".join(parts)


def _describe(table: OverlapTable) -> str:
    crawls = number_of(table.n_crawls, "crawl")
    rule = f" (identity: {table.key_rule})" if table.key_rule else ""
    if table.sample_rate < 1:
        sample = f"in a sample of 1 in {one_in(table.sample_rate)}"
        counted = f"{sample}; the shared counts are those of the sample"
    elif table.se_shared is not None:
        counted = "the counts being estimates, given with their standard errors (±)"
    else:
        counted = "all of them counted"
    return f"{crawls} compared by their {things(table.level)}{rule}, {counted}."


def _render_pairs(table: OverlapTable, wanted: Iterable[tuple[str, str]], pairs: Pairs) -> str:
    def write(pair: Pair) -> str:
        error = "" if pair.se_shared is None else f" ± {pair.se_shared:,.0f}"
        return f"{pair.n_shared:,}{error}"

    numbers: list[tuple[str, Callable[[Pair], str]]] = [
        ("of a in b", lambda pair: percent(pair.containment_a_in_b)),
        ("of b in a", lambda pair: percent(pair.containment_b_in_a)),
        ("Jaccard", lambda pair: f"{pair.jaccard:.3f}"),
        ("Dice–Sørensen", lambda pair: f"{pair.dice:.3f}"),
        (f"shared {things(table.level)}", write),
    ]
    columns = [Column(header="a (earlier)"), Column(header="b (later)")]
    columns += [Column(header=header, align="right") for header, _ in numbers]
    rows = [
        [*labels, *(write(pairs[labels]) if labels in pairs else UNKNOWN for _, write in numbers)]
        for labels in wanted
    ]
    return render_table(columns, rows)


def _render_many(table: OverlapTable, pairs: Pairs) -> str:
    noun = things(table.level)
    matrix = _render_matrix(table, pairs)
    if max(len(line) for line in matrix.split("\n")) <= _WIDTH:
        caption = (
            f"Per cent of the row's {noun} (earlier crawl) found in the column's (later crawl)"
        )
        return f"{caption}:\n\n{matrix}"
    neighbours = itertools.pairwise([crawl.label for crawl in table.crawls])
    return f"Each crawl with the next:\n\n{_render_pairs(table, neighbours, pairs)}"


def _render_matrix(table: OverlapTable, pairs: Pairs) -> str:
    # Columns are headed by numbers, because labels would make the matrix too wide.
    columns = [Column(header="", align="right"), Column(header="crawl")]
    columns += [Column(header=str(k), align="right") for k in range(2, table.n_crawls + 1)]
    rows = []
    for i, a in enumerate(table.crawls[:-1]):
        cells = [_matrix_cell(pairs.get((a.label, b.label))) for b in table.crawls[i + 1 :]]
        rows.append([str(i + 1), a.label, *[""] * i, *cells])
    rows.append([str(table.n_crawls), table.crawls[-1].label, *[""] * (table.n_crawls - 1)])
    return render_table(columns, rows)


def _matrix_cell(pair: Pair | None) -> str:
    if pair is None:
        return UNKNOWN
    rounded = f"{100 * pair.containment_a_in_b:.0f}"
    return "<1" if rounded == "0" and pair.n_shared else rounded
