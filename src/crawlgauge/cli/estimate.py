"""The command ``estimate``: coverage, persistence and population."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_from, estimate_inputs
from crawlgauge.cli.progress import show_progress
from crawlgauge.errors import FitError
from crawlgauge.locations import find_store

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.report.blocks import Block
if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.questions.sensitivity import Sensitivity

__all__ = ["estimate"]


# ------------------------------------- what ``estimate --level content`` shows beside the estimates


def compare_levels(inputs: EstimateInputs, fit: "Fit") -> "list[Block]":
    """Return how what was estimated looks beside the URLs, where both come from a store.

    Parameters
    ----------
    inputs
        What `estimate_inputs` gives a command.
    fit
        What was estimated from them.
    """
    from crawlgauge.report.blocks import Paragraph
    from crawlgauge.report.levels_blocks import to_blocks

    is_stored = inputs.table is None and inputs.histories is None
    if fit.table.level == "url" or not is_stored:
        return []
    try:
        of_urls = estimate_from(replace(inputs, level="url"))
    except FitError as error:
        # Such as a regime that there is at one level only; the estimates stand without it.
        return [[Paragraph(text=f"Not compared with the URLs: {error}.", role="note")]]
    return to_blocks(of_urls.estimates, fit.estimates)


# ------------------------ the options of ``estimate --sensitivity``, and the question that they ask


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


# ----------------------------------- the command ``estimate``: coverage, persistence and population


@click.command(
    epilog="""\b
Examples:
  crawlgauge estimate
  crawlgauge estimate overlaps.csv
  crawlgauge estimate --histories histories.csv --crawls crawls.csv
  crawlgauge estimate --json > estimate.json
  crawlgauge estimate --since 2016-01-01 --exclude 2018-06
  crawlgauge estimate --min-lag 2
  crawlgauge estimate --level content
  crawlgauge estimate --explain short-lag
  crawlgauge estimate --explain estimators
  crawlgauge estimate --sensitivity
  crawlgauge estimate --sensitivity --from crawls.csv --sample 1/16
  crawlgauge estimate two-crawls.csv --persistence 0.73"""
)
@estimate_inputs
@click.option(
    "--explain",
    metavar="CHECK",
    help="Tell what a check means, how it is computed and what it found, instead; or, for "
    "estimators, what each estimator assumes.",
)
@sensitivity_options
@options.as_json
def estimate(
    inputs: EstimateInputs,
    explain: str | None,
    sensitivity: SensitivityInputs,
    as_json: bool,
) -> None:
    """Estimate how much of the crawlable web the crawls hold.

    From the store, or from TABLE: an overlap table as CSV, JSON or Parquet, or - for standard
    input.
    """
    if explain is not None and as_json:
        raise click.UsageError("--explain gives text; the checks of --json hold the numbers")
    if explain is not None and sensitivity.is_wanted:
        raise click.UsageError("--explain and --sensitivity are two questions; ask one at a time")
    fit = estimate_from(inputs)
    if explain is not None:
        click.echo(fit.explain(explain))
        return
    found = find_sensitivity(fit, inputs, sensitivity)
    if as_json:
        document = fit.to_dict()
        if found is not None:
            document["sensitivity"] = found.to_dict()
        click.echo(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False))
    else:
        from crawlgauge.cli.output import show_blocks
        from crawlgauge.report import sensitivity_blocks
        from crawlgauge.report.estimate_blocks import to_blocks

        more = [] if found is None else sensitivity_blocks.to_blocks(found.movements)
        show_blocks([*to_blocks(fit.estimates), *compare_levels(inputs, fit), *more])
