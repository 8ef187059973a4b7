"""Tables of the study of real turnover, and whether the estimates are as good as they must be."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Record = dict[str, Any]

LIMITS = {"uniform": 0.05, "host-bias": 0.2, "avoid-90": 0.1, "reseed-20": 0.1}
"""Error that nine of ten archives of a regime must stay within."""

MAIN_REGIMES = tuple(LIMITS)
LEAST_WITHIN = 0.9
LARGEST_MEDIAN = 0.05
LEAST_HELD = 0.93
UNMARKED = 1 / 3
"""An error above this must be announced: the statement says not to trust, or gives no number."""

SHARES = (0.05, 0.1, 0.2, 1 / 3)
ESTIMATORS = {
    "value": "headline",
    "two-way": "two-way",
    "manly-parr": "Manly–Parr",
    "rested-manly-parr": "rested",
    "latent-class": "latent class",
    "newest_value": "newest crawl",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One demand on the estimates.

    Parameters
    ----------
    demand
        In words.
    found
        What was found, in words.
    is_met
        Whether that is enough.
    """

    demand: str
    found: str
    is_met: bool


def log_errors(records: Iterable[Record], column: str = "value") -> np.ndarray:
    """Return ln(estimate ÷ truth) of the archives that have the estimate."""
    truth = "newest_truth" if column.startswith("newest") else "truth"
    return np.array(
        [
            math.log(float(r[column]) / float(r[truth]))
            for r in records
            if r[column] not in {"", None}
        ]
    )


def share_within(records: list[Record], limit: float, column: str = "value") -> float:
    """Return the share of archives whose estimate is off by no more than a factor of 1 + limit."""
    errors = np.abs(log_errors(records, column))
    return float((errors <= math.log1p(limit)).sum() / max(len(records), 1))


def share_held(records: list[Record], prefix: str = "") -> float:
    """Return the share of bands, of those there are, that hold the truth."""
    truth = f"{prefix}truth"
    held = [
        float(r[f"{prefix}low"]) <= float(r[truth]) <= float(r[f"{prefix}high"])
        for r in records
        if r[f"{prefix}low"] not in {"", None}
    ]
    return sum(held) / max(len(held), 1)


def find_unmarked(records: list[Record]) -> list[Record]:
    """Return the archives off by more than a third without a word of warning."""
    return [
        r
        for r in records
        if not int(r["distrust"]) and np.any(np.abs(log_errors([r])) > math.log1p(UNMARKED))
    ]


def check_criteria(records: list[Record]) -> Iterator[Criterion]:
    """Hold the archives against what the headline must do."""
    for regime, limit in LIMITS.items():
        found = [r for r in records if r["regime"] == regime]
        if not found:
            continue
        within = share_within(found, limit)
        yield Criterion(
            demand=f"{regime}: {_percent(LEAST_WITHIN)} of archives within {_percent(limit)}",
            found=f"{_percent(within)} of {len(found)}",
            is_met=within >= LEAST_WITHIN,
        )
    main = [r for r in records if r["regime"] in LIMITS]
    if main:
        median = math.expm1(float(np.median(np.abs(log_errors(main)))))
        yield Criterion(
            demand=f"median error of these regimes together at most {_percent(LARGEST_MEDIAN)}",
            found=_percent(median, 1),
            is_met=median <= LARGEST_MEDIAN,
        )
        held = share_held(main)
        yield Criterion(
            demand=f"bands of these regimes hold the truth in {_percent(LEAST_HELD)}",
            found=f"{_percent(held, 1)} of {len(main)}",
            is_met=held >= LEAST_HELD,
        )
    unmarked = find_unmarked(records)
    yield Criterion(
        demand="never off by more than a third without saying so, in any regime",
        found=f"{len(unmarked)} of {len(records)}",
        is_met=not unmarked,
    )


def to_markdown(records: list[Record]) -> str:
    """Return all tables."""
    regimes = list(dict.fromkeys(r["regime"] for r in records))
    lists = sorted({r["list"] for r in records})
    groups = [
        ((regime, name), [r for r in records if r["regime"] == regime and r["list"] in chosen])
        for regime in regimes
        for name, chosen in [*((name, {name}) for name in lists), ("all", set(lists))]
    ]
    parts = [
        "**What the headline must do**",
        _table(
            ["demand", "found", "met"],
            [[c.demand, c.found, "yes" if c.is_met else "no"] for c in check_criteria(records)],
        ),
        "**The headline**: errors as |ln(estimate ÷ truth)|, shares of archives, bands, grades",
        _table(
            [
                *("regime", "list", "archives", "median", "90 %", "largest"),
                *(f"within {_percent(share)}" for share in SHARES),
                *("bands hold", "A / B / C", "“do not trust”"),
            ],
            [[*names, *_headline_cells(found)] for names, found in groups if found],
        ),
        "**All estimators**: median of estimate ÷ truth",
        _table(
            ["regime", "list", *ESTIMATORS.values()],
            [
                [*names, *(_median_ratio(found, column) for column in ESTIMATORS)]
                for names, found in groups
                if found
            ],
        ),
        "**The newest crawl**, an extrapolation",
        _table(
            [
                *("regime", "list", "archives", "median", "90 %", "largest"),
                *(f"within {_percent(share)}" for share in SHARES),
                "bands hold",
            ],
            [
                [
                    *names,
                    *_error_cells(found, "newest_value"),
                    _percent(share_held(found, "newest_")),
                ]
                for names, found in groups
                if found
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _headline_cells(records: list[Record]) -> list[str]:
    grades = [r["grade"] for r in records]
    return [
        *_error_cells(records, "value"),
        _percent(share_held(records)),
        " / ".join(str(grades.count(grade)) for grade in "ABC"),
        str(sum(int(r["distrust"]) for r in records)),
    ]


def _error_cells(records: list[Record], column: str) -> list[str]:
    errors = np.abs(log_errors(records, column))
    if not errors.size:
        return [str(len(records)), *["–"] * (3 + len(SHARES))]
    numbers = (np.median(errors), np.quantile(errors, 0.9), errors.max())
    return [
        str(len(records)),
        *(f"{number:.3f}" for number in numbers),
        *(_percent(share_within(records, share, column)) for share in SHARES),
    ]


def _median_ratio(records: list[Record], column: str) -> str:
    errors = log_errors(records, column)
    if not errors.size:
        return "–"
    text = f"{math.exp(float(np.median(errors))):.2f}"
    return text if errors.size == len(records) else f"{text} ({errors.size})"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"
