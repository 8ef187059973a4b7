"""The command ``estimate``: coverage, persistence and population."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_from, estimate_inputs
from crawlgauge.cli.output import show_blocks
from crawlgauge.cli.progress import show_progress
from crawlgauge.errors import FitError

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.report.blocks import Block

__all__ = ["estimate"]


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
@click.option(
    "--sensitivity",
    "asks_sensitivity",
    is_flag=True,
    help="Tell what moves the number most: estimate again without each crawl and regime, "
    "without short lags, and from parts of the URLs. Takes as long as so many estimates.",
)
@click.option(
    "--from",
    "crawl_list",
    metavar="CSV",
    help="With --sensitivity: the list of the crawls' files, label,date,path. They are read "
    "again with other rules for which URLs are the same, other statuses and media types.",
)
@click.option(
    "--sample",
    metavar="RATE|auto",
    help="With --from: which part of the URLs is read again: 1/64, 0.01, or auto (the 4 "
    "million with the smallest keys of each crawl) if not given.",
)
@click.option(
    "--scope",
    metavar="FILE",
    help="With --from: the file of URLs that count, if the crawls were added with one.",
)
@options.as_json
def estimate(
    inputs: EstimateInputs,
    explain: str | None,
    asks_sensitivity: bool,
    crawl_list: str | None,
    sample: str | None,
    scope: str | None,
    as_json: bool,
) -> None:
    """Estimate how much of the crawlable web the crawls hold.

    From the store, or from TABLE: an overlap table as CSV, JSON or Parquet, or - for standard
    input.
    """
    if crawl_list is not None and not asks_sensitivity:
        raise click.UsageError("--from goes with --sensitivity")
    if crawl_list is None and (sample is not None or scope is not None):
        raise click.UsageError("--sample and --scope go with --sensitivity --from CSV")
    if explain is not None and as_json:
        raise click.UsageError("--explain gives text; the checks of --json hold the numbers")
    if explain is not None and asks_sensitivity:
        raise click.UsageError("--explain and --sensitivity are two questions; ask one at a time")
    fit = estimate_from(inputs)
    if explain is not None:
        click.echo(fit.explain(explain))
        return
    found = None
    if asks_sensitivity:
        from crawlgauge.questions.sensitivity import sensitivity

        with show_progress("estimating with changes") as progress:
            found = sensitivity(
                fit,
                store=inputs.counted_in,
                crawl_list=crawl_list,
                sample=sample or "auto",
                scope=scope,
                progress=progress,
            )
    if as_json:
        from crawlgauge.report.result_json import to_json

        more = {} if found is None else {"sensitivity": found.to_dict()}
        click.echo(to_json({**fit.to_dict(), **more}))
    else:
        from crawlgauge.report.estimate_blocks import to_blocks

        blocks = [*to_blocks(fit.estimates), *_compare_levels(inputs, fit)]
        if found is not None:
            from crawlgauge.report import sensitivity_blocks

            blocks += sensitivity_blocks.to_blocks(found.movements)
        show_blocks(blocks)


def _compare_levels(inputs: EstimateInputs, fit: "Fit") -> "list[Block]":
    """Return how what was estimated looks beside the URLs, where both come from a store."""
    if fit.table.level == "url" or inputs.counted_in is None:
        return []
    from crawlgauge.report.blocks import Paragraph
    from crawlgauge.report.levels_blocks import to_blocks

    try:
        of_urls = estimate_from(replace(inputs, level="url"))
    except FitError as error:
        # Such as a regime that there is at one level only; the estimates stand without it.
        return [[Paragraph(text=f"Not compared with the URLs: {error}.", role="note")]]
    return to_blocks(of_urls.estimates, fit.estimates)
