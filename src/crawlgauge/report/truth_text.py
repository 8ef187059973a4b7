"""Truth and estimate side by side, for archives whose truth is known."""

import math

from crawlgauge.model.estimates import Estimates
from crawlgauge.report.text_table import Column, render_table
from crawlgauge.simulate.archive import Truth

__all__ = ["to_text"]

_COLUMNS = (
    Column(header=""),
    Column(header="truth", align="right"),
    Column(header="estimate", align="right"),
    Column(header="paper's fit", align="right"),
)
_UNKNOWN = "–"


def to_text(truth: Truth, estimates: Estimates) -> str:
    """Return a table of truth and estimate, without a final newline.

    Parameters
    ----------
    truth
        Of a simulated archive.
    estimates
        From its overlaps.
    """
    rows = [
        [name, *(_UNKNOWN if number is None else form.format(number) for number in numbers)]
        for name, form, numbers in _lines(truth, estimates)
    ]
    return render_table(_COLUMNS, rows)


def _lines(truth: Truth, estimates: Estimates) -> list[tuple[str, str, tuple[float | None, ...]]]:
    paper = estimates.paper
    return [
        (
            "coverage of a crawl",
            "{:.3f}",
            (truth.coverage, estimates.headline.coverage.value, paper.coverage),
        ),
        (
            "persistence per year",
            "{:.3f}",
            (truth.persistence, estimates.persistence.value, paper.persistence),
        ),
        (
            "half-life in years",
            "{:.2f}",
            (_half_life(truth), estimates.half_life_years.value, paper.half_life_years),
        ),
        (
            "population",
            "{:,.0f}",
            (truth.crawls[-1].population, estimates.population.value, None),
        ),
    ]


def _half_life(truth: Truth) -> float | None:
    if truth.persistence is None or truth.persistence >= 1:
        return None
    return math.log(2) / -math.log(truth.persistence)
