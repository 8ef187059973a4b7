"""The command ``compare``: several archives of the same scope side by side."""

from dataclasses import asdict

import click

from crawlgauge.cli import options
from crawlgauge.cli.output import show, show_written
from crawlgauge.cli.progress import show_progress

__all__ = ["compare"]


@click.command(
    epilog="""\b
Examples:
  crawlgauge compare /archives/other/crawlgauge.store
  crawlgauge compare --store ours theirs another --json
  crawlgauge compare theirs --max-gap '6 months' --persistence 0.73
  crawlgauge compare --export for-partner --sample 1/64
  crawlgauge compare for-partner

With --export a sample of the store is written that holds hashed URLs only. Another institution
compares it with its own store, so that no URL leaves either. Who has it can still test whether it
holds a URL that they guess."""
)
@click.argument("others", nargs=-1, metavar="OTHER...")
@click.option(
    "--max-gap",
    metavar="TIME",
    default="3 months",
    show_default=True,
    help="Match crawls that are at most so far apart: days, or such as '6 weeks' or 3m.",
)
@click.option(
    "--persistence",
    type=float,
    metavar="SHARE",
    help="The share of URLs that lives on for a year, by which overlaps are carried over the time "
    "between matched crawls. What the archives' own crawls say, if not given.",
)
@click.option(
    "--sample",
    metavar="RATE",
    help="Count, or export, only a part of the URLs: 1/64 or 0.01. All that the stores have if not "
    "given, and 1/64 for --export.",
)
@click.option(
    "--hosts",
    "n_hosts",
    type=click.IntRange(min=0),
    metavar="N",
    default=10,
    show_default=True,
    help="How many hosts to list.",
)
@click.option(
    "--export",
    metavar="DIR",
    help="Write a sample of the store for another institution instead; DIR must not exist.",
)
@options.level
@options.store
@options.as_json
def compare(
    others: tuple[str, ...],
    max_gap: str,
    persistence: float | None,
    sample: str | None,
    n_hosts: int,
    export: str | None,
    level: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Compare archives that crawl the same scope: sizes, what each alone holds, joint coverage.

    OTHER is the folder of another store. Crawls are matched by their dates.
    """
    import crawlgauge as cg
    from crawlgauge.report.comparison_blocks import to_blocks

    if export is not None:
        if others or persistence is not None or level not in (None, "url"):
            raise click.UsageError("--export takes --sample and --store alone")
        with show_progress("exporting") as progress:
            written = cg.export_sample(store, export, sample=sample or "1/64", progress=progress)
        document = asdict(written)
        show_written(
            {"written": str(document.pop("path")), **document},
            f"wrote {export}: {written.n_keys:,} hashed URLs of {written.n_crawls} crawls, "
            "without hosts or names of files",
            as_json=as_json,
        )
        return
    if not others:
        raise click.UsageError("name the store of at least one other archive, or --export DIR")
    with show_progress("comparing") as progress:
        result = cg.compare(
            store,
            others,
            max_gap=max_gap,
            persistence=persistence,
            sample=sample,
            level=level or "url",
            n_hosts=n_hosts,
            progress=progress,
        )
    show(result, lambda: to_blocks(result.comparison), as_json=as_json)
