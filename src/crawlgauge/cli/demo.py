"""The command ``demo``: the whole story on simulated data, with the truth beside the estimate."""

import math
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlgauge.cli import options
from crawlgauge.cli.output import show_json
from crawlgauge.cli.progress import show_progress
from crawlgauge.errors import SourceError

if TYPE_CHECKING:
    from crawlgauge.api import Fit, Progress
    from crawlgauge.locations import StrPath
    from crawlgauge.model.estimates import Estimates
    from crawlgauge.simulate.archive import SimulatedArchive, Truth

__all__ = ["demo", "run_demo", "write_demo_report"]

_INDEXES, _STORE = "crawls", "store"
_MARK = ".crawlgauge-demo"


@click.command(
    epilog="""\b
Examples:
  crawlgauge demo
  crawlgauge demo /tmp/demo --seed 7"""
)
@click.argument("folder", default="crawlgauge-demo", metavar="[DIR]")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the random numbers.")
@options.as_json
def demo(folder: str, seed: int, as_json: bool) -> None:
    """Simulate an archive of 15 crawls, add it to a store, estimate, and compare with the truth.

    DIR receives the simulated CDXJ files with truth.json, the store and report.html; it is made if
    it is missing, and what an earlier demo left in it is replaced. Default: crawlgauge-demo.
    """
    with show_progress("simulating and reading") as progress:
        archive, fit = run_demo(folder, seed=seed, progress=progress)
    report, truth, store = write_demo_report(folder, fit), archive.truth, Path(folder, _STORE)
    if as_json:
        show_json({"truth": truth.to_dict(), "estimate": fit.to_dict(), "report": str(report)})
        return
    click.echo(f"""\
Simulated {len(archive.crawls)} crawls of a web whose size and turnover are known, wrote \
them as CDXJ
files, added them to a store, and estimated from their overlaps alone:

{fit.summary()}

Truth and estimate:
{_compare(truth, fit.estimates)}

CDXJ files and truth.json: {Path(folder, _INDEXES)}
Store: {store}
Report: {report} (open it in a browser)
Try next: crawlgauge list --store {store}
          crawlgauge overlaps --store {store}""")


def run_demo(
    folder: "StrPath", *, seed: int = 1, progress: "Progress | None" = None
) -> "tuple[SimulatedArchive, Fit]":
    """Simulate 15 half-yearly crawls, write them as CDXJ, add them to a store and estimate.

    Parameters
    ----------
    folder
        Where to; made if it is missing. What an earlier demo left there is replaced.
    seed
        Of the random numbers.
    progress
        Called with how many of how many crawls are read.

    Returns
    -------
    tuple
        The simulated crawls with the truth behind them, and what was estimated from their files.

    Raises
    ------
    SourceError
        If the folder holds other files.
    """
    from crawlgauge import api
    from crawlgauge.ingest.adding import add_crawl
    from crawlgauge.simulate.archive_files import write_simulation
    from crawlgauge.simulate.simulation import simulate_urn

    _make_room(Path(folder))
    store = Path(folder, _STORE)
    archive = simulate_urn("gaw", seed=seed)
    paths = write_simulation(archive, Path(folder, _INDEXES), "cdxj")
    for number, (crawl, path) in enumerate(zip(archive.crawls, paths, strict=True), start=1):
        add_crawl(store, crawl.label, path)
        if progress is not None:
            progress(number, len(paths))
    return archive, api.estimate(api.count_overlaps(store), store=store)


def write_demo_report(folder: "StrPath", fit: "Fit") -> Path:
    """Write the report of a demo beside its store, and return where.

    Parameters
    ----------
    folder, fit
        Of the demo.
    """
    from crawlgauge import api
    from crawlgauge.questions.strata import estimate_strata

    hosts = estimate_strata(Path(folder, _STORE), by="host")
    return api.write_report(fit, Path(folder, "report.html"), [hosts]).path


def _make_room(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not (folder / _MARK).exists():
            raise SourceError(
                f"the folder {folder} holds files that are not of a demo; name another folder"
            )
        # Before all else, so that a demo that is interrupted can be run again.
        (folder / _MARK).touch()
        for part in (folder / _STORE, folder / _INDEXES):
            if part.exists():
                shutil.rmtree(part)
    except OSError as error:
        raise SourceError(f"cannot use the folder {folder}: {error.strerror}") from error


def _compare(truth: "Truth", estimates: "Estimates") -> str:
    """Return a table of truth and estimate, without a final newline."""
    from crawlgauge.report.blocks import Column, render_table

    paper, lives_on = estimates.paper, truth.persistence
    half_life = math.log(2) / -math.log(lives_on) if lives_on else None
    lines: tuple[tuple[str, str, tuple[float | None, ...]], ...] = (
        (
            "coverage of a crawl",
            "{:.3f}",
            (truth.coverage, estimates.headline.coverage.value, paper.coverage),
        ),
        (
            "persistence per year",
            "{:.3f}",
            (lives_on, estimates.persistence.value, paper.persistence),
        ),
        (
            "half-life in years",
            "{:.2f}",
            (half_life, estimates.half_life_years.value, paper.half_life_years),
        ),
        ("population", "{:,.0f}", (truth.crawls[-1].population, estimates.population.value, None)),
    )
    headers = ("truth", "estimate", "paper's fit")
    return render_table(
        [Column(header=""), *(Column(header=name, align="right") for name in headers)],
        [
            [name, *("–" if number is None else form.format(number) for number in numbers)]
            for name, form, numbers in lines
        ],
    )
