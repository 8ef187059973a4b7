"""The command ``estimate``: coverage, persistence and population."""

import json

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_from, estimate_inputs
from crawlgauge.cli.level_comparison import compare_levels
from crawlgauge.cli.sensitivity_inputs import (
    SensitivityInputs,
    find_sensitivity,
    sensitivity_options,
)

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
