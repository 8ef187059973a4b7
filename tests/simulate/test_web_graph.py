"""The simulated web has the shape and the changes that its settings say."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.errors import SimulationError
from crawlgauge.simulate.web_graph import (
    GONE,
    NO_PAGE,
    evolve_web,
    find_distances,
    grow_web,
    list_links,
    rank_pages,
    turn_over,
)
from crawlgauge.simulate.web_settings import GraphSettings

SETTINGS = GraphSettings(n_pages=20_000, n_hosts=60, n_seeds=20)
YEARS = (0.0, 0.5, 1.0, 1.5)


@pytest.fixture(scope="module")
def webs():
    return list(evolve_web(SETTINGS, YEARS, np.random.default_rng(4)))


def links_as_sets(web):
    """The links by page number, read off the arrays one by one."""
    numbers = web.numbers.tolist()
    found = {number: [] for number in numbers}
    for source, target in zip(web.sources.tolist(), web.targets.tolist(), strict=True):
        if target != GONE:
            found[numbers[source]].append(numbers[target])
    for page, parent in enumerate(web.parents.tolist()):
        if parent != NO_PAGE:
            found[numbers[parent]].append(numbers[page])
    return found


def walk(found, seeds):
    """A plain breadth-first walk: the distance of each page that can be reached."""
    distances = dict.fromkeys(seeds, 0)
    level = list(seeds)
    while level:
        reached = {target for page in level for target in found[page]} - distances.keys()
        distances.update(dict.fromkeys(reached, max(distances.values()) + 1))
        level = list(reached)
    return distances


def test_the_number_of_pages_and_hosts_is_as_asked_for(webs):
    for web in webs:
        assert web.n_pages == SETTINGS.n_pages
        assert np.array_equal(np.unique(web.hosts), np.arange(SETTINGS.n_hosts))


def test_growth_is_as_asked_for():
    growing = replace(SETTINGS, growth_per_year=0.2)
    sizes = [web.n_pages for web in evolve_web(growing, (0.0, 1.0, 2.0), np.random.default_rng(1))]
    assert sizes == [20_000, 24_000, 28_800]


def test_host_sizes_follow_the_power_law(webs):
    sizes = np.bincount(webs[0].hosts)[1:40]
    slope = np.polyfit(np.log(np.arange(2, 41)), np.log(sizes), 1)[0]
    assert slope == pytest.approx(-SETTINGS.host_exponent, abs=0.08)


def test_in_links_are_heavy_tailed():
    """Preferential attachment gives hubs; without it in-links stay near their mean."""

    def top_share(attachment):
        settings = replace(SETTINGS, attachment=attachment, n_warm_up=0)
        (web,) = evolve_web(settings, (0.0,), np.random.default_rng(2))
        n_in = np.sort(np.bincount(web.targets[web.targets != GONE], minlength=web.n_pages))
        return n_in[-web.n_pages // 100 :].sum() / n_in.sum()

    assert top_share(0.7) > 0.3
    assert top_share(0.0) < 0.12


def test_the_tail_of_in_links_is_a_power_law(webs):
    n_in = np.bincount(webs[-1].targets[webs[-1].targets != GONE])
    tail = n_in[n_in >= 20]
    exponent = 1 + tail.size / np.log(tail / 19.5).sum()
    assert 2.0 < exponent < 3.0
    assert tail.max() > 100 * n_in.mean()


def test_depth_is_one_more_than_that_of_the_page_above(webs):
    for web in webs:
        depth_of = dict(zip(web.numbers.tolist(), web.depths.tolist(), strict=True))
        above = web.parents_ever[web.numbers]
        is_entry = web.numbers < SETTINGS.n_hosts
        assert np.all(web.depths[is_entry] == 0)
        assert np.all(web.depths[~is_entry] > 0)
        for number, parent in zip(web.numbers.tolist(), above.tolist(), strict=True):
            if number >= SETTINGS.n_hosts and parent in depth_of:
                assert depth_of[number] == depth_of[parent] + 1


def test_menus_stay_on_their_host_and_lead_downwards(webs):
    for web in webs:
        linked = np.flatnonzero(web.parents != NO_PAGE)
        inner = linked[linked >= SETTINGS.n_hosts]
        assert np.array_equal(web.hosts[inner], web.hosts[web.parents[inner]])
        assert np.all(web.depths[inner] > web.depths[web.parents[inner]])


def test_no_link_leads_to_a_page_that_is_not_born_or_from_one_that_is_gone(webs):
    for web, date in zip(webs, YEARS, strict=True):
        assert web.born.max() <= date
        assert web.sources.min() >= 0
        assert web.sources.max() < web.n_pages
        assert web.targets.min() >= GONE
        assert web.targets.max() < web.n_pages


def test_page_numbers_are_never_used_again(webs):
    for before, after in itertools.pairwise(webs):
        assert np.all(np.diff(after.numbers) > 0)
        new = np.setdiff1d(after.numbers, before.numbers)
        assert new.min() >= before.hosts_ever.size
        assert np.array_equal(after.hosts_ever[: before.hosts_ever.size], before.hosts_ever)


def test_entry_pages_never_vanish(webs):
    for web in webs:
        assert np.array_equal(web.numbers[: SETTINGS.n_hosts], np.arange(SETTINGS.n_hosts))


def survival(before, after, chosen):
    return np.isin(before.numbers[chosen], after.numbers).mean()


def test_young_and_deep_pages_vanish_faster(webs):
    before, after = webs[0], webs[1]
    inner = before.numbers >= SETTINGS.n_hosts
    young, old = before.born > -0.5, before.born < -2
    deep, shallow = before.depths >= 7, before.depths <= 3
    assert survival(before, after, inner & young) < survival(before, after, inner & old) - 0.05
    assert survival(before, after, old & deep) < survival(before, after, old & inner & shallow)


def test_pages_survive_as_their_rate_says():
    settings = replace(SETTINGS, death_rate=0.4, infant_factor=1.0, depth_factor=0.0)
    web = grow_web(settings, np.random.default_rng(3))
    later = turn_over(web, 0.0, 1.0, settings, np.random.default_rng(5))
    inner = web.numbers >= SETTINGS.n_hosts
    assert survival(web, later, inner) == pytest.approx(np.exp(-0.4), abs=0.015)


def test_links_rot_and_new_ones_take_their_place(webs):
    dead = [float((web.targets == GONE).mean()) for web in webs]
    assert all(0.05 < share < 0.4 for share in dead)
    n_links = [web.sources.size for web in webs]
    assert max(n_links) < 1.1 * min(n_links)


def test_nothing_changes_in_no_time(webs):
    web = webs[0]
    same = turn_over(web, 0.0, 0.0, SETTINGS, np.random.default_rng(1))
    assert np.array_equal(same.numbers, web.numbers)
    assert np.array_equal(same.targets, web.targets)


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_of_a_plain_breadth_first_walk(seed):
    settings = GraphSettings(
        n_pages=400, n_hosts=12, n_seeds=3, relinking_share=0.3, unlinking_rate=0.2
    )
    *_, web = evolve_web(settings, YEARS, np.random.default_rng(seed))
    links = list_links(web)
    distances = find_distances(*links, np.arange(3, dtype=np.int32))
    expected = walk(links_as_sets(web), range(3))
    assert len(expected) < 400, "some pages must be out of reach for the test to say something"
    assert [expected.get(number, -1) for number in web.numbers.tolist()] == distances.tolist()


def test_ranks_solve_the_equation_of_pagerank():
    *_, web = evolve_web(replace(SETTINGS, n_pages=300), YEARS, np.random.default_rng(1))
    starts, links = list_links(web)
    distances = find_distances(starts, links, np.arange(20, dtype=np.int32))
    member = distances >= 0
    ranks = rank_pages(starts, links, member, 0.85, 100)
    n = int(member.sum())
    matrix = np.zeros((300, 300))
    for page in np.flatnonzero(member):
        targets = links[starts[page] : starts[page + 1]]
        if targets.size:
            np.add.at(matrix[:, page], targets, 0.85 / targets.size)
        matrix[member, page] += (1 - matrix[:, page].sum()) / n
    assert ranks.sum() == pytest.approx(1)
    assert np.all(ranks[~member] == 0)
    assert matrix @ ranks == pytest.approx(ranks, abs=1e-9)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_seeds": 61}, "do not fit together"),
        ({"n_pages": 59}, "do not fit together"),
        ({"attachment": 1.2}, "attachment is 1.2"),
        ({"death_rate": -0.1}, "death_rate is -0.1"),
        ({"infant_factor": 0.5}, "infant_factor is 0.5"),
    ],
)
def test_impossible_webs_are_refused(wrong, message):
    with pytest.raises(SimulationError, match=message):
        replace(SETTINGS, **wrong)
