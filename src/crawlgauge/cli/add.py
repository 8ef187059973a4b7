"""The command ``add``: read archive files into the store."""

from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.spark_session import check_engine

if TYPE_CHECKING:
    from crawlgauge.ingest.adding import Addition

__all__ = ["add"]

EXIT_DAMAGED = 4


@click.command(
    epilog="""\b
Examples:
  crawlgauge add 2021-12 crawls/2021-12/
  crawlgauge add 2021-12 'crawls/2021-12/*.cdx.gz' --date 2021-12-13
  crawlgauge add 2021-12 later-part.warc.gz --append
  crawlgauge add --split half-year collection.cdxj.gz
  crawlgauge add --split-by 'GAW-(\\d{4}-\\d{2})' collection.cdxj.gz
  crawlgauge add 2021-12 urls.csv --column page
  crawlgauge add 2021-12 crawls/2021-12/ --sample 1/64
  crawlgauge add 2021-12 crawls/2021-12/ --levels url,content
  crawlgauge add 2021-12 's3://archive/2021-12/*.cdx.gz'
  zcat urls.gz | crawlgauge add 2021-12 -
  crawlgauge add --from crawls.csv
  crawlgauge add CC-MAIN-2023-40 cc-index/crawl=CC-MAIN-2023-40/subset=warc --engine spark

The date of a crawl is --date, else the day of its median capture, else the one that its label
contains: 2013-12-15, 20131215, 2013-12 (its 15th) or CC-MAIN-2023-40 (Monday of that week)."""
)
@click.argument("label", required=False)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option(
    "--from", "crawl_list", metavar="CSV", help="Add all crawls of a list: label,date,path."
)
@click.option(
    "--split",
    "period",
    type=click.Choice(["month", "quarter", "half-year", "year"]),
    help="Cut a collection-wide index into crawls by capture time. No LABEL then.",
)
@click.option(
    "--split-by",
    "pattern",
    metavar="REGEX",
    help="Cut it by the WARC file's name: the first group is the label. No LABEL then.",
)
@click.option(
    "--split-field",
    metavar="NAME",
    default="filename",
    show_default=True,
    help="The field that --split-by looks at: the WARC file's name, or any other of the input.",
)
@click.option("--date", metavar="DATE", help="The date that stands for the crawl.")
@click.option(
    "--levels",
    metavar="LIST",
    default="url",
    show_default=True,
    help="What is kept of the captures: url, content (by their digests) and text (by the words of "
    "HTML pages; WARC, ARC and WACZ only), between commas. url is always needed.",
)
@options.reading
@options.replace
@click.option("--append", is_flag=True, help="Add the inputs to the crawl of that label.")
@options.engine
@options.store
@options.as_json
def add(
    label: str | None,
    inputs: tuple[str, ...],
    crawl_list: str | None,
    period: Any,  # noqa: ANN401 - click checks the choice
    pattern: str | None,
    split_field: str,
    date: str | None,
    replace: bool,
    append: bool,
    engine: str,
    master: str | None,
    spark_conf: tuple[str, ...],
    store: str | None,
    as_json: bool,
    **reading: Any,  # noqa: ANN401 - the options of `options.reading`, and the levels
) -> int:
    """Read the files of a crawl into the store.

    LABEL names the crawl. INPUT is a file, folder or glob, @list.txt (a file that names inputs),
    or - for standard input; all but - may be remote, such as s3://bucket/folder/. Formats are told
    by content: WARC, ARC, WACZ, CDX, CDXJ, ZipNum, Heritrix's crawl.log, Parquet, CSV, TSV, JSON
    Lines, answers of CDX servers, lists of URLs; plain, gzip, bzip2, xz or zstd. What is left out
    is counted and reported by reason.
    """
    from crawlgauge.cli.adding import open_engine, print_addition, print_json, print_unassigned

    words = [word for word in (label, *inputs) if word is not None]
    is_cut = period is not None or pattern is not None
    _check_usage(words, crawl_list, date, is_cut=is_cut, append=append)
    check_engine(engine, master, spark_conf)
    with open_engine(engine, store, master, spark_conf) as adders:
        if crawl_list is not None:

            def tell(addition: "Addition") -> None:
                adders.clear()
                print_addition(addition)

            additions = adders.many(
                crawl_list,
                replace=replace,
                append=append,
                on_added=None if as_json else tell,
                **reading,
            )
        elif is_cut:
            result = adders.cut(
                words,
                period=period,
                pattern=pattern,
                field=split_field,
                replace=replace,
                **reading,
            )
            additions = result.additions
        else:
            addition = adders.one(
                words[0], words[1:], date=date, replace=replace, append=append, **reading
            )
            additions = (addition,)
    if is_cut:
        print_unassigned(result)
    if as_json:
        print_json(additions)
    elif crawl_list is None:
        for addition in additions:
            print_addition(addition)
    return EXIT_DAMAGED if any(item.crawl_set.damage for item in additions) else 0


def _check_usage(
    words: list[str], crawl_list: str | None, date: str | None, *, is_cut: bool, append: bool
) -> None:
    if crawl_list is not None:
        if words or date is not None or is_cut:
            raise click.UsageError("--from takes labels, dates and inputs from the list alone")
    elif is_cut:
        if not words:
            raise click.UsageError("name at least one input to cut into crawls")
        if date is not None or append:
            raise click.UsageError("--split makes crawls of its own; leave out --date and --append")
    elif len(words) < 2:  # noqa: PLR2004 - a label and an input
        raise click.UsageError("name a label and at least one input, or use --from or --split")
