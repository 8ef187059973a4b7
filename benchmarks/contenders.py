"""Who takes part in a comparison: crawlgauge by its command line, and each peer as a program."""

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from archives.making import Archive

__all__ = [
    "Contender",
    "counting",
    "crawlgauge",
    "environment",
    "igzip_alone",
    "ingesting",
    "peer",
    "read_matrix",
]

HERE = Path(__file__).parent
CRAWLGAUGE = (sys.executable, "-m", "crawlgauge", "--quiet")
Commands = list[list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A program that does the job.

    Parameters
    ----------
    name
        As the table shows it.
    commands
        What to run for an archive, in a folder of its own.
    read
        Turns the output into the matrix of shared URLs; None if the program does not count.
    needs
        Modules and programs without which it cannot take part.
    """

    name: str
    commands: Callable[[Archive, Path], Commands]
    read: Callable[[str], list[list[int]]] | None
    needs: tuple[str, ...] = ()

    def lacks(self) -> list[str]:
        """Return what it needs and is not here."""
        return [
            name
            for name in self.needs
            if shutil.which(name) is None and importlib.util.find_spec(name) is None
        ]


def environment() -> dict[str, str]:
    """Return the variables of all jobs: they find the same crawlgauge as we, and the peers."""
    import crawlgauge

    package = Path(crawlgauge.__file__).parents[1]
    paths = [str(package), str(HERE), os.environ.get("PYTHONPATH", "")]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    # Installed packages come with their bytecode, and so does this one.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables


def crawlgauge(*options: str, name: str = "crawlgauge") -> Contender:
    """Return crawlgauge from files to the matrix, in a store of its own."""

    def commands(archive: Archive, scratch: Path) -> Commands:
        return [*_add(archive, scratch, options), *_overlaps(scratch)]

    return Contender(name=name, commands=commands, read=read_matrix)


def ingesting(*options: str, name: str = "crawlgauge add") -> Contender:
    """Return crawlgauge from files to sets."""
    return Contender(
        name=name,
        commands=lambda archive, scratch: _add(archive, scratch, options),
        read=None,
    )


def counting(name: str = "crawlgauge overlaps") -> Contender:
    """Return crawlgauge from the sets of a store that nobody has counted in yet to the matrix."""

    def commands(archive: Archive, scratch: Path) -> Commands:
        archive.link_store(scratch / "store")
        return _overlaps(scratch)

    return Contender(name=name, commands=commands, read=read_matrix)


def peer(module: str, query: str, *, name: str, needs: Sequence[str] = ()) -> Contender:
    """Return a peer, which is a module of the folder ``peers``."""

    def commands(archive: Archive, scratch: Path) -> Commands:
        program = [sys.executable, "-m", f"peers.{module}", query, str(scratch)]
        return [[*program, *map(str, archive.paths)]]

    return Contender(name=name, commands=commands, read=json.loads, needs=tuple(needs))


def igzip_alone() -> Contender:
    """Return the limit: nothing but decompression."""

    def commands(archive: Archive, scratch: Path) -> Commands:
        program = [sys.executable, "-m", "peers.only_igzip", "all", str(scratch)]
        return [[*program, *map(str, archive.paths)]]

    return Contender(name="igzip alone", commands=commands, read=None)


def read_matrix(output: str) -> list[list[int]]:
    """Return the matrix of ``crawlgauge overlaps --json``."""
    matrix: list[list[int]] = json.loads(output)["n_shared"]
    return matrix


def _add(archive: Archive, scratch: Path, options: Sequence[str]) -> Commands:
    crawls = archive.write_crawl_list(scratch / "crawls.csv")
    store = str(scratch / "store")
    return [[*CRAWLGAUGE, "add", "--store", store, "--from", str(crawls), *options]]


def _overlaps(scratch: Path) -> Commands:
    return [[*CRAWLGAUGE, "overlaps", "--store", str(scratch / "store"), "--json"]]
