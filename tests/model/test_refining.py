"""What capture histories put in the place of the estimates from pairs."""

import math
from dataclasses import replace

import pytest

from crawlgauge.model.estimates import Estimate, Newest
from crawlgauge.model.estimating import estimate_coverage
from crawlgauge.model.statement_histories import state_known_alive
from crawlgauge.overlaps.histories import Histories
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table


def draw(scenario, seed=1, **changes):
    settings = change_settings(find_scenario(scenario), n_crawls=8, population=60_000, **changes)
    return draw_table(settings, seed=seed, with_histories=True)


def check(estimates, check_id):
    (found,) = (item for item in estimates.checks if item.id == check_id)
    return found


@pytest.fixture(scope="module")
def pure():
    table = draw("pure")
    return table, estimate_coverage(table)


@pytest.fixture(scope="module")
def avoiding():
    table = draw("avoid-most")
    return table, estimate_coverage(table)


def test_known_alive_windows_lead_where_histories_allow(pure):
    table, estimates = pure
    headline = estimates.headline
    assert headline.estimator == "known-alive"
    assert headline.coverage.basis == "empirical-band"
    assert headline.coverage.value == pytest.approx(table.truth.coverage, rel=0.03)
    assert headline.coverage.low < table.truth.coverage < headline.coverage.high
    assert estimates.agreement.grade == "A"
    assert estimates.agreement.spread < 0.05
    assert "judged by URLs known to have been alive" in headline.statement


def test_all_estimators_stand_beside_it_and_the_closed_ones_say_too_little(pure):
    _, estimates = pure
    rows = {row.name: row for row in estimates.estimators}
    assert list(rows) == [
        *("paper-forward", "paper-backward", "two-way", "growth", "known-alive", "cjs"),
        *("jolly-seber", "manly-parr", "rested-manly-parr", "lincoln-petersen", "chapman"),
        *("schnabel", "chao", "loglinear-mt", "loglinear-mth", "latent-class"),
    ]
    for name in ("schnabel", "chao", "loglinear-mt", "loglinear-mth"):
        assert rows[name].coverage < 0.7 * estimates.headline.coverage.value
        assert "too large" in rows[name].assumes
    assert all(len(row.per_crawl) == 8 for row in rows.values())


def test_the_first_crawl_stays_unknown_and_the_newest_is_called_an_extrapolation(pure):
    table, estimates = pure
    first, *_, last = estimates.per_crawl
    assert first.coverage.value is None
    assert "first crawl" in first.coverage.reason
    assert last.note == "the newest crawl is an extrapolation"
    assert estimates.newest.coverage == last.coverage
    assert estimates.population == last.population
    population = last.population
    assert population.value == pytest.approx(table.crawls[-1].n_urls / last.coverage.value)
    assert population.low < population.value < population.high


def test_nothing_is_found_wrong_with_an_urn(pure):
    _, estimates = pure
    assert {item.id for item in estimates.checks} == {
        *("lack-of-fit", "short-lag", "curvature", "change-point", "population-trend"),
        *("heterogeneous-capture", "past-future", "novelty", "overdispersion"),
    }
    assert {item.status for item in estimates.checks} <= {"ok", "na"}


def test_avoidance_that_spoils_the_pairs_is_named_and_allowed_for(avoiding):
    table, estimates = avoiding
    truth = table.truth.coverage
    by_pairs = estimate_coverage(replace(table, histories=None))
    assert by_pairs.headline.coverage.value < 0.8 * truth
    assert "do not trust this number" in by_pairs.headline.statement
    assert estimates.headline.coverage.value == pytest.approx(truth, rel=0.1)
    assert estimates.headline.coverage.low < truth < estimates.headline.coverage.high
    found = check(estimates, "short-lag")
    assert found.status == "warn"
    assert "avoids pages that it fetched recently" in found.message
    assert "; capture histories resolve it" not in found.message
    assert "The crawler avoids URLs of the last crawl" in estimates.agreement.reason


def test_under_avoidance_turnover_does_not_come_from_the_pairs(avoiding):
    table, estimates = avoiding
    assert estimates.persistence.value == pytest.approx(table.truth.persistence, abs=0.03)
    assert estimates.persistence.low is None
    assert "latent-class" in estimates.persistence.reason
    assert abs(estimates.growth_per_year.value) < 0.05


def test_with_four_crawls_the_pairs_lead_and_the_reason_is_said():
    table = draw_table(
        change_settings(find_scenario("pure"), n_crawls=4, population=20_000),
        seed=1,
        with_histories=True,
    )
    estimates = estimate_coverage(table)
    assert estimates.headline.estimator == "two-way"
    assert estimates.agreement.grade == "none"
    assert "known-alive windows need 5" in estimates.agreement.reason
    assert "cjs" in {row.name for row in estimates.estimators}


def test_uneven_capture_lowers_the_estimate_below_that_of_pairs():
    table = draw("core-periphery")
    estimates = estimate_coverage(table)
    truth = table.truth.coverage
    two_way = next(row for row in estimates.estimators if row.name == "two-way")
    assert two_way.coverage > 1.15 * truth
    assert abs(math.log(estimates.headline.coverage.value / truth)) < 0.15
    assert check(estimates, "heterogeneous-capture").status in {"warn", "fail"}


def test_a_sample_of_the_histories_gives_the_population_of_the_whole(pure):
    table, whole = pure
    kept = table.histories.counts // 4
    present = kept > 0
    sampled = replace(
        table,
        histories=Histories(
            n_crawls=8,
            masks=table.histories.masks[present],
            counts=kept[present],
            sample_rate=0.25,
        ),
    )
    estimates = estimate_coverage(sampled)
    assert estimates.population.value == pytest.approx(whole.population.value, rel=0.05)


def statement(grade, value, low, high):
    unknown = Estimate.unknown("none")
    return state_known_alive(
        coverage=Estimate(value=value, low=low, high=high, basis="empirical-band"),
        grade=grade,
        reason="the band is wide",
        half_life_years=Estimate(value=2.2),
        newest=Newest(label="x", coverage=unknown, population=unknown),
        level="url",
    )


def test_at_grade_c_the_range_leads_and_not_the_number():
    text = statement("C", 0.44, 0.31, 0.58)
    assert text.startswith("Do not trust a single number here: a typical crawl holds between 31 %")
    assert text.index("58 %") < text.index("44 %")
    assert "the band is wide" in text


def test_a_better_grade_states_the_number_with_its_range():
    text = statement("B", 0.44, 0.41, 0.48)
    assert text.startswith("A typical crawl holds about 44 % (41–48 %) of the URLs")
    assert "half of the URLs are gone after 2.2 years" in text


def test_more_than_all_is_not_stated_as_a_coverage():
    assert "at least 97 %" in statement("A", 1.01, 0.97, 1.01)
