"""What the commands that estimate share: where the overlaps come from, and which of them count."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
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


def _take(*chosen: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command options, all of them as its parameter ``inputs``."""

    def give(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_inputs(**given: Any) -> Any:  # noqa: ANN401 - options are of many types
            names = [field.name for field in fields(EstimateInputs) if field.name in given]
            inputs = EstimateInputs(**{name: given.pop(name) for name in names})
            return command(inputs=inputs, **given)

        return options.stack(*chosen)(with_inputs)

    return give


# The inputs of an estimate, and those of a command that counts and estimates nothing.
estimate_inputs = _take(
    *_SOURCES, _PERSISTENCE, options.window, *_PAIRS, options.level, options.store
)
table_inputs = _take(*_SOURCES, options.window, options.level, options.store)


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
        table = api.read_histories(inputs.histories, inputs.crawls)
    elif inputs.table is not None:
        table = api.read_overlaps(inputs.table)
    else:
        with show_progress("counting overlaps") as progress:
            return api.count_overlaps(inputs.store, level=inputs.level or "url", progress=progress)
    if inputs.level not in (None, table.level):
        raise click.UsageError(
            f"the table is of level {table.level}, not {inputs.level}; leave out --level, or count "
            f"anew from the store: crawlgauge overlaps --level {inputs.level} -o FILE"
        )
    return table
