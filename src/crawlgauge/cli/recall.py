"""The command ``recall``: how much of a reference list each crawl holds."""

import logging
from typing import Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.options import option
from crawlgauge.cli.output import show
from crawlgauge.cli.progress import show_progress

_log = logging.getLogger(__name__)


@options.command()
@click.argument("reference", required=False, type=options.FILE)
@option(
    "--kind url|host|domain",
    "What the reference lists; by default told from its content. Names that are all registered "
    "domains are taken to be domains.",
)
@option(
    "--uniform",
    "The reference is a uniform sample of the URLs that could be crawled at its --date: its "
    "recall is then coverage itself, whatever the crawler favours.",
)
@option("--date DATE", "When the reference was drawn.")
@option(
    "--persistence SHARE",
    "The share of URLs that live on for a year, for --uniform. By default what the crawls say.",
)
@option(
    "--queued [LABEL=]N",
    "How many URLs a crawl (by default the newest) knew of but did not fetch; this limits its "
    "coverage.",
)
@option("--missing FILE", "Write what no crawl holds, one a line, to be used as seeds.")
@options.reference
@option(
    "--scope FILE",
    "Hosts, domains or SURT prefixes, as for add: other URLs of the reference do not count.",
)
@options.store
@options.as_json
def recall(
    reference: str | None,
    store: str | None,
    **choices: Any,  # noqa: ANN401 - the options of `crawlgauge.recall`
) -> None:
    """Tell what share of a reference list the crawls hold.

    The list may be of URLs, hosts or domains. REFERENCE is a file in any format that add reads, or
    - for standard input. The answer is given for each crawl and for all of them together.

    Examples
    --------
    crawlgauge recall references.txt
    crawlgauge recall tranco.csv --kind domain --column 2
    crawlgauge recall sample.txt --uniform --date 2021-12-01
    crawlgauge recall citations.csv --column url --missing seeds.txt
    zcat urls.gz | crawlgauge recall - --json
    crawlgauge recall --queued 1200000
    """
    if reference is None and choices["queued"] is None:
        raise click.UsageError("name a reference: a file, or - for standard input")
    if choices["uniform"] and choices["date"] is None:
        raise click.UsageError("--uniform needs --date: when the reference was drawn")
    import crawlgauge as cg

    with show_progress("looking up the reference"):
        result = cg.recall(store, reference, **choices)
    if choices["missing"] is not None:
        n_missing = result.recall.n_looked_for - result.recall.n_held
        _log.info("wrote %s: %s that no crawl holds", choices["missing"], f"{n_missing:,}")
    show(result)
