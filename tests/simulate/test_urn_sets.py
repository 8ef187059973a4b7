"""Sets drawn from the urn: what was asked for, and what the formulas say."""

import numpy as np
import pytest
from scipy import stats

from crawlgauge.errors import SimulationError
from crawlgauge.simulate.urn_sets import choose_among, choose_from_cells, draw_sets
from crawlgauge.simulate.urn_settings import (
    Avoidance,
    Course,
    DatePlan,
    HostNoise,
    ScopeChange,
    TableNoise,
    UrlClass,
    UrnSettings,
)


def draw(seed=1, n_crawls=4, **settings):
    return draw_sets(UrnSettings(dates=DatePlan(n_crawls=n_crawls), **settings), seed=seed)


def sets_of(archive):
    return [set(crawl.url_numbers.tolist()) for crawl in archive.crawls]


def test_equal_seeds_give_equal_archives_and_others_do_not():
    one, same, other = (draw(seed, population=2000) for seed in (5, 5, 6))
    for a, b in zip(one.crawls, same.crawls, strict=True):
        assert np.array_equal(a.url_numbers, b.url_numbers)
    assert not np.array_equal(one.crawls[0].url_numbers, other.crawls[0].url_numbers)


DEPARTURES = {
    "none": {},
    "gamma": {"capture_cv": 0.5},
    "classes": {"classes": (UrlClass(share=0.3, weight=3), UrlClass(share=0.7))},
    "avoidance": {"avoidance": Avoidance(probability=0.8), "coverage": 0.3},
    "avoidance and gamma": {"avoidance": Avoidance(), "coverage": 0.3, "capture_cv": 0.5},
    "re-seeding": {"reseeded_share": 0.3},
    "scope": {"scope_change": ScopeChange(share_common=0.5)},
    "hosts": {"host_noise": HostNoise(n_hosts=10, sd=0.7)},
    "growth": {"population": Course(first=3000, growth_per_year=0.5)},
    "shrinking": {"population": Course(first=6000, growth_per_year=-0.2)},
}


@pytest.mark.parametrize("name", DEPARTURES)
def test_crawls_hold_distinct_urls_as_many_as_the_truth_says(name):
    archive = draw(**{"population": 4000, **DEPARTURES[name]})
    for crawl, truth in zip(archive.crawls, archive.truth.crawls, strict=True):
        assert np.unique(crawl.url_numbers).size == crawl.url_numbers.size == truth.n_urls
        assert truth.coverage == truth.n_urls / truth.population
        wanted = DEPARTURES[name].get("coverage", 0.46)
        assert truth.coverage == pytest.approx(wanted, abs=0.04)
    names = archive.name_urls(np.concatenate([crawl.url_numbers for crawl in archive.crawls]))
    assert len(set(names)) == len(set.union(*sets_of(archive)))


def test_the_whole_population_shows_the_survival_itself():
    archive = draw(population=50_000, coverage=1, persistence=0.5, n_crawls=3)
    first, second, third = sets_of(archive)
    half_year = (archive.crawls[1].date - archive.crawls[0].date).days / 365.25
    assert len(first & second) / 50_000 == pytest.approx(0.5**half_year, abs=0.01)
    assert len(first & third) / 50_000 == pytest.approx(0.5, abs=0.01)


def test_nothing_dies_where_persistence_is_one():
    archive = draw(population=500, coverage=1, persistence=1)
    assert set(map(frozenset, sets_of(archive))) == {frozenset(range(500))}


def test_a_growing_population_keeps_its_survivors_and_adds_newborns():
    archive = draw(
        population=Course(first=1000, growth_per_year=1), coverage=1, persistence=1, n_crawls=3
    )
    first, second, third = sets_of(archive)
    assert (len(first), len(third)) == (1000, round(1000 * 2 ** (365 / 365.25)))
    assert first < second < third


def test_classes_keep_their_share_and_die_at_their_own_rate():
    """A class of weight 100,000 is all that is captured while it lasts."""
    classes = (
        UrlClass(share=0.4, persistence=1, weight=1e5),
        UrlClass(share=0.6, persistence=0.01, weight=1),
    )
    archive = draw(population=10_000, coverage=0.4, classes=classes)
    first, *_, last = sets_of(archive)
    assert len(first & last) / len(first) > 0.99
    assert archive.truth.persistence is None


def test_avoidance_passes_over_the_last_crawls_while_others_are_left():
    archive = draw(population=10_000, coverage=0.3, avoidance=Avoidance(n_crawls=2), n_crawls=6)
    sets = sets_of(archive)
    for crawl in range(2, 6):
        assert not sets[crawl] & sets[crawl - 1]
        assert not sets[crawl] & sets[crawl - 2]
    assert sets[0] & sets[3]


