"""The numbers of the estimates as tables of the page: crawls, pairs, estimators, half-lives."""

from dataclasses import dataclass
from operator import itemgetter

from crawlgauge.model.estimates import Estimates, EstimatorRow, PairResidual
from crawlgauge.model.phrases import count, percent, span, things
from crawlgauge.report.blocks import Column, Field, Grid, tabulate
from crawlgauge.report.words import CLOSED, grouped, signed, with_range

__all__ = [
    "MAX_PAIRS",
    "Table",
    "compare_half_lives",
    "list_assumptions",
    "list_crawls",
    "list_estimators",
    "list_inputs",
    "list_pairs",
]

MAX_PAIRS = 1000
"""Pairs of 45 crawls; a table of more makes the page slow and is read by nobody."""

_FARTHEST = 100
"""How many are shown where there are too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with a caption.

    Parameters
    ----------
    name
        Its place in the page and the name of its file.
    caption
        What it holds.
    grid
        Its columns and rows, with the values that these are sorted by.
    is_plain
        Whether it is so long that its rows are written as briefly as can be: cells are sorted by
        what they show, and crawls in it are no buttons.
    is_headed
        Whether a heading above it says the same as its caption, which is then not seen.
    """

    name: str
    caption: str
    grid: Grid
    is_plain: bool = False
    is_headed: bool = False


def list_crawls(estimates: Estimates) -> Table:
    """Return the crawls with what is known of each."""
    fields: list[Field] = [
        (Column(header="Crawl", is_crawl=True), lambda row: row[0].label),
        ("Date", lambda row: row[0].date.isoformat()),
        (things(estimates.level), lambda row: row[0].n_urls, grouped),
        ("Coverage", lambda row: row[1].coverage, percent),
        ("Population", lambda row: row[1].population, count),
    ]
    notes = {
        row.label: "; ".join(
            filter(None, (row.coverage.reason if row.coverage.value is None else None, row.note))
        )
        for row in estimates.per_crawl
    }
    if any(row.note or row.coverage.reason for row in estimates.per_crawl):
        fields.append(("Note", lambda row: notes[row[1].label]))
    rows = zip(estimates.crawls, estimates.per_crawl, strict=True)
    return Table(
        name="crawls", caption="The crawls, in order of date", grid=tabulate(rows, *fields)
    )


def list_pairs(estimates: Estimates) -> Table:
    """Return the pairs with their similarities, the farthest from the model if there are many."""
    pairs = estimates.residuals
    caption = "All pairs of crawls"
    if len(pairs) > MAX_PAIRS:
        pairs = tuple(sorted(pairs, key=_distance, reverse=True)[:_FARTHEST])
        caption = (
            f"The {_FARTHEST} pairs of crawls that lie farthest from the fit; all "
            f"{len(estimates.residuals):,} are in the downloads"
        )
    grid = tabulate(
        pairs,
        (Column(header="Earlier crawl", is_crawl=True), "a"),
        (Column(header="Later crawl", is_crawl=True), "b"),
        ("Years apart", "lag_years", "{:.2f}".format),
        (f"Shared {things(estimates.level)}", "n_shared", grouped),
        ("Of the earlier", "containment", "{:.2%}".format),
        ("Of the later", "containment_backward", "{:.2%}".format),
        ("Jaccard", "jaccard", "{:.4f}".format),
        ("Dice–Sørensen", "dice", "{:.4f}".format),
        ("ln R, paper’s line", "log_r", signed),
        ("ln R, two-way", "log_r_two_way", signed),
    )
    return Table(name="pairs", caption=caption, grid=grid, is_plain=True)


def _distance(pair: PairResidual) -> float:
    return max(abs(pair.log_r or 0), abs(pair.log_r_two_way or 0))


def list_estimators(estimates: Estimates) -> Table:
    """Return the estimators side by side, the headline first."""
    leading = estimates.headline.estimator

    def name(row: EstimatorRow) -> str:
        return f"{row.name} (the headline)" if row.name == leading else row.name

    grid = tabulate(
        _order_estimators(estimates),
        ("Estimator", name),
        ("Coverage", "coverage", percent),
        ("Persistence a year", "persistence", percent),
        ("Population", "population", count),
    )
    return Table(name="estimators", caption="The estimators, side by side", grid=grid)


def list_assumptions(estimates: Estimates) -> tuple[tuple[str, str], ...]:
    """Return the names of the estimators with what each assumes."""
    return tuple((row.name, row.assumes) for row in _order_estimators(estimates))


def _order_estimators(estimates: Estimates) -> list[EstimatorRow]:
    """Put the headline first, and those that assume an unchanging web last."""
    leading = estimates.headline.estimator
    return sorted(estimates.estimators, key=lambda row: (row.name != leading, row.name in CLOSED))


def list_inputs(estimates: Estimates) -> Table:
    """Return what was read."""
    grid = tabulate(
        estimates.provenance.inputs,
        ("Input", "name"),
        ("Bytes", "n_bytes", grouped),
        ("Checksum", "checksum"),
    )
    return Table(name="inputs", caption="What was read, with checksums", grid=grid)


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
    """Return the half-life of these crawls beside published ones."""
    own = estimates.half_life_years
    shown = "not known" if own.value is None else with_range(own, span)
    reason = f": {own.reason}" if own.value is None else ""
    first, last = estimates.crawls[0].date.year, estimates.crawls[-1].date.year
    years = f"{first}" if first == last else f"{first} to {last}"
    how = f"{things(estimates.level)} out of the crawler’s reach{reason}"
    rows = [
        (f"This archive, {years}", (shown, own.value), how),
        *((name, (f"about {span(years)}", years), how) for name, years, how in _PUBLISHED),
    ]
    grid = tabulate(
        rows, ("Of", itemgetter(0)), ("Half-life", itemgetter(1), span), ("How", itemgetter(2))
    )
    return Table(name="half-lives", caption="Half-lives, this one and published ones", grid=grid)
