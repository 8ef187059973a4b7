"""What the commands that estimate share: where the overlaps come from, and which of them count."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.progress import show_progress
from crawlgauge.locations import find_store

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.overlaps.table import OverlapTable

__all__ = ["EstimateInputs", "estimate_from", "estimate_inputs", "table_from", "table_inputs"]

_SOURCES = (
    click.argument("table", required=False),
    click.option("--histories", metavar="CSV", help="Capture histories: history,count."),
    click.option("--crawls", metavar="CSV", help="The crawls of --histories: label,date[,n_urls]."),
)
_PERSISTENCE = click.option(
    "--persistence",
    type=float,
    metavar="SHARE",
    help="With two crawls only: the share of URLs that lives on for a year, known from elsewhere.",
)
_CRAWLS = (
    click.option("--since", metavar="DATE", help="Leave out crawls before this date."),
    click.option("--until", metavar="DATE", help="Leave out crawls after this date."),
    click.option(
        "--exclude", multiple=True, metavar="LABEL", help="Leave out this crawl; repeatable."
    ),
)
_PAIRS = (
    click.option(
        "--min-lag", type=int, metavar="N", help="Leave out pairs fewer than N crawls apart."
    ),
    click.option(
        "--regime",
        metavar="N",
        help="Use only the crawls of this regime, between changes of scope: a number or latest.",
    ),
)
_STORE = (options.level, options.store)


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateInputs:
    """What to estimate from, as given on the command line.

    Parameters
    ----------
    table
        Path of an overlap table.
    histories, crawls
        Paths of capture histories and their crawls.
    store
        Path of the store.
    level
        What of the store is compared; None for URLs, or for what a table holds.
    persistence
        As for `crawlgauge.estimate`.
    since, until, exclude, min_lag, regime
        As for `crawlgauge.choose_window`.
    """

    table: str | None
    histories: str | None
    crawls: str | None
    store: str | None
    level: str | None
    persistence: float | None = None
    since: str | None
    until: str | None
    exclude: tuple[str, ...]
    min_lag: int | None = None
    regime: str | None = None

    @property
    def counted_in(self) -> str | None:
        """The store that the overlaps are counted in; None if a file holds them."""
        is_stored = self.table is None and self.histories is None
        return str(find_store(self.store)) if is_stored else None


def estimate_inputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the inputs of an estimate, as its parameter ``inputs``.

    Parameters
    ----------
    command
        A function that takes ``inputs``, an `EstimateInputs`, beside its own parameters.
    """
    chosen = (*_SOURCES, _PERSISTENCE, *_CRAWLS, *_PAIRS, *_STORE)
    return options.gather(command, chosen, EstimateInputs, "inputs")


def table_inputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that counts and estimates nothing its inputs, as its parameter ``inputs``.

    Parameters
    ----------
    command
        As for `estimate_inputs`.
    """
    chosen = (*_SOURCES, *_CRAWLS, *_STORE)
    return options.gather(command, chosen, EstimateInputs, "inputs")


def estimate_from(inputs: EstimateInputs) -> "Fit":
    """Read or count the overlaps that a command was given, and estimate from them.

    Parameters
    ----------
    inputs
        What `estimate_inputs` gives a command.

    Raises
    ------
    click.UsageError
        If the inputs contradict each other.
    """
    from crawlgauge import api

    return api.estimate(table_from(inputs), persistence=inputs.persistence, store=inputs.counted_in)


def table_from(inputs: EstimateInputs) -> "OverlapTable":
    """Read or count the overlaps that a command was given, and keep those that it asks for.

    Parameters
    ----------
    inputs
        What `estimate_inputs` or `table_inputs` gives a command.

    Raises
    ------
    click.UsageError
        If the inputs contradict each other.
    """
    from crawlgauge import api

    return api.choose_window(
        _read(inputs),
        since=inputs.since,
        until=inputs.until,
        exclude=inputs.exclude,
        min_lag=inputs.min_lag,
        regime=inputs.regime,
    )


def _read(inputs: EstimateInputs) -> "OverlapTable":
    from crawlgauge import api

    if (inputs.histories is None) != (inputs.crawls is None):
        raise click.UsageError("--histories and --crawls go together")
    sources = (inputs.table, inputs.histories, inputs.store)
    if sum(source is not None for source in sources) > 1:
        raise click.UsageError("give one of TABLE, --histories and --store")
    if inputs.histories is not None and inputs.crawls is not None:
        return _check_level(api.read_histories(inputs.histories, inputs.crawls), inputs.level)
    if inputs.table is not None:
        return _check_level(api.read_overlaps(inputs.table), inputs.level)
    with show_progress("counting overlaps") as progress:
        return api.count_overlaps(inputs.store, level=inputs.level or "url", progress=progress)


def _check_level(table: "OverlapTable", level: str | None) -> "OverlapTable":
    if level not in (None, table.level):
        raise click.UsageError(
            f"the table is of level {table.level}, not {level}; leave out --level, or count "
            f"anew from the store: crawlgauge overlaps --level {level} -o FILE"
        )
    return table
