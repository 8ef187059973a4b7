"""The command ``anchor``: keep what is known from elsewhere, to hold every estimate against it."""

import logging
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.options import option, wants_json
from crawlgauge.cli.output import say, show_json
from crawlgauge.errors import printable_lines

if TYPE_CHECKING:
    from crawlgauge.overlaps.anchors import Anchor

_log = logging.getLogger(__name__)


@options.command()
@click.argument("name", required=False)
@click.argument("reference", nargs=-1)
@option(
    "--kind uniform|complete|frontier",
    "uniform: URLs drawn evenly from all that could be crawled. complete: all URLs of hosts that "
    "were drawn evenly. frontier: how many URLs a crawler knew of and did not fetch.",
)
@option("--date DATE", "What it was true of. If not given, of its crawl.")
@option(
    "--crawl LABEL",
    "The crawl to hold it against. If not given, the nearest to --date but the first, or the "
    "newest.",
)
@option(
    "--draw N",
    "Draw so many hosts evenly from the list --from, and keep the draw; their complete lists are "
    "then given under the same name.",
    type=click.IntRange(1),
)
@option(
    "--from FILE",
    "For --draw: the list that defines the archive's scope, such as its seeds or a registry.",
    name="source",
)
@option(
    "--is-scope",
    "For --draw: the list is the scope's own, though it names just the hosts that the crawls hold.",
)
@option("--seed N", "For --draw: draws the same hosts again.", type=int)
@options.reference
@option("--scope FILE", "Only URLs in it count; as for add.")
@option("--site URL", "The host of access logs whose lines do not name it.")
@option(
    "--own-agent TEXT",
    "In access logs: part of the name of a crawler whose fetches do not count; repeatable. If "
    "not given, those of archives that are known.",
    name="own_agents",
    multiple=True,
)
@option("--list", "List what the store keeps.", name="is_list")
@option("--remove", "Take the anchor NAME out of the store.", name="is_remove")
@options.store
@options.as_json
def anchor(
    name: str | None,
    reference: tuple[str, ...],
    store: str | None,
    draw: int | None,
    source: str | None,
    seed: int | None,
    is_scope: bool,
    is_list: bool,
    is_remove: bool,
    **choices: Any,  # noqa: ANN401 - the options of `crawlgauge.add_anchor`
) -> None:
    """Keep what is known from elsewhere, to test every estimate.

    NAME is what to call it. REFERENCE is one file or several in any format that add reads, or
    sitemaps, access logs, or for a frontier a number or a report of the crawler.

    Examples
    --------
    crawlgauge anchor sites --draw 20 --from seeds.txt
    crawlgauge anchor sites sitemaps/*.xml --kind complete --date 2021-12-20
    crawlgauge anchor registry sample.txt --kind uniform --date 2021-12-01
    crawlgauge anchor queue hosts-report.txt --kind frontier --crawl 2021-12
    crawlgauge anchor queue 1200000 --kind frontier
    crawlgauge anchor --list
    crawlgauge anchor registry --remove
    """
    import crawlgauge as cg

    if is_list:
        _show(cg.list_anchors(store))
        return
    if name is None:
        raise click.UsageError("give the anchor a name, or ask for --list")
    if is_remove:
        cg.remove_anchor(store, name)
        _log.info("removed the anchor %s", name)
    elif draw is not None:
        if source is None or reference:
            raise click.UsageError("--draw takes hosts from a list: name it with --from")
        if choices["kind"] not in (None, "complete"):
            raise click.UsageError("hosts are drawn for --kind complete")
        drawn = cg.draw_hosts(
            store, name, draw, source, seed=seed, column=choices["column"], is_scope=is_scope
        )
        _log.info("%d of %s hosts, seed %d", len(drawn.hosts), f"{drawn.n_listed:,}", drawn.seed)
        if wants_json():
            document = {"hosts": drawn.hosts, "n_listed": drawn.n_listed, "seed": drawn.seed}
            show_json({"schema": "crawlgauge.draw/1", "name": name, **document})
        else:
            click.echo(printable_lines("\n".join(drawn.hosts)))
    else:
        if not reference:
            raise click.UsageError("name a reference: files, or the number of a frontier")
        if choices["kind"] is None:
            raise click.UsageError("say what it is with --kind uniform, complete or frontier")
        choices["own_agents"] = choices["own_agents"] or None
        _show((cg.add_anchor(store, name, reference, **choices),))


def _show(found: "tuple[Anchor, ...]") -> None:
    if wants_json():
        show_json({"schema": "crawlgauge.anchors/1", "anchors": [_to_plain(one) for one in found]})
        return
    for one in found:
        say(f"{one.name}: {_describe(one)}")
    if not found:
        _log.info("the store keeps no anchors")


def _to_plain(one: "Anchor") -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": one.kind,
        "date": None if one.date is None else one.date.isoformat(),
        "label": one.label,
        "n_urls": int(one.keys.size),
        "n_hosts": len(one.hosts),
        "n_queued": one.n_queued,
        "drawn": list(one.drawn),
        "missing": list(one.missing),
        "left_out": dict(one.left_out),
        "provenance": one.provenance.to_dict(),
    }


def _describe(one: "Anchor") -> str:
    """Say in a line what an anchor is, and what is wrong with it."""
    when = "" if one.date is None else f" of {one.date.isoformat()}"
    against = "the nearest crawl" if one.label is None else one.label
    if one.is_pending:
        return f"{len(one.drawn)} hosts drawn, their lists are still to be given"
    if one.kind == "frontier":
        what = "URLs known" if one.is_all_known else "URLs known and not fetched"
        return f"{one.n_queued:,} {what}, held against {against}"
    what = f"{one.keys.size:,} URLs drawn evenly"
    if one.kind == "complete":
        hosts = "1 host" if len(one.hosts) == 1 else f"{len(one.hosts):,} hosts"
        what = f"all {one.keys.size:,} URLs of {hosts}"
    from crawlgauge.report.crawls import list_reasons

    left = list_reasons(one.left_out)
    missing = f"; no list of {', '.join(one.missing)}" if one.missing else ""
    return f"{what}{when}, held against {against}{missing}{f'; left out: {left}' if left else ''}"
