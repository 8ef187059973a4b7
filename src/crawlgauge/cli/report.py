"""The command ``report``: one HTML page with the answer, its checks and all figures."""

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_from, estimate_inputs
from crawlgauge.cli.output import show_written
from crawlgauge.cli.progress import show_progress
from crawlgauge.errors import OverlapError

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.report.section import Answer

__all__ = ["report"]

_NONE = "none"

_log = logging.getLogger(__name__)


@click.command(
    epilog="""\b
Examples:
  crawlgauge report
  crawlgauge report -o coverage.html --open
  crawlgauge report overlaps.csv -o report.html
  crawlgauge report --since 2016-01-01 -o since-2016.html
  crawlgauge report --strata domain --strata mime --sensitivity
  crawlgauge report --compare ../other/crawlgauge.store --recall home-pages.txt
  crawlgauge report --json"""
)
@estimate_inputs
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="report.html",
    show_default=True,
    help="Where the page is written; one that stands there is replaced.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--strata",
    multiple=True,
    type=click.Choice(["host", "domain", "tld", "mime", "status", _NONE]),
    help="With a section on coverage by host, domain and so on; repeatable. From a store, by "
    "host if not given; none for no such section.",
)
@click.option(
    "--compare",
    multiple=True,
    metavar="STORE",
    help="With a section that compares with this store of another archive; repeatable.",
)
@click.option(
    "--recall",
    metavar="FILE",
    help="With a section on how much of this list of URLs, hosts or domains the crawls hold.",
)
@click.option(
    "--sensitivity",
    is_flag=True,
    help="With a section on what moves the number; takes as long as some dozen estimates.",
)
@options.as_json
def report(
    inputs: EstimateInputs,
    output: str,
    is_opened: bool,
    strata: tuple[str, ...],
    compare: tuple[str, ...],
    recall: str | None,
    sensitivity: bool,
    as_json: bool,
) -> None:
    """Write a page that says how much the crawls hold, how sure that is, and why.

    From the store, or from TABLE, as for estimate. The page is one file that needs no network: it
    can be sent by mail, kept with the archive and opened in ten years.
    """
    from crawlgauge import api

    fit = estimate_from(inputs)
    answers = _answer(fit, inputs, strata, compare, recall, sensitivity=sensitivity)
    written = api.write_report(fit, output, answers)
    text = f"wrote {written.path}: {written.n_charts} figures, {written.n_bytes // 1000} kB"
    show_written(written.to_dict(), text, as_json=as_json)
    if is_opened:
        click.launch(written.path.resolve().as_uri())


def _answer(
    fit: "Fit",
    inputs: EstimateInputs,
    strata: Sequence[str],
    compare: Sequence[str],
    recall: str | None,
    *,
    sensitivity: bool,
) -> "Iterator[Answer]":
    """Yield the answers to further questions, in the order of the report."""
    import crawlgauge as cg

    wanted = [by for by in dict.fromkeys(strata) if by != _NONE]
    is_stored = inputs.counted_in is not None
    if not is_stored and (wanted or compare or recall):
        raise click.UsageError("--strata, --compare and --recall take a store, not a table")
    if is_stored:
        yield from _divide(inputs, wanted, is_usual=not strata)
    if compare:
        level = inputs.level or "url"
        with show_progress("comparing archives") as progress:
            yield cg.compare(inputs.store, compare, level=level, progress=progress)
    if is_stored and recall is not None:
        yield cg.recall(inputs.store, recall)
    if sensitivity:
        with show_progress("estimating with changes") as progress:
            yield cg.sensitivity(fit, store=inputs.counted_in, progress=progress)


def _divide(inputs: EstimateInputs, wanted: list[str], *, is_usual: bool) -> "Iterator[Answer]":
    from crawlgauge.questions.strata import estimate_strata

    for by in ["host"] if is_usual else wanted:
        try:
            with show_progress(f"reading crawls by {by}") as progress:
                found = estimate_strata(
                    inputs.store,
                    by=by,
                    since=inputs.since,
                    until=inputs.until,
                    exclude=inputs.exclude,
                    progress=progress,
                )
        except OverlapError as error:
            if not is_usual:
                raise
            _log.info("the report has no section on hosts: %s", error)
        else:
            yield found
