"""The options of ``estimate --sensitivity``, and the question that they ask."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs
from crawlgauge.cli.progress import show_progress
from crawlgauge.locations import find_store

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.questions.sensitivity import Sensitivity

__all__ = ["SensitivityInputs", "find_sensitivity", "sensitivity_options"]

_OPTIONS = (
    click.option(
        "--sensitivity",
        "is_wanted",
        is_flag=True,
        help="Tell what moves the number most: estimate again without each crawl and regime, "
        "without short lags, and from parts of the URLs. Takes as long as so many estimates.",
    ),
    click.option(
        "--from",
        "crawl_list",
        metavar="CSV",
        help="With --sensitivity: the list of the crawls' files, label,date,path. They are read "
        "again with other rules for which URLs are the same, other statuses and media types.",
    ),
    click.option(
        "--sample",
        metavar="RATE|auto",
        help="With --from: which part of the URLs is read again: 1/64, 0.01, or auto (the 4 "
        "million with the smallest keys of each crawl) if not given.",
    ),
    click.option(
        "--scope",
        metavar="FILE",
        help="With --from: the file of URLs that count, if the crawls were added with one.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityInputs:
    """What is asked about sensitivity, as given on the command line.

    Parameters
    ----------
    is_wanted
        Whether it is asked for.
    crawl_list, sample, scope
        As for `crawlgauge.sensitivity`.
    """

    is_wanted: bool
    crawl_list: str | None
    sample: str | None
    scope: str | None

    def __post_init__(self) -> None:
        if self.crawl_list is not None and not self.is_wanted:
            raise click.UsageError("--from goes with --sensitivity")
        if self.crawl_list is None and (self.sample is not None or self.scope is not None):
            raise click.UsageError("--sample and --scope go with --sensitivity --from CSV")


def sensitivity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options about sensitivity, as its parameter ``sensitivity``.

    Parameters
    ----------
    command
        A function that takes ``sensitivity``, a `SensitivityInputs`.
    """
    return options.gather(command, _OPTIONS, SensitivityInputs, "sensitivity")


def find_sensitivity(
    fit: "Fit", inputs: EstimateInputs, asked: SensitivityInputs
) -> "Sensitivity | None":
    """Answer what is asked about sensitivity; None if nothing is.

    Parameters
    ----------
    fit
        The estimates.
    inputs
        Where they come from.
    asked
        What `sensitivity_options` gives a command.
    """
    if not asked.is_wanted:
        return None
    from crawlgauge.questions import sensitivity

    is_stored = inputs.table is None and inputs.histories is None
    with show_progress("estimating with changes") as progress:
        return sensitivity.sensitivity(
            fit,
            store=str(find_store(inputs.store)) if is_stored else None,
            crawl_list=asked.crawl_list,
            sample=asked.sample or "auto",
            scope=asked.scope,
            progress=progress,
        )
