"""The command ``simulate``: archives whose truth is known, as files, as a store or as a table."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from crawlgauge.cli import options
from crawlgauge.cli.options import option
from crawlgauge.cli.output import show_either
from crawlgauge.cli.progress import show_progress

if TYPE_CHECKING:
    from crawlgauge.simulate.archive import SimulatedArchive, SimulatedTable

_DEFAULT_FOLDER = "crawlgauge-simulated"
_Settings = TypeVar("_Settings")

_shared_options = options.stack(
    option(
        "-o --output DIR",
        "The folder to write to; it must be empty, and is made if missing.",
        name="folder",
        default=_DEFAULT_FOLDER,
    ),
    option(
        "--as url-lists|cdxj|crawl-log|warc|store|table",
        "What to write beside truth.json: a file for each crawl, a store, or overlaps.json.",
        name="form",
        default="url-lists",
    ),
    option("--seed INTEGER", "Equal seeds give equal archives.", default=1),
    option("--crawls N", "Number of crawls.", name="n_crawls", type=click.IntRange(1)),
    option("--describe", "Say in words what would be simulated."),
    option("--list", "List the scenarios.", name="list_all"),
    option("--workers N", "How many threads write.", type=click.IntRange(1)),
    options.as_json,
)


@options.group()
@options.quiet
def simulate() -> None:
    """Make archives whose truth is known, to test estimates.

    Examples
    --------
    crawlgauge simulate urn --list
    crawlgauge simulate urn --scenario survival-mix --describe
    crawlgauge simulate urn --scenario gaw -o archive --as cdxj
    crawlgauge simulate web --scenario gaw-web -o archive --as store

    Notes
    -----
    Both have --help with more examples, and --json.
    """


@options.command()
@option("--scenario NAME", "See --list.", default="gaw")
@option("--population N", "URLs that the first crawl could reach.", type=int)
@option("--coverage SHARE", "The share that the first crawl holds.")
@option("--persistence SHARE", "The share that lives on for a year.")
@_shared_options
def urn(form: str, **how: Any) -> None:  # noqa: ANN401 - the other options
    """Draw crawls at random from a changing population of URLs.

    The paper's urn, or a scenario that departs from it as real archives do. With --as table
    nothing but the overlaps are drawn, for a population of any size.

    Examples
    --------
    crawlgauge simulate urn --list
    crawlgauge simulate urn --scenario core-periphery --describe
    crawlgauge simulate urn --scenario gaw -o archive
    crawlgauge simulate urn --scenario avoid-most -o archive --as warc --population 2000
    crawlgauge simulate urn --scenario pure -o archive --as table --population 1000000000
    """
    from crawlgauge.simulate import scenarios
    from crawlgauge.simulate.urn_settings import describe

    _simulate(
        {name: one.summary for name, one in scenarios.SCENARIOS.items()},
        scenarios.choose_urn,
        describe,
        scenarios.simulate_table if form == "table" else scenarios.simulate_urn,
        form=form,
        **how,
    )


@options.command()
@option("--scenario NAME", "See --list.", default="gaw-web")
@option("--pages N", "Living pages.", name="n_pages", type=int)
@option("--budget SHARE", "The share of the crawlable URLs that a crawl may fetch.")
@_shared_options
def web(**how: Any) -> None:  # noqa: ANN401 - options are of many types
    """Let a crawler loose on a changing web of pages and links.

    Examples
    --------
    crawlgauge simulate web --list
    crawlgauge simulate web --scenario gaw-web --describe
    crawlgauge simulate web --scenario gaw-web -o archive --as store
    crawlgauge simulate web --scenario polite-web -o archive --pages 1000000 --budget 0.2
    """
    from crawlgauge.simulate.scenarios import WEB_SCENARIOS, choose_web, simulate_web
    from crawlgauge.simulate.web_settings import describe_web

    _simulate(
        {name: one.crawler.policy for name, one in WEB_SCENARIOS.items()},
        choose_web,
        describe_web,
        simulate_web,
        **how,
    )


simulate.add_command(urn)
simulate.add_command(web)


def _simulate(
    summaries: Mapping[str, str],
    choose: Callable[..., _Settings],
    tell: Callable[[_Settings], str],
    draw: "Callable[..., SimulatedArchive | SimulatedTable]",
    *,
    scenario: str,
    folder: str,
    form: str,
    seed: int,
    describe: bool,
    list_all: bool,
    workers: int | None,
    **changes: float | None,
) -> None:
    """List the scenarios, tell what one of them is, or draw it and write what was drawn."""
    from crawlgauge.simulate.archive_files import write_simulation

    if list_all:
        rows = [{"scenario": name, "summary": text} for name, text in summaries.items()]
        width = max(map(len, summaries))
        lines = (f"{name:{width}}  {text}" for name, text in summaries.items())
        show_either(rows, "\n".join(lines))
        return
    settings = choose(scenario, **changes)
    if describe:
        text = tell(settings)
        show_either({"scenario": scenario, "description": text}, text)
        return
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise click.UsageError(f"{folder} is not empty; name another folder with -o")
    with show_progress("simulating"):
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
    show_either({"form": form, "files": files, "truth": truth}, text)
