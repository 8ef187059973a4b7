"""Options that several commands share."""

from collections.abc import Callable
from typing import Any

import click

__all__ = ["as_json", "engine", "figure", "level", "reading", "replace", "stack", "store", "window"]

_Command = Callable[..., Any]


def stack(*chosen: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Make one decorator of options, in the order of the help.

    Parameters
    ----------
    *chosen
        The options.
    """

    def give(command: _Command) -> _Command:
        for option in reversed(chosen):
            command = option(command)
        return command

    return give


store = click.option(
    "--store",
    metavar="DIR",
    help="The store, a folder or s3://bucket/prefix; else $CRAWLGAUGE_STORE, else "
    "./crawlgauge.store.",
)
level = click.option(
    "--level",
    type=click.Choice(["url", "content", "text"]),
    help="What is compared: URLs (url, unless given), what was captured (content) or the words of "
    "pages (text). Crawls must have been added with --levels.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
replace = click.option(
    "--replace", is_flag=True, help="Replace the crawl if the store holds one of that label."
)

figure = click.option(
    "--figure",
    metavar="FILE",
    help="Draw it too, as .svg, .png or .pdf; or write the figure's data as .csv.",
)
window = stack(
    click.option("--since", metavar="DATE", help="Leave out crawls before this date."),
    click.option("--until", metavar="DATE", help="Leave out crawls after this date."),
    click.option(
        "--exclude", multiple=True, metavar="LABEL", help="Leave out this crawl; repeatable."
    ),
)
reading = stack(
    click.option(
        "--identity",
        type=click.Choice(["surt", "scheme-free", "raw", "given"]),
        help="Which URLs are the same. surt: the sort key of web archives, without scheme, www, "
        "session ids and order of the query. scheme-free: http or https alike, host in lower "
        "case. raw: as they are, without surrounding space and fragment. given: the key that the "
        "index file holds. All crawls of a store have the same: the store's, or surt if it is "
        "new.",
    ),
    click.option(
        "--status",
        metavar="LIST",
        default="2xx,none",
        show_default=True,
        help="HTTP statuses that count: any, or some of 2xx, 404, 200-299 and none (captures "
        "without a status) between commas. Revisit records count as 200.",
    ),
    click.option(
        "--mime",
        metavar="LIST",
        help="Media types that count: text/html,image/*. All if not given.",
    ),
    click.option(
        "--scope",
        metavar="FILE",
        help="Hosts, domains or SURT prefixes that count, one a line; ! before one excludes it.",
    ),
    click.option(
        "--format",
        metavar="NAME",
        help="Format of the inputs, where it should not be found out from their content: warc, "
        "arc, parquet, cdxj, cdx, crawl-log, server-json, jsonl, csv or urls.",
    ),
    click.option(
        "--column",
        metavar="NAME|N",
        help="The column of CSV, TSV, JSON Lines or Parquet that holds the URLs.",
    ),
    click.option(
        "--on-damage",
        type=click.Choice(["stop", "keep"]),
        default="stop",
        show_default=True,
        help="What to do with a damaged input: store nothing, or keep what can be read and mark "
        "the crawl as incomplete.",
    ),
    click.option(
        "--max-expansion",
        metavar="N",
        type=click.FloatRange(min=1),
        default=500.0,
        show_default=True,
        help="How many times its compressed size an input may have.",
    ),
    click.option(
        "--sample",
        metavar="RATE|auto",
        help="Keep a part of the URLs, chosen by their keys and so the same of every crawl: 1/64, "
        "0.01, or auto for the 4 million with the smallest keys. All if not given.",
    ),
    click.option(
        "--memory",
        metavar="SIZE",
        help="Take at most this much memory, such as 2G; what does not fit is sorted on the disk, "
        "beside the store, or in the temporary folder if the store is remote. A quarter of the "
        "machine's if not given.",
    ),
)
engine = stack(
    click.option(
        "--engine",
        type=click.Choice(["local", "spark"]),
        default="local",
        show_default=True,
        help="What does the work: this machine, or Spark; the result is the same.",
    ),
    click.option(
        "--master",
        metavar="URL",
        help="Where Spark runs: local[*] (this machine, if not given), spark://HOST:7077, yarn, "
        "k8s://...",
    ),
    click.option(
        "--spark-conf",
        metavar="KEY=VALUE",
        multiple=True,
        help="A setting of Spark; may be given several times.",
    ),
)
