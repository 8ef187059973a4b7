"""The half-life beside those that others have published."""

from collections.abc import Callable
from dataclasses import dataclass

from crawlgauge.model.estimates import Estimates, EstimatorRow, PairResidual
from crawlgauge.model.phrases import count, percent, span, things
from crawlgauge.report.words import UNKNOWN, with_range

__all__ = [
    "MAX_PAIRS",
    "Cell",
    "Column",
    "Table",
    "compare_half_lives",
    "list_assumptions",
    "list_crawls",
    "list_estimators",
    "list_pairs",
    "number_cell",
    "text_cell",
]


# ------------------------------------------------------------------------------ A table of the page


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column.

    Parameters
    ----------
    header
        What stands above it.
    is_number
        Whether its cells stand to the right.
    is_crawl
        Whether its cells name crawls, which are lit when they are chosen.
    """

    header: str
    is_number: bool = False
    is_crawl: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell.

    Parameters
    ----------
    text
        What is shown.
    value
        What is sorted by; None to sort by the text.
    """

    text: str
    value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with a caption.

    Parameters
    ----------
    name
        Its place in the page and the name of its file.
    caption
        What it holds.
    columns, rows
        Each row has a cell for each column.
    is_plain
        Whether it is so long that its rows are written as briefly as can be: cells are sorted by
        what they show, and crawls in it are no buttons.
    is_headed
        Whether a heading above it says the same as its caption, which is then not seen.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    is_plain: bool = False
    is_headed: bool = False


def text_cell(text: str) -> Cell:
    """Make a cell that is sorted by its text."""
    return Cell(text=text)


def number_cell(text: str, value: float | None) -> Cell:
    """Make a cell that shows a number in words and is sorted by it."""
    return Cell(text=text, value=value)


# -------------------------------- the numbers of the estimates as tables: crawls, pairs, estimators


MAX_PAIRS = 1000
"""Pairs of 45 crawls; a table of more makes the page slow and is read by nobody."""

_CLOSED = frozenset(
    {"lincoln-petersen", "chapman", "schnabel", "chao", "loglinear-mt", "loglinear-mth"}
)
"""Estimators that assume an unchanging web."""

_FARTHEST = 100
"""How many are shown where there are too many."""


def list_crawls(estimates: Estimates) -> Table:
    """Return the crawls with what is known of each.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    has_notes = any(row.note or row.coverage.reason for row in estimates.per_crawl)
    columns = [
        Column(header="Crawl", is_crawl=True),
        Column(header="Date"),
        Column(header=things(estimates.level), is_number=True),
        Column(header="Coverage", is_number=True),
        Column(header="Population", is_number=True),
        *([Column(header="Note")] if has_notes else []),
    ]
    rows = []
    for crawl, row in zip(estimates.crawls, estimates.per_crawl, strict=True):
        why = row.coverage.reason if row.coverage.value is None else None
        cells = [
            text_cell(crawl.label),
            text_cell(crawl.date.isoformat()),
            number_cell(f"{crawl.n_urls:,}", crawl.n_urls),
            number_cell(with_range(row.coverage, percent), row.coverage.value),
            number_cell(with_range(row.population, count), row.population.value),
        ]
        if has_notes:
            cells.append(text_cell("; ".join(filter(None, (why, row.note)))))
        rows.append(tuple(cells))
    return Table(
        name="crawls",
        caption="The crawls, in order of date",
        columns=tuple(columns),
        rows=tuple(rows),
    )


def list_pairs(estimates: Estimates) -> Table:
    """Return the pairs with their similarities, the farthest from the model if there are many.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    pairs = estimates.residuals
    caption = "All pairs of crawls"
    if len(pairs) > MAX_PAIRS:
        pairs = tuple(sorted(pairs, key=_distance, reverse=True)[:_FARTHEST])
        caption = (
            f"The {_FARTHEST} pairs of crawls that lie farthest from the fit; all "
            f"{len(estimates.residuals):,} are in the downloads"
        )
    columns = (
        Column(header="Earlier crawl", is_crawl=True),
        Column(header="Later crawl", is_crawl=True),
        Column(header="Years apart", is_number=True),
        Column(header=f"Shared {things(estimates.level)}", is_number=True),
        Column(header="Of the earlier", is_number=True),
        Column(header="Of the later", is_number=True),
        Column(header="Jaccard", is_number=True),
        Column(header="Dice–Sørensen", is_number=True),
        Column(header="ln R, paper’s line", is_number=True),
        Column(header="ln R, two-way", is_number=True),
    )
    rows = tuple(_pair_cells(pair) for pair in pairs)
    return Table(name="pairs", caption=caption, columns=columns, rows=rows, is_plain=True)


