"""The command ``verify``: re-read all checksums of the store."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.output import show_json

__all__ = ["verify"]

EXIT_ERROR = 1


@click.command(
    epilog="""\b
Examples:
  crawlgauge verify
  crawlgauge verify --store /archive/crawlgauge.store"""
)
@options.store
@options.as_json
def verify(store: str | None, as_json: bool) -> int:
    """Re-read every set of the store and compare it with its checksums.

    Exit code 1 if any crawl is damaged.
    """
    from crawlgauge import api

    findings = api.verify_store(store)
    if as_json:
        crawls = [{"label": item.label, "problem": item.problem} for item in findings]
        show_json({"schema": "crawlgauge.verify/1", "crawls": crawls})
    else:
        for item in findings:
            click.echo(f"{item.label}: {item.problem or 'ok'}")
    return EXIT_ERROR if any(item.problem for item in findings) else 0
