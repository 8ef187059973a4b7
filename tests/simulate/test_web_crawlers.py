"""Each crawler policy fetches what it says, within its budget."""

import heapq

import numpy as np
import pytest

from crawlgauge.core.frontier import crawl_frontier
from crawlgauge.errors import SimulationError
from crawlgauge.simulate.web_archive import NEVER, CrawlTask, fetch_pages
from crawlgauge.simulate.web_graph import evolve_web, find_distances, list_links, rank_pages
from crawlgauge.simulate.web_settings import CrawlerSettings, GraphSettings, TrapSettings

N_HOSTS, N_SEEDS, N_PAGES = 40, 10, 4000
FRONTIER_POLICIES = ("breadth-first", "pagerank", "capped", "polite")
LIST_POLICIES = ("uniform", "adaptive", "longest-unseen")


@pytest.fixture(scope="module")
def web():
    settings = GraphSettings(n_pages=N_PAGES, n_hosts=N_HOSTS, n_seeds=N_SEEDS)
    *_, web = evolve_web(settings, (0.0, 0.5), np.random.default_rng(8))
    return web


def task_of(web, *, budget=1500, trap_hosts=(), last_crawl=None, slow_hosts=()):
    links = list_links(web)
    seeds = np.arange(N_SEEDS, dtype=np.int32)
    distances = find_distances(links.starts, links.targets, seeds)
    never = np.full(web.n_pages, NEVER, dtype=np.int32)
    return CrawlTask(
        hosts=web.hosts,
        links=links,
        seeds=seeds,
        population=np.flatnonzero(distances >= 0),
        ranks=rank_pages(links.starts, links.targets, distances >= 0, 0.85, 30),
        budget=budget,
        last_crawl=never if last_crawl is None else last_crawl,
        newest_crawl=NEVER if last_crawl is None else int(last_crawl.max()),
        has_trap=np.isin(np.arange(N_HOSTS), trap_hosts),
        n_trap_links=4,
        slow_hosts=np.isin(np.arange(N_HOSTS), slow_hosts),
    )


def crawl(task, policy, seed=1, **settings):
    return fetch_pages(
        task, CrawlerSettings(policy=policy, **settings), np.random.default_rng(seed)
    )


@pytest.mark.parametrize("policy", [*FRONTIER_POLICIES, *LIST_POLICIES])
@pytest.mark.parametrize("trap_hosts", [(), (0, 3, 25)])
def test_budgets_are_kept_and_only_crawlable_pages_are_fetched_once(web, policy, trap_hosts):
    task = task_of(web, trap_hosts=trap_hosts)
    fetch = crawl(task, policy, host_cap_share=0.1)
    assert fetch.pages.size + fetch.n_in_trap.sum() == task.budget
    assert np.unique(fetch.pages).size == fetch.pages.size
    assert np.all(np.isin(fetch.pages, task.population))
    assert np.all(np.isin(np.flatnonzero(fetch.n_in_trap), trap_hosts))


@pytest.mark.parametrize("policy", ["breadth-first", "pagerank", *LIST_POLICIES])
def test_without_failures_and_with_a_large_budget_the_whole_population_is_fetched(web, policy):
    task = task_of(web, budget=10 * N_PAGES)
    fetch = crawl(task, policy, failure_share=0.0)
    assert np.array_equal(np.sort(fetch.pages), task.population)


@pytest.mark.parametrize("policy", FRONTIER_POLICIES)
def test_endless_traps_end_with_the_budget(web, policy):
    budget = 20 * N_PAGES
    task = task_of(web, budget=budget, trap_hosts=(0, 3))
    fetch = crawl(task, policy, failure_share=0.0, down_share=0.0, host_cap_share=0.3)
    assert fetch.n_in_trap.sum() > 0
    assert fetch.pages.size + fetch.n_in_trap.sum() <= budget
    if policy in {"breadth-first", "polite"}:
        assert fetch.pages.size + fetch.n_in_trap.sum() == budget


def test_breadth_first_fetches_all_nearer_pages_before_the_next(web):
    task = task_of(web)
    fetch = crawl(task, "breadth-first", failure_share=0.0)
    distances = find_distances(task.links.starts, task.links.targets, task.seeds)
    reached = distances[fetch.pages]
    assert np.all(np.diff(reached) >= 0)
    for distance in range(int(reached[-1])):
        assert (reached == distance).sum() == (distances == distance).sum()


def best_first(task, order, *, by_level):
    """The same crawl with Python's own heap."""
    starts, targets = task.links.starts.tolist(), task.links.targets.tolist()

    def key(page, now):
        return np.floor(now) + 1 + order[page] if by_level else -order[page]

    frontier = [(key(seed, -1.0), seed) for seed in task.seeds.tolist()]
    heapq.heapify(frontier)
    known, fetched = set(task.seeds.tolist()), []
    while frontier and len(fetched) < task.budget:
        now, page = heapq.heappop(frontier)
        fetched.append(page)
        for target in targets[starts[page] : starts[page + 1]]:
            if target not in known:
                known.add(target)
                heapq.heappush(frontier, (key(target, now), target))
    return fetched


