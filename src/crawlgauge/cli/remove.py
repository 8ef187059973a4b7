"""The command ``remove``: take a crawl out of the store."""

import json

import click

from crawlgauge.cli import options

__all__ = ["remove"]


@click.command(
    epilog="""\b
Examples:
  crawlgauge remove 2021-12"""
)
@click.argument("label")
@options.store
@options.as_json
def remove(label: str, store: str | None, as_json: bool) -> None:
    """Take the crawl LABEL out of the store. The files it was read from are not touched."""
    from crawlgauge import api

    api.remove_crawl(store, label)
    click.echo(json.dumps({"removed": [label]}) if as_json else f"removed {label}")
