"""What ``add`` prints: a sentence for each crawl, and examples of what was rejected."""

import logging
from collections.abc import Iterable

import click

from crawlgauge.cli.records import to_record
from crawlgauge.report import crawls_json, crawls_text
from crawlgauge.store.adding import Addition

__all__ = ["print_additions"]

_log = logging.getLogger(__name__)


def print_additions(additions: Iterable[Addition], *, as_json: bool) -> None:
    """Print what came of adding crawls; rejected lines and damage go to standard error."""
    additions = tuple(additions)
    for addition in additions:
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
    records = [to_record(addition.crawl_set) for addition in additions]
    if as_json:
        outcomes = {item.crawl_set.crawl.label: item.outcome for item in additions}
        click.echo(crawls_json.to_json(records, outcomes=outcomes))
        return
    for addition, record in zip(additions, records, strict=True):
        if addition.outcome == "unchanged":
            click.echo(f"{record.crawl.label}: unchanged, the same files were added before")
        else:
            click.echo(f"{addition.outcome} {crawls_text.describe_added(record)}")
