"""The command ``estimate``: coverage, persistence and population."""

import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_inputs
from crawlgauge.cli.options import is_quiet, option, wants_json
from crawlgauge.cli.output import say, show_blocks
from crawlgauge.cli.progress import show_progress
from crawlgauge.errors import FitError

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.questions import Sensitivity
    from crawlgauge.report.blocks import Block

_FORMS = (".csv", ".json", ".tex")
_MORE = "More: --full, --explain CHECK; crawlgauge plan, crawlgauge report."

_log = logging.getLogger(__name__)


@options.command()
@estimate_inputs
@option(
    "--full",
    "Print all of it: every crawl, all estimators, what each check found, all cautions.",
    name="is_full",
)
@option("-o --output FILE", "Write the numbers as .csv, .json or .tex instead.")
@option(
    "--explain CHECK",
    "Print instead what a check means, how it is computed and what it found; or, with estimators,"
    " what each estimator assumes.",
)
@option(
    "--sensitivity",
    "Find what moves the number most: estimate again without each crawl and regime, without short"
    " lags, and from parts of the URLs. Takes as long as that many estimates.",
    name="asks_sensitivity",
)
@option(
    "--from CSV",
    "With --sensitivity: the list of the crawls' files, label,date,path. They are read again with"
    " other rules for which URLs are the same, other statuses and media types.",
    name="crawl_list",
)
@option(
    "--sample RATE|auto",
    "With --from: which part of the URLs is read again: 1/64, 0.01 or 1%. By default auto: the 4 "
    "million with the smallest keys of each crawl.",
)
@option(
    "--scope FILE", "With --from: the file of URLs that count, if the crawls were added with one."
)
@options.as_json
def estimate(
    inputs: EstimateInputs,
    is_full: bool,
    output: str | None,
    explain: str | None,
    asks_sensitivity: bool,
    **rereading: Any,  # noqa: ANN401 - what `crawlgauge.sensitivity` takes
) -> None:
    """Estimate how much of the crawlable web the crawls hold.

    From the store, or from TABLE: an overlap table as CSV, JSON or Parquet, or - for standard
    input. What is printed fits on a screen; --full prints the rest.

    Examples
    --------
    crawlgauge estimate
    crawlgauge estimate overlaps.csv
    crawlgauge estimate pairs.csv --crawls crawls.csv
    crawlgauge estimate --histories histories.csv --crawls crawls.csv
    crawlgauge estimate --full
    crawlgauge estimate -o estimate.csv
    crawlgauge estimate --json > estimate.json
    crawlgauge estimate --since 2016-01-01 --exclude 2018-06
    crawlgauge estimate --min-lag 2
    crawlgauge estimate --level content
    crawlgauge estimate --explain short-lag
    crawlgauge estimate --explain estimators
    crawlgauge estimate --sensitivity
    crawlgauge estimate --sensitivity --from crawls.csv --sample 1/16
    crawlgauge estimate two-crawls.csv --persistence 0.73
    """
    given = {name for name, value in rereading.items() if value is not None}
    if "crawl_list" in given and not asks_sensitivity:
        raise click.UsageError("--from goes with --sensitivity")
    if given and "crawl_list" not in given:
        raise click.UsageError("--sample and --scope go with --sensitivity --from CSV")
    way = options.take_one(
        {"-o": output, "--json": wants_json(), "--explain": explain, "--full": is_full}
    )
    if asks_sensitivity and way in {"-o", "--explain"}:
        raise click.UsageError(f"give one of {way} and --sensitivity")
    if output is not None and Path(output).suffix.lower() not in _FORMS:
        forms = ", ".join(_FORMS)
        raise click.UsageError(f"-o writes {forms}, and {output!r} ends in none of them")
    fit = inputs.estimate()
    if explain is not None:
        say(fit.explain(explain))
    elif output is not None:
        _write(fit, output)
    else:
        found = None
        if asks_sensitivity:
            from crawlgauge.questions import sensitivity

            rereading["sample"] = rereading["sample"] or "auto"
            with show_progress("estimating with changes") as progress:
                found = sensitivity(fit, store=inputs.counted_in, progress=progress, **rereading)
        _print(fit, inputs, found, is_full=is_full)


def _write(fit: "Fit", output: str) -> None:
    from crawlgauge.report import estimate_files
    from crawlgauge.report.charts.chart import write_file

    path = Path(output)
    if path.suffix.lower() == ".json":
        text = f"{fit.to_json()}\n"
    elif path.suffix.lower() == ".csv":
        text = estimate_files.to_csv(fit.estimates)
    else:
        text = estimate_files.to_tex(fit.estimates)
    write_file(path, text.encode())
    _log.info("wrote %s", output)


def _print(
    fit: "Fit", inputs: EstimateInputs, found: "Sensitivity | None", *, is_full: bool
) -> None:
    if wants_json():
        from crawlgauge.report.result_json import to_json

        more = {} if found is None else {"sensitivity": found.to_dict()}
        click.echo(to_json({**fit.to_dict(), **more}))
    elif not is_quiet():
        from crawlgauge.report.blocks import Paragraph
        from crawlgauge.report.estimate_blocks import to_blocks

        blocks = to_blocks(fit.estimates, is_full=is_full)
        if not is_full:
            blocks[-1] = [*blocks[-1], Paragraph(text=_MORE, role="note")]
        blocks += _compare_levels(inputs, fit)
        if found is not None:
            blocks += found.to_blocks()
        is_of_urls = inputs.counted_in is not None and fit.table.level == "url"
        if is_of_urls and not fit.estimates.anchors and sys.stdout.isatty():
            from crawlgauge.report.anchor_blocks import COMMAND, HOW
            from crawlgauge.report.blocks import notes

            blocks[-1] = [*blocks[-1], *notes(HOW, f"  {COMMAND}")]
        show_blocks(blocks)


def _compare_levels(inputs: EstimateInputs, fit: "Fit") -> "list[Block]":
    """Return how what was estimated looks beside the URLs, where both come from a store."""
    if fit.table.level == "url" or inputs.counted_in is None:
        return []
    from crawlgauge.report.blocks import Paragraph
    from crawlgauge.report.levels_blocks import to_blocks

    try:
        of_urls = replace(inputs, level="url").estimate()
    except FitError as error:
        # Such as a regime that there is at one level only; the estimates stand without it.
        return [[Paragraph(text=f"Not compared with the URLs: {error}.", role="note")]]
    return to_blocks(of_urls.estimates, fit.estimates)
