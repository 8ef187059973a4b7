"""The crawl, regime or policy that moves the number is named, and nothing is where nothing is."""

from dataclasses import replace

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.sensitivity import (
    Movement,
    Variation,
    divide_histories,
    fit_to,
    leave_out,
    measure,
    rank_movements,
    weigh_crawls,
)
from crawlgauge.overlaps.table import MISSING
from crawlgauge.simulate.urn_settings import ScopeChange, UrnSettings

N_CRAWLS = 8
DAYS = [180 * k for k in range(N_CRAWLS)]
SIZES = [400_000] * N_CRAWLS


@pytest.fixture(scope="module")
def sound(make_urn):
    return make_urn(DAYS, SIZES, [0.4] * N_CRAWLS, 0.7)


@pytest.fixture(scope="module")
def of_sound(sound):
    return rank(sound)


def rank(table):
    estimates = estimate_coverage(table)
    return rank_movements(estimates, [measure(step, estimates) for step in leave_out(table)])


def test_a_sound_urn_moves_by_nothing(of_sound):
    assert max(movement.size for movement in of_sound.movements) < 0.001
    assert of_sound.meanings == ()
    assert of_sound.verdict.startswith("Nothing that was tried moves the coverage by 5 %")


def test_each_crawl_is_left_out_as_if_it_had_never_been_there(sound, of_sound):
    by_crawl = {m.subject: m for m in of_sound.movements if m.kind == "crawl"}
    assert sorted(by_crawl) == [crawl.label for crawl in sound.crawls]
    for label in ("c1", "c4"):
        alone = cg.estimate(cg.choose_window(sound, exclude=[label])).estimates
        assert by_crawl[label].coverage == alone.headline.coverage
        assert by_crawl[label].persistence == alone.persistence
        assert by_crawl[label].coverage_before == of_sound.coverage.value


def test_one_strange_crawl_is_named_first(make_urn):
    strange = 5
    factors = {(min(strange, k), max(strange, k)): 0.25 for k in range(N_CRAWLS) if k != strange}
    found = rank(make_urn(DAYS, SIZES, [0.4] * N_CRAWLS, 0.7, factors=factors))
    most = found.movements[0]
    assert (most.kind, most.subject) == ("crawl", "c6")
    assert most.coverage.value == pytest.approx(0.4, rel=0.01)
    assert "without crawl c6" in found.verdict
    assert any(text.startswith("Crawl c6 is unlike the others") for text in found.meanings)
    assert any("--exclude c6" in text for text in found.meanings)


def test_a_change_of_scope_is_named_with_what_each_regime_gives(make_urn):
    coverage = [0.4] * 4 + [0.15] * 4
    across = {(i, j): 0.2 for j in range(4, N_CRAWLS) for i in range(4)}
    found = rank(make_urn(DAYS, SIZES, coverage, 0.7, factors=across))
    regimes = {m.subject: m for m in found.movements if m.kind == "regime"}
    assert sorted(regimes) == ["1", "2"]
    assert regimes["2"].coverage.value == pytest.approx(0.4, rel=0.02)
    assert regimes["1"].coverage.value == pytest.approx(0.15, rel=0.02)
    assert found.coverage.value == pytest.approx(0.15, rel=0.02)
    assert found.movements[0] == regimes["2"]
    assert any("different scopes" in text for text in found.meanings)


def test_a_simulated_change_of_scope_leaves_out_each_regime():
    settings = UrnSettings(scope_change=ScopeChange(share_common=0.5))
    table = cg.simulate_table(settings, n_crawls=12, with_histories=False, seed=2)
    changes = [step.change for step in leave_out(table) if step.kind == "regime"]
    assert len(changes) == 2
    labels = [crawl.label for crawl in table.crawls]
    assert changes[0] == f"without regime 1 ({labels[0]} to {labels[5]})"


