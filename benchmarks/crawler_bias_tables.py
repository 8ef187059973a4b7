"""Tables of the study of crawler bias, as CSV and Markdown."""

import csv
import io
import statistics
from typing import Any

Cell = dict[str, Any]

ABSURD = 100


def to_csv(cells: list[Cell]) -> str:
    """Return a row for each policy, budget, estimator and quantity."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            *("policy", "budget", "estimator", "quantity", "truth", "ratio_mean", "ratio_sd"),
            *("ratio_min", "ratio_max", "n_estimated", "n_seeds", "repeat_overlap"),
            *("coverage_by_pagerank", "trap_share", "r_squared", "fired"),
        ]
    )
    for cell in cells:
        fired = " ".join(f"{name}:{n}" for name, n in cell["fired"].items())
        for estimator, quantities in cell["estimators"].items():
            for quantity, ratios in quantities.items():
                spread = statistics.stdev(ratios) if len(ratios) > 1 else None
                numbers = [
                    *((statistics.fmean(ratios), spread) if ratios else (None, None)),
                    *((min(ratios), max(ratios)) if ratios else (None, None)),
                ]
                writer.writerow(
                    [
                        *(cell["policy"], cell["budget"], estimator, quantity),
                        *map(_round, [cell[quantity], *numbers]),
                        *(len(ratios), cell["n_seeds"], _round(cell["repeat_overlap"])),
                        *map(_round, [cell["coverage_by_pagerank"], cell["trap_share"]]),
                        *(_round(cell["r_squared"]), fired),
                    ]
                )
    return text.getvalue()


def to_markdown(cells: list[Cell]) -> str:
    """Return tables of the estimators' mean ratios to the truth, and of the checks that fire."""
    estimators = list(dict.fromkeys(name for cell in cells for name in cell["estimators"]))
    coverage = _table(
        [
            *("policy", "budget", "true coverage", "by PageRank", "repeat overlap", "trap URLs"),
            *(f"`{name}`" for name in estimators),
            "R²",
        ],
        [
            [
                *(cell["policy"], f"{cell['budget']:.0%}", f"{cell['coverage']:.3f}"),
                *(f"{cell['coverage_by_pagerank']:.3f}", f"{cell['repeat_overlap']:.3f}"),
                f"{cell['trap_share']:.0%}",
                *(_mean_ratio(cell, name, "coverage") for name in estimators),
                "–" if cell["r_squared"] is None else f"{cell['r_squared']:.2f}",
            ]
            for cell in cells
        ],
    )
    persistence = _table(
        ["policy", "budget", "true persistence", *(f"`{name}`" for name in estimators)],
        [
            [
                *(cell["policy"], f"{cell['budget']:.0%}", f"{cell['persistence']:.3f}"),
                *(_mean_ratio(cell, name, "persistence") for name in estimators),
            ]
            for cell in cells
        ],
    )
    parts = [
        "**Estimated ÷ true coverage**, mean over the archives",
        coverage,
        "**Estimated ÷ true persistence per year**, mean over the archives",
        persistence,
        "**Checks that fire**, with the number of archives",
        _checks_table(cells),
    ]
    return "\n\n".join(parts) + "\n"


def _checks_table(cells: list[Cell]) -> str:
    if not any(cell["n_checks"] for cell in cells):
        return "None: these estimates came without checks."
    return _table(
        ["policy", "budget", "archives", "checks that warn or fail"],
        [
            [
                *(cell["policy"], f"{cell['budget']:.0%}", str(cell["n_seeds"])),
                ", ".join(f"`{name}` ({n})" for name, n in cell["fired"].items()) or "–",
            ]
            for cell in cells
        ],
    )


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _mean_ratio(cell: Cell, estimator: str, quantity: str) -> str:
    """Return the mean; say of how many archives, where some have no estimate."""
    ratios = cell["estimators"].get(estimator, {}).get(quantity, [])
    if not ratios:
        return "no estimate"
    mean = statistics.fmean(ratios)
    text = f"above {ABSURD}" if mean > ABSURD else f"{mean:.2f}"
    return text if len(ratios) == cell["n_seeds"] else f"{text} ({len(ratios)} archives)"


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 5)
