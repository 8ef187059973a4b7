"""The command ``report``: one HTML page with the answer, its checks and all figures."""

import json
import logging

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_from, estimate_inputs
from crawlgauge.cli.report_questions import ReportQuestions, answer_questions, report_questions

__all__ = ["report"]

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
