"""The command ``check``: whether the newest crawl is in line with the ones before it."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, table_from, table_inputs
from crawlgauge.cli.output import show

__all__ = ["check"]

EXIT_DROP = 3
"""A drop was found."""


@click.command(
    epilog="""\b
Examples:
  crawlgauge check
  crawlgauge -q check || mail -s "the newest crawl" archive@example.org
  crawlgauge check --threshold 0.1 --false-alarms 0.01
  crawlgauge check --until 2020-12-31
  crawlgauge check overlaps.csv
  crawlgauge check --json >> checks.jsonl

Exit codes: 0 in line, or it cannot be told (the text and the JSON say which), 1 error, 2 wrong
usage, 3 a drop was found."""
)
@table_inputs
@click.option(
    "--threshold",
    type=float,
    metavar="SHARE",
    default=0.2,
    show_default=True,
    help="Least drop that is worth an alarm: 0.2 for a fifth less than expected.",
)
@click.option(
    "--false-alarms",
    type=float,
    metavar="SHARE",
    default=0.05,
    show_default=True,
    help="How often a crawl that is in line may be taken for a drop.",
)
@options.as_json
@click.pass_obj
def check(
    quiet: bool, inputs: EstimateInputs, threshold: float, false_alarms: float, as_json: bool
) -> int:
    """Check whether the newest crawl is in line with the ones before it.

    Its coverage, its size and its overlap with earlier crawls are held against what the crawls
    before it lead one to expect. If one of them dropped, it says by how much, and whether the crawl
    shrank, or the web grew or the crawl went elsewhere; the exit code is then 3. It takes five
    crawls. With crawlgauge -q nothing is printed if all is in line.

    From the store, or from TABLE: an overlap table as CSV, JSON or Parquet, or - for standard
    input.
    """
    from crawlgauge.questions.newest import check_newest
    from crawlgauge.report.alarm_blocks import to_blocks

    table = table_from(inputs)
    found = check_newest(
        table, threshold=threshold, false_alarms=false_alarms, store=inputs.counted_in
    )
    if as_json or not quiet or found.result.status != "in-line":
        show(found, lambda: to_blocks(found.result), as_json=as_json)
    return EXIT_DROP if found.has_drop else 0
