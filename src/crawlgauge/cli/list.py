"""The command ``list``: what is in the store."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.output import show_blocks

__all__ = ["list"]


@click.command(
    "list",
    epilog="""\b
Examples:
  crawlgauge list
  crawlgauge list --json""",
)
@options.store
@options.as_json
def list(store: str | None, as_json: bool) -> None:  # noqa: A001 - named as the command
    """List the crawls of the store with their dates and sizes."""
    from crawlgauge.cli.records import to_record
    from crawlgauge.locations import find_store
    from crawlgauge.report import crawls
    from crawlgauge.store.catalogue import open_store

    records = [
        to_record(manifest.of_urls, manifest.of_other_levels)
        for manifest in open_store(find_store(store)).manifests()
    ]
    if as_json:
        click.echo(crawls.to_json(records))
    else:
        show_blocks(crawls.to_blocks(records))
