"""Archives of a simulated web: crawls of a graph that changes between them, and their truth."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from crawlgauge.core.frontier import crawl_frontier
from crawlgauge.simulate.archive import (
    Bools,
    CrawlTruth,
    Int32s,
    Ints,
    SimulatedArchive,
    SimulatedCrawl,
    Truth,
)
from crawlgauge.simulate.urn_settings import choose_dates, label_dates, years_since_first
from crawlgauge.simulate.web_graph import Web, evolve_web, find_distances, list_links, rank_pages
from crawlgauge.simulate.web_settings import CrawlerSettings, TrapKind, WebSettings

# -------------------------- crawlers: each policy says which of the crawlable pages a crawl fetches


NEVER = -1
"""The crawl that last held a page which none has held."""


_DAMPING = 0.85
_RANK_ROUNDS = 20


class View:
    """A web at a date as crawlers meet it: its links, what can be reached, and ranks.

    Parameters
    ----------
    web
        The living pages.
    n_seeds
        Hosts whose entry pages crawls begin with.
    """

    def __init__(self, web: Web, n_seeds: int) -> None:
        self.web = web
        self.links = list_links(web)
        self.seeds = np.arange(n_seeds, dtype=np.int32)
        is_reached = find_distances(*self.links, self.seeds) >= 0
        self.population = np.flatnonzero(is_reached)
        self.ranks = rank_pages(*self.links, is_reached, _DAMPING, _RANK_ROUNDS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrawlTask:
    """All that a crawler may look at when it crawls.

    Parameters
    ----------
    view
        The web as it is.
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

    view: View
    budget: int
    last_crawl: Int32s
    newest_crawl: int
    has_trap: Bools
    n_trap_links: int
    slow_hosts: Bools


class Fetch(NamedTuple):
    """What a crawl fetched: places of pages, and how many pages of each host's trap."""

    pages: Ints
    n_in_trap: Ints


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
    population, budget = task.view.population, task.budget
    last_crawl = task.last_crawl[population]
    if crawler.policy == "uniform":
        pages = _draw(population, budget, rng)
    elif crawler.policy == "adaptive":
        is_recent = (last_crawl != NEVER) & (last_crawl == task.newest_crawl)
        is_passed_over = is_recent & (rng.random(last_crawl.size) < crawler.avoidance)
        wanted = _draw(population[~is_passed_over], budget, rng)
        # Where too few others are left the budget is filled with pages of the crawl before.
        others = _draw(population[is_passed_over], budget - wanted.size, rng)
        pages = np.concatenate([wanted, others])
    elif crawler.policy == "longest-unseen":
        turn = last_crawl + rng.random(population.size)
        pages = population[np.argsort(turn, kind="stable")[:budget]]
    else:
        return _follow_links(task, crawler, rng)
    return Fetch(pages, np.zeros(task.has_trap.size, dtype=np.int64))


def _draw(places: Ints, n_wanted: int, rng: np.random.Generator) -> Ints:
    return rng.choice(places, size=min(n_wanted, places.size), replace=False, shuffle=False)


def _follow_links(task: CrawlTask, crawler: CrawlerSettings, rng: np.random.Generator) -> Fetch:
    view, n_hosts, host_cap = task.view, task.has_trap.size, task.budget
    delays = np.zeros(n_hosts)
    if crawler.policy == "pagerank":
        noise = np.exp(crawler.priority_noise * rng.standard_normal(view.web.n_pages))
        rule, order = "score", view.ranks * noise
    elif crawler.policy == "polite":
        delays = np.exp(crawler.speed_spread * rng.standard_normal(n_hosts))
        delays[task.slow_hosts] *= crawler.slow_factor
        delays[rng.random(n_hosts) < crawler.down_share] = np.inf
        rule, order = "host-turn", np.empty(0)
    else:
        rule, order = "level", rng.random(view.web.n_pages)
        if crawler.policy == "capped":
            host_cap = max(1, round(crawler.host_cap_share * task.budget))
    fails = rng.random(view.web.n_pages) < crawler.failure_share
    # A crawl that cannot reach one of its seeds is started again.
    fails[view.seeds] = False
    pages, n_in_trap = crawl_frontier(
        *view.links,
        view.web.hosts,
        view.seeds,
        fails.view(np.uint8),
        rule,
        order,
        delays,
        task.has_trap.view(np.uint8),
        task.n_trap_links,
        task.budget,
        host_cap,
    )
    return Fetch(pages, n_in_trap)


# -------------- what is true of a simulated web and its crawls, measured on all that can be crawled


