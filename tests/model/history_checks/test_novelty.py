from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.checks import diagnose
from crawlgauge.model.histories.checks import check_novelty, measure_novelty
from crawlgauge.model.histories.data import history_data
from crawlgauge.model.histories.dependence import Scatter
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table

CALM = Scatter(ratio=1.0, n_freedom=9)


def draw(name="pure", seed=1, **changes):
    settings = change_settings(
        find_scenario(name), **{"n_crawls": 8, "population": 200_000, **changes}
    )
    return draw_table(settings, seed=seed, with_histories=True)


def check(table, scatter=CALM, level="url"):
    return check_novelty(history_data(table), diagnose(table), scatter, level)


def measure(table):
    return measure_novelty(history_data(table), diagnose(table))


@pytest.mark.parametrize("name", ["pure", "population-growth", "size-noise", "coverage-jump"])
def test_in_an_urn_as_much_is_new_as_the_pairs_say(name):
    table = draw(name, population=100_000_000)
    novelty = measure(table)
    assert np.isnan(novelty.log_ratio[:2]).all()
    assert novelty.log_ratio[2:] == pytest.approx(0, abs=1e-3)
    result = check(table)
    assert (result.id, result.status) == ("novelty", "ok")


def test_shares_are_those_of_the_urn_with_its_true_numbers():
    """What earlier crawls hold of the living URLs: U = c + (1 − c)·persistence·U."""
    novelty = measure(draw(population=100_000_000))
    held, expected = 0.46, []
    for _ in range(7):
        held *= 0.73**0.5
        expected.append(1 - held)
        held = 0.46 + 0.54 * held
    assert novelty.found_share[2:] == pytest.approx(np.array(expected[1:]), abs=1e-3)
    assert novelty.expected_share[2:] == pytest.approx(np.array(expected[1:]), abs=2e-3)


def test_errors_are_those_of_repeated_archives():
    tables = [draw(seed=seed, population=20_000, n_crawls=6) for seed in range(150)]
    diagnosis = diagnose(tables[0])
    found = [measure_novelty(history_data(table), diagnosis) for table in tables]
    spread = np.std([novelty.log_ratio[2:] for novelty in found], axis=0)
    stated = np.mean([novelty.error[2:] for novelty in found], axis=0)
    assert stated == pytest.approx(spread, rel=0.2)


def test_more_new_urls_than_expected_mean_that_the_archive_holds_less():
    table = draw("capture-gamma-strong")
    result = check(table)
    assert result.status == "warn"
    assert result.effect == pytest.approx(-0.22, abs=0.02)
    assert result.message.startswith("Crawls find more new URLs than the overlaps")
    assert "hold less of the living URLs" in result.message
    novelty = measure(table)
    crawl = int(np.nanargmax(np.abs(novelty.log_ratio)))
    assert f"of crawl {table.crawls[crawl].label}, no earlier one holds" in result.message
    assert f"{100 * novelty.found_share[crawl]:.0f} %, where" in result.message


def test_fewer_new_urls_than_expected_mean_that_it_holds_more():
    result = check(draw("avoid-most"))
    assert result.effect > 0.15
    assert result.message.startswith("Crawls find fewer new URLs")
    assert "hold more of the living URLs" in result.message


def test_after_a_change_of_scope_new_is_what_no_crawl_since_holds():
    table = draw("scope-change", n_crawls=12)
    novelty = measure(table)
    assert np.flatnonzero(np.isnan(novelty.log_ratio)).tolist() == [0, 1, 6, 7]
    held = 0.73**0.5 * (0.46 + 0.54 * 0.46 * 0.73**0.5)
    assert novelty.found_share[8] == pytest.approx(1 - held, abs=0.01)
    assert check(table).status == "ok"


def test_the_histories_of_a_sample_are_compared_with_their_own_overlaps():
    whole, sample = draw(population=100_000_000), draw(seed=2, population=20_000)
    diagnosis = diagnose(replace(whole, histories=None))
    result = check_novelty(history_data(sample), diagnosis, CALM, "url")
    assert result.status == "ok"
    own = measure(sample)
    mixed = measure_novelty(history_data(sample), diagnosis)
    assert mixed.log_ratio[2:] == pytest.approx(own.log_ratio[2:], abs=0.01)


def test_an_effect_within_the_scatter_is_not_believed():
    table = draw("capture-gamma-mild", population=60_000)
    assert check(table).status == "warn"
    assert check(table, Scatter(ratio=16.0, n_freedom=3)).status == "ok"


def test_few_urls_leave_it_quiet():
    statuses = {check(draw(seed=seed, population=300)).status for seed in range(10)}
    assert statuses == {"ok"}


def test_in_a_sample_without_shared_urls_nothing_is_expected():
    """Every URL of the sample is in one crawl only."""
    whole = draw()
    histories = history_data(whole)
    alone = replace(histories, counts=np.where(histories.captured.sum(axis=1) == 1, 9.0, 0.0))
    assert np.isnan(measure_novelty(alone, diagnose(whole)).log_ratio).all()
    result = check_novelty(alone, diagnose(whole), CALM, "url")
    assert (result.status, result.effect) == ("na", None)
    assert "too few URLs are new, or shared" in result.message


def test_five_crawls_are_too_few_to_tell():
    result = check(draw(n_crawls=5), scatter=None)
    assert (result.status, result.effect) == ("na", None)
    assert "6 or more crawls" in result.message


def test_where_no_model_can_be_fitted_nothing_is_expected():
    result = check(draw("avoid-all", n_crawls=6))
    assert (result.status, result.effect) == ("na", None)
    assert "to which the two-way model can be fitted" in result.message


def test_the_words_name_what_is_compared():
    assert "new contents as" in check(draw(), level="content").message
    assert "new texts than" in check(draw("core-always"), level="text").message
