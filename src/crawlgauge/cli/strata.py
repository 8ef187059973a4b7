"""The command ``strata``: coverage by host, domain, media type or status."""

import logging
from pathlib import Path
from typing import Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.options import is_quiet, option, wants_json
from crawlgauge.cli.output import show_blocks
from crawlgauge.cli.progress import show_progress

_ALL = "all"

_log = logging.getLogger(__name__)


def _parse_top(_context: click.Context, _option: click.Parameter, text: str) -> int | None:
    if text == _ALL:
        return None
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise click.BadParameter(f"{text!r} is neither a number above 0 nor {_ALL}")


@options.command()
@option(
    "--by host|domain|tld|mime|status",
    "What to divide URLs by, at their first capture. domain: the registered one, by the public "
    "suffix list. tld: the last label of the host.",
    default="host",
)
@option(
    "--top N|all",
    "How many rows the table has; those of which most is missing come first.",
    callback=_parse_top,
    default="20",
)
@option(
    "--min-shared N",
    "Pool parts of which the median pair of crawls shares fewer URLs.",
    type=click.IntRange(min=1),
    default=30,
)
@option("-o --output FILE.csv", "Write all rows, with all ranges, as CSV instead.")
@options.figure
@options.window
@options.store
@options.as_json
def strata(
    top: int | None,
    output: str | None,
    figure: str | None,
    store: str | None,
    **choices: Any,  # noqa: ANN401 - the options of `crawlgauge.estimate_strata`
) -> None:
    """Estimate coverage by host, domain, media type or status.

    With the population and persistence of each, from what the store keeps of each crawl. Small
    parts are pooled with others like them; --json and -o FILE.csv list all the others.

    Examples
    --------
    crawlgauge strata
    crawlgauge strata --by domain --top 50
    crawlgauge strata --by mime
    crawlgauge strata --by host -o hosts.csv
    crawlgauge strata --by tld --figure tld.svg
    crawlgauge strata --since 2016-01-01 --exclude 2018-06
    crawlgauge strata --by status --json
    """
    from crawlgauge.questions import estimate_strata

    options.take_one({"-o FILE.csv": output, "--json": wants_json()})
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
    elif wants_json():
        click.echo(result.to_json())
    elif not is_quiet():
        show_blocks(result.to_blocks(top))
