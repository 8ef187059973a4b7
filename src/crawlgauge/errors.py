"""The errors that crawlgauge raises on purpose.

::

    CrawlgaugeError
    ├── CrawlError          a label or date that cannot be used
    ├── SourceError         an input that cannot be read
    │   └── DamagedInput    an input that ends early or breaks in the middle
    ├── StoreError          a store that cannot be opened, read or written
    │   └── StoreBusy       another process is writing the same crawl
    ├── OverlapError        an overlap table that contradicts itself
    ├── SparkError          Spark that cannot be started, or fails
    ├── FitError            data from which nothing can be estimated
    └── SimulationError     settings that no archive can have

Each message says what is wrong, where, and what to try. Anything else that is raised is a bug.
"""

from dataclasses import dataclass

__all__ = [
    "CrawlError",
    "CrawlgaugeError",
    "DamagedInput",
    "FitError",
    "OverlapError",
    "SimulationError",
    "SourceError",
    "SparkError",
    "StoreBusy",
    "StoreError",
]


def printable(text: str) -> str:
    """Return a text as it is safe to print on a terminal and to write as UTF-8.

    Names of files and hosts are what others chose: what moves a cursor, breaks a line or turns the
    direction of writing is replaced.
    """
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def printable_lines(text: str) -> str:
    """Return a text of several lines as it is safe to print."""
    return "\n".join(map(printable, text.split("\n")))


# -------------------------------------------- what was damaged in an input, and what was lost by it


QUERY_PREFIX = "cdx+"
"""What queries of CDX servers begin with, and no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """One place where an input ends early or breaks.

    Parameters
    ----------
    file
        The input as the user named it.
    byte
        Where in the file, from 0; None where it is not known.
    reason
        What is wrong there.
    lost
        What could not be read because of it.
    """

    file: str
    byte: int | None
    reason: str
    lost: str

    @property
    def remedy(self) -> str:
        """What helps: a server may answer better another time, a file stays as it is."""
        is_query = self.file.startswith(QUERY_PREFIX)
        return "Ask the server again later" if is_query else "Get a whole copy of the file"

    def __str__(self) -> str:
        where = "" if self.byte is None else f" at byte {self.byte:,}"
        return f"{self.file} is damaged{where}: {self.reason}; lost: {self.lost}"


# ----------------------------------------------------- the errors that crawlgauge raises on purpose


class CrawlgaugeError(Exception):
    """Base of all errors that crawlgauge raises on purpose."""


class CrawlError(CrawlgaugeError):
    """A crawl's label or date cannot be used."""


class SourceError(CrawlgaugeError):
    """An input cannot be read."""


class DamagedInput(SourceError):  # noqa: N818 - the name says what the user has
    """An input ends early or breaks in the middle.

    Parameters
    ----------
    damage
        Which file, at which byte, what is wrong and what is lost.
    """

    def __init__(self, damage: Damage) -> None:
        super().__init__(
            f"{damage}. {damage.remedy}, or keep what can be read with --on-damage keep"
        )
        self.damage = damage


class StoreError(CrawlgaugeError):
    """A store cannot be opened, read or written."""


class StoreBusy(StoreError):  # noqa: N818 - the name says what the user meets
    """Another process is writing the same crawl."""


class OverlapError(CrawlgaugeError):
    """An overlap table cannot be read or contradicts itself."""


class SparkError(CrawlgaugeError):
    """Spark cannot be started, or fails for reasons of its own."""


class FitError(CrawlgaugeError):
    """Nothing can be estimated from this data."""


class SimulationError(CrawlgaugeError, ValueError):
    """No archive can be simulated with these settings, or not in this form."""
