"""Named scenarios and what they give: those of the urn are in ``scenarios.toml``."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from crawlgauge.simulate.archive import SimulatedArchive, SimulatedTable
from crawlgauge.simulate.urn_sets import draw_sets
from crawlgauge.simulate.urn_settings import (
    Avoidance,
    Course,
    DatePlan,
    HostNoise,
    ScopeChange,
    TableNoise,
    UrlClass,
    UrnSettings,
    change_length,
    change_settings,
    require,
)
from crawlgauge.simulate.urn_table import draw_table
from crawlgauge.simulate.web_archive import simulate_crawler
from crawlgauge.simulate.web_settings import CrawlerSettings, Policy, TrapSettings, WebSettings

__all__ = ["simulate_table", "simulate_urn", "simulate_web"]


# ---------------------------------------------------------------------------------- named scenarios


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A named simulation.

    Parameters
    ----------
    settings
        What is simulated; it bears the name.
    summary
        What it is, in a few words.
    """

    settings: UrnSettings
    summary: str


def find_scenario(name: str) -> UrnSettings:
    """Return the settings of a named scenario.

    Parameters
    ----------
    name
        One of `SCENARIOS`.

    Raises
    ------
    SimulationError
        If there is none of that name.

    Examples
    --------
    >>> find_scenario("gaw").n_crawls
    15
    """
    require(name in SCENARIOS, f"there is no scenario {name!r}; there are {', '.join(SCENARIOS)}")
    return SCENARIOS[name].settings


_PARTS: Mapping[str, Callable[..., object]] = {
    "dates": DatePlan,
    "population": Course,
    "coverage": Course,
    "avoidance": Avoidance,
    "scope_change": ScopeChange,
    "host_noise": HostNoise,
    "table_noise": TableNoise,
}


def _read_scenarios() -> Iterator[tuple[str, Scenario]]:
    text = (files(__package__) / "scenarios.toml").read_text("utf-8")
    for name, values in tomllib.loads(text).items():
        summary, classes = values.pop("summary"), values.pop("classes", [{}])
        parts: dict[str, Any] = {
            key: _PARTS[key](**value) if isinstance(value, dict) else value
            for key, value in ({"dates": {"n_crawls": 12}} | values).items()
        }
        kinds = tuple(UrlClass(**kind) for kind in classes)
        settings = UrnSettings(scenario=name, classes=kinds, **parts)
        yield name, Scenario(settings=settings, summary=summary)


SCENARIOS: Mapping[str, Scenario] = MappingProxyType(dict(_read_scenarios()))
"""All scenarios by name."""


# ---------------------------------------------------- named scenarios of crawlers on a changing web


_POLICIES: Mapping[str, Policy] = {
    "gaw-web": "breadth-first",
    "uniform-web": "uniform",
    "pagerank-web": "pagerank",
    "capped-web": "capped",
    "polite-web": "polite",
    "common-crawl-web": "adaptive",
    "persistent-web": "longest-unseen",
    "trap-web": "breadth-first",
}

WEB_SCENARIOS: Mapping[str, WebSettings] = {
    name: WebSettings(
        scenario=name,
        crawler=CrawlerSettings(policy=policy),
        traps=TrapSettings(n_hosts=60 if name == "trap-web" else 0),
    )
    for name, policy in _POLICIES.items()
}
"""Settings of each scenario, by name."""


# ----------------------------------------------------- scenarios with some of their numbers changed


def choose_urn(
    scenario: str | UrnSettings | None = None,
    n_crawls: int | None = None,
    population: int | None = None,
    coverage: float | None = None,
    persistence: float | None = None,
) -> UrnSettings:
    """Return the settings of a scenario with some of its numbers changed.

    Parameters
    ----------
    scenario, n_crawls, population, coverage, persistence
        As for `simulate_urn`.

    Raises
    ------
    SimulationError
        If there is no such scenario, or the numbers do not fit it.
    """
    settings = find_scenario(scenario) if isinstance(scenario, str) else scenario or UrnSettings()
    return change_settings(settings, n_crawls, population, coverage, persistence)


def choose_web(
    scenario: str | WebSettings = "gaw-web",
    n_crawls: int | None = None,
    n_pages: int | None = None,
    budget: float | None = None,
) -> WebSettings:
    """Return the settings of a web scenario with some of its numbers changed.

    Parameters
    ----------
    scenario, n_crawls, n_pages, budget
        As for `simulate_web`.

    Raises
    ------
    SimulationError
        If there is no such scenario, or the numbers do not fit it.
    """
    if isinstance(scenario, str):
        require(
            scenario in WEB_SCENARIOS,
            f"there is no scenario {scenario!r}; there are {', '.join(WEB_SCENARIOS)}",
        )
        scenario = WEB_SCENARIOS[scenario]
    settings = scenario
    if n_crawls is not None:
        settings = replace(settings, dates=change_length(settings.dates, n_crawls))
    if n_pages is not None:
        settings = replace(settings, graph=replace(settings.graph, n_pages=n_pages))
    if budget is not None:
        settings = replace(settings, crawler=replace(settings.crawler, budget_share=budget))
    return settings


# ------------------------------------------------------------------ simulate by name of a scenario


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
    return simulate_crawler(choose_web(scenario, n_crawls, n_pages, budget), seed=seed)