def _distance(pair: PairResidual) -> float:
    return max(abs(pair.log_r or 0), abs(pair.log_r_two_way or 0))


def _pair_cells(pair: PairResidual) -> tuple[Cell, ...]:
    return (
        text_cell(pair.a),
        text_cell(pair.b),
        number_cell(f"{pair.lag_years:.2f}", pair.lag_years),
        number_cell(f"{pair.n_shared:,}", pair.n_shared),
        number_cell(f"{pair.containment:.2%}", pair.containment),
        number_cell(f"{pair.containment_backward:.2%}", pair.containment_backward),
        number_cell(f"{pair.jaccard:.4f}", pair.jaccard),
        number_cell(f"{pair.dice:.4f}", pair.dice),
        number_cell(_signed(pair.log_r), pair.log_r),
        number_cell(_signed(pair.log_r_two_way), pair.log_r_two_way),
    )


def _signed(number: float | None) -> str:
    return UNKNOWN if number is None else f"{number:+.3f}".replace("-", "−")


def list_estimators(estimates: Estimates) -> Table:
    """Return the estimators side by side, the headline first.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    columns = (
        Column(header="Estimator"),
        Column(header="Coverage", is_number=True),
        Column(header="Persistence a year", is_number=True),
        Column(header="Population", is_number=True),
    )
    leading = estimates.headline.estimator
    rows = tuple(
        (
            text_cell(f"{row.name} (the headline)" if row.name == leading else row.name),
            number_cell(_phrase(row.coverage, percent), row.coverage),
            number_cell(_phrase(row.persistence, percent), row.persistence),
            number_cell(_phrase(row.population, count), row.population),
        )
        for row in _order_estimators(estimates)
    )
    return Table(
        name="estimators", caption="The estimators, side by side", columns=columns, rows=rows
    )


def list_assumptions(estimates: Estimates) -> tuple[tuple[str, str], ...]:
    """Return the names of the estimators with what each assumes.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    return tuple((row.name, row.assumes) for row in _order_estimators(estimates))


def _order_estimators(estimates: Estimates) -> list[EstimatorRow]:
    """Put the headline first, and those that assume an unchanging web last."""
    leading = estimates.headline.estimator
    return sorted(estimates.estimators, key=lambda row: (row.name != leading, row.name in _CLOSED))


def _phrase(number: float | None, phrase: Callable[[float], str]) -> str:
    return UNKNOWN if number is None else phrase(number)


# -------------------------------------------- the half-life beside those that others have published


_PUBLISHED = (
    (
        "German Academic Web, 2013 to 2021",
        2.2,
        (
            "15 crawls of about 150 universities, by the published method "
            "(Paris, Paris and Baumann 2026)"
        ),
    ),
    (
        "Web pages in general",
        2.0,
        "a fixed list of pages, visited for years; about two years (Koehler 2002, 2004)",
    ),
)


def compare_half_lives(estimates: Estimates) -> Table:
    """Return the half-life of these crawls beside published ones.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    own = estimates.half_life_years
    shown = "not known" if own.value is None else with_range(own, span)
    reason = f": {own.reason}" if own.value is None else ""
    first, last = estimates.crawls[0].date.year, estimates.crawls[-1].date.year
    years = f"{first}" if first == last else f"{first} to {last}"
    rows = [
        (
            text_cell(f"This archive, {years}"),
            number_cell(shown, own.value),
            text_cell(f"{things(estimates.level)} out of the crawler’s reach{reason}"),
        ),
        *(
            (text_cell(name), number_cell(f"about {span(years)}", years), text_cell(how))
            for name, years, how in _PUBLISHED
        ),
    ]
    return Table(
        name="half-lives",
        caption="Half-lives, this one and published ones",
        columns=(
            Column(header="Of"),
            Column(header="Half-life", is_number=True),
            Column(header="How"),
        ),
        rows=tuple(rows),
    )
