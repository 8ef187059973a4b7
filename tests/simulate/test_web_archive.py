"""Archives of a simulated web: repeatable, named, and true; each crawler fetches what it says."""

import datetime as dt
import heapq
import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.core.frontier import crawl_frontier
from crawlgauge.errors import SimulationError
from crawlgauge.simulate.scenarios import WEB_SCENARIOS, choose_web
from crawlgauge.simulate.urn_settings import DatePlan
from crawlgauge.simulate.web_archive import (
    NEVER,
    CrawlTask,
    View,
    WebNames,
    fetch_pages,
    number_trap_urls,
)
from crawlgauge.simulate.web_graph import evolve_web, find_distances
from crawlgauge.simulate.web_settings import (
    CrawlerSettings,
    GraphSettings,
    TrapSettings,
    WebSettings,
    describe_web,
)

GRAPH = GraphSettings(n_pages=1500, n_hosts=30, n_seeds=8, unlinking_rate=0.3, relinking_share=0.5)
SMALL = WebSettings(
    graph=GRAPH, traps=TrapSettings(n_hosts=6, n_links=3), dates=DatePlan(n_crawls=4)
)


@pytest.fixture(scope="module")
def archive():
    return cg.simulate_web(SMALL, seed=11)


def same(one, other):
    return all(
        np.array_equal(a.url_numbers, b.url_numbers)
        for a, b in zip(one.crawls, other.crawls, strict=True)
    )


@pytest.mark.parametrize("scenario", WEB_SCENARIOS)
def test_equal_seeds_give_equal_archives_and_others_do_not(scenario):
    settings = choose_web(scenario, n_pages=1200, n_crawls=3)
    first, again, other = (cg.simulate_web(settings, seed=seed) for seed in (5, 5, 6))
    assert same(first, again)
    assert first.truth.to_dict() == again.truth.to_dict()
    assert not same(first, other)


def test_files_of_one_seed_are_equal_to_the_byte(tmp_path, archive):
    for name, workers in (("one", 1), ("two", 2)):
        cg.write_simulation(
            cg.simulate_web(SMALL, seed=11), tmp_path / name, "url-lists", workers=workers
        )
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(names) == 5
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    truth = json.loads((tmp_path / "one" / "truth.json").read_text())
    assert truth == archive.truth.to_dict()
    assert truth["crawls"][1].keys() >= {"coverage_by_pagerank", "repeat_overlap", "n_trap_urls"}
    assert truth["settings"]["policy"] == "breadth-first"


def test_crawlers_meet_the_same_web_whatever_they_fetch(archive):
    other = cg.simulate_web(replace(SMALL, crawler=CrawlerSettings(policy="polite")), seed=11)
    assert not same(other, archive)
    pairs = list(zip(other.truth.crawls, archive.truth.crawls, strict=True))
    assert all(one.population == two.population for one, two in pairs)
    assert other.truth.persistence == archive.truth.persistence


def populations_by_hand():
    """The numbers of the pages that can be reached at each date, by a plain walk."""
    dates = [crawl.date for crawl in cg.simulate_web(SMALL, seed=11).crawls]
    years = [(date - dates[0]).days / 365.25 for date in dates]
    for web in evolve_web(GRAPH, years, np.random.default_rng([11, 0])):
        leads_to = {page: [] for page in range(web.n_pages)}
        menus = enumerate(web.parents.tolist())
        links = zip(web.sources.tolist(), web.targets.tolist(), strict=True)
        for source, target in itertools.chain(((p, page) for page, p in menus), links):
            if source >= 0 and target >= 0:
                leads_to[source].append(target)
        reached, frontier = set(), list(range(GRAPH.n_seeds))
        while frontier:
            page = frontier.pop()
            if page not in reached:
                reached.add(page)
                frontier += leads_to[page]
        yield {int(web.numbers[page]) for page in reached}


def test_the_truth_is_that_of_a_plain_walk_over_the_links(archive):
    populations = list(populations_by_hand())
    assert min(len(population) for population in populations) < GRAPH.n_pages
    for crawl, truth, population in zip(
        archive.crawls, archive.truth.crawls, populations, strict=True
    ):
        held = set(crawl.url_numbers.tolist())
        assert truth.n_urls == len(held)
        assert truth.population == len(population)
        assert truth.coverage == len(held & population) / len(population)
        assert truth.details["n_trap_urls"] == len(held - population) > 0
    years = (archive.crawls[-1].date - archive.crawls[0].date).days / 365.25
    shares = [len(a & b) / len(a) for a, b in itertools.pairwise(populations)]
    assert archive.truth.persistence == pytest.approx(math.prod(shares) ** (1 / years))
    whole = len(populations[0] & populations[-1]) / len(populations[0])
    assert archive.truth.settings["persistence_first_to_last"] == pytest.approx(
        whole ** (1 / years)
    )


def test_weighted_coverages_of_a_uniform_crawler_are_its_coverage():
    truth = cg.simulate_web("uniform-web", n_pages=30_000, n_crawls=2, seed=3).truth
    for crawl in truth.crawls:
        assert crawl.details["repeat_overlap"] == pytest.approx(crawl.coverage, abs=0.015)
        assert crawl.details["coverage_by_pagerank"] == pytest.approx(crawl.coverage, abs=0.05)


