"""The command ``add``: read archive files into the store."""

from typing import TYPE_CHECKING

import click

from crawlgauge.cli import options
from crawlgauge.cli.progress import show_progress

if TYPE_CHECKING:
    from crawlgauge.store.adding import OnDamage

__all__ = ["add"]

EXIT_DAMAGED = 4


@click.command(
    epilog="""\b
Examples:
  crawlgauge add 2021-12 crawls/2021-12/
  crawlgauge add 2021-12 'crawls/2021-12/*.txt.gz' --date 2021-12-13
  zcat urls.gz | crawlgauge add 2021-12 -
  crawlgauge add 2021-12 @files-of-december.txt --replace
  crawlgauge add --from crawls.csv

The date of a crawl is --date, else the one that its label contains: 2013-12-15, 20131215,
2013-12 (its 15th) or CC-MAIN-2023-40 (Monday of that week)."""
)
@click.argument("label", required=False)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option(
    "--from", "crawl_list", metavar="CSV", help="Add all crawls of a list: label,date,path."
)
@click.option("--date", metavar="DATE", help="The date that stands for the crawl.")
@options.identity
@options.on_damage
@options.replace
@options.store
@options.as_json
def add(
    label: str | None,
    inputs: tuple[str, ...],
    crawl_list: str | None,
    date: str | None,
    identity: str,
    on_damage: "OnDamage",
    replace: bool,
    store: str | None,
    as_json: bool,
) -> int:
    """Read the files of a crawl into the store.

    LABEL names the crawl. INPUT is a file, folder or glob, @list.txt (a file that names inputs),
    or - for standard input: lists of URLs, one a line, plain or gzip. Blank lines and lines that
    begin with # are passed over; lines that are no URL are counted and reported.
    """
    from crawlgauge import api
    from crawlgauge.cli.additions import print_addition, print_json

    with show_progress("reading", in_bytes=True) as progress:
        if crawl_list is not None:
            if label is not None or inputs or date is not None:
                raise click.UsageError("--from takes labels, dates and inputs from the list alone")
            additions = api.add_crawls(
                store,
                crawl_list,
                identity=identity,
                replace=replace,
                on_damage=on_damage,
                progress=progress,
                on_added=None if as_json else print_addition,
            )
        elif label is None or not inputs:
            raise click.UsageError("name a label and at least one input, or use --from")
        else:
            addition = api.add_crawl(
                store,
                label,
                inputs,
                date=date,
                identity=identity,
                replace=replace,
                on_damage=on_damage,
                progress=progress,
            )
            additions = (addition,)
            if not as_json:
                print_addition(addition)
    if as_json:
        print_json(additions)
    return EXIT_DAMAGED if any(item.crawl_set.damage for item in additions) else 0
