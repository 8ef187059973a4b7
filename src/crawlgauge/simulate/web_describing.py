"""A simulated web and its crawler, told in words."""

from crawlgauge.simulate.dates import DatePlan
from crawlgauge.simulate.web_settings import (
    CrawlerSettings,
    GraphSettings,
    TrapSettings,
    WebSettings,
)

__all__ = ["describe_web"]


def describe_web(settings: WebSettings) -> str:
    """Describe a web, its crawler and its traps in words, a paragraph each.

    Parameters
    ----------
    settings
        What is simulated.
    """
    paragraphs = (
        _describe_dates(settings),
        _describe_graph(settings.graph),
        _describe_crawler(settings.crawler),
        _describe_traps(settings.traps, settings.crawler),
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


def _describe_crawler(crawler: CrawlerSettings) -> str:
    return (
        f"The crawler stops at as many URLs as {crawler.budget_share:.0%} of the first population. "
        f"Policy {crawler.policy}: {_POLICY_WORDS[crawler.policy].format(crawler=crawler)}"
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
