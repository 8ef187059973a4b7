"""Crawlers: each policy says which of the crawlable pages a crawl fetches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.frontier import crawl_frontier
from crawlgauge.simulate.web_graph import Links
from crawlgauge.simulate.web_settings import CrawlerSettings, Policy

__all__ = ["NEVER", "CrawlTask", "Fetch", "fetch_pages"]

NEVER = -1
"""The crawl that last held a page which none has held."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrawlTask:
    """All that a crawler may look at when it crawls.

    Parameters
    ----------
    hosts
        Of the living pages.
    links
        Between them.
    seeds
        Places of the seeds' entry pages.
    population
        Places of all pages that can be reached from the seeds, in rising order.
    ranks
        PageRank of the living pages; 0 where a page cannot be reached.
    budget
        URLs to fetch.
    last_crawl
        For each living page the number of the crawl that last held it, or `NEVER`.
    newest_crawl
        Number of the crawl before this one, or `NEVER`.
    has_trap, n_trap_links
        For each host whether it has a trap, and how many links lead on in it.
    slow_hosts
        For each host whether it is slow.
    """

    hosts: NDArray[np.int32]
    links: Links
    seeds: NDArray[np.int32]
    population: NDArray[np.int64]
    ranks: NDArray[np.float64]
    budget: int
    last_crawl: NDArray[np.int32]
    newest_crawl: int
    has_trap: NDArray[np.bool_]
    n_trap_links: int
    slow_hosts: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fetch:
    """What a crawl fetched: places of pages, and how many pages of each host's trap."""

    pages: NDArray[np.int64]
    n_in_trap: NDArray[np.int64]


def fetch_pages(task: CrawlTask, crawler: CrawlerSettings, rng: np.random.Generator) -> Fetch:
    """Crawl once by the crawler's policy.

    Parameters
    ----------
    task
        The web as it is, and what the crawler remembers.
    crawler
        The policy and its settings.
    rng
        The random numbers of this crawl.
    """
    return _POLICIES[crawler.policy](task, crawler, rng)


def _crawl_breadth_first(
    task: CrawlTask, crawler: CrawlerSettings, rng: np.random.Generator
) -> Fetch:
    return _crawl_frontier(task, crawler, rng, rule="level", order=rng.random(task.hosts.size))


def _crawl_capped(task: CrawlTask, crawler: CrawlerSettings, rng: np.random.Generator) -> Fetch:
    return _crawl_frontier(
        task,
        crawler,
        rng,
        rule="level",
        order=rng.random(task.hosts.size),
        host_cap=max(1, round(crawler.host_cap_share * task.budget)),
    )


def _crawl_by_rank(task: CrawlTask, crawler: CrawlerSettings, rng: np.random.Generator) -> Fetch:
    noise = np.exp(crawler.priority_noise * rng.standard_normal(task.hosts.size))
    return _crawl_frontier(task, crawler, rng, rule="score", order=task.ranks * noise)


def _crawl_politely(task: CrawlTask, crawler: CrawlerSettings, rng: np.random.Generator) -> Fetch:
    n_hosts = task.slow_hosts.size
    delays = np.exp(crawler.speed_spread * rng.standard_normal(n_hosts))
    delays[task.slow_hosts] *= crawler.slow_factor
    delays[rng.random(n_hosts) < crawler.down_share] = np.inf
    order = np.empty(0)
    return _crawl_frontier(task, crawler, rng, rule="host-turn", order=order, delays=delays)


def _crawl_frontier(
    task: CrawlTask,
    crawler: CrawlerSettings,
    rng: np.random.Generator,
    *,
    rule: str,
    order: NDArray[np.float64],
    delays: NDArray[np.float64] | None = None,
    host_cap: int | None = None,
) -> Fetch:
    fails = rng.random(task.hosts.size) < crawler.failure_share
    # A crawl that cannot reach one of its seeds is started again.
    fails[task.seeds] = False
    pages, n_in_trap = crawl_frontier(
        task.links.starts,
        task.links.targets,
        task.hosts,
        task.seeds,
        fails.view(np.uint8),
        rule,
        order,
        np.zeros(task.slow_hosts.size) if delays is None else delays,
        task.has_trap.view(np.uint8),
        task.n_trap_links,
        task.budget,
        task.budget if host_cap is None else host_cap,
    )
    return Fetch(pages=pages, n_in_trap=n_in_trap)


def _draw_evenly(task: CrawlTask, _crawler: CrawlerSettings, rng: np.random.Generator) -> Fetch:
    return _choose(task, _draw(task.population, task.budget, rng))


def _pass_over_recent(task: CrawlTask, crawler: CrawlerSettings, rng: np.random.Generator) -> Fetch:
    last = task.last_crawl[task.population]
    is_recent = (last != NEVER) & (last == task.newest_crawl)
    is_passed_over = is_recent & (rng.random(last.size) < crawler.avoidance)
    wanted = _draw(task.population[~is_passed_over], task.budget, rng)
    # Where too few others are left the budget is filled with pages of the crawl before.
    others = _draw(task.population[is_passed_over], task.budget - wanted.size, rng)
    return _choose(task, np.concatenate([wanted, others]))


def _take_longest_unseen(
    task: CrawlTask, _crawler: CrawlerSettings, rng: np.random.Generator
) -> Fetch:
    turn = task.last_crawl[task.population] + rng.random(task.population.size)
    order = np.argsort(turn, kind="stable")
    return _choose(task, task.population[order[: task.budget]])


def _draw(places: NDArray[np.int64], n_wanted: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.choice(places, size=min(n_wanted, places.size), replace=False, shuffle=False)


def _choose(task: CrawlTask, pages: NDArray[np.int64]) -> Fetch:
    return Fetch(pages=pages, n_in_trap=np.zeros(task.has_trap.size, dtype=np.int64))


_POLICIES: Mapping[Policy, Callable[[CrawlTask, CrawlerSettings, np.random.Generator], Fetch]] = {
    "breadth-first": _crawl_breadth_first,
    "uniform": _draw_evenly,
    "pagerank": _crawl_by_rank,
    "capped": _crawl_capped,
    "polite": _crawl_politely,
    "adaptive": _pass_over_recent,
    "longest-unseen": _take_longest_unseen,
}
