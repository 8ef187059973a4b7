"""What the user chose for a run, and what a table is."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from archives.making import Archive, Kind, make_archive
from contenders import Contender
from racing import Race, race
from results import Result

__all__ = ["N_CRAWLS", "Settings", "Table"]

N_CRAWLS = 15
N_MADE = 16
"""One more is made, for the table about adding it."""

WARM_UP_SIZE = 2_000
WARM_UP_CRAWLS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to run a table.

    Parameters
    ----------
    size
        URLs, lines or keys of each crawl.
    n_rounds
        How often each program runs.
    folder
        For archives and temporary files.
    without
        Names of programs that are to be left out.
    url_lists
        Real URLs for the kernel.
    """

    size: int
    n_rounds: int
    folder: Path
    without: tuple[str, ...] = ()
    url_lists: tuple[Path, ...] = ()

    def archive(self, kind: Kind, *, size: int | None = None, n_crawls: int = N_MADE) -> Archive:
        """Return the archive that the table works on."""
        size = self.size if size is None else size
        return make_archive(self.folder / "archives", kind, n_crawls=n_crawls, size=size)

    def race(
        self, contenders: list[Contender], archive: Archive, expected: list[list[int]] | None
    ) -> Race:
        """Let contenders run in turn, but for those that are left out."""
        small = make_archive(
            self.folder / "archives", archive.kind, n_crawls=WARM_UP_CRAWLS, size=WARM_UP_SIZE
        )
        return race(
            [item for item in contenders if item.name.split()[0].lower() not in self.without],
            archive,
            expected,
            n_rounds=self.n_rounds,
            folder=self.folder / "scratch",
            warm_up=small,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: what it compares, and at which sizes.

    Parameters
    ----------
    name
        By which it is chosen.
    summary
        What it shows, in a line.
    moderate, full
        Sizes: one that takes a minute or so, and the one that the targets speak of.
    run
        Makes the table.
    full_rounds
        Rounds at full size, where three would take too long.
    """

    name: str
    summary: str
    moderate: int
    full: int
    run: Callable[[Settings], Result]
    full_rounds: int = 3
