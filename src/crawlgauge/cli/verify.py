"""The command ``verify``: re-read all checksums of the store."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.options import is_quiet, wants_json
from crawlgauge.cli.output import show_json
from crawlgauge.cli.progress import show_progress
from crawlgauge.errors import printable_lines

EXIT_ERROR = 1


@options.command()
@options.store
@options.as_json
def verify(store: str | None) -> int:
    """Check every file of the store against its checksum.

    The exit code is 1 if any crawl is damaged; with -q only damaged ones are named.

    Examples
    --------
    crawlgauge verify
    crawlgauge verify --store /archive/crawlgauge.store
    """
    from crawlgauge import api

    with show_progress("verifying"):
        findings = api.verify_store(store)
    if wants_json():
        crawls = [{"label": item.label, "problem": item.problem} for item in findings]
        show_json({"schema": "crawlgauge.verify/1", "crawls": crawls})
    else:
        for item in findings:
            if item.problem or not is_quiet():
                click.echo(printable_lines(f"{item.label}: {item.problem or 'ok'}"))
    return EXIT_ERROR if any(item.problem for item in findings) else 0
