"""The half-life beside those that others have published."""

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import span, things
from crawlgauge.report.page.table import Column, Table, number_cell, text_cell
from crawlgauge.report.range_text import with_range

__all__ = ["compare_half_lives"]

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
