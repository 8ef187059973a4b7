"""Archives of a simulated web: crawls of a graph that changes between them, and their truth."""

import datetime as dt
from collections.abc import Sequence

import numpy as np

from crawlgauge.errors import SimulationError
from crawlgauge.simulate.archive import CrawlTruth, SimulatedArchive, SimulatedCrawl, Truth
from crawlgauge.simulate.dates import choose_dates, label_dates, years_since_first
from crawlgauge.simulate.web_crawlers import NEVER, CrawlTask, fetch_pages
from crawlgauge.simulate.web_graph import Web, list_links
from crawlgauge.simulate.web_links import find_distances, rank_pages
from crawlgauge.simulate.web_names import WebNames, number_trap_urls
from crawlgauge.simulate.web_settings import WebSettings
from crawlgauge.simulate.web_truth import measure_fetch, measure_persistence
from crawlgauge.simulate.web_turnover import evolve_web

__all__ = ["simulate_crawlers", "simulate_web"]

_DAMPING = 0.85
_RANK_ROUNDS = 20

# Each use has random numbers of its own, so that crawlers meet the same web whatever they draw.
_OF_THE_WEB, _OF_THE_HOSTS, _OF_THE_DATES, _OF_THE_CRAWLS, _OF_THE_REPEATS = range(5)


def simulate_web(settings: WebSettings, *, seed: int) -> SimulatedArchive:
    """Simulate crawls of a changing web, and record what is true of them.

    The population at a date is all that can be reached from the seeds by links, whatever the
    budget; URLs inside spider traps do not belong to it.

    Parameters
    ----------
    settings
        The web, the crawler and the dates.
    seed
        Equal seeds give equal archives.

    Examples
    --------
    >>> from crawlgauge.simulate.dates import DatePlan
    >>> from crawlgauge.simulate.web_settings import GraphSettings
    >>> settings = WebSettings(graph=GraphSettings(n_pages=2000), dates=DatePlan(n_crawls=3))
    >>> archive = simulate_web(settings, seed=7)
    >>> [crawl.label for crawl in archive.crawls]
    ['2013-12', '2014-06', '2014-12']
    >>> round(archive.truth.crawls[0].coverage, 2)
    0.5
    """
    return simulate_crawlers([settings], seed=seed)[0]


def simulate_crawlers(
    settings: Sequence[WebSettings], *, seed: int
) -> tuple[SimulatedArchive, ...]:
    """Simulate several crawlers that visit one and the same web at the same dates.

    Each archive is the one that `simulate_web` gives for its settings; the web is made once.

    Parameters
    ----------
    settings
        Equal in the web and the dates; crawlers, traps and names of scenarios may differ.
    seed
        Equal seeds give equal archives.
    """
    first = settings[0]
    if any((one.graph, one.dates) != (first.graph, first.dates) for one in settings):
        raise SimulationError("crawlers of one web need the same graph settings and dates")
    dates = choose_dates(first.dates, _random(seed, _OF_THE_DATES))
    labels, years = label_dates(dates), years_since_first(dates).tolist()
    visitors = [_Visitor(one, seed) for one in settings]
    populations = []
    for number, web in enumerate(evolve_web(first.graph, years, _random(seed, _OF_THE_WEB))):
        view = _View(web, first.graph.n_seeds)
        populations.append(web.numbers[view.population])
        for visitor in visitors:
            visitor.visit(view, number, label=labels[number], date=dates[number])
    persistence = measure_persistence(populations, years)
    return tuple(visitor.to_archive(persistence) for visitor in visitors)


class _View:
    """A web at a date as crawlers meet it: its links, what can be reached, and ranks."""

    def __init__(self, web: Web, n_seeds: int) -> None:
        self.web = web
        self.links = list_links(web)
        self.seeds = np.arange(n_seeds, dtype=np.int32)
        distances = find_distances(self.links.starts, self.links.targets, self.seeds)
        self.population = np.flatnonzero(distances >= 0)
        self.ranks = rank_pages(
            self.links.starts, self.links.targets, distances >= 0, _DAMPING, _RANK_ROUNDS
        )


class _Visitor:
    """A crawler with its memory, its crawls so far and what is true of them."""

    def __init__(self, settings: WebSettings, seed: int) -> None:
        self._settings, self._seed = settings, seed
        self._crawls: list[SimulatedCrawl] = []
        self._truths: list[CrawlTruth] = []
        self._last_crawl = np.empty(0, dtype=np.int32)
        self._budget = 0
        self._names: WebNames
        n_hosts = settings.graph.n_hosts
        hosts = _random(seed, _OF_THE_HOSTS).permutation(n_hosts)
        self._has_trap = np.isin(np.arange(n_hosts), hosts[: settings.traps.n_hosts])
        n_slow = round(settings.crawler.slow_share * n_hosts)
        self._is_slow = np.isin(np.arange(n_hosts), hosts[n_hosts - n_slow :])

    def visit(self, view: _View, number: int, *, label: str, date: dt.date) -> None:
        crawler, traps = self._settings.crawler, self._settings.traps
        self._budget = self._budget or max(1, round(crawler.budget_share * view.population.size))
        n_born = view.web.hosts_ever.size - self._last_crawl.size
        self._last_crawl = np.append(self._last_crawl, np.full(n_born, NEVER, dtype=np.int32))
        task = CrawlTask(
            hosts=view.web.hosts,
            links=view.links,
            seeds=view.seeds,
            population=view.population,
            ranks=view.ranks,
            budget=self._budget,
            last_crawl=self._last_crawl[view.web.numbers],
            newest_crawl=number - 1,
            has_trap=self._has_trap,
            n_trap_links=traps.n_links,
            slow_hosts=self._is_slow,
        )
        fetch = fetch_pages(task, crawler, _random(self._seed, _OF_THE_CRAWLS, number))
        repeat = fetch_pages(task, crawler, _random(self._seed, _OF_THE_REPEATS, number))
        self._names = WebNames(
            hosts=view.web.hosts_ever, parents=view.web.parents_ever, n_seeds=view.seeds.size
        )
        pages = np.sort(view.web.numbers[fetch.pages])
        self._last_crawl[pages] = number
        trapped = number_trap_urls(fetch.n_in_trap, kind=traps.kind, n_crawl=number)
        crawl = SimulatedCrawl(label=label, date=date, url_numbers=np.concatenate([pages, trapped]))
        self._crawls.append(crawl)
        self._truths.append(
            CrawlTruth(
                label=label,
                date=date,
                n_urls=crawl.url_numbers.size,
                population=view.population.size,
                coverage=pages.size / view.population.size,
                details=measure_fetch(task, fetch, repeat, trap_kind=traps.kind),
            )
        )

    def to_archive(self, persistence: tuple[float | None, float | None]) -> SimulatedArchive:
        between_crawls, first_to_last = persistence
        return SimulatedArchive(
            crawls=tuple(self._crawls),
            truth=Truth(
                scenario=self._settings.scenario,
                seed=self._seed,
                crawls=tuple(self._truths),
                persistence=between_crawls,
                settings={
                    **self._settings.to_flat(),
                    "budget": self._budget,
                    "persistence_first_to_last": first_to_last,
                },
            ),
            name_urls=self._names,
        )


def _random(seed: int, *use: int) -> np.random.Generator:
    return np.random.default_rng([seed, *use])