def test_a_policy_of_avoiding_the_last_crawl_shows_in_short_lags(make_urn):
    avoided = {(k, k + 1): 0.3 for k in range(N_CRAWLS - 1)}
    found = rank(make_urn(DAYS, SIZES, [0.4] * N_CRAWLS, 0.7, factors=avoided))
    most = found.movements[0]
    assert (most.kind, most.subject) == ("short-lags", "2")
    assert most.coverage.value == pytest.approx(0.4, rel=0.01)
    assert any("seems to avoid URLs that it captured lately" in text for text in found.meanings)


def test_what_leaves_too_little_is_unknown_with_a_reason_and_comes_last(make_urn):
    found = rank(make_urn([0, 180, 400], [1000] * 3, [0.4] * 3, 0.7))
    unknown = [movement for movement in found.movements if movement.coverage.value is None]
    assert {movement.kind for movement in unknown} >= {"crawl"}
    assert all(movement.coverage.reason for movement in unknown)
    sizes = [movement.size for movement in found.movements]
    assert sizes == sorted(sizes, reverse=True)


def test_two_crawls_cannot_lose_one(make_urn):
    steps = leave_out(make_urn([0, 180], [1000] * 2, [0.4] * 2, 0.7))
    assert not [step for step in steps if step.kind == "crawl"]


def test_a_persistence_that_was_given_is_given_again(make_urn):
    table = make_urn([0, 180], [1000] * 2, [0.4] * 2, 0.7)
    estimates = estimate_coverage(table, persistence=0.7)
    movement = measure(Variation("crawl", "the same again", "c1", table), estimates)
    assert movement.coverage.value == estimates.headline.coverage.value is not None


def test_parts_of_histories_are_disjoint_and_make_up_the_whole():
    table = cg.simulate_table(n_crawls=5, population=20_000, seed=4)
    parts = divide_histories(table)
    assert len(parts) == 4
    together = {}
    for part in parts:
        assert part.sample_rate == part.histories.sample_rate == 0.25
        for mask, n in zip(part.histories.masks, part.histories.counts, strict=True):
            together[int(mask)] = together.get(int(mask), 0) + int(n)
    whole = zip(table.histories.masks, table.histories.counts, strict=True)
    assert together == {int(mask): int(n) for mask, n in whole}
    assert np.array_equal(sum(part.n_shared for part in parts), table.n_shared)
    assert divide_histories(replace(table, histories=None)) == ()


def test_another_count_is_reduced_to_the_crawls_and_pairs_of_the_table(make_urn):
    whole = make_urn(DAYS, SIZES, [0.4] * N_CRAWLS, 0.7)
    chosen = cg.choose_window(whole, exclude=["c3"], min_lag=2)
    fitted = fit_to(chosen, whole)
    assert fitted.crawls == chosen.crawls
    assert np.array_equal(fitted.n_shared, chosen.n_shared)
    assert MISSING in fitted.n_shared
    with pytest.raises(cg.CrawlgaugeError, match="no crawl 'c3'"):
        fit_to(whole, chosen)


def test_weights_add_up_to_one_and_lie_on_crawls_with_more_pairs(make_urn):
    weights = weigh_crawls(make_urn(DAYS, SIZES, [0.4] * N_CRAWLS, 0.7))
    assert sum(weights) == pytest.approx(1)
    few = {(0, k): None for k in range(2, N_CRAWLS)}
    fewer = weigh_crawls(make_urn(DAYS, SIZES, [0.4] * N_CRAWLS, 0.7, factors=few))
    assert fewer[0] < weights[0]


def test_weights_are_unknown_where_nothing_can_be_fitted(make_urn):
    table = make_urn([0, 0], [100] * 2, [0.4] * 2, 0.7, factors={(0, 1): 0})
    assert weigh_crawls(table) == (None, None)


def movement(value, before, **others):
    return Movement(
        kind="crawl",
        change="without crawl a",
        subject="a",
        coverage=Estimate(value=value),
        persistence=Estimate(value=0.5),
        coverage_before=before,
        persistence_before=0.5,
        estimator="two-way",
        **others,
    )


def test_halving_and_doubling_are_equally_far():
    assert movement(0.2, 0.4).size == pytest.approx(movement(0.4, 0.2).size)
    assert movement(0.2, 0.4).coverage_moves == pytest.approx(-0.5)
    assert movement(0.2, None).size == -1