def _measure_fetch(
    task: CrawlTask, fetch: Fetch, repeat: Fetch, trap_kind: TrapKind
) -> dict[str, float]:
    """Measure a crawl against all that it could have fetched.

    The repeat is a second crawl of the same policy at the same moment, with random numbers of its
    own: without traps, the share of the URLs that it holds as well is the coverage weighted by the
    policy's own chance of capturing each page. URLs inside traps are endless and belong to no
    population: they are counted as URLs that the crawl holds, but not in its coverage.
    """
    held = np.zeros(task.view.web.n_pages, dtype=np.bool_)
    held[repeat.pages] = True
    n_both = int(held[fetch.pages].sum())
    if trap_kind == "calendar":
        n_both += int(np.minimum(fetch.n_in_trap, repeat.n_in_trap).sum())
    n_trap_urls, ranks = int(fetch.n_in_trap.sum()), task.view.ranks
    return {
        "coverage_by_pagerank": float(ranks[fetch.pages].sum() / ranks.sum()),
        "repeat_overlap": n_both / (fetch.pages.size + n_trap_urls),
        "n_trap_urls": n_trap_urls,
    }


def _measure_persistence(
    populations: Sequence[Ints], years: Sequence[float]
) -> tuple[float | None, float | None]:
    """Measure which share of the crawlable population is crawlable a year later.

    From date to date (the geometric mean over all intervals), and from the first date to the last,
    which is higher where old pages live longer than young ones. None without two dates.
    """
    span = years[-1] - years[0]
    if span == 0:
        return None, None
    shares = [_surviving_share(before, after) for before, after in itertools.pairwise(populations)]
    whole = _surviving_share(populations[0], populations[-1])
    return math.prod(share ** (1 / span) for share in shares), whole ** (1 / span)


def _surviving_share(before: Ints, after: Ints) -> float:
    return np.intersect1d(before, after, assume_unique=True).size / before.size


# ----------------------------------------------------------------- readable URLs of a simulated web


_WORDS = (
    *("about", "teaching", "research", "library", "people", "news", "events", "projects"),
    *("courses", "seminars", "papers", "staff", "students", "press", "archive", "faculty"),
)
_TRAP_BIT = 1 << 60
_CRAWL_SHIFT = 48
_HOST_SHIFT = 32
_HOST_MASK = (1 << (_CRAWL_SHIFT - _HOST_SHIFT)) - 1
_CRAWL_MASK = (1 << (60 - _CRAWL_SHIFT)) - 1
_ORDINAL_MASK = (1 << _HOST_SHIFT) - 1


def number_trap_urls(n_in_trap: Ints, *, kind: TrapKind, n_crawl: int) -> Ints:
    """Return the numbers of the URLs that a crawl fetched inside traps.

    A calendar leads through the same URLs again; session ids are new in each crawl.

    Parameters
    ----------
    n_in_trap
        How many of each host's.
    kind
        Of the traps.
    n_crawl
        Number of the crawl, from 0.
    """
    crawl = n_crawl + 1 if kind == "session" else 0
    hosts = np.repeat(np.arange(n_in_trap.size), n_in_trap)
    ordinals = np.arange(hosts.size) - np.repeat(np.cumsum(n_in_trap) - n_in_trap, n_in_trap)
    return _TRAP_BIT + (crawl << _CRAWL_SHIFT) + (hosts << _HOST_SHIFT) + ordinals


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WebNames:
    """Gives URLs to numbers; distinct numbers have distinct URLs.

    Parameters
    ----------
    hosts, parents
        Of every page that ever lived: its host, and the number of the page above it.
    n_seeds
        Hosts that are universities; the others are institutes of one of them.

    Examples
    --------
    >>> names = WebNames(hosts=np.array([0, 1, 0, 0]), parents=np.array([0, 1, 0, 2]), n_seeds=1)
    >>> names(np.array([0, 1, 2, 3]))
    ['https://www.university-0.example/', 'https://institute-1.university-0.example/',
     'https://www.university-0.example/2.html', 'https://www.university-0.example/research/3.html']
    """

    hosts: Int32s
    parents: Int32s
    n_seeds: int

    def __call__(self, numbers: Ints) -> list[str]:
        """Return the URL of each number."""
        folders: dict[int, str] = {}
        return [
            self._name_trap(number) if number & _TRAP_BIT else self._name_page(number, folders)
            for number in numbers.tolist()
        ]

    def _name_page(self, number: int, folders: dict[int, str]) -> str:
        parent = int(self.parents[number])
        name = "" if parent == number else f"{number:x}.html"
        return f"{self._find_folder(parent, folders)}/{name}"

    def _find_folder(self, number: int, folders: dict[int, str]) -> str:
        """Return the address below which the pages under a page stand, without a final slash."""
        if number not in folders:
            parent = int(self.parents[number])
            folders[number] = (
                self._name_site(int(self.hosts[number]))
                if parent == number
                else f"{self._find_folder(parent, folders)}/{_WORDS[number % len(_WORDS)]}"
            )
        return folders[number]

    def _name_site(self, host: int) -> str:
        if host < self.n_seeds:
            return f"https://www.university-{host}.example"
        return f"https://institute-{host}.university-{host % self.n_seeds}.example"

    def _name_trap(self, number: int) -> str:
        crawl = number >> _CRAWL_SHIFT & _CRAWL_MASK
        site = self._name_site(number >> _HOST_SHIFT & _HOST_MASK)
        ordinal = number & _ORDINAL_MASK
        if crawl:
            return f"{site}/index.php?sessionid={crawl:x}-{ordinal:08x}"
        return f"{site}/calendar?page={ordinal}"


