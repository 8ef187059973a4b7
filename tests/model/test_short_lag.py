import math

import pytest

from crawlgauge.model.checks import check_short_lag, find_short_lag
from crawlgauge.model.decay import fit_shapes
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.paper import TOO_MANY_ZEROS, has_too_many_zeros
from crawlgauge.model.two_way import fit_two_way, refused_fit

N = 12
DAYS = [183 * k for k in range(N)]
SIZES = [2_000_000] * N
COVERAGE = [0.3, 0.32, 0.28, 0.3, 0.31, 0.29, 0.3, 0.33, 0.27, 0.3, 0.31, 0.3]
TYPICAL = math.exp(sum(math.log(c) for c in COVERAGE[1:]) / (N - 1))


def near(factor, n_lags=1, n=N):
    return {(i, j): factor for j in range(n) for i in range(j) if j - i <= n_lags}


def examine(table, level="url"):
    pairs = pair_data(table)
    refused = has_too_many_zeros(pairs)
    fit = refused_fit(pairs.n_crawls, TOO_MANY_ZEROS) if refused else fit_two_way(pairs)
    shapes = fit_shapes(pairs, fit)
    found = find_short_lag(pairs, fit, shapes)
    return found, check_short_lag(pairs, fit, found, shapes, level)


@pytest.fixture
def urn(make_urn):
    def make(factors=None, n=N, **others):
        return make_urn(DAYS[:n], SIZES[:n], COVERAGE[:n], 0.73, factors, **others)

    return make


def test_an_exact_urn_has_no_effect_of_short_lags(urn):
    found, check = examine(urn())
    assert found is None
    assert (check.id, check.status) == ("short-lag", "ok")
    assert check.effect == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(
    ("factor", "status", "words"),
    [
        (0.9, "warn", "right within a tenth"),
        (0.6, "fail", "too high by up to 30 %; capture histories would settle it"),
        (0.1, "fail", "up to twice too high; capture histories would settle it"),
    ],
)
def test_too_few_shared_by_adjacent_crawls_is_avoidance(urn, factor, status, words):
    found, check = examine(urn(near(factor)))
    assert check.status == status
    assert check.effect == pytest.approx(math.log(factor), abs=0.001)
    assert check.message.startswith(f"Adjacent crawls share {round(100 - 100 * factor)} % fewer")
    assert "this crawler avoids pages that it fetched recently" in check.message
    assert "--min-lag 2" in check.message
    assert words in check.message
    assert found.is_avoidance


def test_the_lag_cut_gives_the_coverage_of_the_pairs_that_are_left(urn):
    """Only lag 1 is touched, so that any cut finds the truth."""
    found, check = examine(urn(near(0.5)))
    assert found.cuts == pytest.approx((TYPICAL,) * 3, rel=0.01)
    assert "is about 30 %" in check.message


def test_avoidance_of_the_last_two_crawls_is_told_from_that_of_one(urn):
    found, check = examine(urn(near(0.4, n_lags=2)))
    assert found.n_lags == 2
    assert check.message.startswith("Adjacent crawls, and others up to 2 crawls apart, share")
    assert "--min-lag 3" in check.message


def test_adjacent_crawls_that_share_nothing_fail(urn):
    found, check = examine(urn(near(0)))
    assert found.shares_nothing
    assert check.status == "fail"
    assert check.effect < -10
    assert check.message.startswith("Adjacent crawls share hardly any URLs")
    assert found.cuts[0] == pytest.approx(TYPICAL, rel=0.01)


def test_zeros_speak_even_where_no_model_can_be_fitted(urn):
    found, check = examine(urn(near(0, n=6), n=6))
    assert found.n_lags == 1
    assert check.status == "fail"


def test_a_single_zero_is_no_policy(urn):
    assert examine(urn({(3, 4): 0}))[1].status == "ok"


def test_too_much_shared_leaves_two_causes_and_a_range(urn):
    found, check = examine(urn(near(1.15)))
    assert check.status == "warn"
    assert check.effect == pytest.approx(math.log(1.15), abs=0.001)
    assert check.message.startswith("Adjacent crawls share 15 % more URLs")
    assert "cannot tell these apart" in check.message
    assert "Coverage lies between about 30 % and" in check.message
    assert not found.is_avoidance


def test_an_excess_that_mixed_lifetimes_explain_is_left_to_curvature(make_table):
    overlaps = {}
    for j in range(N):
        for i in range(j):
            years = (DAYS[j] - DAYS[i]) / 365.25
            alive = 0.5 * 0.9**years + 0.5 * 0.45**years
            overlaps[i, j] = round(SIZES[i] * COVERAGE[j] * alive)
    found, check = examine(make_table(DAYS, SIZES, overlaps))
    assert found is None
    assert check.status == "ok"
    assert check.effect > 0.03
    assert "a decay that slows down explains better (see curvature)" in check.message


def test_an_effect_within_the_scatter_of_the_crawls_is_named_and_not_believed(urn):
    """Two of three adjacent pairs share a third less, the third one 40 % more."""
    factors = {(k, k + 1): (0.67, 1.4, 0.67)[k % 3] for k in range(N - 1)}
    found, check = examine(urn(factors))
    assert found is None
    assert (check.status, check.effect < -0.03) == ("ok", True)
    assert "does not stand out from the scatter between crawls" in check.message


def test_an_immaterial_effect_does_not_speak_however_certain(make_urn):
    sizes = [2_000_000_000] * N
    _, check = examine(make_urn(DAYS, sizes, COVERAGE, 0.73, near(0.98)))
    assert check.status == "ok"
    assert check.effect == pytest.approx(math.log(0.98), abs=0.001)


def test_crawls_of_the_same_date_are_not_adjacent(make_urn):
    days = [*DAYS[:6], DAYS[5], *DAYS[6:-1]]
    ranks = [*range(6), 5, *range(6, N - 1)]
    factors = {(i, j): 0.5 for j in range(N) for i in range(j) if ranks[j] - ranks[i] == 1}
    found, check = examine(make_urn(days, SIZES, [0.3] * N, 0.73, factors))
    assert found.n_lags == 1
    assert check.effect == pytest.approx(math.log(0.5), abs=0.001)


def test_where_adjacent_pairs_are_left_out_the_next_ones_are_tested(urn):
    left_out = near(None)
    assert examine(urn(left_out))[1].status == "ok"
    found, check = examine(urn({**near(0.5, n_lags=2), **left_out}))
    assert (found.first_lag, found.n_lags) == (2, 2)
    assert check.message.startswith("Crawls that are at most 2 crawls apart share 50 % fewer")


def test_four_crawls_are_too_few_to_tell(urn):
    found, check = examine(urn(near(0.5, n=4), n=4))
    assert found is None
    assert (check.status, check.effect) == ("na", None)
    assert "5 or more crawls" in check.message


def test_the_words_name_what_is_compared(urn):
    assert "fewer contents" in examine(urn(near(0.5)), level="content")[1].message
