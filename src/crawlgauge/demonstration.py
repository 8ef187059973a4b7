"""The whole story on simulated data: known truth, real files, a store, an estimate, a report."""

import math
import shutil
from dataclasses import dataclass
from pathlib import Path

from crawlgauge import api, simulation
from crawlgauge.errors import SourceError
from crawlgauge.ingest.adding import add_crawl
from crawlgauge.locations import StrPath
from crawlgauge.model.estimates import Estimates
from crawlgauge.questions.strata import estimate_strata
from crawlgauge.report.blocks import Column, render_table
from crawlgauge.simulate.archive import SimulatedArchive, Truth

__all__ = ["compare_with_truth", "run_demo", "write_demo_report"]


# ------------------------------- truth and estimate side by side, for archives whose truth is known


_COLUMNS = (
    Column(header=""),
    Column(header="truth", align="right"),
    Column(header="estimate", align="right"),
    Column(header="paper's fit", align="right"),
)
_UNKNOWN = "–"


def compare_with_truth(truth: Truth, estimates: Estimates) -> str:
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


# ---------------------------------------------------------------- the whole story on simulated data


_INDEXES = "crawls"
_MARK = ".crawlgauge-demo"
_REPORT = "report.html"
_STORE = "store"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Demonstration:
    """What the demo made.

    Parameters
    ----------
    archive
        The simulated crawls and the truth behind them.
    fit
        What was estimated from their files alone.
    indexes, store
        Where the index files and the store lie.
    """

    archive: SimulatedArchive
    fit: api.Fit
    indexes: Path
    store: Path


def run_demo(
    folder: StrPath, *, seed: int = 1, progress: api.Progress | None = None
) -> Demonstration:
    """Simulate 15 half-yearly crawls, write them as CDXJ, add them to a store and estimate.

    Parameters
    ----------
    folder
        Where to; made if it is missing. What an earlier demo left there is replaced.
    seed
        Of the random numbers.
    progress
        Called with how many of how many crawls are read.

    Raises
    ------
    SourceError
        If the folder holds other files.
    """
    folder = Path(folder)
    indexes, store = folder / _INDEXES, folder / _STORE
    _make_room(folder, indexes, store)
    archive = simulation.simulate_urn("gaw", seed=seed)
    paths = simulation.write_simulation(archive, indexes, "cdxj")
    for number, (crawl, path) in enumerate(zip(archive.crawls, paths, strict=True), start=1):
        add_crawl(store, crawl.label, path)
        if progress is not None:
            progress(number, len(paths))
    fit = api.estimate(api.count_overlaps(store), store=store)
    return Demonstration(archive=archive, fit=fit, indexes=indexes, store=store)


def write_demo_report(demonstration: Demonstration) -> Path:
    """Write the report of a demo beside its store, and return where.

    Parameters
    ----------
    demonstration
        What `run_demo` made.
    """
    hosts = estimate_strata(demonstration.store, by="host")
    place = demonstration.store.parent / _REPORT
    return api.write_report(demonstration.fit, place, [hosts]).path


def _make_room(folder: Path, indexes: Path, store: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not (folder / _MARK).exists():
            raise SourceError(
                f"the folder {folder} holds files that are not of a demo; name another folder"
            )
        # Before all else, so that a demo that is interrupted can be run again.
        (folder / _MARK).touch()
        for part in (store, indexes):
            if part.exists():
                shutil.rmtree(part)
    except OSError as error:
        raise SourceError(f"cannot use the folder {folder}: {error.strerror}") from error
