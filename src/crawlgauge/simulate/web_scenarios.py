"""Named scenarios of crawlers on a changing web."""

from collections.abc import Mapping

from crawlgauge.errors import SimulationError
from crawlgauge.simulate.web_settings import CrawlerSettings, TrapSettings, WebSettings

__all__ = ["WEB_SCENARIOS", "find_web_scenario"]


def _scenario(
    name: str, crawler: CrawlerSettings, traps: TrapSettings | None = None
) -> WebSettings:
    return WebSettings(scenario=name, crawler=crawler, traps=traps or TrapSettings())


WEB_SCENARIOS: Mapping[str, WebSettings] = {
    one.scenario: one
    for one in (
        _scenario("gaw-web", CrawlerSettings(policy="breadth-first")),
        _scenario("uniform-web", CrawlerSettings(policy="uniform")),
        _scenario("pagerank-web", CrawlerSettings(policy="pagerank")),
        _scenario("capped-web", CrawlerSettings(policy="capped")),
        _scenario("polite-web", CrawlerSettings(policy="polite")),
        _scenario("common-crawl-web", CrawlerSettings(policy="adaptive")),
        _scenario("persistent-web", CrawlerSettings(policy="longest-unseen")),
        _scenario("trap-web", CrawlerSettings(policy="breadth-first"), TrapSettings(n_hosts=60)),
    )
}
"""Settings of each scenario, by name."""


def find_web_scenario(name: str) -> WebSettings:
    """Return the settings of a named scenario.

    Parameters
    ----------
    name
        One of `WEB_SCENARIOS`.

    Raises
    ------
    SimulationError
        If there is none of that name.

    Examples
    --------
    >>> find_web_scenario("gaw-web").crawler.policy
    'breadth-first'
    """
    if name not in WEB_SCENARIOS:
        raise SimulationError(f"unknown scenario {name!r}; known are {', '.join(WEB_SCENARIOS)}")
    return WEB_SCENARIOS[name]
