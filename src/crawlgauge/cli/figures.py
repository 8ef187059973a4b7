"""The command ``figures``: every figure as files for papers."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_from, estimate_inputs
from crawlgauge.cli.output import show_written

__all__ = ["figures"]


@click.command(
    epilog="""\b
Examples:
  crawlgauge figures -o figures
  crawlgauge figures overlaps.csv -o figures --format svg,png,pdf
  crawlgauge figures -o figures --since 2016-01-01 --exclude 2018-06
  crawlgauge figures -o figures --json"""
)
@estimate_inputs
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    help="The folder for the figures; made if it is missing. Files of the same names are replaced.",
)
@click.option(
    "--format",
    "formats",
    metavar="LIST",
    default="svg",
    show_default=True,
    help="Some of svg, png and pdf, between commas.",
)
@options.as_json
def figures(inputs: EstimateInputs, output: str, formats: str, as_json: bool) -> None:
    """Draw every figure as files: pictures, their data as CSV, and captions.md.

    From the store, or from TABLE: an overlap table as CSV, JSON or Parquet, or - for standard
    input. Figures that the data do not allow are named in captions.md, with the reason.
    """
    from crawlgauge.report.charts.figures import FORMATS, write_figures

    wanted = [name.strip() for name in formats.lower().split(",") if name.strip()]
    if not wanted or not set(wanted) <= set(FORMATS):
        raise click.UsageError(f"--format takes some of {', '.join(FORMATS)}, not {formats!r}")
    written = write_figures(estimate_from(inputs).estimates, output, wanted)
    n_pictures = sum(path.suffix.removeprefix(".") in FORMATS for path in written)
    show_written(
        {"written": [str(path) for path in written]},
        f"wrote {n_pictures} pictures with data and captions into {output}",
        as_json=as_json,
    )
