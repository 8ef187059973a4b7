"""Simulate by the name of a scenario, with some of its numbers changed."""

from crawlgauge.simulate.archive import SimulatedArchive, SimulatedTable
from crawlgauge.simulate.scenarios import choose_urn, choose_web
from crawlgauge.simulate.urn_sets import draw_sets
from crawlgauge.simulate.urn_settings import UrnSettings
from crawlgauge.simulate.urn_table import draw_table
from crawlgauge.simulate.web_archive import simulate_crawlers
from crawlgauge.simulate.web_settings import WebSettings

__all__ = ["simulate_table", "simulate_urn", "simulate_web"]


def simulate_urn(
    scenario: str | UrnSettings | None = None,
    *,
    n_crawls: int | None = None,
    population: int | None = None,
    coverage: float | None = None,
    persistence: float | None = None,
    seed: int = 1,
) -> SimulatedArchive:
    """Simulate crawls of a web whose size and turnover are known, as sets of URLs.

    Parameters
    ----------
    scenario
        Name of a scenario, such as ``gaw``, or settings of your own; if None, the paper's urn: 15
        half-yearly crawls of 46 % of 200,000 URLs, of which 73 % live on for a year.
    n_crawls, population, coverage, persistence
        In place of the scenario's.
    seed
        Equal seeds give equal archives.

    Raises
    ------
    SimulationError
        If there is no such scenario, or the numbers do not fit it.
    """
    settings = choose_urn(scenario, n_crawls, population, coverage, persistence)
    return draw_sets(settings, seed=seed)


def simulate_table(
    scenario: str | UrnSettings | None = None,
    *,
    n_crawls: int | None = None,
    population: int | None = None,
    coverage: float | None = None,
    persistence: float | None = None,
    seed: int = 1,
    with_histories: bool | None = None,
) -> SimulatedTable:
    """Simulate an overlap table, as the sets of `simulate_urn` would have it, without any sets.

    It takes milliseconds, whatever the population.

    Parameters
    ----------
    scenario, n_crawls, population, coverage, persistence
        As for `simulate_urn`.
    seed
        Equal seeds give equal tables.
    with_histories
        Whether to draw capture histories too; if None, where that is fast or the only way.

    Returns
    -------
    SimulatedTable
        An overlap table with the truth behind it.

    Raises
    ------
    SimulationError
        As for `simulate_urn`, or if there are too many crawls to do without sets.
    """
    settings = choose_urn(scenario, n_crawls, population, coverage, persistence)
    return draw_table(settings, seed=seed, with_histories=with_histories)


def simulate_web(
    scenario: str | WebSettings = "gaw-web",
    *,
    n_crawls: int | None = None,
    n_pages: int | None = None,
    budget: float | None = None,
    seed: int = 1,
) -> SimulatedArchive:
    """Simulate a crawler on a web of pages and links that changes between crawls.

    The population at a date is all that can be reached from the seeds by links, whatever the
    budget; URLs inside spider traps do not belong to it.

    Parameters
    ----------
    scenario
        Name of a scenario, such as ``gaw-web``, or settings of your own.
    n_crawls, n_pages
        Number of crawls and of living pages, in place of the scenario's.
    budget
        URLs that a crawl may fetch, as a share of the population at the first crawl.
    seed
        Equal seeds give equal archives.

    Raises
    ------
    SimulationError
        If there is no such scenario, or the numbers do not fit it.
    """
    settings = choose_web(scenario, n_crawls, n_pages, budget)
    return simulate_crawlers([settings], seed=seed)[0]
