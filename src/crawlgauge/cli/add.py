"""The command ``add``: read archive files into the store."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.engine import with_engine
from crawlgauge.cli.options import option, wants_json
from crawlgauge.cli.output import say
from crawlgauge.cli.progress import show_reading

if TYPE_CHECKING:
    from crawlgauge.cli.engine import RunSpark
    from crawlgauge.ingest.adding import Addition
    from crawlgauge.sources.captures import Rejection

EXIT_DAMAGED = 4

_log = logging.getLogger(__name__)


@options.command()
@click.argument("label", required=False, type=options.FILE)
@click.argument("inputs", nargs=-1, metavar="INPUT...", type=options.FILE)
@option("--each", "Make a crawl of each file, named by it. No LABEL then.")
@option("--from CSV", "Add all crawls of a list: label,date,path.", name="crawl_list")
@option(
    "--split month|quarter|half-year|year|collection",
    "Cut the index of a whole collection into crawls by capture time, or what a CDX server holds "
    "by the collections that its collinfo.json lists. No LABEL then.",
    name="period",
)
@option(
    "--split-by REGEX",
    "Cut it by the WARC files' names: the first group is the label. No LABEL then.",
    name="pattern",
)
@option(
    "--split-field NAME",
    "The field that --split-by looks at, if not the WARC file's name.",
    default="filename",
)
@option("--date DATE", "The date that stands for the crawl.")
@option(
    "--levels LIST",
    "What to keep of the captures, between commas: url, content (by their digests) and text (by "
    "the words of HTML pages; WARC, ARC and WACZ only). url is always needed.",
    default="url",
)
@options.reading
@options.replace
@option("--append", "Add the inputs to the crawl that has this label.")
@with_engine
@options.store
@options.as_json
def add(
    label: str | None,
    inputs: tuple[str, ...],
    each: bool,
    crawl_list: str | None,
    period: Any,  # noqa: ANN401 - click checks the choice
    pattern: str | None,
    split_field: str,
    date: str | None,
    append: bool,
    store: str | None,
    spark: "RunSpark | None",
    **reading: Any,  # noqa: ANN401 - those of `options.reading`, --levels and --replace
) -> int:
    r"""Read the files of a crawl into the store.

    LABEL names the crawl. INPUT is a file, folder or glob, @list.txt (a file that names inputs),
    or - for standard input; all but - may be remote, such as s3://bucket/folder/. cdx+ before the
    address of a CDX server asks it, page by page; ccindex+ stands before the folder of a ZipNum
    cluster on a server. Of a crawler's folder what holds its captures is read. Formats are told
    by content: WARC, ARC, WACZ, CDX, CDXJ, ZipNum, Heritrix's crawl.log, Parquet, CSV, TSV, JSON
    Lines, answers of CDX servers, lists of URLs; plain, gzip, bzip2, xz or zstd. What is left out
    is counted, and you are told why.

    Examples
    --------
    crawlgauge add 2021-12 crawls/2021-12/
    crawlgauge add 2021-12 'crawls/2021-12/*.cdx.gz' --date 2021-12-13
    crawlgauge add 2021-12 later-part.warc.gz --append
    crawlgauge add --each crawls/*.cdxj.gz
    crawlgauge add --split half-year collection.cdxj.gz
    crawlgauge add --split-by 'GAW-(\d{4}-\d{2})' collection.cdxj.gz
    crawlgauge add 2021-12 urls.csv --column page
    crawlgauge add 2021-12 crawls/2021-12/ --sample 1/64
    crawlgauge add 2021-12 crawls/2021-12/ --levels url,content
    crawlgauge add 2021-12 's3://archive/2021-12/*.cdx.gz'
    zcat urls.gz | crawlgauge add 2021-12 -
    crawlgauge add --from crawls.csv
    crawlgauge add --split year 'cdx+https://web.archive.org/cdx/search/cdx?url=*.example.org'
    crawlgauge add CC-MAIN-2023-40 --scope scope.txt \
      ccindex+https://data.commoncrawl.org/cc-index/collections/CC-MAIN-2023-40/indexes/
    crawlgauge add CC-MAIN-2023-40 cc-index/crawl=CC-MAIN-2023-40/subset=warc --engine spark

    Notes
    -----
    The date of a crawl is --date, else the day of its median capture, else the one that its label
    contains, else the one in the names of its files: 2013-12-15, 20131215, 2013-12 (its 15th), a
    time of 14 digits, or CC-MAIN-2023-40 (Monday of that week). --each labels a crawl by the date
    in the file's name, else by the name.
    """
    words = [word for word in (label, *inputs) if word is not None]
    is_cut = period is not None or pattern is not None
    way = options.take_one(
        {"--from": crawl_list, "--each": each, "--split": period, "--split-by": pattern}
    )
    _check_usage(words, way, date, append=append)
    from crawlgauge.sources.remote import count_fetched

    with _open_engine(spark, store) as (one, many, cut):
        if each or crawl_list is not None:
            on_added = None if wants_json() else _print_addition
            reading.update(each=words if each else None, append=append, on_added=on_added)
            additions = many(crawl_list, **reading)
        elif is_cut:
            reading.update(period=period, pattern=pattern, field=split_field)
            result = cut(words, **reading)
            additions = result.additions
        else:
            reading.update(date=date, append=append)
            additions = (one(words[0], words[1:], **reading),)
    if n_fetched := count_fetched():
        _log.info("fetched %s bytes in all", f"{n_fetched:,}")
    if is_cut:
        _warn(result.examples)
        if result.unassigned:
            from crawlgauge.report.crawls import list_reasons

            reasons = list_reasons(result.unassigned)
            _log.warning("left out, as they belong to none of the crawls: %s", reasons)
    if wants_json():
        _print_json(additions)
    elif not each and crawl_list is None:
        for addition in additions:
            _print_addition(addition)
    return EXIT_DAMAGED if any(item.crawl_set.damage for item in additions) else 0


def _check_usage(words: list[str], way: str | None, date: str | None, *, append: bool) -> None:
    if way is None:
        if len(words) < 2:  # noqa: PLR2004 - a label and an input
            raise click.UsageError(
                "name a label and at least one input, or use --each, --from or --split"
            )
    elif date is not None:
        raise click.UsageError(f"{way} makes several crawls; leave out --date")
    elif way == "--from":
        if words:
            raise click.UsageError("--from takes labels and inputs from the list alone")
    elif not words:
        raise click.UsageError(f"name at least one input for {way}")
    elif append and way != "--each":
        raise click.UsageError(f"{way} cannot add to crawls; leave out --append")


@contextmanager
def _open_engine(
    spark: "RunSpark | None", store: str | None
) -> Iterator[tuple[Callable[..., Any], ...]]:
    """Give what adds one crawl, a list of them, and the crawls of a collection."""
    if spark is None:
        from crawlgauge.ingest.adding import add_crawl, add_crawls, split_collection

        with show_reading() as listener:
            ways = (add_crawl, add_crawls, split_collection)
            yield tuple(partial(way, store, progress=listener) for way in ways)
        return
    from crawlgauge.spark import adding

    with spark("adding") as (session, show_tasks):
        how: dict[str, Any] = {"store": store, "progress": show_tasks}
        yield (
            lambda label, inputs, **more: adding.add(session, inputs, label=label, **how, **more),
            partial(adding.add_list, session, **how),
            partial(adding.split, session, **how),
        )


def _print_addition(addition: "Addition") -> None:
    from crawlgauge.report.crawls import describe_added

    _warn_of_losses(addition)
    if addition.outcome == "unchanged":
        label = addition.crawl_set.crawl.label
        say(f"{label}: unchanged, the same files were added before")
    else:
        verb = "appended to" if addition.outcome == "appended" else addition.outcome
        say(f"{verb} {describe_added(addition.crawl_set, addition.others)}")


def _print_json(additions: "Sequence[Addition]") -> None:
    from crawlgauge.report.crawls import to_json

    for addition in additions:
        _warn_of_losses(addition)
    outcomes = {item.crawl_set.crawl.label: item.outcome for item in additions}
    listed = [(item.crawl_set, item.others) for item in additions]
    click.echo(to_json(listed, outcomes=outcomes))


def _warn_of_losses(addition: "Addition") -> None:
    """Tell rejected records and damage on standard error."""
    _warn(addition.examples)
    for damage in addition.crawl_set.damage:
        _log.warning("crawl %s is incomplete: %s", addition.crawl_set.crawl.label, damage)


def _warn(examples: "Sequence[Rejection]") -> None:
    for example in examples:
        place = ""
        if example.line is not None:
            place = f", line {example.line}"
        elif example.offset:
            place = f", byte {example.offset:,}"
        _log.warning("%s%s: rejected (%s): %s", example.file, place, example.reason, example.text)
