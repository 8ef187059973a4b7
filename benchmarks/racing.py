"""Let contenders run in turn, round by round, and put what they took side by side."""

import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from archives.making import Archive
from contenders import Contender, environment
from measuring import Measurement, measure
from results import Verdict

__all__ = ["HEADER", "DisagreementError", "Race", "race", "run_once", "scratch_folder"]

HEADER = ("", "CPU s", "× ours", "range", "wall s", "× ours", "memory MB", "disk MB")


class DisagreementError(Exception):
    """A program counted something else than the truth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """What all contenders took in all rounds; the first of them is the one compared with.

    Parameters
    ----------
    runs
        By contender, one for each round.
    absent
        Who could not take part, and what it lacks.
    """

    runs: dict[str, list[Measurement]]
    absent: dict[str, list[str]]

    @property
    def ours(self) -> str:
        """Name of the first contender."""
        return next(iter(self.runs))

    def best_cpu(self, name: str) -> float:
        """Return the fewest CPU seconds of all rounds."""
        return min(run.cpu_seconds for run in self.runs[name])

    def best_wall(self, name: str) -> float:
        """Return the fewest seconds of all rounds."""
        return min(run.wall_seconds for run in self.runs[name])

    def memory(self, name: str) -> int:
        """Return the most anonymous memory of all rounds."""
        return max(run.anonymous_bytes for run in self.runs[name])

    def round_ratios(self, name: str) -> list[float]:
        """Return the CPU seconds as multiples of ours in the same round."""
        pairs = zip(self.runs[name], self.runs[self.ours], strict=True)
        return [theirs.cpu_seconds / ours.cpu_seconds for theirs, ours in pairs]

    def cpu_ratio(self, name: str) -> float:
        """Return the median of `round_ratios`."""
        return statistics.median(self.round_ratios(name))

    def wall_ratio(self, name: str) -> float:
        """Return the median of the same for wall time."""
        pairs = zip(self.runs[name], self.runs[self.ours], strict=True)
        return statistics.median(theirs.wall_seconds / ours.wall_seconds for theirs, ours in pairs)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows under `HEADER`."""
        return [self._row(name) for name in self.runs]

    def _row(self, name: str) -> tuple[str, ...]:
        ratios = self.round_ratios(name)
        return (
            name,
            f"{self.best_cpu(name):.2f}",
            f"{self.cpu_ratio(name):.2f}",
            f"{min(ratios):.2f}–{max(ratios):.2f}",
            f"{self.best_wall(name):.2f}",
            f"{self.wall_ratio(name):.2f}",
            f"{self.memory(name) / 1e6:,.0f}",
            f"{max(run.scratch_bytes for run in self.runs[name]) / 1e6:,.0f}",
        )

    def notes(self) -> list[str]:
        """Return what must be said below the table."""
        absent = [
            f"{name} did not take part: there is no {', '.join(lacks)} here."
            for name, lacks in self.absent.items()
        ]
        return [*self._parts(), *absent]

    def _parts(self) -> list[str]:
        """Tell what each command took where a program is run by several."""
        found = []
        for name, runs in self.runs.items():
            parts = min(runs, key=lambda run: run.cpu_seconds).cpu_parts
            if len(parts) > 1:
                seconds = " + ".join(f"{part:.2f}" for part in parts)
                found.append(f"{name}: {seconds} CPU s for its commands in the best round.")
        return found

    def at_least(self, name: str, times: float, *, by_wall: bool = False) -> list[Verdict]:
        """Return whether we are so many times faster; nothing if the other took no part."""
        if name not in self.runs:
            return []
        ratio = self.wall_ratio(name) if by_wall else self.cpu_ratio(name)
        unit = "of wall time" if by_wall else "of CPU time"
        return [
            Verdict(
                target=f"at least {times:g} × as fast as {name}",
                found=f"{ratio:.2f} × {unit}",
                is_met=ratio >= times,
            )
        ]


def race(
    contenders: Sequence[Contender],
    archive: Archive,
    expected: list[list[int]] | None,
    *,
    n_rounds: int,
    folder: Path,
    warm_up: Archive | None,
) -> Race:
    """Run all contenders in turn, in several rounds, after an unmeasured one with few data.

    Parameters
    ----------
    contenders
        Ours first.
    archive
        What they work on.
    expected
        The matrix that all must find; None where nothing is counted.
    n_rounds
        How often.
    folder
        For temporary files.
    warm_up
        A small archive of the same kind, for compiling and loading; None to do without.

    Raises
    ------
    DisagreementError
        If one of them counts something else.
    """
    absent = {item.name: item.lacks() for item in contenders if item.lacks()}
    present = [item for item in contenders if item.name not in absent]
    if warm_up is not None:
        for contender in present:
            run_once(contender, warm_up, None, folder)
    _read_once(archive)
    runs: dict[str, list[Measurement]] = {item.name: [] for item in present}
    for number in range(n_rounds):
        for contender in present:
            run = run_once(contender, archive, expected, folder)
            _tell(
                f"round {number + 1} of {n_rounds}: {contender.name} {run.cpu_seconds:.1f} CPU s, "
                f"{run.wall_seconds:.1f} s, {run.anonymous_bytes / 1e6:,.0f} MB"
            )
            runs[contender.name].append(run)
    return Race(runs=runs, absent=absent)


def run_once(
    contender: Contender,
    archive: Archive,
    expected: list[list[int]] | None,
    folder: Path,
    prepare: Callable[[Path], None] | None = None,
) -> Measurement:
    """Run a contender in a folder of its own and check what it counted."""
    with scratch_folder(folder) as scratch:
        if prepare is not None:
            prepare(scratch)
        commands = contender.commands(archive, scratch)
        run = measure(commands, scratch=scratch, environment=environment())
    if expected is not None and contender.read is not None:
        found = contender.read(run.output)
        if found != expected:
            raise DisagreementError(
                f"{contender.name} counted other overlaps than there are in {archive.folder}: "
                f"{found[0]}... instead of {expected[0]}..."
            )
    return run


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder, and delete it with all that is in it."""
    folder.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=folder))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch)


def _read_once(archive: Archive) -> None:
    """Read all files, so that the first to run does not wait for the disk alone."""
    for path in archive.paths:
        with path.open("rb") as file:
            while file.read(1 << 22):
                pass


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
