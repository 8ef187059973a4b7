"""The command ``plan``: what to crawl next."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_from, estimate_inputs
from crawlgauge.cli.output import show

__all__ = ["plan"]

_MONTHS_PER_YEAR = 12


@click.command(
    epilog="""\b
Examples:
  crawlgauge plan
  crawlgauge plan --target 0.8
  crawlgauge plan --union-target 0.95 --interval 3
  crawlgauge plan --budget 200000000 --per-year 4 --cost-per-million 35
  crawlgauge plan --size 150000000
  crawlgauge plan --floor 0.5
  crawlgauge plan overlaps.json --json"""
)
@estimate_inputs
@click.option(
    "--target",
    type=float,
    metavar="SHARE",
    help="Coverage that a single crawl should have: how large must it be?",
)
@click.option(
    "--union-target",
    type=float,
    metavar="SHARE",
    help="Share of what lives that all crawls together should hold: how large must the next one "
    "be, and how large all of them in the long run?",
)
@click.option(
    "--per-year",
    type=float,
    metavar="N",
    help="How many crawls a year to plan with; as many as so far if not given.",
)
@click.option(
    "--interval", type=float, metavar="MONTHS", help="The same as months between two crawls."
)
@click.option(
    "--budget",
    type=float,
    metavar="URLS",
    help="URLs that are captured in a year: in few large or many small crawls? The newest crawl's "
    "size as often as crawls are made if not given.",
)
@click.option(
    "--size", type=float, metavar="URLS", help="URLs of the next crawl: what would it add?"
)
@click.option(
    "--floor",
    type=float,
    metavar="SHARE",
    help="Share of what lives: when is less of it held if crawling stops?",
)
@click.option(
    "--cost-per-million",
    type=float,
    metavar="COST",
    help="What a million captured URLs cost, in any currency.",
)
@options.as_json
def plan(
    inputs: EstimateInputs,
    per_year: float | None,
    interval: float | None,
    as_json: bool,
    **wishes: float | None,
) -> None:
    """Plan the next crawls: how large, how often, and what they would add.

    Without --target, --union-target and --floor the next round numbers above what is held are
    planned for. Ranges are those of the estimates; what lies beyond twice the observed sizes and
    times is warned of.

    From the store, or from TABLE: an overlap table as CSV, JSON or Parquet, or - for standard
    input.
    """
    import crawlgauge as cg
    from crawlgauge.report.plan_blocks import to_blocks

    if per_year is not None and interval is not None:
        raise click.UsageError("give one of --per-year and --interval")
    if interval is not None and not interval > 0:
        raise click.UsageError(f"--interval is {interval:g}; give a number of months above 0")
    often = per_year if interval is None else _MONTHS_PER_YEAR / interval
    made = cg.plan(estimate_from(inputs), crawls_per_year=often, **wishes)
    show(made, lambda: to_blocks(made.result), as_json=as_json)
