"""The command ``history``: what became of URLs from crawl to crawl."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, table_from, table_inputs
from crawlgauge.cli.output import show

__all__ = ["history"]


@click.command(
    epilog="""\b
Examples:
  crawlgauge history
  crawlgauge history overlaps.json
  crawlgauge history --histories histories.csv --crawls crawls.csv
  crawlgauge history --since 2016-01-01 --exclude 2018-06
  crawlgauge history --figure history.svg
  crawlgauge history --json > history.json"""
)
@table_inputs
@options.figure
@options.as_json
def history(inputs: EstimateInputs, figure: str | None, as_json: bool) -> None:
    """Count what each crawl kept, dropped, recovered, found anew and missed.

    By counting alone, without any model. From the store, or from TABLE: an overlap table as CSV,
    JSON or Parquet, or - for standard input. Capture histories (in the store and in JSON) tell all
    of it, overlaps of pairs only what was kept and dropped.
    """
    from crawlgauge.questions import turnover
    from crawlgauge.report.history_blocks import to_blocks

    result = turnover.history(table_from(inputs))
    if figure is not None:
        result.figure().save(figure)
    show(result, lambda: to_blocks(result.turnover), as_json=as_json)
