"""The command ``report``: one HTML page with the answer, its checks and all figures."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_from, estimate_inputs
from crawlgauge.cli.progress import show_progress
from crawlgauge.errors import OverlapError
from crawlgauge.locations import find_store

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.report.section import Answer

__all__ = ["report"]


# ---------------------------- the further questions that a report answers, as options of ``report``


_NONE = "none"
_USUAL = "host"

_OPTIONS = (
    click.option(
        "--strata",
        multiple=True,
        type=click.Choice(["host", "domain", "tld", "mime", "status", _NONE]),
        help="With a section on coverage by host, domain and so on; repeatable. From a store, by "
        "host if not given; none for no such section.",
    ),
    click.option(
        "--compare",
        multiple=True,
        metavar="STORE",
        help="With a section that compares with this store of another archive; repeatable.",
    ),
    click.option(
        "--recall",
        metavar="FILE",
        help="With a section on how much of this list of URLs, hosts or domains the crawls hold.",
    ),
    click.option(
        "--sensitivity",
        is_flag=True,
        help="With a section on what moves the number; takes as long as some dozen estimates.",
    ),
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportQuestions:
    """What is asked further, as given on the command line.

    Parameters
    ----------
    strata, compare, recall, sensitivity
        As the options of the same names.
    """

    strata: tuple[str, ...]
    compare: tuple[str, ...]
    recall: str | None
    sensitivity: bool


def report_questions(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options about further questions, as its parameter ``questions``.

    Parameters
    ----------
    command
        A function that takes ``questions``, a `ReportQuestions`.
    """
    return options.gather(command, _OPTIONS, ReportQuestions, "questions")


def answer_questions(
    fit: "Fit", inputs: EstimateInputs, asked: ReportQuestions
) -> "Iterator[Answer]":
    """Yield the answers, in the order of the report.

    Parameters
    ----------
    fit
        The estimates.
    inputs
        Where they come from.
    asked
        What `report_questions` gives a command.

    Raises
    ------
    click.UsageError
        If a question takes a store, and there is none.
    """
    is_stored = inputs.table is None and inputs.histories is None
    wanted = [by for by in dict.fromkeys(asked.strata) if by != _NONE]
    if not is_stored and (wanted or asked.compare or asked.recall):
        raise click.UsageError("--strata, --compare and --recall take a store, not a table")
    if is_stored:
        yield from _divide(inputs, wanted, is_usual=not asked.strata)
        yield from _ask_store(inputs, asked)
    if asked.sensitivity:
        from crawlgauge.questions.sensitivity import sensitivity

        store = str(find_store(inputs.store)) if is_stored else None
        with show_progress("estimating with changes") as progress:
            yield sensitivity(fit, store=store, progress=progress)


def _divide(inputs: EstimateInputs, wanted: list[str], *, is_usual: bool) -> "Iterator[Answer]":
    from crawlgauge.questions.strata import estimate_strata

    for by in [_USUAL] if is_usual else wanted:
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


def _ask_store(inputs: EstimateInputs, asked: ReportQuestions) -> "Iterator[Answer]":
    if asked.compare:
        from crawlgauge.questions.comparison import compare

        with show_progress("comparing archives") as progress:
            yield compare(
                inputs.store, asked.compare, level=inputs.level or "url", progress=progress
            )
    if asked.recall is not None:
        from crawlgauge.questions.recall import recall

        yield recall(inputs.store, asked.recall)


# --------------------------------------------------------------------------- the command ``report``


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
@report_questions
@options.as_json
def report(
    inputs: EstimateInputs,
    questions: ReportQuestions,
    output: str,
    is_opened: bool,
    as_json: bool,
) -> None:
    """Write a page that says how much the crawls hold, how sure that is, and why.

    From the store, or from TABLE, as for estimate. The page is one file that needs no network: it
    can be sent by mail, kept with the archive and opened in ten years.
    """
    from crawlgauge import api

    fit = estimate_from(inputs)
    written = api.write_report(fit, output, answer_questions(fit, inputs, questions))
    if as_json:
        click.echo(json.dumps(written.to_dict(), indent=1))
    else:
        _log.info(
            "wrote %s: %d figures, %d kB", written.path, written.n_charts, written.n_bytes // 1000
        )
    if is_opened:
        click.launch(written.path.resolve().as_uri())
