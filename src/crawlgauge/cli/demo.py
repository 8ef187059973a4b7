"""The command ``demo``: the whole story on simulated data, with the truth beside the estimate."""

import json

import click

from crawlgauge.cli import options
from crawlgauge.cli.progress import show_progress

__all__ = ["demo"]


@click.command(
    epilog="""\b
Examples:
  crawlgauge demo
  crawlgauge demo /tmp/demo --seed 7"""
)
@click.argument("folder", default="crawlgauge-demo", metavar="[DIR]")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the random numbers.")
@options.as_json
def demo(folder: str, seed: int, as_json: bool) -> None:
    """Simulate an archive of 15 crawls, add it to a store, estimate, and compare with the truth.

    DIR receives the simulated CDXJ files with truth.json, the store and report.html; it is made if
    it is missing, and what an earlier demo left in it is replaced. Default: crawlgauge-demo.
    """
    from crawlgauge.demonstration import compare_with_truth, run_demo, write_demo_report

    with show_progress("simulating and reading") as progress:
        result = run_demo(folder, seed=seed, progress=progress)
    report = write_demo_report(result)
    if as_json:
        document = {
            "truth": result.archive.truth.to_dict(),
            "estimate": result.fit.to_dict(),
            "report": str(report),
        }
        click.echo(json.dumps(document, indent=1))
        return
    click.echo(f"""\
Simulated {len(result.archive.crawls)} crawls of a web whose size and turnover are known, wrote \
them as CDXJ
files, added them to a store, and estimated from their overlaps alone:

{result.fit.summary()}

Truth and estimate:
{compare_with_truth(result.archive.truth, result.fit.estimates)}

CDXJ files and truth.json: {result.indexes}
Store: {result.store}
Report: {report} (open it in a browser)
Try next: crawlgauge list --store {result.store}
          crawlgauge overlaps --store {result.store}""")