def test_a_breadth_first_crawler_holds_more_of_what_is_well_linked():
    truth = cg.simulate_web("gaw-web", n_pages=30_000, n_crawls=2, seed=3).truth
    for crawl in truth.crawls:
        assert crawl.details["coverage_by_pagerank"] > crawl.coverage + 0.15
        assert crawl.details["repeat_overlap"] > crawl.coverage + 0.2


def test_the_budget_is_the_share_of_the_first_population(archive):
    first = archive.truth.crawls[0]
    assert archive.truth.settings["budget"] == round(0.5 * first.population)
    assert {crawl.n_urls for crawl in archive.truth.crawls} == {archive.truth.settings["budget"]}


@pytest.mark.parametrize("kind", ["session", "calendar"])
def test_session_ids_are_new_in_each_crawl_and_calendars_are_not(kind):
    settings = replace(SMALL, traps=TrapSettings(n_hosts=6, n_links=3, kind=kind))
    crawls = cg.simulate_web(settings, seed=2).crawls
    trapped = [set(crawl.url_numbers[crawl.url_numbers >= 1 << 60].tolist()) for crawl in crawls]
    assert all(trapped)
    assert bool(set.intersection(*trapped)) == (kind == "calendar")


def test_all_urls_are_distinct_and_stay_the_same(archive):
    numbers = np.unique(np.concatenate([crawl.url_numbers for crawl in archive.crawls]))
    urls = archive.name_urls(numbers)
    assert len(set(urls)) == numbers.size
    assert archive.name_urls(numbers[::-1]) == urls[::-1]
    assert all(url.startswith("https://") and ".example/" in url for url in urls)


def test_urls_show_host_and_path():
    names = WebNames(hosts=np.array([0, 1, 0, 0]), parents=np.array([0, 1, 0, 2]), n_seeds=1)
    assert names(np.array([3, 1])) == [
        "https://www.university-0.example/research/3.html",
        "https://institute-1.university-0.example/",
    ]
    session = number_trap_urls(np.array([0, 2]), kind="session", n_crawl=4)
    assert names(session) == [
        "https://institute-1.university-0.example/index.php?sessionid=5-00000000",
        "https://institute-1.university-0.example/index.php?sessionid=5-00000001",
    ]
    calendar = number_trap_urls(np.array([1, 0]), kind="calendar", n_crawl=4)
    assert names(calendar) == ["https://www.university-0.example/calendar?page=0"]


def test_given_dates_are_used_and_two_crawls_may_have_the_same():
    dates = (dt.date(2020, 1, 1), dt.date(2020, 1, 1), dt.date(2021, 7, 1))
    archive = cg.simulate_web(replace(SMALL, dates=dates), seed=1)
    assert tuple(crawl.date for crawl in archive.crawls) == dates
    first, second, _ = archive.truth.crawls
    assert first.population == second.population
    assert 0 < archive.truth.persistence < 1
    assert cg.simulate_web(replace(SMALL, dates=dates[:1]), seed=1).truth.persistence is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"traps": TrapSettings(n_hosts=31)}, "31 hosts have traps, but there are 30 hosts"),
        ({"dates": ()}, "at least one date"),
        ({"dates": (dt.date(2020, 1, 2), dt.date(2020, 1, 1))}, "rising order"),
    ],
)
def test_impossible_archives_are_refused(wrong, message):
    with pytest.raises(SimulationError, match=message):
        replace(SMALL, **wrong)


def test_an_unknown_scenario_is_refused_with_the_known_names():
    with pytest.raises(SimulationError, match="there is no scenario 'moon'; there are gaw-web"):
        cg.simulate_web("moon")


@pytest.mark.parametrize("name", WEB_SCENARIOS)
def test_every_scenario_is_described_by_its_numbers(name):
    settings = choose_web(name, n_pages=12_345, n_crawls=7)
    text = describe_web(settings)
    assert f"Scenario {name}: 7 crawls" in text
    assert "12,345 pages live on 600 hosts" in text
    assert "the 150 largest are the seeds" in text
    assert f"Policy {settings.crawler.policy}:" in text
    assert ("no spider traps" in text) == (name != "trap-web")
    assert "{" not in text


def test_descriptions_tell_of_growth_given_dates_and_traps_that_are_never_entered():
    settings = WebSettings(
        graph=replace(GRAPH, growth_per_year=0.25),
        crawler=CrawlerSettings(policy="uniform"),
        traps=TrapSettings(n_hosts=3, kind="calendar"),
        dates=(dt.date(2020, 1, 1), dt.date(2021, 1, 1)),
    )
    text = describe_web(settings)
    assert "2 crawls at given dates from 2020-01-01 to 2021-01-01" in text
    assert "changes by +25% a year" in text
    assert "the same in each crawl" in text
    assert "uniform draws from the population and never enters them" in text


N_HOSTS, N_SEEDS, N_PAGES = 40, 10, 4000
FRONTIER_POLICIES = ("breadth-first", "pagerank", "capped", "polite")
LIST_POLICIES = ("uniform", "adaptive", "longest-unseen")


