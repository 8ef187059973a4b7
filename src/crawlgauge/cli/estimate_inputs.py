"""What the commands that estimate share: where the overlaps come from, and which of them count."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.progress import show_progress

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.overlaps.table import OverlapTable

__all__ = ["EstimateInputs", "estimate_from", "estimate_inputs"]

_OPTIONS = (
    click.argument("table", required=False),
    click.option("--histories", metavar="CSV", help="Capture histories: history,count."),
    click.option("--crawls", metavar="CSV", help="The crawls of --histories: label,date[,n_urls]."),
    click.option(
        "--persistence",
        type=float,
        metavar="SHARE",
        help="With two crawls only: the share of URLs that lives on for a year, known from "
        "elsewhere.",
    ),
    click.option("--since", metavar="DATE", help="Leave out crawls before this date."),
    click.option("--until", metavar="DATE", help="Leave out crawls after this date."),
    click.option(
        "--exclude", multiple=True, metavar="LABEL", help="Leave out this crawl; repeatable."
    ),
    click.option(
        "--min-lag", type=int, metavar="N", help="Leave out pairs fewer than N crawls apart."
    ),
    click.option(
        "--regime",
        metavar="N",
        help="Use only the crawls of this regime, between changes of scope: a number or latest.",
    ),
    options.store,
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
    persistence
        As for `crawlgauge.estimate`.
    since, until, exclude, min_lag, regime
        As for `crawlgauge.choose_window`.
    """

    table: str | None
    histories: str | None
    crawls: str | None
    store: str | None
    persistence: float | None
    since: str | None
    until: str | None
    exclude: tuple[str, ...]
    min_lag: int | None
    regime: str | None


def estimate_inputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the inputs of an estimate, as its parameter ``inputs``.

    Parameters
    ----------
    command
        A function that takes ``inputs``, an `EstimateInputs`, beside its own parameters.
    """

    @wraps(command)
    def with_inputs(**given: Any) -> Any:  # noqa: ANN401 - options are of many types
        inputs = {field.name: given.pop(field.name) for field in fields(EstimateInputs)}
        return command(inputs=EstimateInputs(**inputs), **given)

    decorated: Callable[..., Any] = with_inputs
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


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

    chosen = api.choose_window(
        _read(inputs),
        since=inputs.since,
        until=inputs.until,
        exclude=inputs.exclude,
        min_lag=inputs.min_lag,
        regime=inputs.regime,
    )
    return api.estimate(chosen, persistence=inputs.persistence)


def _read(inputs: EstimateInputs) -> "OverlapTable":
    from crawlgauge import api

    if (inputs.histories is None) != (inputs.crawls is None):
        raise click.UsageError("--histories and --crawls go together")
    sources = (inputs.table, inputs.histories, inputs.store)
    if sum(source is not None for source in sources) > 1:
        raise click.UsageError("give one of TABLE, --histories and --store")
    if inputs.histories is not None and inputs.crawls is not None:
        return api.read_histories(inputs.histories, inputs.crawls)
    if inputs.table is not None:
        return api.read_overlaps(inputs.table)
    with show_progress("counting overlaps") as progress:
        return api.count_overlaps(inputs.store, progress=progress)