@pytest.mark.parametrize("rule", ["level", "score"])
@pytest.mark.parametrize("seed", range(3))
def test_the_frontier_is_that_of_a_plain_heap(web, rule, seed):
    task = task_of(web)
    order = np.random.default_rng(seed).random(web.n_pages)
    pages, _ = crawl_frontier(
        *(task.links.starts, task.links.targets, task.hosts, task.seeds),
        *(np.zeros(web.n_pages, dtype=np.uint8), rule, order, np.zeros(N_HOSTS)),
        *(task.has_trap.view(np.uint8), 1, task.budget, task.budget),
    )
    assert pages.tolist() == best_first(task, order, by_level=rule == "level")


def test_pagerank_prefers_pages_of_high_rank(web):
    task = task_of(web, budget=500)
    ranked, even = (crawl(task, policy) for policy in ("pagerank", "uniform"))
    assert task.ranks[ranked.pages].sum() > 1.8 * task.ranks[even.pages].sum()


def test_no_host_gets_more_than_its_cap(web):
    task = task_of(web)
    fetch = crawl(task, "capped", host_cap_share=0.05)
    n_of_host = np.bincount(web.hosts[fetch.pages], minlength=N_HOSTS)
    assert n_of_host.max() == round(0.05 * task.budget)
    free = crawl(task, "breadth-first")
    assert np.bincount(web.hosts[free.pages]).max() > 2 * n_of_host.max()


def test_slow_hosts_are_crawled_less_and_hosts_that_are_down_not_at_all(web):
    plain = crawl(task_of(web), "polite", down_share=0.0)
    slow = crawl(task_of(web, slow_hosts=(1,)), "polite", down_share=0.0)
    n_plain, n_slow = ((web.hosts[fetch.pages] == 1).sum() for fetch in (plain, slow))
    assert n_slow < n_plain / 2
    down = crawl(task_of(web), "polite", down_share=0.5)
    assert 5 < N_HOSTS - np.unique(web.hosts[down.pages]).size < 35


def test_pages_that_time_out_are_not_fetched(web):
    task = task_of(web, budget=10 * N_PAGES)
    fetch = crawl(task, "breadth-first", failure_share=0.3)
    assert fetch.pages.size < 0.71 * task.population.size


def last_crawl_of(web, task, n_recent):
    last = np.full(web.n_pages, NEVER, dtype=np.int32)
    last[task.population[:n_recent]] = 4
    last[task.population[n_recent : 2 * n_recent]] = 3
    return last


def test_the_adaptive_policy_passes_over_the_crawl_before(web):
    last = last_crawl_of(web, task_of(web), 1000)
    task = task_of(web, budget=1000, last_crawl=last)
    fetched = last[crawl(task, "adaptive", avoidance=0.8).pages]
    n_others = task.population.size - 1000
    expected = 1000 * 200 / (n_others + 200)
    assert (fetched == 4).sum() == pytest.approx(expected, rel=0.35)
    assert (fetched == 3).sum() == pytest.approx(1000 * 1000 / (n_others + 200), rel=0.15)
    assert not (last[crawl(task, "adaptive", avoidance=1.0).pages] == 4).any()


def test_the_adaptive_policy_returns_to_the_crawl_before_where_nothing_else_is_left(web):
    last = last_crawl_of(web, task_of(web), 1900)
    task = task_of(web, budget=3000, last_crawl=last)
    fetched = last[crawl(task, "adaptive", avoidance=1.0).pages]
    assert fetched.size == 3000
    assert (fetched != 4).sum() == task.population.size - 1900


def test_what_was_not_seen_for_longest_comes_first(web):
    last = last_crawl_of(web, task_of(web), 1500)
    n_never = task_of(web).population.size - 3000
    fetched = last[crawl(task_of(web, budget=2000, last_crawl=last), "longest-unseen").pages]
    assert [(fetched == crawl).sum() for crawl in (NEVER, 3, 4)] == [
        *(n_never, min(1500, 2000 - n_never), max(0, 500 - n_never))
    ]


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (CrawlerSettings, {"policy": "depth-first"}, "unknown policy 'depth-first'; known are"),
        (CrawlerSettings, {"budget_share": 0.0}, "budget_share and host_cap_share"),
        (CrawlerSettings, {"avoidance": 1.5}, "avoidance is 1.5"),
        (CrawlerSettings, {"slow_factor": 0.5}, "slow_factor below 1"),
        (TrapSettings, {"n_links": 0}, "n_links of at least 1"),
        (TrapSettings, {"kind": "maze"}, "session or calendar"),
    ],
)
def test_impossible_crawlers_are_refused(kind, wrong, message):
    with pytest.raises(SimulationError, match=message):
        kind(**wrong)
