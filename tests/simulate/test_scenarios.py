"""Named scenarios are told in words, and do to the estimates what they are known to do."""

import pytest

import crawlgauge as cg
from crawlgauge.errors import SimulationError
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.simulate.scenarios import SCENARIOS, find_scenario
from crawlgauge.simulate.urn_settings import UrnSettings, describe, flatten_settings
from crawlgauge.simulate.urn_table import draw_table

# Estimated over true coverage: the paper's line, then the two-way model, for 12 half-yearly crawls.
BIASES = {
    "pure": (1.00, 1.00),
    "capture-gamma-mild": (1.09, 1.09),
    "capture-gamma-strong": (1.37, 1.37),
    "core-periphery": (2.72, 2.72),
    "core-always": (1.35, 1.35),
    "core-long-lived": (1.46, 1.46),
    "survival-mix": (0.84, 0.85),
    "survival-mix-extreme": (0.77, 0.77),
    "avoid-most": (0.38, None),
    "avoid-two": (0.34, None),
    "reseed": (1.11, 1.12),
    "scope-change": (1.00, 1.01),
}
SEEN_ALWAYS = {"pure", "core-always", "survival-mix"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in SEEN_ALWAYS else pytest.mark.slow) for name in BIASES],
)
def test_a_departure_from_the_urn_biases_the_estimates_by_a_known_factor(name):
    table = draw_table(find_scenario(name), seed=11)
    estimates = estimate_coverage(table)
    paper, two_way = BIASES[name]
    assert estimates.paper.coverage / table.truth.coverage == pytest.approx(paper, abs=0.012)
    if two_way is not None:
        rows = {row.name: row for row in estimates.estimators}
        found = rows["two-way"].coverage
        assert found / table.truth.coverage == pytest.approx(two_way, abs=0.015)


@pytest.mark.slow
def test_trends_bias_the_papers_persistence_as_the_formulas_say():
    """A trend k of log coverage shifts the slope by k/2; growth with constant size is k = -rho."""
    for name, expected in (
        ("population-growth", 0.73 * 1.2**-0.5),
        ("population-shrink", 0.73 * 0.8**-0.5),
        ("size-trend", 0.73 * 1.2**0.5),
    ):
        table = draw_table(find_scenario(name), seed=5)
        estimates = estimate_coverage(table)
        assert estimates.paper.persistence == pytest.approx(expected, abs=0.005)
        assert estimates.persistence.value == pytest.approx(0.73, abs=0.006)


def test_the_papers_fit_returns_the_papers_numbers_from_gaw():
    paper = estimate_coverage(draw_table(find_scenario("gaw"), seed=1)).paper
    assert len(paper.per_start) == 15
    assert paper.coverage == pytest.approx(0.46, abs=0.01)
    assert paper.persistence == pytest.approx(0.73, abs=0.01)
    assert paper.half_life_years == pytest.approx(2.2, abs=0.05)
    assert paper.r_squared > 0.999


def test_with_its_noise_gaw_has_the_papers_r_squared():
    settings = find_scenario("gaw-noise")
    found = [
        estimate_coverage(draw_table(settings, seed=seed, with_histories=False)).paper.r_squared
        for seed in range(60)
    ]
    assert sum(found) / 60 == pytest.approx(0.95, abs=0.01)


def test_an_unknown_scenario_is_refused_with_the_known_ones():
    with pytest.raises(SimulationError, match="'pur'; there are pure, gaw"):
        find_scenario("pur")


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_is_told_in_words_and_as_plain_data(name):
    scenario = SCENARIOS[name]
    text = describe(scenario.settings)
    assert text.startswith(f"{name}: ")
    assert all(line.endswith(".") and "_" not in line for line in text.splitlines())
    flat = flatten_settings(scenario.settings)
    assert all(isinstance(value, str | int | float) for value in flat.values())


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("avoid-two", "passes over 80 % of the URLs that the last 2 crawls captured"),
        ("scope-change", "From crawl 7 on the configuration is another: 75 % of the old scope"),
        ("core-always", "20 % of them are of a kind of which 73 % live on for a year and are"),
        ("population-shrink", "could reach: 200,000 at first, 20 % less a year"),
        ("coverage-jump", "2 times that from the middle of the series on"),
        ("capture-gamma-mild", "coefficient of variation of 0.3"),
        ("regime-f", "15 crawls at irregular dates between 2013-12-15 and 2020-12-15"),
        ("regime-d", "quality as a marker (sd 0.1)"),
        ("host-noise", "it weights each of 200 hosts at random"),
        ("reseed", "20 % of each crawl are taken from the one before"),
    ],
)
def test_the_words_say_what_the_scenario_is_about(name, phrase):
    assert phrase in describe(find_scenario(name))


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
