"""The command ``estimate``: coverage, persistence and population."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_from, estimate_inputs

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
  crawlgauge estimate --explain short-lag
  crawlgauge estimate --explain estimators
  crawlgauge estimate two-crawls.csv --persistence 0.73"""
)
@estimate_inputs
@click.option(
    "--explain",
    metavar="CHECK",
    help="Tell what a check means, how it is computed and what it found, instead; or, for "
    "estimators, what each estimator assumes.",
)
@options.as_json
def estimate(inputs: EstimateInputs, explain: str | None, as_json: bool) -> None:
    """Estimate how much of the crawlable web the crawls hold.

    From the store, or from TABLE: an overlap table as CSV, JSON or Parquet, or - for standard
    input.
    """
    if explain is not None and as_json:
        raise click.UsageError("--explain gives text; the checks of --json hold the numbers")
    fit = estimate_from(inputs)
    if explain is not None:
        click.echo(fit.explain(explain))
    elif as_json:
        click.echo(fit.to_json())
    else:
        from crawlgauge.cli.output import show_blocks
        from crawlgauge.report.estimate_blocks import to_blocks

        show_blocks(to_blocks(fit.estimates))
