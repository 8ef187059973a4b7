"""Adding one more crawl to an archive: reading it, and counting its row."""

from pathlib import Path

from archives.making import Archive
from contenders import CRAWLGAUGE, environment, read_matrix
from measuring import Measurement, measure
from racing import HEADER, DisagreementError, Race, scratch_folder
from results import Result, Verdict
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]

LINES_PER_KEY = 20
"""Files of the reading part have a twentieth of the lines: 1 M where sets have 20 M."""

ALONE, AMONG = "add it to an empty store", f"add it to the store of {N_CRAWLS}"
RECOUNT, ROW = "count all anew", "count its row"
TIMES = 3
SLACK = 1.1
"""Part by which the cost of reading may differ from that of the crawl alone."""


def run(settings: Settings) -> Result:
    """Measure the four steps in turn, round by round."""
    files = settings.archive("cdxj", size=max(2_000, settings.size // LINES_PER_KEY))
    sets = settings.archive("sets")
    folder = settings.folder / "scratch"
    runs: dict[str, list[Measurement]] = {ALONE: [], AMONG: [], RECOUNT: [], ROW: []}
    # The first round compiles, and is not counted.
    for number in range(settings.n_rounds + 1):
        for name, run_step in (
            (ALONE, lambda: add_last(files, folder, n_before=0)),
            (AMONG, lambda: add_last(files, folder, n_before=N_CRAWLS)),
            (RECOUNT, lambda: count_last(sets, folder, is_known=False)),
            (ROW, lambda: count_last(sets, folder, is_known=True)),
        ):
            step = run_step()
            if number:
                runs[name].append(step)
    adding = Race(runs={name: runs[name] for name in (ALONE, AMONG)}, absent={})
    counting = Race(runs={name: runs[name] for name in (ROW, RECOUNT)}, absent={})
    return Result(
        title=f"adding the {N_CRAWLS + 1}th crawl: a CDXJ file of {files.n_captures[-1]:,} lines; "
        f"counting: sets of {settings.size:,} keys",
        header=HEADER,
        rows=[*adding.rows(), *counting.rows()],
        notes=["× ours: multiples of the first row of each pair."],
        verdicts=[
            Verdict(
                target="reading costs what the crawl alone costs",
                found=f"{adding.cpu_ratio(AMONG):.2f} × of CPU time",
                is_met=adding.cpu_ratio(AMONG) <= SLACK,
            ),
            Verdict(
                target="its row at least 3 × as fast as counting all anew",
                found=f"{counting.cpu_ratio(RECOUNT):.2f} × of CPU time",
                is_met=counting.cpu_ratio(RECOUNT) >= TIMES,
            ),
        ],
    )


def add_last(archive: Archive, folder: Path, *, n_before: int) -> Measurement:
    """Measure reading the last crawl into a store that holds so many others."""
    with scratch_folder(folder) as scratch:
        store = ["--store", str(scratch / "store")]
        options = ["--identity", "given", "--status", "any"]
        if n_before:
            others = archive.first(n_before).write_crawl_list(scratch / "crawls.csv")
            measure(
                [[*CRAWLGAUGE, "add", *store, "--from", str(others), *options]],
                scratch=scratch,
                environment=environment(),
            )
        label, date, path = archive.labels[-1], archive.dates[-1], str(archive.paths[-1])
        return measure(
            [[*CRAWLGAUGE, "add", label, path, "--date", date, *store, *options]],
            scratch=scratch,
            environment=environment(),
        )


def count_last(archive: Archive, folder: Path, *, is_known: bool) -> Measurement:
    """Measure counting, with the overlaps of all crawls but the last counted before, or not."""
    with scratch_folder(folder) as scratch:
        store = scratch / "store"
        command = [*CRAWLGAUGE, "overlaps", "--store", str(store), "--json"]
        archive.link_store(store, archive.labels[:-1])
        if is_known:
            measure([command], scratch=scratch, environment=environment())
        archive.link_store(store, archive.labels[-1:])
        run_ = measure([command], scratch=scratch, environment=environment())
    if read_matrix(run_.output) != archive.n_shared:
        raise DisagreementError(f"the overlaps of {archive.folder} are other ones")
    return run_


TABLE = Table(
    name="sixteenth",
    summary="adding the 16th crawl: its cost alone, and its row beside a full recount",
    moderate=2_000_000,
    full=20_000_000,
    run=run,
)
