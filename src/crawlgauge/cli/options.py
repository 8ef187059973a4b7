"""Options that several commands share."""

import click

__all__ = ["as_json", "identity", "on_damage", "replace", "store"]

store = click.option(
    "--store",
    metavar="DIR",
    help="The store; else $CRAWLGAUGE_STORE, else ./crawlgauge.store.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
identity = click.option(
    "--identity",
    type=click.Choice(["raw", "scheme-free", "surt"]),
    default="raw",
    show_default=True,
    help="Which URLs are the same. raw: as they are, without surrounding space and fragment. "
    "scheme-free: http or https alike, host in lower case. surt: the sort key of web archives, "
    "without www, session ids and order of the query. All crawls of a store have the same.",
)
replace = click.option(
    "--replace", is_flag=True, help="Replace the crawl if the store holds one of that label."
)
on_damage = click.option(
    "--on-damage",
    type=click.Choice(["stop", "keep"]),
    default="stop",
    show_default=True,
    help="What to do with a damaged input: store nothing, or keep what can be read and mark it.",
)
