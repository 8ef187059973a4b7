"""The command ``history``: what became of URLs from crawl to crawl."""

from crawlgauge.cli import options
from crawlgauge.cli.estimate_inputs import EstimateInputs, table_inputs
from crawlgauge.cli.output import show


@options.command()
@table_inputs
@options.figure
@options.as_json
def history(inputs: EstimateInputs, figure: str | None) -> None:
    """Count what each crawl kept, dropped, recovered and found anew.

    Counted, not estimated. From the store, or from TABLE: an overlap table as CSV, JSON or Parquet,
    or - for standard input. Capture histories (in the store, JSON and Parquet) tell all of it;
    overlaps of pairs tell only what was kept and dropped.

    Examples
    --------
    crawlgauge history
    crawlgauge history overlaps.json
    crawlgauge history --histories histories.csv --crawls crawls.csv
    crawlgauge history --since 2016-01-01 --exclude 2018-06
    crawlgauge history --figure history.svg
    crawlgauge history --json > history.json
    """
    import crawlgauge as cg

    result = cg.history(inputs.read_table())
    if figure is not None:
        result.figure().save(figure)
    show(result)
