"""The command ``plan``: what to crawl next."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_inputs
from crawlgauge.cli.options import option
from crawlgauge.cli.output import show
from crawlgauge.cli.progress import show_progress

_MONTHS_PER_YEAR = 12


@options.command()
@estimate_inputs
@option("--target SHARE", "Coverage that a single crawl should have: how large must it be?")
@option(
    "--union-target SHARE",
    "Share of the living URLs that all crawls together should hold: how large must the next one "
    "be, and how large each in the long run?",
)
@option(
    "--per-year N", "How many crawls a year to plan with; by default as many as so far.", type=float
)
@option("--interval MONTHS", "The same in months between two crawls.", type=float)
@option(
    "--budget URLS",
    "URLs that can be captured in a year: in few large crawls or many small ones? By default as "
    "many as crawls of the newest one's size.",
    type=float,
)
@option("--size URLS", "URLs of the next crawl: what would it add?", type=float)
@option(
    "--floor SHARE", "Share of the living URLs: when will less than this be held if crawling stops?"
)
@option(
    "--cost-per-million COST", "What a million captured URLs cost, in any currency.", type=float
)
@options.as_json
def plan(
    inputs: EstimateInputs,
    per_year: float | None,
    interval: float | None,
    **wishes: float | None,
) -> None:
    """Plan the next crawls: how large, how often, what they add.

    Without --target, --union-target and --floor the plan is for the next round numbers above what
    is held. Ranges are those of the estimates; you are warned of what lies beyond twice the sizes
    and times that were observed.

    From the store, or from TABLE: an overlap table as CSV, JSON or Parquet, or - for standard
    input.

    Examples
    --------
    crawlgauge plan
    crawlgauge plan --target 0.8
    crawlgauge plan --union-target 0.95 --interval 3
    crawlgauge plan --budget 200000000 --per-year 4 --cost-per-million 35
    crawlgauge plan --size 150000000
    crawlgauge plan --floor 0.5
    crawlgauge plan overlaps.json --json
    """
    import crawlgauge as cg

    options.take_one({"--per-year": per_year, "--interval": interval})
    if interval is not None and not interval > 0:
        raise click.UsageError(f"--interval is {interval:g}; give a number of months above 0")
    often = per_year if interval is None else _MONTHS_PER_YEAR / interval
    fit = inputs.estimate()
    with show_progress("planning"):
        made = cg.plan(fit, crawls_per_year=often, **wishes)
    show(made)
