"""What ``add`` prints: a sentence for each crawl, and examples of what was rejected."""

import logging
from collections.abc import Sequence

import click

from crawlgauge.cli.records import to_record
from crawlgauge.ingest.adding import Addition
from crawlgauge.ingest.splitting import SplitResult
from crawlgauge.report import crawls_json, crawls_text
from crawlgauge.sources.captures import Rejection

__all__ = ["print_addition", "print_json", "print_unassigned"]

_log = logging.getLogger(__name__)


def print_addition(addition: Addition) -> None:
    """Print what came of adding a crawl in words."""
    _warn(addition)
    record = to_record(addition.crawl_set, addition.others)
    if addition.outcome == "unchanged":
        click.echo(f"{record.crawl.label}: unchanged, the same files were added before")
    else:
        verb = "appended to" if addition.outcome == "appended" else addition.outcome
        click.echo(f"{verb} {crawls_text.describe_added(record)}")


def print_json(additions: Sequence[Addition]) -> None:
    """Print what came of adding crawls as JSON."""
    for addition in additions:
        _warn(addition)
    records = [to_record(addition.crawl_set, addition.others) for addition in additions]
    outcomes = {item.crawl_set.crawl.label: item.outcome for item in additions}
    click.echo(crawls_json.to_json(records, outcomes=outcomes))


def print_unassigned(result: SplitResult) -> None:
    """Tell on standard error what of a collection belongs to none of its crawls."""
    _warn_of(result.examples)
    if result.unassigned:
        reasons = crawls_text.list_reasons(result.unassigned)
        _log.warning("belonging to none of the crawls: %s", reasons)


def _warn(addition: Addition) -> None:
    """Tell rejected records and damage on standard error."""
    _warn_of(addition.examples)
    for damage in addition.crawl_set.damage:
        _log.warning("crawl %s is incomplete: %s", addition.crawl_set.crawl.label, damage)


def _warn_of(examples: Sequence[Rejection]) -> None:
    for example in examples:
        place = ""
        if example.line is not None:
            place = f", line {example.line}"
        elif example.offset:
            place = f", byte {example.offset:,}"
        _log.warning("%s%s: rejected (%s): %s", example.file, place, example.reason, example.text)
