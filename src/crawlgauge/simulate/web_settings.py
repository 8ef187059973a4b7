"""What a simulated web and its crawler are told: sizes, rates, policy and traps."""

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Literal, get_args

from crawlgauge.simulate.urn_settings import (
    DatePlan,
    Dates,
    describe_dates,
    require,
    require_dates,
    require_within,
)

# -------------------- what a simulated web and its crawler are told: sizes, rates, policy and traps


Policy = Literal[
    "breadth-first", "uniform", "pagerank", "capped", "polite", "adaptive", "longest-unseen"
]
TrapKind = Literal["session", "calendar"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSettings:
    """How the web is built and how it changes; all rates are per year.

    Parameters
    ----------
    n_pages
        Living pages at the first crawl, traps not counted.
    n_hosts, n_seeds
        Hosts in all, and how many of them, the largest, are seeds; the others belong to a seed.
    host_exponent
        The r-th largest host has a share of the pages in proportion to ``r ** -host_exponent``.
    links_per_page
        Mean number of links that a new page has besides its site's menus.
    cross_host_share
        Share of those links that may lead to any host.
    attachment
        Share of new links that go where another link goes already (preferential attachment);
        the rest go to any page.
    death_rate
        Rate at which old pages vanish, averaged over depths. Entry pages never vanish.
    infant_factor, infant_years
        New pages vanish faster by this factor, which falls to 1 on this time scale.
    depth_factor
        Each level of depth raises the rate of vanishing by this share of the rate at the top.
    growth_per_year
        Growth of the number of living pages.
    link_loss_rate
        Rate at which links are removed; as many new ones are set elsewhere.
    unlinking_rate
        Rate at which living pages drop out of their site's menus.
    relinking_share
        Share of pages that the site links anew when the page that led to them vanishes.
    n_warm_up
        Intervals for which the web turns over before the first crawl.
    """

    n_pages: int = 200_000
    n_hosts: int = 600
    n_seeds: int = 150
    host_exponent: float = 0.8
    links_per_page: float = 6.0
    cross_host_share: float = 0.1
    attachment: float = 0.7
    death_rate: float = 0.25
    infant_factor: float = 3.0
    infant_years: float = 0.5
    depth_factor: float = 0.1
    growth_per_year: float = 0.0
    link_loss_rate: float = 0.3
    unlinking_rate: float = 0.02
    relinking_share: float = 0.9
    n_warm_up: int = 6

    def __post_init__(self) -> None:
        require(
            1 <= self.n_seeds <= self.n_hosts <= self.n_pages,
            f"{self.n_seeds} seeds, {self.n_hosts} hosts and {self.n_pages} pages do not fit "
            "together: each host has at least one page, and seeds are hosts",
        )
        shares = ("cross_host_share", "attachment", "relinking_share")
        rates = ("death_rate", "link_loss_rate", "unlinking_rate")
        others = ("host_exponent", "links_per_page", "depth_factor", "n_warm_up")
        require_within(self, **dict.fromkeys(shares, "[0, 1]"))
        require_within(self, **dict.fromkeys(rates + others, "[0, inf)"))
        require_within(
            self, infant_factor="[1, inf)", infant_years="(0, inf)", growth_per_year="(-1, inf)"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlerSettings:
    """How the crawler chooses what it fetches.

    Parameters
    ----------
    policy
        ``breadth-first``: by distance from the seeds. ``uniform``: any crawlable page with the
        same chance. ``pagerank``: of all pages found so far the one with the highest PageRank.
        ``capped``: breadth-first with a limit for each host. ``polite``: all hosts at once, each
        at its own speed, some slow and some down. ``adaptive``: any crawlable page, but those of
        the crawl before are mostly passed over. ``longest-unseen``: a frontier that is kept from
        crawl to crawl, in which whatever was not fetched for longest comes first.
    budget_share
        URLs that a crawl may fetch, as a share of the population at the first crawl.
    failure_share
        Share of pages that time out in a crawl; their links are not followed. Not for the
        policies that choose from a list of pages (uniform, adaptive, longest-unseen).
    host_cap_share
        For ``capped``: the largest share of the budget that a host may get.
    priority_noise
        For ``pagerank``: standard deviation of the logarithm of the error of each crawl's ranks.
    speed_spread, slow_share, slow_factor, down_share
        For ``polite``: standard deviation of the logarithm of a host's delay in a crawl; share of
        hosts that are slow in all crawls, and by what factor; share that is down in a crawl.
    avoidance
        For ``adaptive``: share of the crawl before that is passed over.
    """

    policy: Policy = "breadth-first"
    budget_share: float = 0.5
    failure_share: float = 0.02
    host_cap_share: float = 0.01
    priority_noise: float = 0.5
    speed_spread: float = 0.5
    slow_share: float = 0.1
    slow_factor: float = 10.0
    down_share: float = 0.02
    avoidance: float = 0.8

    def __post_init__(self) -> None:
        require(
            self.policy in get_args(Policy),
            f"unknown policy {self.policy!r}; known are {', '.join(get_args(Policy))}",
        )
        shares = ("failure_share", "slow_share", "down_share", "avoidance")
        require_within(self, **dict.fromkeys(shares, "[0, 1]"))
        require_within(self, budget_share="(0, 1]", host_cap_share="(0, 1]")
        require_within(
            self, priority_noise="[0, inf)", speed_spread="[0, inf)", slow_factor="[1, inf)"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapSettings:
    """Spider traps: endless pages below the entry page of some hosts.

    Parameters
    ----------
    n_hosts
        Hosts that have a trap.
    n_links
        Further pages of the trap to which each of them leads.
    kind
        ``session``: the URLs are new in each crawl. ``calendar``: they are the same again.
    """

    n_hosts: int = 0
    n_links: int = 8
    kind: TrapKind = "session"

    def __post_init__(self) -> None:
        require_within(self, n_hosts="[0, inf)", n_links="[1, inf)")
        kinds = get_args(TrapKind)
        require(self.kind in kinds, f"traps of the kind {self.kind!r}; {' or '.join(kinds)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """A changing web, and a crawler that visits it at several dates.

    Parameters
    ----------
    scenario
        Name to be kept with the truth.
    graph, crawler, traps
        The web, the crawler and the spider traps.
    dates
        When the crawls take place: a plan, or the dates themselves in rising order.
    """

    scenario: str = "web"
    graph: GraphSettings = GraphSettings()
    crawler: CrawlerSettings = CrawlerSettings()
    traps: TrapSettings = TrapSettings()
    dates: Dates = field(default_factory=lambda: DatePlan(n_crawls=10))

    def __post_init__(self) -> None:
        require_dates(self.dates)
        require(
            self.traps.n_hosts <= self.graph.n_hosts,
            f"{self.traps.n_hosts} hosts have traps, but there are {self.graph.n_hosts} hosts",
        )


# --------------------------------------------------- A simulated web and its crawler, told in words


def describe_web(settings: WebSettings) -> str:
    """Describe a web, its crawler and its traps in words, a paragraph each.

    Parameters
    ----------
    settings
        What is simulated.
    """
    words = tomllib.loads((files(__package__) / "web.toml").read_text("utf-8"))
    graph, crawler, traps = settings.graph, settings.crawler, settings.traps
    parts = {
        "growth": words["growth"]["some" if graph.growth_per_year else "none"],
        "policy": words["policies"][crawler.policy],
        "traps": words["traps"]["some" if traps.n_hosts else "none"],
    }
    if traps.n_hosts and crawler.policy in {"uniform", "adaptive", "longest-unseen"}:
        parts["traps"] += words["traps"]["unseen"]
    again = {"session": "new", "calendar": "the same"}[traps.kind]
    named = {"settings": settings, "graph": graph, "crawler": crawler, "traps": traps}
    told = {name: part.format(**named, again=again) for name, part in parts.items()}
    told["dates"] = describe_dates(settings.dates)
    text: str = words["text"].format(**(named | told))
    return text
