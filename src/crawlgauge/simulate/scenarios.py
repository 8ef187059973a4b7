"""Named scenarios: the paper's case, ways in which archives depart from it, and noise.

Scenarios differ in one thing from the pure urn, a few in two, so that each shows what that thing
does to an estimate. Those whose names begin with ``regime`` are for the calibration of intervals.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from crawlgauge.errors import SimulationError
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
from crawlgauge.simulate.web_settings import CrawlerSettings, Policy, TrapSettings, WebSettings

__all__ = ["SCENARIOS", "WEB_SCENARIOS", "choose_urn", "choose_web", "find_scenario"]


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


_TWELVE = DatePlan(n_crawls=12)
_LONG_AND_SHORT = (UrlClass(share=0.5, persistence=0.9), UrlClass(share=0.5, persistence=0.45))
_LONG_LIVED_CORE = (
    UrlClass(share=0.33, persistence=0.9, weight=2),
    UrlClass(share=0.67, persistence=0.5, weight=0.5),
)
_MEAN_HAZARD = 0.35
_N_HAZARDS = 12
_EXPONENTIAL_HAZARDS = tuple(
    UrlClass(
        share=1 / _N_HAZARDS,
        # A gamma distribution whose CV is 1 is exponential: its quantiles have a closed form.
        persistence=math.exp(_MEAN_HAZARD * math.log(1 - (k + 0.5) / _N_HAZARDS)),
    )
    for k in range(_N_HAZARDS)
)
_REGIME_POPULATION = 1_000_000
_MARKERS = TableNoise(column_sd=0.2, row_sd=0.1, pair_sd=0.03)


def _depart(name: str, summary: str, **settings: Any) -> Scenario:  # noqa: ANN401 - of many types
    urn = UrnSettings(scenario=name, **{"dates": _TWELVE, **settings})
    return Scenario(settings=urn, summary=summary)


def _regime(name: str, summary: str, **settings: Any) -> Scenario:  # noqa: ANN401 - as above
    usual = {"dates": DatePlan(), "population": _REGIME_POPULATION}
    return _depart(name, summary, **{**usual, **settings})


_ALL = (
    _depart("pure", "the urn itself, all assumptions hold"),
    _depart("gaw", "the German Academic Web as the paper finds it", dates=DatePlan()),
    _depart(
        "gaw-noise",
        "the same with coverage that varies so much that the fit's R² is the paper's, 0.95",
        dates=DatePlan(),
        coverage=Course(first=0.46, noise_sd=0.13),
    ),
    _depart("capture-gamma-mild", "some URLs are captured more readily: CV 0.3", capture_cv=0.3),
    _depart("capture-gamma-strong", "some URLs are captured more readily: CV 0.7", capture_cv=0.7),
    _depart(
        "core-periphery",
        "a core of 30 % captured at 0.9, a periphery at 0.04",
        coverage=0.3,
        classes=(UrlClass(share=0.3, weight=3), UrlClass(share=0.7, weight=0.1429)),
    ),
    _depart(
        "core-always",
        "a core of 20 % that every crawl captures, the rest evenly",
        classes=(UrlClass(share=0.2, weight=50), UrlClass(share=0.8)),
    ),
    _depart(
        "core-long-lived",
        "a core that lives longer and is captured more readily",
        coverage=0.4,
        classes=_LONG_LIVED_CORE,
    ),
    _depart(
        "core-and-reseed",
        "the same core, and 15 % of each crawl taken over from the one before",
        coverage=0.4,
        classes=_LONG_LIVED_CORE,
        reseeded_share=0.15,
    ),
    _depart("survival-mix", "half of the URLs live long, half briefly", classes=_LONG_AND_SHORT),
    _depart(
        "survival-mix-extreme",
        "most URLs live long, 30 % hardly a year",
        classes=(
            UrlClass(share=0.7, persistence=0.85),
            UrlClass(share=0.3, persistence=0.1),
        ),
    ),
    _depart(
        "survival-gamma",
        "lifetimes of all lengths: exponentially distributed rates of death",
        classes=_EXPONENTIAL_HAZARDS,
    ),
    _depart(
        "population-growth",
        "the population grows by 20 % a year, the crawls do not",
        population=Course(first=100_000, growth_per_year=0.2),
        coverage=Course(first=0.44, growth_per_year=1 / 1.2 - 1),
    ),
    _depart(
        "population-shrink",
        "the population shrinks by 20 % a year, the crawls do not",
        population=Course(first=200_000, growth_per_year=-0.2),
        coverage=Course(first=0.22, growth_per_year=0.25),
    ),
    _depart(
        "size-trend",
        "crawls grow by 20 % a year, the population does not",
        coverage=Course(first=0.25, growth_per_year=0.2),
    ),
    _depart(
        "size-noise",
        "crawls differ in size at random, sd 0.3",
        coverage=Course(first=0.4, noise_sd=0.3),
    ),
    _depart(
        "coverage-jump",
        "coverage doubles in the middle of the series",
        coverage=Course(first=0.3, jump=2),
    ),
    _depart(
        "avoid-all",
        "nothing of the last crawl is visited again",
        coverage=0.3,
        avoidance=Avoidance(n_crawls=1, probability=1),
    ),
    _depart(
        "avoid-most",
        "90 % of the last crawl are not visited again",
        coverage=0.3,
        avoidance=Avoidance(n_crawls=1, probability=0.9),
    ),
    _depart(
        "avoid-two",
        "80 % of the last two crawls are not visited again",
        coverage=0.2,
        avoidance=Avoidance(n_crawls=2, probability=0.8),
    ),
    _depart(
        "avoid-and-survival-mix",
        "80 % of the last crawl are not visited again, and lifetimes are mixed",
        coverage=0.3,
        avoidance=Avoidance(n_crawls=1, probability=0.8),
        classes=_LONG_AND_SHORT,
    ),
    _depart("reseed", "20 % of each crawl are taken over from the last", reseeded_share=0.2),
    _depart(
        "scope-change",
        "another configuration from the middle on, with 75 % of the old scope",
        scope_change=ScopeChange(share_common=0.75),
    ),
    _depart(
        "host-noise",
        "each crawl prefers other hosts, 200 of them",
        host_noise=HostNoise(n_hosts=200, sd=0.5),
    ),
    _regime("regime-a", "the urn itself, a million URLs"),
    _regime("regime-b", "sizes vary, sd 0.2", coverage=Course(first=0.46, noise_sd=0.2)),
    _regime("regime-c-mild", "populations vary, sd 0.1", table_noise=TableNoise(column_sd=0.1)),
    _regime("regime-c", "populations vary, sd 0.3", table_noise=TableNoise(column_sd=0.3)),
    _regime(
        "regime-d",
        "populations, markers and pairs vary, sd 0.2, 0.1, 0.03",
        table_noise=_MARKERS,
    ),
    _regime("regime-e", "pairs vary, sd 0.05", table_noise=TableNoise(pair_sd=0.05)),
    _regime(
        "regime-f",
        "as regime-d, at irregular dates",
        dates=DatePlan(irregular=True),
        table_noise=_MARKERS,
    ),
    _regime(
        "regime-g",
        "coverage falls by 10 % a year as the population grows; markers and pairs vary",
        population=Course(first=_REGIME_POPULATION, growth_per_year=1 / 0.9 - 1),
        coverage=Course(first=0.46, growth_per_year=-0.1),
        table_noise=TableNoise(row_sd=0.05, pair_sd=0.03),
    ),
    _regime(
        "regime-h",
        "each crawl prefers other hosts, 50 of them",
        host_noise=HostNoise(n_hosts=50, sd=0.5),
    ),
)

SCENARIOS: Mapping[str, Scenario] = MappingProxyType({one.settings.scenario: one for one in _ALL})
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
    settings = WEB_SCENARIOS.get(scenario) if isinstance(scenario, str) else scenario
    if settings is None:
        known = ", ".join(WEB_SCENARIOS)
        raise SimulationError(f"unknown scenario {scenario!r}; known are {known}")
    if n_crawls is not None:
        settings = replace(settings, dates=change_length(settings.dates, n_crawls))
    if n_pages is not None:
        settings = replace(settings, graph=replace(settings.graph, n_pages=n_pages))
    if budget is not None:
        settings = replace(settings, crawler=replace(settings.crawler, budget_share=budget))
    return settings
