"""The command ``recall``: how much of a reference list each crawl holds."""

import logging
from typing import Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.output import show

__all__ = ["recall"]

_log = logging.getLogger(__name__)


@click.command(
    epilog="""\b
Examples:
  crawlgauge recall references.txt
  crawlgauge recall tranco.csv --kind domain --column 2
  crawlgauge recall sample.txt --uniform --date 2021-12-01
  crawlgauge recall citations.csv --column url --missing seeds.txt
  zcat urls.gz | crawlgauge recall - --json
  crawlgauge recall --queued 1200000"""
)
@click.argument("reference", required=False)
@click.option(
    "--kind",
    type=click.Choice(["url", "host", "domain"]),
    help="What the reference lists. Found out from its content if not given: names that are all "
    "registered domains are taken for domains.",
)
@click.option(
    "--uniform",
    is_flag=True,
    help="The reference is a uniform sample of the URLs that could be crawled at its --date: its "
    "recall is then coverage itself, whatever the crawler favours.",
)
@click.option("--date", metavar="DATE", help="When the reference was drawn.")
@click.option(
    "--persistence",
    type=float,
    metavar="SHARE",
    help="The share of URLs that lives on for a year, for --uniform. What the crawls say, if not "
    "given.",
)
@click.option(
    "--queued",
    metavar="[LABEL=]N",
    help="URLs that a crawl, the newest if not named, knew of and did not fetch: bounds its "
    "coverage.",
)
@click.option(
    "--missing", metavar="FILE", help="Write what no crawl holds, one a line, such as for seeds."
)
@click.option("--format", metavar="NAME", help="Format of the reference, as for add.")
@click.option(
    "--column", metavar="NAME|N", help="The column of CSV, TSV, JSON Lines or Parquet to read."
)
@click.option(
    "--scope",
    metavar="FILE",
    help="Hosts, domains or SURT prefixes, as for add: other URLs of the reference do not count.",
)
@options.store
@options.as_json
def recall(
    reference: str | None,
    store: str | None,
    as_json: bool,
    **choices: Any,  # noqa: ANN401 - the options of `crawlgauge.recall`
) -> None:
    """Tell which share of a list of URLs, hosts or domains each crawl holds, and all together.

    REFERENCE is a file in any format that add reads, or a list of hosts or domains, or - for
    standard input.
    """
    if reference is None and choices["queued"] is None:
        raise click.UsageError("name a reference: a file, or - for standard input")
    if choices["uniform"] and choices["date"] is None:
        raise click.UsageError("--uniform needs --date: when the reference was drawn")
    import crawlgauge as cg
    from crawlgauge.report.recall_blocks import to_blocks

    result = cg.recall(store, reference, **choices)
    if choices["missing"] is not None:
        n_missing = result.recall.n_looked_for - result.recall.n_held
        _log.info("wrote %s: %s that no crawl holds", choices["missing"], f"{n_missing:,}")
    show(result, lambda: to_blocks(result.recall), as_json=as_json)