# ---------------------------------------------------------------------- archives of a simulated web


# Each use has random numbers of its own, so that crawlers meet the same web whatever they draw.
_OF_THE_WEB, _OF_THE_HOSTS, _OF_THE_DATES, _OF_THE_CRAWLS, _OF_THE_REPEATS = range(5)


def simulate_crawler(settings: WebSettings, *, seed: int) -> SimulatedArchive:
    """Simulate a crawler that visits a changing web at several dates.

    Crawlers that differ in their settings meet the same web if its settings, the dates and the seed
    are equal.

    Parameters
    ----------
    settings
        The web, its dates and the crawler.
    seed
        Equal seeds give equal archives.
    """
    graph, crawler, traps = settings.graph, settings.crawler, settings.traps
    dates = choose_dates(settings.dates, _random(seed, _OF_THE_DATES))
    labels, years = label_dates(dates), years_since_first(dates).tolist()
    hosts = _random(seed, _OF_THE_HOSTS).permutation(graph.n_hosts)
    n_slow = round(crawler.slow_share * graph.n_hosts)
    has_trap = np.isin(np.arange(graph.n_hosts), hosts[: traps.n_hosts])
    is_slow = np.isin(np.arange(graph.n_hosts), hosts[graph.n_hosts - n_slow :])
    last_crawl, budget = np.empty(0, dtype=np.int32), 0
    populations, crawls, truths = [], [], []
    for number, web in enumerate(evolve_web(graph, years, _random(seed, _OF_THE_WEB))):
        view = View(web, graph.n_seeds)
        size = view.population.size
        populations.append(web.numbers[view.population])
        budget = budget or max(1, round(crawler.budget_share * size))
        n_born = web.hosts_ever.size - last_crawl.size
        last_crawl = np.append(last_crawl, np.full(n_born, NEVER, dtype=np.int32))
        task = CrawlTask(
            view=view,
            budget=budget,
            last_crawl=last_crawl[web.numbers],
            newest_crawl=number - 1,
            has_trap=has_trap,
            n_trap_links=traps.n_links,
            slow_hosts=is_slow,
        )
        fetch = fetch_pages(task, crawler, _random(seed, _OF_THE_CRAWLS, number))
        repeat = fetch_pages(task, crawler, _random(seed, _OF_THE_REPEATS, number))
        pages = np.sort(web.numbers[fetch.pages])
        last_crawl[pages] = number
        trapped = number_trap_urls(fetch.n_in_trap, kind=traps.kind, n_crawl=number)
        held = np.concatenate([pages, trapped])
        label, date = labels[number], dates[number]
        crawls.append(SimulatedCrawl(label=label, date=date, url_numbers=held))
        truths.append(
            CrawlTruth(
                label=label,
                date=date,
                n_urls=held.size,
                population=size,
                coverage=pages.size / size,
                details=_measure_fetch(task, fetch, repeat, traps.kind),
            )
        )
    between_crawls, first_to_last = _measure_persistence(populations, years)
    return SimulatedArchive(
        crawls=tuple(crawls),
        truth=Truth(
            scenario=settings.scenario,
            seed=seed,
            crawls=tuple(truths),
            persistence=between_crawls,
            settings={
                **asdict(graph),
                **asdict(crawler),
                **{f"trap_{name}": value for name, value in asdict(traps).items()},
                "budget": budget,
                "persistence_first_to_last": first_to_last,
            },
        ),
        name_urls=WebNames(hosts=web.hosts_ever, parents=web.parents_ever, n_seeds=graph.n_seeds),
    )


def _random(seed: int, *use: int) -> np.random.Generator:
    return np.random.default_rng([seed, *use])
