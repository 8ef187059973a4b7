"""Time of an estimate with all models, of the help and of the import."""

import sys
from collections.abc import Sequence
from pathlib import Path

from archives.making import Archive
from contenders import CRAWLGAUGE, Contender, environment
from measuring import measure
from racing import HEADER, race, scratch_folder
from results import Result, Verdict
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]

ESTIMATE, HELP, IMPORT, NOTHING = (
    "crawlgauge estimate",
    "crawlgauge --help",
    "import crawlgauge",
    "python -c pass",
)
SECONDS, START_SECONDS = 60, 0.3


def run(settings: Settings) -> Result:
    """Measure the commands that a person waits for."""
    archive = settings.archive("sets").first(N_CRAWLS)
    folder = settings.folder / "scratch"
    with scratch_folder(folder) as place:
        table = count(archive, place)
        jobs = {
            ESTIMATE: [*CRAWLGAUGE, "estimate", str(table), "--json"],
            HELP: [sys.executable, "-m", "crawlgauge", "--help"],
            IMPORT: [sys.executable, "-c", "import crawlgauge"],
            NOTHING: [sys.executable, "-c", "pass"],
        }
        contenders = [only(name, command) for name, command in jobs.items()]
        result = race(
            contenders, archive, None, n_rounds=settings.n_rounds, folder=folder, warm_up=archive
        )
    wall = result.best_wall(ESTIMATE)
    return Result(
        title=f"estimate with all models from the histories of {N_CRAWLS} crawls; starting",
        header=("", HEADER[1], HEADER[4], HEADER[6]),
        rows=[(row[0], row[1], row[4], row[6]) for row in result.rows()],
        verdicts=[
            Verdict(
                target="estimate in seconds, not minutes",
                found=f"{wall:.1f} s",
                is_met=wall < SECONDS,
            ),
            *(
                Verdict(
                    target=f"{name} under 0.3 s of CPU time",
                    found=f"{result.best_cpu(name):.2f} s",
                    is_met=result.best_cpu(name) < START_SECONDS,
                )
                for name in (HELP, IMPORT)
            ),
        ],
    )


def count(archive: Archive, place: Path) -> Path:
    """Count the overlaps of the archive and return the file that holds them."""
    table = place / "overlaps.json"
    store = archive.link_store(place / "store")
    command = [*CRAWLGAUGE, "overlaps", "--store", str(store), "-o", str(table)]
    measure([command], scratch=place, environment=environment())
    return table


def only(name: str, command: Sequence[str]) -> Contender:
    return Contender(name=name, commands=lambda _archive, _scratch: [list(command)], read=None)


TABLE = Table(
    name="estimate",
    summary="time of an estimate with all models, of --help and of the import",
    moderate=1_000_000,
    full=1_000_000,
    run=run,
)
