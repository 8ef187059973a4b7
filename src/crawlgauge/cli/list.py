"""The command ``list``: what is in the store."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.options import is_quiet, wants_json
from crawlgauge.cli.output import show_blocks


@options.command()
@options.store
@options.as_json
def list(store: str | None) -> None:  # noqa: A001 - named as the command
    """List the crawls of the store with their dates and sizes.

    Examples
    --------
    crawlgauge list
    crawlgauge list --json
    """
    from crawlgauge.locations import find_store
    from crawlgauge.report import crawls
    from crawlgauge.store.catalogue import open_store

    listed = [
        (manifest.of_urls, manifest.of_other_levels)
        for manifest in open_store(find_store(store)).manifests()
    ]
    if wants_json():
        click.echo(crawls.to_json(listed))
    elif not is_quiet():
        show_blocks(crawls.to_blocks(listed))
