"""The command ``estimate``: coverage, persistence and population."""

import click

from crawlgauge.cli import options
from crawlgauge.cli.progress import show_progress

__all__ = ["estimate"]


@click.command(
    epilog="""\b
Examples:
  crawlgauge estimate
  crawlgauge estimate overlaps.csv
  crawlgauge estimate --histories histories.csv --crawls crawls.csv
  crawlgauge estimate --json > estimate.json
  crawlgauge estimate --since 2016-01-01 --exclude 2018-06
  crawlgauge estimate --min-lag 2
  crawlgauge estimate --explain short-lag
  crawlgauge estimate --explain estimators
  crawlgauge estimate two-crawls.csv --persistence 0.73"""
)
@click.argument("table", required=False)
@click.option("--histories", metavar="CSV", help="Capture histories: history,count.")
@click.option("--crawls", metavar="CSV", help="The crawls of --histories: label,date[,n_urls].")
@click.option(
    "--persistence",
    type=float,
    metavar="SHARE",
    help="With two crawls only: the share of URLs that lives on for a year, known from elsewhere.",
)
@click.option("--since", metavar="DATE", help="Leave out crawls before this date.")
@click.option("--until", metavar="DATE", help="Leave out crawls after this date.")
@click.option("--exclude", multiple=True, metavar="LABEL", help="Leave out this crawl; repeatable.")
@click.option("--min-lag", type=int, metavar="N", help="Leave out pairs fewer than N crawls apart.")
@click.option(
    "--regime",
    metavar="N",
    help="Use only the crawls of this regime, between changes of scope: a number or latest.",
)
@click.option(
    "--explain",
    metavar="CHECK",
    help="Tell what a check means, how it is computed and what it found, instead; or, for "
    "estimators, what each estimator assumes.",
)
@options.store
@options.as_json
def estimate(
    table: str | None,
    histories: str | None,
    crawls: str | None,
    persistence: float | None,
    since: str | None,
    until: str | None,
    exclude: tuple[str, ...],
    min_lag: int | None,
    regime: str | None,
    explain: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Estimate how much of the crawlable web the crawls hold.

    From the store, or from TABLE: an overlap table as CSV, JSON or Parquet, or - for standard
    input.
    """
    from crawlgauge import api

    if (histories is None) != (crawls is None):
        raise click.UsageError("--histories and --crawls go together")
    if explain is not None and as_json:
        raise click.UsageError("--explain gives text; the checks of --json hold the numbers")
    if sum(source is not None for source in (table, histories, store)) > 1:
        raise click.UsageError("give one of TABLE, --histories and --store")
    if histories is not None and crawls is not None:
        overlaps = api.read_histories(histories, crawls)
    elif table is not None:
        overlaps = api.read_overlaps(table)
    else:
        with show_progress("counting overlaps") as progress:
            overlaps = api.count_overlaps(store, progress=progress)
    chosen = api.choose_window(
        overlaps, since=since, until=until, exclude=exclude, min_lag=min_lag, regime=regime
    )
    fit = api.estimate(chosen, persistence=persistence)
    if explain is not None:
        click.echo(fit.explain(explain))
    else:
        click.echo(fit.to_json() if as_json else fit.summary())
