"""The command ``check``: whether the newest crawl is in line with the ones before it."""

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, table_inputs
from crawlgauge.cli.options import option
from crawlgauge.cli.output import show
from crawlgauge.cli.progress import show_progress

EXIT_DROP = 3
"""A drop was found."""


@options.command()
@table_inputs
@option(
    "--threshold SHARE",
    "The smallest drop that is worth an alarm: 20% for a fifth less than expected.",
    default=0.2,
)
@option(
    "--false-alarms SHARE",
    "How often a crawl that is in line may be mistaken for a drop.",
    default=0.05,
)
@options.as_json
def check(inputs: EstimateInputs, threshold: float, false_alarms: float) -> int:
    """Check whether the newest crawl is in line with earlier ones.

    Its coverage, its size and its overlap with earlier crawls are compared with what those
    suggest. If one of the three dropped, you are told by how much, and whether the crawl shrank,
    the web grew or the crawl went elsewhere; the exit code is then 3. At least five crawls are
    needed. With -q nothing is printed if the crawl is in line.

    From the store, or from TABLE: an overlap table as CSV, JSON or Parquet, or - for standard
    input.

    Examples
    --------
    crawlgauge check
    crawlgauge -q check || mail -s "the newest crawl" archive@example.org
    crawlgauge check --threshold 0.1 --false-alarms 0.01
    crawlgauge check --until 2020-12-31
    crawlgauge check overlaps.csv
    crawlgauge check --json >> checks.jsonl

    Notes
    -----
    Exit codes: 0 in line, or impossible to tell (the text and the JSON say which), 1 error, 2 wrong
    usage, 3 a drop was found.
    """
    from crawlgauge.questions import check_newest

    table = inputs.read_table()
    with show_progress("checking"):
        found = check_newest(
            table, threshold=threshold, false_alarms=false_alarms, store=inputs.counted_in
        )
    show(found, is_alarm=found.result.status != "in-line")
    return EXIT_DROP if found.has_drop else 0
