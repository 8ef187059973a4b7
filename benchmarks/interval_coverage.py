"""How often 95 % intervals hold the truth, in archives simulated under several kinds of noise.

Regimes A to G are drawn as overlap tables of a million URLs, regime H as sets of a hundred
thousand. Beside each interval of the two-way model stands the one that ordinary least squares
gives for the published line on the same archives. Equal arguments give equal tables.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from crawlgauge.model.intervals import (
    LEVEL,
    Margin,
    delete_each_crawl,
    find_margins,
    jackknife_variance,
    log_growth,
)
from crawlgauge.model.pairs import PairData, pair_data
from crawlgauge.model.two_way import fit_two_way
from crawlgauge.simulate.archive import SimulatedTable
from crawlgauge.simulate.archive_files import count_archive
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_sets import draw_sets
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table

REGIMES = {
    "A": "regime-a",
    "B": "regime-b",
    "C.1": "regime-c-mild",
    "C.3": "regime-c",
    "D": "regime-d",
    "E": "regime-e",
    "F": "regime-f",
    "G": "regime-g",
    "H": "regime-h",
}
N_CRAWLS = (4, 6, 8, 15, 30)
LEAST_SHARE = 0.93
ESTIMATES = {
    "typical": "Typical coverage",
    "persistence": "Persistence",
    "newest": "Coverage of the newest crawl",
    "growth": "Growth of the population",
    "second": "Coverage of the second crawl",
    "second_alone": "Coverage of the second crawl, by leaving out crawls alone",
    "paper_typical": "Typical coverage, least squares on the published line",
    "paper_persistence": "Persistence, least squares on the published line",
}
_SETS_POPULATION = 100_000
_COVERAGE = 0.46
_PERSISTENCE = 0.73
_YEARLY_FACTOR = {"G": 0.9}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """What the archives of one regime and length showed.

    Parameters
    ----------
    held
        For each estimate, the share of intervals that hold the truth.
    n_missing
        For each estimate, the archives without an interval.
    half_width
        For each estimate, the median half-width of the interval, on the scale of logarithms.
    held_by_crawl
        The same share for the coverage of each crawl from the second on; NaN without intervals.
    """

    regime: str
    n_crawls: int
    n_archives: int
    held: dict[str, float]
    n_missing: dict[str, int]
    half_width: dict[str, float]
    held_by_crawl: NDArray[np.float64]


def measure_cell(regime: str, n_crawls: int, n_archives: int) -> Cell:
    """Simulate the archives of one regime and length and score their intervals."""
    scores = [score_archive(regime, draw(regime, n_crawls, k)) for k in range(n_archives)]
    of_series = {name: np.array([estimates[name] for estimates, _ in scores]) for name in ESTIMATES}
    of_crawls = np.array([[held for held, _ in crawls] for _, crawls in scores])
    return Cell(
        regime=regime,
        n_crawls=n_crawls,
        n_archives=n_archives,
        held={name: _mean_known(each[:, 0]) for name, each in of_series.items()},
        n_missing={name: int(np.isnan(each[:, 0]).sum()) for name, each in of_series.items()},
        half_width={name: _median_known(each[:, 1]) for name, each in of_series.items()},
        # With four crawls the second never has an interval.
        held_by_crawl=np.array([_mean_known(shares) for shares in of_crawls.T]),
    )


def draw(regime: str, n_crawls: int, number: int) -> SimulatedTable:
    """Draw one archive of a regime."""
    settings = change_settings(find_scenario(REGIMES[regime]), n_crawls=n_crawls)
    seed = 10**6 * list(REGIMES).index(regime) + 10**4 * n_crawls + number
    if regime == "H":
        settings = change_settings(settings, population=_SETS_POPULATION)
        return count_archive(draw_sets(settings, seed=seed))
    return draw_table(settings, seed=seed, with_histories=False)


Score = tuple[float, float]


def score_archive(regime: str, table: SimulatedTable) -> tuple[dict[str, Score], list[Score]]:
    """Say for each estimate, and for each crawl from the second on, whether its interval holds."""
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    margins = find_margins(pairs, fit)
    coverage = np.log([crawl.coverage for crawl in table.truth.crawls])
    # What single crawls and populations happen to be is part of the error: the truth is what such
    # crawls cover typically, and how the population grows on the whole.
    trend = np.log(_YEARLY_FACTOR.get(regime, 1.0))
    typical = np.log(_COVERAGE) + pairs.years[1:].mean() * trend
    growth = log_growth(pairs.years, np.log(pairs.n_urls) - fit.log_coverage)
    line, errors = fit_line(pairs)
    alone = jackknife_variance(delete_each_crawl(pairs)[:, 4:5])[0][0]
    by_leaving_out = Margin(
        half_width=float(stdtrit(pairs.n_crawls - 2, (1 + LEVEL) / 2)) * np.sqrt(alone)
    )
    of_series = {
        "typical": score(fit.log_typical, margins.typical, typical),
        "persistence": score(fit.log_persistence, margins.persistence, np.log(_PERSISTENCE)),
        "newest": score(fit.log_coverage[-1], margins.coverage[-1], coverage[-1]),
        "growth": score(growth or 0.0, margins.growth, -trend),
        "second": score(fit.log_coverage[1], margins.coverage[1], coverage[1]),
        "second_alone": score(fit.log_coverage[1], by_leaving_out, coverage[1]),
        "paper_typical": score(line[0], Margin(half_width=errors[0]), typical),
        "paper_persistence": score(line[1], Margin(half_width=errors[1]), np.log(_PERSISTENCE)),
    }
    of_crawls = [
        score(*each) for each in zip(fit.log_coverage, margins.coverage, coverage, strict=True)
    ]
    return of_series, of_crawls[1:]


def score(value: float, margin: Margin, truth: float) -> Score:
    """Say whether an interval holds the truth, and how wide it is; NaN if there is none."""
    if margin.half_width is None:
        return np.nan, np.nan
    return float(abs(value - truth) <= margin.half_width), margin.half_width


def fit_line(pairs: PairData) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit the published line, with the half-widths that least squares gives its coefficients."""
    design = np.column_stack([np.ones(pairs.end.size), pairs.lag_years])
    line, (squares,), *_ = np.linalg.lstsq(design, pairs.log_forward, rcond=None)
    n_freedom = pairs.end.size - 2
    variances = np.diag(np.linalg.inv(design.T @ design)) * squares / n_freedom
    return line, float(stdtrit(n_freedom, (1 + LEVEL) / 2)) * np.sqrt(variances)


