import math

import pytest

from crawlgauge.model.checks import check_curvature
from crawlgauge.model.decay import fit_shapes
from crawlgauge.model.pairs import pair_data
from crawlgauge.model.short_lag import ShortLag
from crawlgauge.model.two_way import fit_two_way

N = 12
DAYS = [183 * k for k in range(N)]
COVERAGE = 0.4


@pytest.fixture
def decaying(make_table):
    """Make a table whose overlaps follow a given decay by years."""

    def make(alive, n=N, size=2_000_000):
        overlaps = {
            (i, j): round(size * COVERAGE * alive((DAYS[j] - DAYS[i]) / 365.25))
            for j in range(n)
            for i in range(j)
        }
        return make_table(DAYS[:n], [size] * n, overlaps)

    return make


def mixed(share, slow, fast):
    return lambda years: share * slow**years + (1 - share) * fast**years


def check(table, short_lag=None, level="url"):
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    return check_curvature(pairs, fit, fit_shapes(pairs, fit), short_lag, level)


def test_steady_decay_is_in_order(decaying):
    result = check(decaying(lambda years: 0.73**years))
    assert (result.id, result.status) == ("curvature", "ok")
    assert result.effect == pytest.approx(0, abs=0.005)
    assert "would change coverage by less than 1 %" in result.message


@pytest.mark.parametrize("mixture", [(0.5, 0.9, 0.45), (0.7, 0.85, 0.1)])
def test_mixed_lifetimes_warn_with_a_range_that_holds_the_truth(decaying, mixture):
    table = decaying(mixed(*mixture))
    result = check(table)
    assert result.status == "warn"
    pairs = pair_data(table)
    fit = fit_two_way(pairs)
    shapes = [math.exp(shape.log_typical) for shape in fit_shapes(pairs, fit)]
    assert math.exp(fit.log_typical) < 0.9 * COVERAGE
    assert max(shapes) > 0.99 * COVERAGE
    assert result.effect == pytest.approx(math.log(max(shapes) / min(shapes)))
    assert f"{100 * min(shapes):.0f} % (one steady rate) to {100 * max(shapes):.0f} %" in (
        result.message
    )
    assert "Report the range and not one number" in result.message


def test_a_range_of_more_than_twice_fails(decaying):
    result = check(decaying(lambda years: math.exp(-((2 * years) ** 0.35))))
    assert result.status == "fail"
    assert result.effect > math.log(2)
    assert "too wide for any one number" in result.message


def test_decay_that_speeds_up_does_not_speak(decaying):
    assert check(decaying(lambda years: math.exp(-((0.2 * years) ** 1.5)))).status == "ok"


def test_an_immaterial_bend_does_not_speak_however_certain(decaying):
    result = check(decaying(mixed(0.5, 0.75, 0.71), size=2_000_000_000))
    assert result.status == "ok"
    assert 0 < result.effect < 0.03


def test_after_an_effect_of_short_lags_no_shape_is_tried(decaying):
    found = ShortLag(
        first_lag=1,
        n_lags=2,
        coefficient=-1.0,
        shares_nothing=False,
        cut=0.4,
        cut_low=0.4,
        cut_high=0.4,
    )
    result = check(decaying(mixed(0.5, 0.9, 0.45)), short_lag=found)
    assert (result.status, result.effect) == ("na", None)
    assert "--min-lag 3" in result.message


def test_four_crawls_are_too_few_to_tell(decaying):
    result = check(decaying(mixed(0.5, 0.9, 0.45), n=4))
    assert (result.status, result.effect) == ("na", None)
    assert result.message.startswith("Not testable")


def test_the_words_name_what_is_compared(decaying):
    assert "long-lived texts" in check(decaying(mixed(0.5, 0.9, 0.45)), level="text").message
