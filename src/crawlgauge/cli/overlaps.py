"""The command ``overlaps``: how many URLs each two crawls share."""

import logging
from typing import TYPE_CHECKING

import click

from crawlgauge.cli import options
from crawlgauge.cli.engine import with_engine
from crawlgauge.cli.options import option, wants_json
from crawlgauge.cli.output import say, show_crate
from crawlgauge.cli.progress import show_progress

if TYPE_CHECKING:
    from crawlgauge.cli.engine import RunSpark

_PAIRS_ONLY = (
    "; CSV holds pairs only, from which an estimate cannot test whether estimators agree: .parquet "
    "and .json hold capture histories too"
)

_log = logging.getLogger(__name__)


@options.command()
@option("-o --output FILE", "Write the table as .csv, .json or .parquet instead.")
@options.crate
@option(
    "--sample RATE",
    "Count only a part of the URLs, the same of every crawl: 1/64, 0.01 or 1%. By default all "
    "that the store has; if crawls were added as samples, the smallest of these.",
)
@options.level
@with_engine
@options.store
@options.as_json
def overlaps(
    output: str | None,
    crate: str | None,
    sample: str | None,
    level: str | None,
    store: str | None,
    spark: "RunSpark | None",
) -> None:
    """Count how many URLs each two crawls share.

    With containment both ways, Jaccard and Dice–Sørensen. Counts are kept in the store: after a
    crawl was added only its own overlaps are counted.

    Examples
    --------
    crawlgauge overlaps
    crawlgauge overlaps -o overlaps.csv
    crawlgauge overlaps -o overlaps.parquet
    crawlgauge overlaps --crate deposit
    crawlgauge overlaps --sample 1/64
    crawlgauge overlaps --level content
    crawlgauge overlaps --engine spark --master spark://head:7077
    crawlgauge overlaps --json
    """
    from crawlgauge import api
    from crawlgauge.overlaps.json_table import to_json
    from crawlgauge.report.overlaps_text import to_text

    options.take_one({"-o FILE": output, "--crate DIR": crate, "--json": wants_json()})
    level, title = level or "url", "counting overlaps"
    if spark is None:
        with show_progress(title) as line:
            table = api.count_overlaps(store, sample=sample, level=level, progress=line)
    else:
        from crawlgauge.spark import counting

        with spark(title) as (session, show_tasks):
            table = counting.overlaps(
                session, store, sample=sample, level=level, progress=show_tasks
            )
    if crate is not None:
        show_crate(api.write_crate(table, crate))
    elif output is not None:
        api.write_overlaps(table, output)
        is_less = output.lower().endswith(".csv") and table.histories is not None
        more = _PAIRS_ONLY if is_less else ""
        _log.info("wrote %s: the overlaps of %d crawls%s", output, table.n_crawls, more)
    elif wants_json():
        click.echo(to_json(table))
    else:
        say(to_text(table))