def test_avoidance_gives_way_where_too_few_others_are_left():
    archive = draw(population=1000, coverage=0.8, persistence=1, avoidance=Avoidance(), n_crawls=2)
    first, second = sets_of(archive)
    assert (len(second), len(first & second)) == (800, 600)


def test_reseeding_takes_its_share_from_the_crawl_before():
    archive = draw(population=20_000, coverage=0.2, persistence=1, reseeded_share=0.5, n_crawls=2)
    first, second = sets_of(archive)
    # Half by re-seeding, and of the rest its even share of those that are left.
    expected = 2000 + 2000 * 2000 / 18_000
    assert len(first & second) == pytest.approx(expected, abs=60)


def test_a_change_of_scope_lowers_overlaps_across_it_by_what_is_not_common():
    archive = draw(
        population=40_000,
        persistence=1,
        coverage=1,
        scope_change=ScopeChange(share_common=0.75, from_crawl=2),
    )
    first, second, third, fourth = sets_of(archive)
    assert first == second
    assert third == fourth
    assert len(first & third) == 30_000


def test_preferred_hosts_are_those_of_the_urls_names():
    archive = draw(population=20_000, host_noise=HostNoise(n_hosts=5, sd=1.5), n_crawls=1)
    names = archive.name_urls(archive.crawls[0].url_numbers)
    by_host = np.unique([name.split("/")[2] for name in names], return_counts=True)[1]
    assert by_host.size == 5
    assert by_host.max() > 1.5 * by_host.min()


def test_noise_of_tables_is_refused():
    with pytest.raises(SimulationError, match="simulate it as a table"):
        draw(table_noise=TableNoise(pair_sd=0.1))


@pytest.mark.parametrize(("n", "n_chosen"), [(0, 0), (1, 0), (1, 1), (7, 7), (50, 1), (1000, 999)])
def test_exactly_as_many_are_chosen_as_asked_for(n, n_chosen):
    for seed in range(30):
        chosen = choose_among(np.random.default_rng(seed), n, n_chosen)
        assert (chosen.size, chosen.sum()) == (n, n_chosen)


def test_every_combination_is_as_likely_as_any_other():
    """All 20 ways to choose 3 of 6, counted in 6,000 draws."""
    rng = np.random.default_rng(1)
    weights = 1 << np.arange(6)
    found = [int(choose_among(rng, 6, 3) @ weights) for _ in range(6000)]
    _, counts = np.unique(found, return_counts=True)
    assert counts.size == 20
    assert stats.chisquare(counts).pvalue > 0.001


def test_cells_follow_the_multivariate_hypergeometric_distribution():
    rng = np.random.default_rng(2)
    cells = np.array([[3, 0, 50], [7, 400, 40]])
    drawn = np.array([choose_from_cells(rng, cells, 120) for _ in range(6000)])
    assert set(drawn.sum(axis=(1, 2)).tolist()) == {120}
    law = stats.multivariate_hypergeom(cells.ravel(), 120)
    flat = drawn.reshape(6000, -1)
    se = np.sqrt(np.diag(law.cov()) / 6000)
    assert np.all(np.abs(flat.mean(axis=0) - law.mean()) <= 4 * se)
    assert np.cov(flat.T) == pytest.approx(law.cov(), abs=0.08 * law.cov().max())
    counts = np.bincount(flat[:, 0], minlength=4)
    expected = stats.hypergeom(500, 3, 120).pmf(range(4)) * 6000
    assert stats.chisquare(counts, expected).pvalue > 0.001


def test_all_or_nothing_can_be_chosen_from_cells():
    cells = np.array([5, 0, 3])
    assert choose_from_cells(np.random.default_rng(1), cells, 8).tolist() == [5, 0, 3]
    assert choose_from_cells(np.random.default_rng(1), cells, 0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("cells", [[4, 3_000_000_000], [3_000_000_000, 4], [2 * 10**9, 3 * 10**9]])
def test_beyond_a_thousand_million_moments_are_those_of_the_hypergeometric_law(cells):
    cells = np.array(cells)
    n_chosen = int(0.4 * cells.sum())
    rng = np.random.default_rng(3)
    drawn = np.array([choose_from_cells(rng, cells, n_chosen) for _ in range(2000)])
    assert set(drawn.sum(axis=1).tolist()) == {n_chosen}
    assert np.all((drawn >= 0) & (drawn <= cells))
    share = cells[0] / cells.sum()
    variance = n_chosen * share * (1 - share) * 0.6
    assert drawn[:, 0].mean() == pytest.approx(n_chosen * share, abs=4 * (variance / 2000) ** 0.5)
    assert drawn[:, 0].var() == pytest.approx(variance, rel=0.13)
