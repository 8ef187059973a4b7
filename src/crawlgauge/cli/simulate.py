"""The command ``simulate``: archives whose truth is known, as files, as a store or as a table."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from crawlgauge.cli import options
from crawlgauge.cli.output import show_either
from crawlgauge.cli.progress import show_progress

if TYPE_CHECKING:
    from crawlgauge.simulate.archive import SimulatedArchive, SimulatedTable

__all__ = ["simulate"]

_DEFAULT_FOLDER = "crawlgauge-simulated"
_Settings = TypeVar("_Settings")
_FORMS = ("url-lists", "cdxj", "crawl-log", "warc", "store", "table")

_shared_options = options.stack(
    click.option(
        "-o",
        "--output",
        "folder",
        default=_DEFAULT_FOLDER,
        show_default=True,
        metavar="DIR",
        help="Where to; made if it is missing, and must be empty.",
    ),
    click.option(
        "--as",
        "form",
        type=click.Choice(_FORMS),
        default="url-lists",
        show_default=True,
        help="What to write, beside truth.json: a file for each crawl, a store, or overlaps.json.",
    ),
    click.option("--seed", type=int, default=1, show_default=True, help="Of the random numbers."),
    click.option("--crawls", "n_crawls", type=int, metavar="N", help="Number of crawls."),
    click.option("--describe", is_flag=True, help="Tell in words what would be simulated."),
    click.option("--list", "list_all", is_flag=True, help="List the scenarios."),
    click.option("--workers", type=click.IntRange(1), metavar="N", help="Threads that write."),
    options.as_json,
)


@click.group(
    epilog="""\b
Examples:
  crawlgauge simulate urn --list
  crawlgauge simulate urn --scenario survival-mix --describe
  crawlgauge simulate urn --scenario gaw -o archive --as cdxj
  crawlgauge simulate web --scenario gaw-web -o archive --as store

Both have --help with more examples, and --json."""
)
def simulate() -> None:
    """Make archives whose truth is known, to see what an estimate makes of them."""


@simulate.command(
    epilog="""\b
Examples:
  crawlgauge simulate urn --list
  crawlgauge simulate urn --scenario core-periphery --describe
  crawlgauge simulate urn --scenario gaw -o archive
  crawlgauge simulate urn --scenario avoid-most -o archive --as warc --population 2000
  crawlgauge simulate urn --scenario pure -o archive --as table --population 1000000000"""
)
@click.option("--scenario", default="gaw", show_default=True, metavar="NAME", help="What to draw.")
@click.option("--population", type=int, metavar="N", help="URLs that the first crawl could reach.")
@click.option("--coverage", type=float, metavar="SHARE", help="What the first crawl captures.")
@click.option("--persistence", type=float, metavar="SHARE", help="What lives on for a year.")
@_shared_options
def urn(
    scenario: str,
    population: int | None,
    coverage: float | None,
    persistence: float | None,
    n_crawls: int | None,
    **how: Any,  # noqa: ANN401 - the other shared options
) -> None:
    """Draw crawls at random from a population of URLs that turns over: the paper's urn.

    Scenarios depart from the urn in ways that real archives do. With --as table nothing but the
    overlaps are drawn, for a population of any size.
    """
    from crawlgauge.simulate import simulation
    from crawlgauge.simulate.scenarios import SCENARIOS, choose_urn
    from crawlgauge.simulate.urn_settings import describe

    is_table = how["form"] == "table"
    _simulate(
        {name: one.summary for name, one in SCENARIOS.items()},
        scenario,
        lambda: choose_urn(scenario, n_crawls, population, coverage, persistence),
        describe,
        simulation.simulate_table if is_table else simulation.simulate_urn,
        **how,
    )


@simulate.command(
    epilog="""\b
Examples:
  crawlgauge simulate web --list
  crawlgauge simulate web --scenario gaw-web --describe
  crawlgauge simulate web --scenario gaw-web -o archive --as store
  crawlgauge simulate web --scenario polite-web -o archive --pages 1000000 --budget 0.2"""
)
@click.option(
    "--scenario", default="gaw-web", show_default=True, metavar="NAME", help="Web and crawler."
)
@click.option("--pages", "n_pages", type=int, metavar="N", help="Living pages.")
@click.option(
    "--budget", type=float, metavar="SHARE", help="URLs that a crawl may fetch, of all crawlable."
)
@_shared_options
def web(
    scenario: str,
    n_pages: int | None,
    budget: float | None,
    n_crawls: int | None,
    **how: Any,  # noqa: ANN401 - the other shared options
) -> None:
    """Let a crawler loose on a web of pages and links that changes between crawls."""
    from crawlgauge.simulate.scenarios import WEB_SCENARIOS, choose_web
    from crawlgauge.simulate.simulation import simulate_web
    from crawlgauge.simulate.web_settings import describe_web

    _simulate(
        {name: one.crawler.policy for name, one in WEB_SCENARIOS.items()},
        scenario,
        lambda: choose_web(scenario, n_crawls, n_pages, budget),
        describe_web,
        simulate_web,
        **how,
    )


def _simulate(
    summaries: Mapping[str, str],
    scenario: str,
    choose: Callable[[], _Settings],
    tell: Callable[[_Settings], str],
    draw: "Callable[..., SimulatedArchive | SimulatedTable]",
    *,
    folder: str,
    form: str,
    seed: int,
    describe: bool,
    list_all: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """List the scenarios, tell what one of them is, or draw it and write what was drawn."""
    from crawlgauge.simulate.archive_files import write_simulation

    if list_all:
        rows = [{"scenario": name, "summary": text} for name, text in summaries.items()]
        width = max(map(len, summaries))
        lines = (f"{name:{width}}  {text}" for name, text in summaries.items())
        show_either(rows, "\n".join(lines), as_json=as_json)
        return
    settings = choose()
    if describe:
        text = tell(settings)
        show_either({"scenario": scenario, "description": text}, text, as_json=as_json)
        return
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise click.UsageError(f"{folder} is there and not empty; name another folder with -o")
    simulated = draw(settings, seed=seed)
    with show_progress("writing") as progress:
        paths = write_simulation(simulated, path, form, workers=workers, progress=progress)
    files = [str(path) for path in paths]
    truth = simulated.truth.to_dict()
    summary = (
        f"simulated {len(simulated.crawls)} crawls of the scenario {truth['scenario']}, "
        f"of a typical coverage of {truth['coverage']:.3f}"
    )
    text = "\n".join([summary, *files, str(path / "truth.json")])
    show_either({"form": form, "files": files, "truth": truth}, text, as_json=as_json)
