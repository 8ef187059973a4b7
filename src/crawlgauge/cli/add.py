"""The command ``add``: read archive files into the store."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.progress import show_reading
from crawlgauge.cli.spark_session import check_engine, run_spark

if TYPE_CHECKING:
    from crawlgauge.ingest.adding import Addition
    from crawlgauge.report.crawls import CrawlRecord
    from crawlgauge.sources.captures import Rejection

__all__ = ["add"]

EXIT_DAMAGED = 4

_log = logging.getLogger(__name__)


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
    words = [word for word in (label, *inputs) if word is not None]
    is_cut = period is not None or pattern is not None
    _check_usage(words, crawl_list, date, is_cut=is_cut, append=append)
    check_engine(engine, master, spark_conf)
    with _open_engine(engine, store, master, spark_conf) as (one, many, cut, clear):
        if crawl_list is not None:

            def tell(addition: "Addition") -> None:
                clear()
                _print_addition(addition)

            on_added = None if as_json else tell
            additions = many(
                crawl_list, replace=replace, append=append, on_added=on_added, **reading
            )
        elif is_cut:
            reading.update(period=period, pattern=pattern, field=split_field)
            result = cut(words, replace=replace, **reading)
            additions = result.additions
        else:
            reading.update(date=date, append=append)
            additions = (one(words[0], words[1:], replace=replace, **reading),)
    if is_cut:
        _warn(result.examples)
        if result.unassigned:
            from crawlgauge.report.crawls import list_reasons

            reasons = list_reasons(result.unassigned)
            _log.warning("belonging to none of the crawls: %s", reasons)
    if as_json:
        _print_json(additions)
    elif crawl_list is None:
        for addition in additions:
            _print_addition(addition)
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


@contextmanager
def _open_engine(
    engine: str, store: str | None, master: str | None, spark_conf: Sequence[str]
) -> Iterator[tuple[Callable[..., Any], ...]]:
    """Give what adds one crawl, a list of them, the crawls of a collection, and clears the line."""
    if engine == "spark":
        from crawlgauge.spark import adding

        with run_spark("adding", master, spark_conf) as (spark, line):
            how: dict[str, Any] = {
                "store": store,
                "progress": None if line is None else line.show_tasks,
            }
            yield (
                lambda label, inputs, **more: adding.add(spark, inputs, label=label, **how, **more),
                partial(adding.add_list, spark, **how),
                partial(adding.split, spark, **how),
                (lambda: None) if line is None else line.clear,
            )
        return
    from crawlgauge.ingest.adding import add_crawl, add_crawls, split_collection

    with show_reading() as listener:
        yield (
            partial(add_crawl, store, progress=listener),
            partial(add_crawls, store, progress=listener),
            partial(split_collection, store, progress=listener),
            (lambda: None) if listener is None else listener.clear,
        )


def _print_addition(addition: "Addition") -> None:
    from crawlgauge.report.crawls import describe_added

    record = _warn_and_record(addition)
    if addition.outcome == "unchanged":
        click.echo(f"{record.crawl.label}: unchanged, the same files were added before")
    else:
        verb = "appended to" if addition.outcome == "appended" else addition.outcome
        click.echo(f"{verb} {describe_added(record)}")


def _print_json(additions: "Sequence[Addition]") -> None:
    from crawlgauge.report.crawls import to_json

    records = [_warn_and_record(addition) for addition in additions]
    outcomes = {item.crawl_set.crawl.label: item.outcome for item in additions}
    click.echo(to_json(records, outcomes=outcomes))


def _warn_and_record(addition: "Addition") -> "CrawlRecord":
    """Tell rejected records and damage on standard error, and return what is to be printed."""
    from crawlgauge.cli.records import to_record

    _warn(addition.examples)
    for damage in addition.crawl_set.damage:
        _log.warning("crawl %s is incomplete: %s", addition.crawl_set.crawl.label, damage)
    return to_record(addition.crawl_set, addition.others)


def _warn(examples: "Sequence[Rejection]") -> None:
    for example in examples:
        place = ""
        if example.line is not None:
            place = f", line {example.line}"
        elif example.offset:
            place = f", byte {example.offset:,}"
        _log.warning("%s%s: rejected (%s): %s", example.file, place, example.reason, example.text)
