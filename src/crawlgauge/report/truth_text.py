"""Truth and estimate side by side, for archives whose truth is known."""

import math
from typing import Any

from crawlgauge.model.estimates import Estimates
from crawlgauge.report.text_table import Column, render_table
from crawlgauge.simulate.urn import UrnArchive

__all__ = ["to_dict", "to_text"]

_COLUMNS = (
    Column(header=""),
    Column(header="truth", align="right"),
    Column(header="estimate", align="right"),
    Column(header="paper's fit", align="right"),
)
_UNKNOWN = "–"


def to_text(archive: UrnArchive, estimates: Estimates) -> str:
    """Return a table of truth and estimate, without a final newline.

    Parameters
    ----------
    archive
        A simulated archive.
    estimates
        From its overlaps.
    """
    rows = [
        [name, *(_UNKNOWN if number is None else form.format(number) for number in numbers)]
        for name, form, numbers in _lines(archive, estimates)
    ]
    return render_table(_COLUMNS, rows)


def to_dict(archive: UrnArchive) -> dict[str, Any]:
    """Return the truth as plain data."""
    return {
        "coverage": archive.coverage,
        "persistence": archive.persistence,
        "half_life_years": _half_life(archive),
        "population": archive.population,
        "seed": archive.seed,
    }


def _lines(
    archive: UrnArchive, estimates: Estimates
) -> list[tuple[str, str, tuple[float | None, ...]]]:
    paper = estimates.paper
    return [
        (
            "coverage of a crawl",
            "{:.3f}",
            (archive.coverage, estimates.headline.coverage.value, paper.coverage),
        ),
        (
            "persistence per year",
            "{:.3f}",
            (archive.persistence, estimates.persistence.value, paper.persistence),
        ),
        (
            "half-life in years",
            "{:.2f}",
            (_half_life(archive), estimates.half_life_years.value, paper.half_life_years),
        ),
        (
            "population",
            "{:,.0f}",
            (archive.population, estimates.population.value, None),
        ),
    ]


def _half_life(archive: UrnArchive) -> float | None:
    if archive.persistence >= 1:
        return None
    return math.log(2) / -math.log(archive.persistence)
