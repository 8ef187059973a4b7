"""What the commands that estimate share: where the overlaps come from, and which of them count."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.options import Command, Decorator, option
from crawlgauge.cli.progress import show_progress

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.overlaps.table import OverlapTable

SPAN = ("since", "until", "exclude")
"""The options of a window that say from when to when."""

_SOURCES = (
    click.argument("table", required=False, type=options.FILE),
    option("--histories CSV", "Capture histories: history,count."),
    option(
        "--crawls CSV",
        "The crawls of --histories, label,date[,n_urls]; or of a TABLE whose rows only name "
        "them, label,date,n_urls.",
    ),
)
_PERSISTENCE = option(
    "--persistence SHARE",
    "With two crawls only: the share of URLs that live on for a year, known from elsewhere.",
)
_WINDOW = (*SPAN, "min_lag", "regime")
_PAIRS = (
    option("--min-lag N", "Leave out pairs less than N crawls apart.", type=int),
    option(
        "--regime N",
        "Use only the crawls of this regime, between changes of scope: a number or latest.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateInputs:
    """What to estimate from, as given on the command line.

    Parameters
    ----------
    table, histories
        Path of an overlap table, or of capture histories.
    crawls
        Path of the table of the crawls of either.
    store
        Path of the store.
    level
        What of the store is compared; None for URLs, or for what a table holds.
    persistence
        As for `crawlgauge.estimate`.
    window
        The options of `crawlgauge.choose_window`.
    """

    table: str | None
    histories: str | None
    crawls: str | None
    store: str | None
    level: str | None
    persistence: float | None = None
    window: Mapping[str, Any]

    @property
    def counted_in(self) -> str | None:
        """The store that the overlaps are counted in; None if a file holds them."""
        from crawlgauge.locations import find_store

        is_stored = self.table is None and self.histories is None
        return str(find_store(self.store)) if is_stored else None

    def estimate(self) -> "Fit":
        """Read or count the overlaps that are asked for, and estimate from them."""
        from crawlgauge import api

        table = self.read_table()
        with show_progress("estimating"):
            return api.estimate(table, persistence=self.persistence, store=self.counted_in)

    def read_table(self) -> "OverlapTable":
        """Read or count the overlaps that are asked for.

        Raises
        ------
        click.UsageError
            If the inputs contradict each other.
        """
        from crawlgauge.model.window import choose_window

        return choose_window(self._read(), **self.window)

    def _read(self) -> "OverlapTable":
        from crawlgauge import api

        if self.histories is not None and self.crawls is None:
            raise click.UsageError("--histories needs --crawls CSV, with columns label and date")
        if self.crawls is not None and self.histories is None and self.table is None:
            raise click.UsageError("--crawls goes with TABLE or with --histories")
        sources = (self.table, self.histories, self.store)
        if sum(source is not None for source in sources) > 1:
            raise click.UsageError("give one of TABLE, --histories and --store")
        if self.histories is not None and self.crawls is not None:
            table = api.read_histories(self.histories, self.crawls)
        elif self.table is not None:
            table = api.read_overlaps(self.table, self.crawls)
        else:
            level = self.level or "url"
            with show_progress("counting overlaps") as progress:
                return api.count_overlaps(self.store, level=level, progress=progress)
        if self.level not in (None, table.level):
            raise click.UsageError(
                f"the table is of level {table.level}, not {self.level}; leave out --level, or "
                f"count anew from the store: crawlgauge overlaps --level {self.level} -o FILE"
            )
        return table


def _take(*chosen: Decorator) -> Decorator:
    """Give a command options, all of them as its parameter ``inputs``."""

    def give(command: Command) -> Command:
        @wraps(command)
        def with_inputs(**given: Any) -> Any:  # noqa: ANN401 - options are of many types
            window = {name: given.pop(name) for name in _WINDOW if name in given}
            names = [field.name for field in fields(EstimateInputs) if field.name in given]
            inputs = EstimateInputs(window=window, **{name: given.pop(name) for name in names})
            return command(inputs=inputs, **given)

        return options.stack(*chosen)(with_inputs)

    return give


# The inputs of an estimate, and those of a command that counts and estimates nothing.
estimate_inputs = _take(
    *_SOURCES, _PERSISTENCE, options.window, *_PAIRS, options.level, options.store
)
table_inputs = _take(*_SOURCES, options.window, options.level, options.store)
