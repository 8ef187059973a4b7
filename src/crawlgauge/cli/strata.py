"""The command ``strata``: coverage by host, domain, media type or status."""

import logging
from pathlib import Path
from typing import Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.output import show
from crawlgauge.cli.progress import show_progress

__all__ = ["strata"]

_ALL = "all"

_log = logging.getLogger(__name__)


def _parse_top(_context: click.Context, _option: click.Parameter, text: str) -> int | None:
    if text == _ALL:
        return None
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise click.BadParameter(f"{text!r} is neither a number above 0 nor {_ALL}")


@click.command(
    epilog="""\b
Examples:
  crawlgauge strata
  crawlgauge strata --by domain --top 50
  crawlgauge strata --by mime
  crawlgauge strata --by host -o hosts.csv
  crawlgauge strata --by tld --figure tld.svg
  crawlgauge strata --since 2016-01-01 --exclude 2018-06
  crawlgauge strata --by status --json"""
)
@click.option(
    "--by",
    type=click.Choice(["host", "domain", "tld", "mime", "status"]),
    default="host",
    show_default=True,
    help="What to divide URLs by, at their first capture. domain: the registered one, by the "
    "public suffix list. tld: the last label of the host.",
)
@click.option(
    "--top",
    metavar="N|all",
    callback=_parse_top,
    default="20",
    show_default=True,
    help="How many rows the table has, those of which most is missing first.",
)
@click.option(
    "--min-shared",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    metavar="N",
    help="Pool what shares fewer URLs in the median pair of crawls.",
)
@click.option(
    "-o", "--output", metavar="FILE.csv", help="Write all rows, with all ranges, as CSV instead."
)
@options.figure
@options.window
@options.store
@options.as_json
def strata(
    top: int | None,
    output: str | None,
    figure: str | None,
    store: str | None,
    as_json: bool,
    **choices: Any,  # noqa: ANN401 - the options of `crawlgauge.estimate_strata`
) -> None:
    """Estimate coverage, population and persistence of each host, or of other parts.

    From the hosts, media types and statuses that the store keeps of each crawl. Small parts are
    pooled with their like; --json and -o FILE.csv have all that are not.
    """
    from crawlgauge.questions.strata import estimate_strata
    from crawlgauge.report.strata_blocks import to_blocks

    if output is not None and as_json:
        raise click.UsageError("give -o FILE.csv or --json, not both")
    if output is not None and not output.lower().endswith(".csv"):
        raise click.UsageError(f"-o writes CSV, and {output!r} does not end in .csv")
    with show_progress("reading crawls") as progress:
        result = estimate_strata(store, progress=progress, **choices)
    if figure is not None:
        result.figure().save(figure)
    if output is not None:
        from crawlgauge.report.charts.chart import write_file

        write_file(Path(output), result.to_csv().encode())
        _log.info("wrote %s: %d rows", output, len(result.strata.strata))
    else:
        show(result, lambda: to_blocks(result.strata, top=top), as_json=as_json)
