"""The command ``figures``: every figure as files for papers."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_inputs
from crawlgauge.cli.options import option
from crawlgauge.cli.output import show_written


@options.command()
@estimate_inputs
@option(
    "-o --output DIR",
    "The folder for the figures; made if it is missing. Files of the same names are replaced.",
    required=True,
)
@option("--format LIST", "Some of svg, png and pdf, between commas.", name="formats", default="svg")
@option(
    "--width 84|174",
    "Of each figure in millimetres: one column of a paper, or both. By default 84, and 174 for "
    "heatmaps of more than 40 crawls.",
)
@option("--no-titles", "Leave the titles out of the pictures; captions.md has them in any case.")
@options.as_json
def figures(
    inputs: EstimateInputs,
    output: str,
    formats: str,
    width: str | None,
    no_titles: bool,
) -> None:
    """Draw every figure as files for papers.

    Pictures, their data as CSV, and captions.md. The paper's six figures also come as the panels
    (a) to (f) of one plate, 174 mm wide. From the store, or from TABLE: an overlap table as CSV,
    JSON or Parquet, or - for standard input. Figures that the data do not allow are named in
    captions.md, with the reason.

    Examples
    --------
    crawlgauge figures -o figures
    crawlgauge figures overlaps.csv -o figures --format svg,png,pdf
    crawlgauge figures -o figures --width 174 --no-titles
    crawlgauge figures -o figures --since 2016-01-01 --exclude 2018-06
    crawlgauge figures -o figures --json
    """
    from crawlgauge.report.charts.chart import PICTURES

    wanted = [name.strip() for name in formats.lower().split(",") if name.strip()]
    if not wanted or not set(wanted) <= set(PICTURES):
        raise click.UsageError(f"--format takes some of {', '.join(PICTURES)}, not {formats!r}")
    millimetres = None if width is None else int(width)
    drawn = inputs.estimate().figures
    written = drawn.save(output, wanted, width=millimetres, titles=not no_titles)
    n_pictures = sum(path.suffix.removeprefix(".") in PICTURES for path in written)
    show_written(
        {"written": [str(path) for path in written]},
        f"wrote {n_pictures} pictures with data and captions into {output}",
    )