def find_failures(cells: Iterable[Cell]) -> Iterator[str]:
    """Name the intervals that hold the truth too seldom, beyond what chance explains."""
    for cell in cells:
        least = LEAST_SHARE - 2 * np.sqrt(LEAST_SHARE * (1 - LEAST_SHARE) / cell.n_archives)
        shares = {name: cell.held[name] for name in ("typical", "persistence", "newest")}
        for number, share in enumerate(cell.held_by_crawl.tolist(), start=2):
            shares[f"coverage of crawl {number}"] = share
        for name, share in shares.items():
            if share < least:
                yield f"{cell.regime}, {cell.n_crawls} crawls, {name}: {share:.1%}"


def to_markdown(cells: list[Cell]) -> str:
    """Lay out a table for each estimate: lengths down, regimes across."""
    parts = [
        _table(title, cells, lambda cell, name=name: _share_and_width(cell, name))
        for name, title in ESTIMATES.items()
    ]
    worst = _table(
        "Coverage of single crawls, the one whose intervals hold least often", cells, _worst
    )
    return "\n\n".join([*parts, worst])


def _table(title: str, cells: list[Cell], to_text) -> str:  # noqa: ANN001 - a function of a cell
    regimes = [name for name in REGIMES if any(cell.regime == name for cell in cells)]
    by_place = {(cell.n_crawls, cell.regime): cell for cell in cells}
    lengths = sorted({cell.n_crawls for cell in cells})
    rows = [
        f"| {n} | " + " | ".join(to_text(by_place[n, regime]) for regime in regimes) + " |"
        for n in lengths
    ]
    head = [f"| crawls | {' | '.join(regimes)} |", "|---" * (len(regimes) + 1) + "|"]
    return "\n".join([f"**{title}**", "", *head, *rows])


def _share_and_width(cell: Cell, name: str) -> str:
    if cell.n_missing[name] == cell.n_archives:
        return "–"
    width = 100 * cell.half_width[name]
    decimals = 0 if width >= 10 else 1 if width >= 1 else 2
    missing = f", {cell.n_missing[name]} without" if cell.n_missing[name] else ""
    return f"{100 * cell.held[name]:.1f} (±{width:.{decimals}f}{missing})"


def _worst(cell: Cell) -> str:
    number = int(np.nanargmin(cell.held_by_crawl))
    return f"{100 * cell.held_by_crawl[number]:.1f} (no. {number + 2})"


def _mean_known(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _median_known(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else float("nan")


def _measure(task: tuple[str, int, int]) -> Cell:
    return measure_cell(*task)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", type=int, default=400, help="archives for each cell")
    parser.add_argument("--crawls", type=int, nargs="+", default=N_CRAWLS)
    parser.add_argument("--regimes", nargs="+", choices=REGIMES, default=list(REGIMES))
    parser.add_argument("--processes", type=int, default=2)
    settings = parser.parse_args()
    tasks = [(r, n, settings.archives) for n in settings.crawls for r in settings.regimes]
    # Each process works alone; threads of the linear algebra library would only get in the way.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    began = time.perf_counter()
    cells = []
    with multiprocessing.get_context("spawn").Pool(settings.processes) as pool:
        for cell in pool.imap_unordered(_measure, tasks):
            cells.append(cell)
            seconds = time.perf_counter() - began
            print(f"{seconds:5.0f} s  {cell.regime}, {cell.n_crawls} crawls", file=sys.stderr)
    print(to_markdown(cells))
    failures = list(find_failures(cells))
    print(f"\nIntervals that hold the truth too seldom: {len(failures)}")
    print("\n".join(failures))


if __name__ == "__main__":
    main()
