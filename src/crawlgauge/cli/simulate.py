"""The command ``simulate``: archives whose truth is known, as files, as a store or as a table."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from crawlgauge.cli import options
from crawlgauge.cli.progress import show_progress

if TYPE_CHECKING:
    from crawlgauge.simulate.archive import SimulatedArchive, SimulatedTable

__all__ = ["simulate"]

_DEFAULT_FOLDER = "crawlgauge-simulated"
_FORMS = ("url-lists", "cdxj", "crawl-log", "warc", "store", "table")

_Function = TypeVar("_Function", bound=Callable[..., None])

_SHARED_OPTIONS = (
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


def _shared_options(function: _Function) -> _Function:
    for option in reversed(_SHARED_OPTIONS):
        function = option(function)
    return function


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
    folder: str,
    form: str,
    seed: int,
    n_crawls: int | None,
    describe: bool,
    list_all: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Draw crawls at random from a population of URLs that turns over: the paper's urn.

    Scenarios depart from the urn in ways that real archives do. With --as table nothing but the
    overlaps are drawn, for a population of any size.
    """
    from crawlgauge import simulation
    from crawlgauge.simulate import urn_settings
    from crawlgauge.simulate.scenarios import SCENARIOS
    from crawlgauge.simulate.simulating import choose_urn

    if list_all:
        _print_list({name: one.summary for name, one in SCENARIOS.items()}, as_json)
        return
    settings = choose_urn(
        scenario,
        n_crawls=n_crawls,
        population=population,
        coverage=coverage,
        persistence=persistence,
    )
    if describe:
        _print_description(scenario, urn_settings.describe(settings), as_json)
        return
    _require_empty(folder)
    draw = simulation.simulate_table if form == "table" else simulation.simulate_urn
    _write(draw(settings, seed=seed), folder=folder, form=form, workers=workers, as_json=as_json)


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
    folder: str,
    form: str,
    seed: int,
    n_crawls: int | None,
    describe: bool,
    list_all: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Let a crawler loose on a web of pages and links that changes between crawls."""
    from crawlgauge import simulation
    from crawlgauge.simulate.scenarios import WEB_SCENARIOS
    from crawlgauge.simulate.simulating import choose_web
    from crawlgauge.simulate.web_settings import describe_web

    if list_all:
        _print_list({name: one.crawler.policy for name, one in WEB_SCENARIOS.items()}, as_json)
        return
    settings = choose_web(scenario, n_crawls=n_crawls, n_pages=n_pages, budget=budget)
    if describe:
        _print_description(scenario, describe_web(settings), as_json)
        return
    _require_empty(folder)
    _write(
        simulation.simulate_web(settings, seed=seed),
        folder=folder,
        form=form,
        workers=workers,
        as_json=as_json,
    )


def _print_list(summaries: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        rows = [{"scenario": name, "summary": text} for name, text in summaries.items()]
        click.echo(json.dumps(rows, indent=1))
        return
    width = max(map(len, summaries))
    for name, text in summaries.items():
        click.echo(f"{name:{width}}  {text}")


def _print_description(scenario: str, text: str, as_json: bool) -> None:
    document = {"scenario": scenario, "description": text}
    click.echo(json.dumps(document, indent=1) if as_json else text)


def _require_empty(folder: str) -> None:
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise click.UsageError(f"{folder} is there and not empty; name another folder with -o")


def _write(
    simulated: "SimulatedArchive | SimulatedTable",
    *,
    folder: str,
    form: str,
    workers: int | None,
    as_json: bool,
) -> None:
    from crawlgauge import simulation

    with show_progress("writing") as progress:
        paths = simulation.write_simulation(
            simulated, folder, form, workers=workers, progress=progress
        )
    truth = simulated.truth.to_dict()
    if as_json:
        files = [str(path) for path in paths]
        click.echo(json.dumps({"form": form, "files": files, "truth": truth}, indent=1))
        return
    click.echo(
        f"simulated {len(simulated.crawls)} crawls of the scenario {truth['scenario']}, "
        f"of a typical coverage of {truth['coverage']:.3f}"
    )
    for path in (*paths, Path(folder) / "truth.json"):
        click.echo(path)
