"""What ``add`` prints: a sentence for each crawl, and examples of what was rejected."""

import logging
from collections.abc import Sequence

import click

from crawlgauge.cli.records import to_record
from crawlgauge.report import crawls_json, crawls_text
from crawlgauge.store.adding import Addition

__all__ = ["print_addition", "print_json"]

_log = logging.getLogger(__name__)


def print_addition(addition: Addition) -> None:
    """Print what came of adding a crawl in words."""
    _warn(addition)
    record = to_record(addition.crawl_set)
    if addition.outcome == "unchanged":
        click.echo(f"{record.crawl.label}: unchanged, the same files were added before")
    else:
        click.echo(f"{addition.outcome} {crawls_text.describe_added(record)}")


def print_json(additions: Sequence[Addition]) -> None:
    """Print what came of adding crawls as JSON."""
    for addition in additions:
        _warn(addition)
    records = [to_record(addition.crawl_set) for addition in additions]
    outcomes = {item.crawl_set.crawl.label: item.outcome for item in additions}
    click.echo(crawls_json.to_json(records, outcomes=outcomes))


def _warn(addition: Addition) -> None:
    """Tell rejected lines and damage on standard error."""
    for example in addition.examples:
        _log.warning(
            "%s, line %d: rejected (%s): %s",
            example.file,
            example.line,
            example.reason,
            example.text,
        )
    for damage in addition.crawl_set.damage:
        _log.warning("crawl %s is incomplete: %s", addition.crawl_set.crawl.label, damage)