@pytest.fixture(scope="module")
def web():
    settings = GraphSettings(n_pages=N_PAGES, n_hosts=N_HOSTS, n_seeds=N_SEEDS)
    *_, web = evolve_web(settings, (0.0, 0.5), np.random.default_rng(8))
    return web


def task_of(web, *, budget=1500, trap_hosts=(), last_crawl=None, slow_hosts=()):
    never = np.full(web.n_pages, NEVER, dtype=np.int32)
    return CrawlTask(
        view=View(web, N_SEEDS),
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
    assert np.all(np.isin(fetch.pages, task.view.population))
    assert np.all(np.isin(np.flatnonzero(fetch.n_in_trap), trap_hosts))


@pytest.mark.parametrize("policy", ["breadth-first", "pagerank", *LIST_POLICIES])
def test_without_failures_and_with_a_large_budget_the_whole_population_is_fetched(web, policy):
    task = task_of(web, budget=10 * N_PAGES)
    fetch = crawl(task, policy, failure_share=0.0)
    assert np.array_equal(np.sort(fetch.pages), task.view.population)


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
    distances = find_distances(*task.view.links, task.view.seeds)
    reached = distances[fetch.pages]
    assert np.all(np.diff(reached) >= 0)
    for distance in range(int(reached[-1])):
        assert (reached == distance).sum() == (distances == distance).sum()


def best_first(task, order, *, by_level):
    """The same crawl with Python's own heap."""
    starts, targets = (column.tolist() for column in task.view.links)

    def key(page, now):
        return np.floor(now) + 1 + order[page] if by_level else -order[page]

    frontier = [(key(seed, -1.0), seed) for seed in task.view.seeds.tolist()]
    heapq.heapify(frontier)
    known, fetched = set(task.view.seeds.tolist()), []
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
        *(*task.view.links, web.hosts, task.view.seeds),
        *(np.zeros(web.n_pages, dtype=np.uint8), rule, order, np.zeros(N_HOSTS)),
        *(task.has_trap.view(np.uint8), 1, task.budget, task.budget),
    )
    assert pages.tolist() == best_first(task, order, by_level=rule == "level")


def test_pagerank_prefers_pages_of_high_rank(web):
    task = task_of(web, budget=500)
    ranked, even = (crawl(task, policy) for policy in ("pagerank", "uniform"))
    assert task.view.ranks[ranked.pages].sum() > 1.8 * task.view.ranks[even.pages].sum()


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
    assert fetch.pages.size < 0.71 * task.view.population.size


def last_crawl_of(web, task, n_recent):
    last = np.full(web.n_pages, NEVER, dtype=np.int32)
    last[task.view.population[:n_recent]] = 4
    last[task.view.population[n_recent : 2 * n_recent]] = 3
    return last


def test_the_adaptive_policy_passes_over_the_crawl_before(web):
    last = last_crawl_of(web, task_of(web), 1000)
    task = task_of(web, budget=1000, last_crawl=last)
    fetched = last[crawl(task, "adaptive", avoidance=0.8).pages]
    n_others = task.view.population.size - 1000
    expected = 1000 * 200 / (n_others + 200)
    assert (fetched == 4).sum() == pytest.approx(expected, rel=0.35)
    assert (fetched == 3).sum() == pytest.approx(1000 * 1000 / (n_others + 200), rel=0.15)
    assert not (last[crawl(task, "adaptive", avoidance=1.0).pages] == 4).any()


def test_the_adaptive_policy_returns_to_the_crawl_before_where_nothing_else_is_left(web):
    last = last_crawl_of(web, task_of(web), 1900)
    task = task_of(web, budget=3000, last_crawl=last)
    fetched = last[crawl(task, "adaptive", avoidance=1.0).pages]
    assert fetched.size == 3000
    assert (fetched != 4).sum() == task.view.population.size - 1900


def test_what_was_not_seen_for_longest_comes_first(web):
    last = last_crawl_of(web, task_of(web), 1500)
    n_never = task_of(web).view.population.size - 3000
    fetched = last[crawl(task_of(web, budget=2000, last_crawl=last), "longest-unseen").pages]
    assert [(fetched == crawl).sum() for crawl in (NEVER, 3, 4)] == [
        *(n_never, min(1500, 2000 - n_never), max(0, 500 - n_never))
    ]


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (CrawlerSettings, {"policy": "depth-first"}, "unknown policy 'depth-first'; known are"),
        (CrawlerSettings, {"budget_share": 0.0}, "budget_share is 0.0"),
        (CrawlerSettings, {"avoidance": 1.5}, "avoidance is 1.5"),
        (CrawlerSettings, {"slow_factor": 0.5}, "slow_factor is 0.5"),
        (TrapSettings, {"n_links": 0}, "n_links is 0"),
        (TrapSettings, {"kind": "maze"}, "session or calendar"),
    ],
)
def test_impossible_crawlers_are_refused(kind, wrong, message):
    with pytest.raises(SimulationError, match=message):
        kind(**wrong)
