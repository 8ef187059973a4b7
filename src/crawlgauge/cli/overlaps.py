"""The command ``overlaps``: how many URLs each two crawls share."""

import logging

import click

from crawlgauge.cli import options
from crawlgauge.cli.progress import show_progress
from crawlgauge.cli.spark_session import check_engine, run_spark

__all__ = ["overlaps"]

_PAIRS_ONLY = (
    ", pairs only: an estimate from it cannot test whether estimators agree; .parquet and .json "
    "hold capture histories too"
)

_log = logging.getLogger(__name__)


@click.command(
    epilog="""\b
Examples:
  crawlgauge overlaps
  crawlgauge overlaps -o overlaps.csv
  crawlgauge overlaps -o overlaps.parquet
  crawlgauge overlaps --sample 1/64
  crawlgauge overlaps --level content
  crawlgauge overlaps --engine spark --master spark://head:7077
  crawlgauge overlaps --json"""
)
@click.option(
    "-o", "--output", metavar="FILE", help="Write the table as .csv, .json or .parquet instead."
)
@click.option(
    "--sample",
    metavar="RATE",
    help="Count only a part of the URLs, the same of every crawl: 1/64 or 0.01. All that the store "
    "has if not given; if crawls were added as samples, the smallest of these.",
)
@options.level
@options.engine
@options.store
@options.as_json
def overlaps(
    output: str | None,
    sample: str | None,
    level: str | None,
    engine: str,
    master: str | None,
    spark_conf: tuple[str, ...],
    store: str | None,
    as_json: bool,
) -> None:
    """Count the overlaps of all crawls: containment both ways, Jaccard, Dice–Sørensen.

    What was counted before is kept in the store, so that after adding a crawl only its overlaps
    are counted.
    """
    from crawlgauge import api
    from crawlgauge.overlaps.json_table import to_json
    from crawlgauge.report.overlaps_text import to_text

    if output is not None and as_json:
        raise click.UsageError("give -o FILE.json or --json, not both")
    check_engine(engine, master, spark_conf)
    if engine == "spark":
        from crawlgauge.spark import counting

        with run_spark("counting overlaps", master, spark_conf) as (spark, line):
            progress = None if line is None else line.show_tasks
            table = counting.overlaps(
                spark, store, sample=sample, level=level or "url", progress=progress
            )
    else:
        with show_progress("counting overlaps") as line:
            table = api.count_overlaps(store, sample=sample, level=level or "url", progress=line)
    if output is not None:
        api.write_overlaps(table, output)
        is_less = output.lower().endswith(".csv") and table.histories is not None
        more = _PAIRS_ONLY if is_less else ""
        _log.info("wrote %s: the overlaps of %d crawls%s", output, table.n_crawls, more)
    else:
        click.echo(to_json(table) if as_json else to_text(table))
