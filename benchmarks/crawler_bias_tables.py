"""The table of the study of crawler bias, as CSV."""

import csv
import io
import statistics
from typing import Any

Cell = dict[str, Any]


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


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 5)
