import math
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.histories.data import history_data
from crawlgauge.model.histories.dependence import Scatter, check_past_future
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table

CALM = Scatter(ratio=1.0, n_freedom=9)


def draw(name="pure", seed=1, **changes):
    settings = change_settings(
        find_scenario(name), **{"n_crawls": 8, "population": 1_000_000, **changes}
    )
    return history_data(draw_table(settings, seed=seed, with_histories=True))


def check(data, scatter=CALM, level="url", *, is_uneven=False, is_bent=False):
    return check_past_future(data, scatter, level, is_uneven=is_uneven, is_bent=is_bent)


@pytest.mark.parametrize(
    "name",
    [
        "pure",
        "population-growth",
        "size-noise",
        "coverage-jump",
        "avoid-all",
        "avoid-most",
        "avoid-two",
        "reseed",
        "scope-change",
    ],
)
def test_without_lasting_differences_the_past_says_nothing_about_the_future(name):
    result = check(draw(name))
    assert (result.id, result.status) == ("past-future", "ok")
    assert abs(result.effect) < 0.02


@pytest.mark.parametrize("name", ["capture-gamma-mild", "core-periphery", "survival-mix"])
def test_lasting_differences_warn_whatever_they_are_of(name):
    result = check(draw(name))
    assert result.status == "warn"
    assert f"{math.exp(result.effect):.2g} times the odds of being seen again" in result.message


def test_the_effect_is_that_of_the_tables_of_each_crawl():
    data = draw("survival-mix", n_crawls=6, population=60_000)
    together = apart = 0.0
    for crawl in range(1, 5):
        before = data.captured[:, :crawl].any(axis=1)
        after = data.captured[:, crawl + 1 :].any(axis=1)
        n = np.array(
            [
                data.counts[data.captured[:, crawl] & (before == a) & (after == b)].sum()
                for a in (True, False)
                for b in (True, False)
            ]
        )
        together += n[0] * n[3] / n.sum()
        apart += n[1] * n[2] / n.sum()
    assert check(data).effect == pytest.approx(math.log(together / apart))


def test_the_words_follow_what_else_was_found():
    data = draw("survival-mix")
    assert "see heterogeneous-capture" in check(data, is_uneven=True, is_bent=True).message
    bent = check(data, is_bent=True).message
    assert "some live longer than others, unless a part is hardly ever captured" in bent
    assert "Manly–Parr estimate needs no rate of decay" in bent
    assert "does not decide between them" in check(data).message


def test_an_effect_within_the_scatter_is_not_believed():
    data = draw("capture-gamma-mild", population=60_000)
    assert check(data).status == "warn"
    result = check(data, Scatter(ratio=100.0, n_freedom=3))
    assert (result.status, result.effect > 0.1) == ("ok", True)


def test_an_immaterial_effect_does_not_speak_however_certain():
    settings = replace(find_scenario("pure"), population=1_000_000_000, capture_cv=0.2)
    data = history_data(draw_table(settings, seed=1, with_histories=True))
    result = check(data)
    assert result.status == "ok"
    assert 0.05 < result.effect < 0.1


def test_few_urls_or_crawls_are_not_enough():
    result = check(draw(population=300, coverage=0.1))
    assert (result.status, result.effect) == ("na", None)
    assert "too few URLs are seen in several crawls" in result.message
    result = check(draw(n_crawls=5), scatter=None)
    assert (result.status, result.effect) == ("na", None)
    assert "6 or more crawls" in result.message


def test_the_words_name_what_is_compared():
    assert "Of the texts of a crawl" in check(draw("survival-mix"), level="text").message
    assert "Of the texts of a crawl" in check(draw(), level="text").message
