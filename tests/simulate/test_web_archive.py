"""Archives of a simulated web: repeatable, named, and true."""

import datetime as dt
import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.errors import SimulationError
from crawlgauge.simulate.archive_files import write_simulated
from crawlgauge.simulate.scenarios import WEB_SCENARIOS, find_web_scenario
from crawlgauge.simulate.simulating import choose_web
from crawlgauge.simulate.urn_settings import DatePlan
from crawlgauge.simulate.web_archive import (
    WebNames,
    number_trap_urls,
    simulate_crawlers,
    simulate_web,
)
from crawlgauge.simulate.web_graph import evolve_web
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
    return simulate_web(SMALL, seed=11)


def same(one, other):
    return all(
        np.array_equal(a.url_numbers, b.url_numbers)
        for a, b in zip(one.crawls, other.crawls, strict=True)
    )


@pytest.mark.parametrize("scenario", WEB_SCENARIOS)
def test_equal_seeds_give_equal_archives_and_others_do_not(scenario):
    settings = choose_web(scenario, n_pages=1200, n_crawls=3)
    first, again, other = (simulate_web(settings, seed=seed) for seed in (5, 5, 6))
    assert same(first, again)
    assert first.truth.to_dict() == again.truth.to_dict()
    assert not same(first, other)


def test_files_of_one_seed_are_equal_to_the_byte(tmp_path, archive):
    for name, workers in (("one", 1), ("two", 2)):
        write_simulated(simulate_web(SMALL, seed=11), tmp_path / name, "url-lists", workers=workers)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(names) == 5
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    truth = json.loads((tmp_path / "one" / "truth.json").read_text())
    assert truth == archive.truth.to_dict()
    assert truth["crawls"][1].keys() >= {"coverage_by_pagerank", "repeat_overlap", "n_trap_urls"}
    assert truth["settings"]["policy"] == "breadth-first"


def test_a_crawler_finds_the_same_whether_others_crawl_the_web_or_not(archive):
    other = replace(SMALL, crawler=CrawlerSettings(policy="polite"))
    assert same(simulate_crawlers([other, SMALL], seed=11)[1], archive)


def test_crawlers_of_different_webs_are_refused():
    other = replace(SMALL, graph=replace(GRAPH, n_pages=1600))
    with pytest.raises(SimulationError, match="same graph settings and dates"):
        simulate_crawlers([SMALL, other], seed=1)


def populations_by_hand():
    """The numbers of the pages that can be reached at each date, by a plain walk."""
    dates = [crawl.date for crawl in simulate_web(SMALL, seed=11).crawls]
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
    truth = simulate_web(choose_web("uniform-web", n_pages=30_000, n_crawls=2), seed=3).truth
    for crawl in truth.crawls:
        assert crawl.details["repeat_overlap"] == pytest.approx(crawl.coverage, abs=0.015)
        assert crawl.details["coverage_by_pagerank"] == pytest.approx(crawl.coverage, abs=0.05)


def test_a_breadth_first_crawler_holds_more_of_what_is_well_linked():
    truth = simulate_web(choose_web("gaw-web", n_pages=30_000, n_crawls=2), seed=3).truth
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
    crawls = simulate_web(settings, seed=2).crawls
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
    archive = simulate_web(replace(SMALL, dates=dates), seed=1)
    assert tuple(crawl.date for crawl in archive.crawls) == dates
    first, second, _ = archive.truth.crawls
    assert first.population == second.population
    assert 0 < archive.truth.persistence < 1
    assert simulate_web(replace(SMALL, dates=dates[:1]), seed=1).truth.persistence is None


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
    with pytest.raises(SimulationError, match=r"unknown scenario 'moon'; known are gaw-web"):
        find_web_scenario("moon")


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
    assert "2 crawls of a changing web from 2020-01-01 to 2021-01-01" in text
    assert "changes by +25% a year" in text
    assert "the same in each crawl" in text
    assert "uniform draws from the population and never enters them" in text
