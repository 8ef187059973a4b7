"""The command ``demo``: the whole story on simulated data, with the truth beside the estimate."""

import math
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlgauge.cli import options
from crawlgauge.cli.options import option, wants_json
from crawlgauge.cli.output import say, show_json
from crawlgauge.cli.progress import show_progress
from crawlgauge.errors import SourceError

if TYPE_CHECKING:
    from crawlgauge.api import Fit, Progress
    from crawlgauge.locations import StrPath
    from crawlgauge.model.estimates import Estimates
    from crawlgauge.simulate.archive import SimulatedArchive, Truth

_INDEXES, _STORE = "crawls", "store"
_MARK = ".crawlgauge-demo"


@options.command()
@click.argument("folder", default="crawlgauge-demo", metavar="[DIR]", type=options.FOLDER)
@option("--seed INTEGER", "Equal seeds give equal archives.", default=1)
@options.as_json
def demo(folder: str, seed: int) -> None:
    """Simulate an archive, estimate it, compare with the truth.

    Fifteen crawls of a web that is known are written as CDXJ files, added to a store and estimated
    from. DIR receives the files with truth.json, the store and report.html; it is made if missing,
    and what an earlier demo left in it is replaced. Default: crawlgauge-demo.

    Examples
    --------
    crawlgauge demo
    crawlgauge demo /tmp/demo --seed 7
    """
    from crawlgauge import api
    from crawlgauge.questions import estimate_strata

    store = Path(folder, _STORE)
    with show_progress("simulating and reading") as progress:
        archive, fit = run_demo(folder, seed=seed, progress=progress)
    with show_progress("drawing the report"):
        hosts = estimate_strata(store, by="host")
        report = api.write_report(fit, Path(folder, "report.html"), [hosts]).path
    truth = archive.truth
    if wants_json():
        show_json({"truth": truth.to_dict(), "estimate": fit.to_dict(), "report": str(report)})
        return
    say(f"""\
Simulated {len(archive.crawls)} crawls of a web whose size and turnover are known, wrote \
them as CDXJ
files, added them to a store, and estimated from their overlaps alone:

{fit.summary()}

The truth and the estimate:
{_compare(truth, fit.estimates)}

CDXJ files and truth.json: {Path(folder, _INDEXES)}
Store: {store}
Report: {report} (open it in a browser)
Try next: crawlgauge estimate --store {store} --full
          crawlgauge list --store {store}
          crawlgauge plan --store {store}""")


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
    from crawlgauge.simulate.scenarios import simulate_urn

    _make_room(Path(folder))
    store = Path(folder, _STORE)
    archive = simulate_urn("gaw", seed=seed)
    paths = write_simulation(archive, Path(folder, _INDEXES), "cdxj")
    for number, (crawl, path) in enumerate(zip(archive.crawls, paths, strict=True), start=1):
        add_crawl(store, crawl.label, path)
        if progress is not None:
            progress(number, len(paths))
    return archive, api.estimate(api.count_overlaps(store), store=store)


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
        raise SourceError(
            f"cannot use the folder {folder}: {error.strerror}; name another folder"
        ) from error


def _compare(truth: "Truth", estimates: "Estimates") -> str:
    """Return a table of truth and estimate, without a final newline."""
    from crawlgauge.report.blocks import Column, render_table

    paper, lives_on = estimates.paper, truth.persistence
    half_life = math.log(2) / -math.log(lives_on) if lives_on else None
    half_lives = (half_life, estimates.half_life_years.value, paper.half_life_years)
    population = (truth.crawls[-1].population, estimates.population.value, None)
    coverage = (truth.coverage, estimates.headline.coverage.value, paper.coverage)
    persistence = (lives_on, estimates.persistence.value, paper.persistence)
    lines = (
        ("coverage of a crawl", "{:.3f}", coverage),
        ("persistence per year", "{:.3f}", persistence),
        ("half-life in years", "{:.2f}", half_lives),
        ("population", "{:,.0f}", population),
    )
    headers = ("truth", "estimate", "paper's fit")
    return render_table(
        [Column(header=""), *(Column(header=name, align="right") for name in headers)],
        [
            [name, *("–" if number is None else form.format(number) for number in numbers)]
            for name, form, numbers in lines
        ],
    )
