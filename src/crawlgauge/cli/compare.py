"""The command ``compare``: several archives of the same scope side by side."""

from dataclasses import asdict
from typing import Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.options import option
from crawlgauge.cli.output import show, show_written
from crawlgauge.cli.progress import show_progress


@options.command()
@click.argument("others", nargs=-1, metavar="OTHER...", type=options.FOLDER)
@option(
    "--max-gap TIME",
    "Match crawls that are no further apart than this: 40 (days), '6 weeks', 3m.",
    default="3 months",
)
@option(
    "--persistence SHARE",
    "The share of URLs that live on for a year, to make up for the time between matched crawls. "
    "By default what the archives' own crawls say.",
)
@option(
    "--sample RATE",
    "Count, or export, only a part of the URLs: 1/64, 0.01 or 1%. By default all that the stores "
    "have, and 1/64 for --export.",
)
@option(
    "--hosts N", "How many hosts to list.", name="n_hosts", type=click.IntRange(min=0), default=10
)
@option(
    "--export DIR",
    "Write a sample of the store for another institution instead; DIR must not exist.",
)
@options.level
@options.store
@options.as_json
def compare(
    others: tuple[str, ...],
    export: str | None,
    store: str | None,
    level: str | None,
    **choices: Any,  # noqa: ANN401 - the options of `crawlgauge.compare`
) -> None:
    """Compare archives that crawl the same scope.

    Tells their sizes, what each of them alone holds, and what they cover together. OTHER is the
    folder of another store. Crawls are matched by their dates.

    Examples
    --------
    crawlgauge compare /archives/other/crawlgauge.store
    crawlgauge compare --store ours theirs another --json
    crawlgauge compare theirs --max-gap '6 months' --persistence 0.73
    crawlgauge compare --export for-partner --sample 1/64
    crawlgauge compare for-partner

    Notes
    -----
    --export writes a sample of the store that holds only hashed URLs. Another institution can
    compare it with its own store, and neither has to hand over a URL. Whoever has the sample can
    still test whether it holds a URL that they guess.
    """
    import crawlgauge as cg

    if export is not None:
        if others or choices["persistence"] is not None or level not in (None, "url"):
            raise click.UsageError("--export takes --sample and --store alone")
        sample = choices["sample"] or "1/64"
        with show_progress("exporting") as progress:
            written = cg.export_sample(store, export, sample=sample, progress=progress)
        document = asdict(written)
        show_written(
            {"written": str(document.pop("path")), **document},
            f"wrote {export}: {written.n_keys:,} hashed URLs of {written.n_crawls} crawls, "
            "without hosts or names of files",
        )
        return
    if not others:
        raise click.UsageError("name the store of at least one other archive, or --export DIR")
    with show_progress("comparing") as progress:
        result = cg.compare(store, others, level=level or "url", progress=progress, **choices)
    show(result)
