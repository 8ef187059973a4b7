"""The command ``remove``: take a crawl out of the store."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.output import show_either


@options.command()
@click.argument("label", type=options.LABEL)
@options.store
@options.as_json
def remove(label: str, store: str | None) -> None:
    """Take the crawl LABEL out of the store.

    The files that it was read from are not touched.

    Examples
    --------
    crawlgauge remove 2021-12
    """
    from crawlgauge import api

    api.remove_crawl(store, label)
    show_either({"removed": [label]}, f"removed {label}")
