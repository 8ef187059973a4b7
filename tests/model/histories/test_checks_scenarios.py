"""Archives that break one assumption each, or two: the right check of histories speaks.

A check speaks if its status is neither ok nor na. Of 20 archives of each kind with 6, 8 and 12
crawls the right ones must in at least 19, and no wrong one in more than one.
"""

from collections import Counter
from dataclasses import replace

import pytest

from crawlgauge.model.checks import diagnose
from crawlgauge.model.histories.checks import find_cause, measure_dependence, run_history_checks
from crawlgauge.model.histories.data import history_data
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import Avoidance, change_settings
from crawlgauge.simulate.urn_table import draw_table

N_ARCHIVES = 20
N_RIGHT = 19
N_WRONG = 1

CAPTURE, LIVES, NEW, BUNCHES = (
    "heterogeneous-capture",
    "past-future",
    "novelty",
    "overdispersion",
)

# Scenario: checks that must speak, checks that may. All others must not. What lasts in a URL, be
# it how readily it is captured or how long it lives, shows in past-future and in novelty; only
# the former in heterogeneous-capture. What a crawler does with its last crawls shows in neither
# of the two, and moves the model of pairs and with it novelty. Overdispersion is what is left if
# nothing else speaks.
EXPECTED = {
    "pure": ((), ()),
    "capture-gamma-mild": ((CAPTURE, LIVES, NEW), ()),
    "capture-gamma-strong": ((CAPTURE, LIVES, NEW), ()),
    "core-periphery": ((CAPTURE, LIVES, NEW), ()),
    "core-always": ((CAPTURE, LIVES, NEW), ()),
    "core-long-lived": ((CAPTURE, LIVES, NEW), ()),
    "core-and-reseed": ((CAPTURE, LIVES, NEW), ()),
    "survival-mix": ((LIVES, NEW), ()),
    "survival-mix-extreme": ((LIVES, NEW), ()),
    "survival-gamma": ((LIVES, NEW), ()),
    "population-growth": ((), ()),
    "population-shrink": ((), ()),
    "size-trend": ((), ()),
    "size-noise": ((), ()),
    "coverage-jump": ((), ()),
    "avoid-all": ((), ()),
    "avoid-most": ((NEW,), ()),
    "avoid-two": ((), (NEW,)),
    "avoid-and-survival-mix": ((LIVES, NEW), ()),
    "reseed": ((), ()),
    "scope-change": ((), ()),
    "host-noise": ((BUNCHES,), ()),
}

# What is behind crawls that follow each other closely. Mixed lifetimes are named only where the
# pairs found an excess.
CAUSES = {
    "avoid-all": {"avoidance"},
    "avoid-most": {"avoidance"},
    "avoid-and-survival-mix": {"avoidance"},
    "reseed": {"re-seeding"},
    "core-and-reseed": {"re-seeding"},
    "survival-mix-extreme": {"mixed-lifetimes", None},
    "survival-gamma": {"mixed-lifetimes", None},
}


def draw(name, seed, n_crawls, population=60_000):
    # Bunches of URLs show the better the more URLs there are in each.
    population = 200_000 if name == "host-noise" else population
    settings = change_settings(find_scenario(name), n_crawls=n_crawls, population=population)
    return draw_table(settings, seed=seed, with_histories=True)


def examine(table):
    """Return the checks that speak, and the cause of what short lags show."""
    data, diagnosis = history_data(table), diagnose(table)
    checks = run_history_checks(data, diagnosis)
    cause = find_cause(measure_dependence(data), diagnosis.short_lag)
    spoken = {check.id for check in checks if check.status not in {"ok", "na"}}
    return spoken, None if cause is None else cause.cause


@pytest.mark.slow
@pytest.mark.parametrize("n_crawls", [6, 8, 12])
@pytest.mark.parametrize("name", EXPECTED)
def test_the_right_check_speaks_and_no_wrong_one(name, n_crawls):
    must, may = EXPECTED[name]
    spoken, causes = Counter(), Counter()
    for seed in range(1, N_ARCHIVES + 1):
        found, cause = examine(draw(name, seed, n_crawls))
        spoken.update(found)
        causes[cause] += 1
    assert [check for check in must if spoken[check] < N_RIGHT] == []
    wrong = {check: n for check, n in spoken.items() if check not in {*must, *may}}
    assert [check for check, n in wrong.items() if n > N_WRONG] == []
    if name == "avoid-two":
        # With six crawls hardly a URL is seen before and after two others.
        assert causes["avoidance"] >= (N_RIGHT if n_crawls > 6 else 0)
        assert causes["avoidance"] + causes[None] == N_ARCHIVES
        return
    assert sum(causes[cause] for cause in CAUSES.get(name, {None})) >= N_RIGHT


@pytest.mark.parametrize("name", EXPECTED)
def test_one_archive_of_each_kind(name):
    must, may = EXPECTED[name]
    spoken, cause = examine(draw(name, 101, 8))
    assert set(must) <= spoken <= {*must, *may}
    assert cause in CAUSES.get(name, {"avoidance"} if name == "avoid-two" else {None})


@pytest.mark.parametrize("n_crawls", [6, 8, 12])
@pytest.mark.parametrize("probability", [0.6, 0.9])
def test_avoidance_does_not_hide_uneven_capture_nor_the_other_way_round(n_crawls, probability):
    settings = replace(
        change_settings(
            find_scenario("capture-gamma-strong"),
            n_crawls=n_crawls,
            population=60_000,
            coverage=0.3,
        ),
        avoidance=Avoidance(n_crawls=1, probability=probability),
    )
    spoken, cause = examine(draw_table(settings, seed=7, with_histories=True))
    assert CAPTURE in spoken
    assert cause == "avoidance"


@pytest.mark.slow
@pytest.mark.parametrize("n_crawls", [6, 12])
@pytest.mark.parametrize("population", [300, 1_000, 3_000, 10_000, 10_000_000])
@pytest.mark.parametrize("name", ["pure", "size-noise", "population-shrink"])
def test_nothing_speaks_where_nothing_is_wrong_however_few_the_urls(name, population, n_crawls):
    n_archives = 40
    spoken = Counter()
    for seed in range(1, n_archives + 1):
        spoken.update(examine(draw(name, seed, n_crawls, population))[0] or {"nothing"})
    assert spoken["nothing"] >= 0.95 * n_archives
