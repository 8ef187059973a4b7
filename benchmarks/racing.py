"""Let programs do the same job in turn, round by round, and put what they took side by side."""

import compileall
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

from archives import Archive, make_archive, tell
from measuring import Measurement, measure
from results import Verdict, at_least

HEADER = ("", "CPU s", "× ours", "range", "wall s", "× ours", "memory MB", "disk MB")
NEEDS = {"igzip": ("isal",), "spark": ("pyspark", "java")}
CRAWLGAUGE = (sys.executable, "-m", "crawlgauge", "--quiet")


class DisagreementError(Exception):
    """A program counted something else than the truth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to run a table: lines or keys of each crawl, rounds, a folder, and who is left out."""

    size: int
    n_rounds: int
    folder: Path
    without: tuple[str, ...] = ()
    url_lists: tuple[Path, ...] = ()

    def archive(self, kind: str, *, n_crawls: int = 16, size: int | None = None) -> Archive:
        """Return an archive of that kind."""
        n_lines = self.size if size is None else size
        return make_archive(self.folder / "archives", kind, n_crawls=n_crawls, size=n_lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A program that does the job.

    Parameters
    ----------
    name
        As the table shows it; by the first word it can be left out.
    commands
        What to run, given a new folder.
    read, expected
        What it counted, taken from its output, and what it should have counted.
    prepare
        What is done in the new folder before, and not measured.
    needs
        Modules and programs without which it cannot take part.
    """

    name: str
    commands: Callable[[Path], Sequence[Sequence[str]]]
    read: Callable[[str], object] = json.loads
    expected: object = None
    prepare: Callable[[Path], None] | None = None
    needs: tuple[str, ...] = ()

    def lacks(self) -> list[str]:
        """Return what it needs and is not here."""
        return [
            name
            for name in self.needs
            if shutil.which(name) is None and importlib.util.find_spec(name) is None
        ]


def first_word(name: str) -> str:
    """Return the first word of a contender's name, by which one speaks of it."""
    return name.replace(",", "").split()[0].lower()


def crawlgauge(
    archive: Archive, *options: str, name: str = "crawlgauge", engine: str = "local"
) -> Contender:
    """Return crawlgauge from files to the matrix, in a store of its own."""
    counts_all = "any" in options or archive.kind == "urls"

    def commands(scratch: Path) -> list[list[str]]:
        store = ("--store", str(scratch / "store"))
        crawls = archive.write_crawl_list(scratch / "crawls.csv")
        return [
            [*CRAWLGAUGE, "add", *store, "--from", crawls, *options, "--engine", engine],
            [*CRAWLGAUGE, "overlaps", *store, "--json", "--engine", engine],
        ]

    return Contender(
        name=name,
        commands=commands,
        read=read_matrix,
        expected=archive.n_shared if counts_all else archive.n_shared_2xx,
        needs=NEEDS.get(engine, ()),
    )


def read_matrix(output: str) -> object:
    """Return the matrix of ``crawlgauge overlaps --json``."""
    return json.loads(output)["n_shared"]


def peer(archive: Archive, name: str, query: str) -> Contender:
    """Return a program of ``peers.py``: the one that the first word of its name tells."""
    program = first_word(name)
    command = [sys.executable, str(Path(__file__).with_name("peers.py")), program, query]
    matrix = archive.n_shared_2xx if "2xx" in query else archive.n_shared
    return Contender(
        name=name,
        commands=lambda scratch: [[*command, str(scratch), *map(str, archive.paths)]],
        expected=sum(archive.n_text_bytes) if program == "igzip" else matrix,
        needs=NEEDS.get(program, (program,)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """What all contenders took in all rounds, and who lacked what; ours is the first of them."""

    runs: dict[str, list[Measurement]]
    absent: dict[str, list[str]]

    @property
    def ours(self) -> str:
        """Name of the first contender."""
        return next(iter(self.runs))

    def cpu_seconds(self, name: str) -> float:
        """Return the median of all rounds."""
        return median(run.cpu_seconds for run in self.runs[name])

    def megabytes(self, name: str) -> float:
        """Return the most anonymous memory of all rounds."""
        return max(run.anonymous_bytes for run in self.runs[name]) / 1e6

    def ratios(self, name: str, unit: str = "cpu_seconds") -> list[float]:
        """Return what it took in each round, as a multiple of what we took in the same round."""
        pairs = zip(self.runs[name], self.runs[self.ours], strict=True)
        return [getattr(theirs, unit) / getattr(ours, unit) for theirs, ours in pairs]

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows under `HEADER`."""
        return [
            (
                name,
                f"{self.cpu_seconds(name):.2f}",
                f"{median(self.ratios(name)):.2f}",
                f"{min(self.ratios(name)):.2f}–{max(self.ratios(name)):.2f}",
                f"{median(run.wall_seconds for run in runs):.2f}",
                f"{median(self.ratios(name, 'wall_seconds')):.2f}",
                f"{self.megabytes(name):,.0f}",
                f"{max(run.scratch_bytes for run in runs) / 1e6:,.0f}",
            )
            for name, runs in self.runs.items()
        ]

    def notes(self) -> list[str]:
        """Return what must be said below the table."""
        parts = [run.cpu_parts for run in self.runs[self.ours]]
        found = []
        if len(parts[0]) > 1:
            seconds = [f"{median(part):.2f}" for part in zip(*parts, strict=True)]
            found = [f"{self.ours}: {' + '.join(seconds)} CPU s for its commands."]
        return found + [
            f"{name} did not take part: there is no {', '.join(lacks)} here."
            for name, lacks in self.absent.items()
        ]

    def is_faster(self, times: float, *names: str) -> list[Verdict]:
        """Return whether we are so many times as fast as the fastest of those that took part."""
        ratios = {name: median(self.ratios(name)) for name in names if name in self.runs}
        if not ratios:
            return []
        name = min(ratios, key=ratios.__getitem__)
        return [at_least(f"as fast as {name}", times, ratios[name], "×")]


def race(contenders: Sequence[Contender], settings: Settings) -> Race:
    """Run contenders in turn, in several rounds, ours first.

    Raises
    ------
    DisagreementError
        If one of them counts something else than there is.
    """
    ours, *others = contenders
    chosen = [ours, *(item for item in others if first_word(item.name) not in settings.without)]
    absent = {item.name: item.lacks() for item in chosen if item.lacks()}
    present = [item for item in chosen if item.name not in absent]
    runs: dict[str, list[Measurement]] = {item.name: [] for item in present}
    for number in range(settings.n_rounds):
        for contender in present:
            run = run_once(contender, settings.folder / "scratch")
            tell(
                f"round {number + 1} of {settings.n_rounds}: {contender.name} "
                f"{run.cpu_seconds:.2f} CPU s, {run.wall_seconds:.2f} s, "
                f"{run.anonymous_bytes / 1e6:,.0f} MB"
            )
            runs[contender.name].append(run)
    return Race(runs=runs, absent=absent)


def run_once(contender: Contender, folder: Path) -> Measurement:
    """Run a contender in a new folder and check what it counted."""
    with new_folder(folder) as scratch:
        if contender.prepare is not None:
            contender.prepare(scratch)
        run = measure(contender.commands(scratch), scratch=scratch, environment=environment())
    if contender.expected is not None and contender.read(run.output) != contender.expected:
        raise DisagreementError(
            f"{contender.name} did not count {str(contender.expected)[:80]}... but says: "
            f"{run.output[:400]}"
        )
    return run


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder, and delete it with all that is in it."""
    folder.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=folder))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch)


@cache
def environment() -> dict[str, str]:
    """Return the variables of all jobs: they find the same crawlgauge as we do."""
    import crawlgauge

    package = Path(crawlgauge.__file__).parent
    # What is installed comes with its bytecode; so does what is not.
    compileall.compile_dir(package, quiet=1)
    paths = [str(package.parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
