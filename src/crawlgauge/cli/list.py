"""The command ``list``: what is in the store."""

import click

from crawlgauge.cli import options

__all__ = ["list_"]


@click.command(
    "list",
    epilog="""\b
Examples:
  crawlgauge list
  crawlgauge list --json""",
)
@options.store
@options.as_json
def list_(store: str | None, as_json: bool) -> None:
    """List the crawls of the store with their dates and sizes."""
    from crawlgauge import api
    from crawlgauge.cli.output import show_blocks
    from crawlgauge.cli.records import to_record
    from crawlgauge.report import crawls_json, crawls_text

    opened = api.open_store(store)
    records = [
        to_record(crawl_set, opened.other_levels(crawl_set.crawl.label))
        for crawl_set in opened.crawl_sets()
    ]
    if as_json:
        click.echo(crawls_json.to_json(records))
    else:
        show_blocks(crawls_text.to_blocks(records))
