"""What a simulated web and its crawler are told: sizes, rates, policy and traps."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Literal, get_args

from crawlgauge.simulate.urn_settings import DatePlan, require

__all__ = [
    "CrawlerSettings",
    "GraphSettings",
    "Policy",
    "TrapKind",
    "TrapSettings",
    "WebSettings",
    "describe_web",
]


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
        _require_shares(self, "cross_host_share", "attachment", "relinking_share")
        for name in (
            *("host_exponent", "links_per_page", "death_rate", "depth_factor", "link_loss_rate"),
            *("unlinking_rate", "n_warm_up"),
        ):
            value = getattr(self, name)
            require(not value < 0, f"{name} is {value}; it cannot be negative")
        require(
            not (self.infant_factor < 1 or self.infant_years <= 0 or self.growth_per_year <= -1),
            "infant_factor must be at least 1, infant_years above 0 and growth_per_year above -1",
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
        _require_shares(self, "failure_share", "slow_share", "down_share", "avoidance")
        require(
            0 < self.budget_share <= 1 and 0 < self.host_cap_share <= 1,
            "budget_share and host_cap_share must be above 0 and at most 1",
        )
        require(
            not (self.priority_noise < 0 or self.speed_spread < 0 or self.slow_factor < 1),
            "priority_noise and speed_spread cannot be negative, nor slow_factor below 1",
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
        require(
            self.n_hosts >= 0 and self.n_links >= 1 and self.kind in get_args(TrapKind),
            "traps need n_hosts of at least 0, n_links of at least 1 and a kind of "
            f"{' or '.join(get_args(TrapKind))}",
        )


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
    graph: GraphSettings = field(default_factory=GraphSettings)
    crawler: CrawlerSettings = field(default_factory=CrawlerSettings)
    traps: TrapSettings = field(default_factory=TrapSettings)
    dates: DatePlan | tuple[dt.date, ...] = field(default_factory=lambda: DatePlan(n_crawls=10))

    def __post_init__(self) -> None:
        require(
            isinstance(self.dates, DatePlan)
            or (len(self.dates) > 0 and list(self.dates) == sorted(self.dates)),
            "an archive needs at least one date, and dates in rising order",
        )
        require(
            self.traps.n_hosts <= self.graph.n_hosts,
            f"{self.traps.n_hosts} hosts have traps, but there are {self.graph.n_hosts} hosts",
        )


def _require_shares(settings: GraphSettings | CrawlerSettings, *names: str) -> None:
    for name in names:
        value = getattr(settings, name)
        require(0 <= value <= 1, f"{name} is {value}; it is a share, from 0 to 1")


# --------------------------------------------------- A simulated web and its crawler, told in words


def describe_web(settings: WebSettings) -> str:
    """Describe a web, its crawler and its traps in words, a paragraph each.

    Parameters
    ----------
    settings
        What is simulated.
    """
    crawler = settings.crawler
    paragraphs = (
        _describe_dates(settings),
        _describe_graph(settings.graph),
        (
            f"The crawler stops at as many URLs as {crawler.budget_share:.0%} of the first "
            f"population. Policy {crawler.policy}: "
            f"{_POLICY_WORDS[crawler.policy].format(crawler=crawler)}"
        ),
        _describe_traps(settings.traps, crawler),
        (
            "The population at a date is every page that links lead to from the seeds, whatever "
            "the budget. Coverage is the share of it that a crawl holds. The truth also says which "
            "share of its PageRank the crawl holds, and which share of the crawl a repeat at the "
            "same moment would hold again."
        ),
    )
    return "\n\n".join(paragraphs)


def _describe_dates(settings: WebSettings) -> str:
    dates = settings.dates
    if not isinstance(dates, DatePlan):
        when = f"{len(dates)} crawls of a changing web from {dates[0]} to {dates[-1]}"
    else:
        pace = "on average every" if dates.irregular else "every"
        when = (
            f"{dates.n_crawls} crawls of a changing web, {pace} {dates.months_between} months "
            f"from {dates.first} on"
        )
    return f"Scenario {settings.scenario}: {when}."


def _describe_graph(graph: GraphSettings) -> str:
    growth = (
        "Their number stays the same"
        if graph.growth_per_year == 0
        else f"Their number changes by {graph.growth_per_year:+.0%} a year"
    )
    return (
        f"{graph.n_pages:,} pages live on {graph.n_hosts:,} hosts whose sizes follow a power law "
        f"(exponent {graph.host_exponent:g}); the {graph.n_seeds} largest are the seeds. A page "
        f"hangs on a page of its host and has {graph.links_per_page:g} further links on average, "
        f"{graph.cross_host_share:.0%} of them to any host; {graph.attachment:.0%} of new links go "
        "where links go already. "
        f"{growth}. Old pages vanish at a mean rate of {graph.death_rate:.0%} a year, new ones "
        f"{graph.infant_factor:g} times as fast, and each level of depth adds "
        f"{graph.depth_factor:.0%} of the rate at the top. "
        f"{graph.link_loss_rate:.0%} of the links are moved in a year; links to vanished "
        "pages stay behind as dead links. Where a page vanishes its site links "
        f"{graph.relinking_share:.0%} of the pages below it anew."
    )


_FAILURES = "{crawler.failure_share:.0%} of the pages time out in each crawl."
_POLICY_WORDS = {
    "breadth-first": (
        "it fetches the seeds, then what they link to, and so on outwards; pages at the same "
        f"distance come in random order. {_FAILURES}"
    ),
    "uniform": "it draws from the population, each page with the same chance, as the urn does.",
    "pagerank": (
        "of all pages that it has found it fetches the one with the highest PageRank, which it "
        f"knows with an error of {{crawler.priority_noise:g}} on the log scale. {_FAILURES}"
    ),
    "capped": (
        "breadth-first, but no host gets more than {crawler.host_cap_share:.1%} of the budget. "
        f"{_FAILURES}"
    ),
    "polite": (
        "it fetches from all hosts at once, from each at a speed of its own that differs from "
        "crawl to crawl; {crawler.slow_share:.0%} of the hosts are always {crawler.slow_factor:g} "
        f"times slower, and {{crawler.down_share:.0%}} are down in each crawl. {_FAILURES}"
    ),
    "adaptive": (
        "it draws from the population, but passes over {crawler.avoidance:.0%} of the pages that "
        "the crawl before holds, as long as others are left."
    ),
    "longest-unseen": (
        "it keeps its frontier from crawl to crawl; pages that were never fetched come first, then "
        "those whose last fetch is longest ago."
    ),
}


def _describe_traps(traps: TrapSettings, crawler: CrawlerSettings) -> str:
    if traps.n_hosts == 0:
        return "There are no spider traps."
    again = {"session": "new in each crawl", "calendar": "the same in each crawl"}[traps.kind]
    text = (
        f"{traps.n_hosts} hosts have a spider trap ({traps.kind}): endless pages below the entry "
        f"page, each with {traps.n_links} links to further ones, whose URLs are {again}. They "
        "count as URLs of the crawl but belong to no population."
    )
    if crawler.policy in {"uniform", "adaptive", "longest-unseen"}:
        text += f" The policy {crawler.policy} draws from the population and never enters them."
    return text
