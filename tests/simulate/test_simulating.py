"""Simulating by the name of a scenario, as users do."""

import pytest

import crawlgauge as cg
from crawlgauge.errors import SimulationError
from crawlgauge.simulate.urn_settings import UrnSettings


def test_the_default_is_the_papers_urn():
    truth = cg.simulate_urn(population=1000).truth
    assert (len(truth.crawls), truth.coverage, truth.persistence) == (15, pytest.approx(0.46), 0.73)
    assert truth.crawls[0].label == "2013-12"


def test_a_scenario_is_given_by_name_or_by_its_settings():
    by_name = cg.simulate_table("core-always", seed=3)
    own = UrnSettings(scenario="mine", capture_cv=0.2, population=500)
    assert by_name.truth.scenario == "core-always"
    assert cg.simulate_urn(own, n_crawls=3).truth.scenario == "mine"
    assert cg.simulate_table(own, n_crawls=3).n_crawls == 3


def test_a_simulated_table_is_estimated_like_any_other_and_knows_the_truth():
    table = cg.simulate_table("gaw", seed=2)
    fit = cg.estimate(table)
    assert isinstance(table, cg.OverlapTable)
    assert fit.estimates.headline.coverage.value == pytest.approx(table.truth.coverage, rel=0.01)


def test_histories_can_be_asked_for_and_left_out():
    assert cg.simulate_table("gaw", n_crawls=16, with_histories=True).histories is not None
    assert cg.simulate_table("gaw", n_crawls=4, with_histories=False).histories is None


def test_web_scenarios_can_be_changed():
    archive = cg.simulate_web("uniform-web", n_pages=1500, n_crawls=2, budget=0.4, seed=3)
    assert len(archive.crawls) == 2
    assert archive.truth.crawls[0].coverage == pytest.approx(0.4, abs=0.02)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("nothing", {}, "there is no scenario 'nothing'"),
        ("survival-mix", {"persistence": 0.5}, "has a persistence of its own"),
        ("gaw", {"coverage": 2}, "at most 1"),
        ("gaw", {"seed": -2}, "negative"),
    ],
)
def test_what_cannot_be_simulated_is_said(name, changes, message):
    with pytest.raises(SimulationError, match=message):
        cg.simulate_urn(name, **changes)
