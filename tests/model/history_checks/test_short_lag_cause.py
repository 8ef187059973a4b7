import math
from dataclasses import replace

import pytest

from crawlgauge.model.checks import diagnose
from crawlgauge.model.histories.checks import find_cause, resolve_short_lag
from crawlgauge.model.histories.data import history_data
from crawlgauge.model.histories.dependence import (
    CaptureDependence,
    LogOdds,
    Scatter,
    measure_dependence,
)
from crawlgauge.model.short_lag import ShortLag, check_short_lag
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table

UNKNOWN = LogOdds(value=math.nan, error=math.nan)
EXCESS = ShortLag(
    first_lag=1,
    n_lags=1,
    coefficient=0.1,
    shares_nothing=False,
    cut=0.46,
    cut_low=0.45,
    cut_high=0.47,
)


def draw(name, seed=1, **changes):
    settings = change_settings(
        find_scenario(name), **{"n_crawls": 8, "population": 200_000, **changes}
    )
    return draw_table(settings, seed=seed, with_histories=True)


def examine(table, level="url"):
    """Return what pairs found, what they say, and the cause and the check by histories."""
    diagnosis = diagnose(table)
    by_pairs = check_short_lag(
        diagnosis.pairs, diagnosis.fit, diagnosis.short_lag, diagnosis.shapes, level
    )
    dependence = measure_dependence(history_data(table))
    cause = find_cause(dependence, diagnosis.short_lag)
    resolved = resolve_short_lag(by_pairs, dependence, diagnosis.short_lag, level)
    return diagnosis.short_lag, by_pairs, cause, resolved


def dependence(one, two, three, memory):
    odds = [
        item if isinstance(item, LogOdds) else LogOdds(value=item, error=0.02)
        for item in (one, two, three, memory)
    ]
    return CaptureDependence(
        by_lag=tuple(odds[:3]),
        memory=odds[3],
        scatter=Scatter(ratio=1.0, n_freedom=9),
        captured_share=0.46,
    )


@pytest.mark.parametrize(("name", "n_lags"), [("avoid-most", 1), ("avoid-two", 2)])
def test_avoidance_is_shown_with_the_crawls_it_looks_back_over(name, n_lags):
    _, by_pairs, cause, resolved = examine(draw(name))
    assert (cause.cause, cause.n_lags) == ("avoidance", n_lags)
    assert (resolved.status, resolved.effect) == (by_pairs.status, by_pairs.effect)
    assert f"{math.exp(cause.log_odds):.2g} times those of others" in resolved.message
    assert "capture histories resolve it" not in resolved.message
    assert resolved.message.startswith(by_pairs.message.split(";")[0])


def test_odds_of_capture_after_a_capture_are_those_of_the_policy():
    """Nine of ten URLs of the last crawl are passed over; the rest is drawn like all others."""
    _, _, cause, _ = examine(draw("avoid-most", population=2_000_000))
    table = draw("avoid-most", population=2_000_000)
    data = history_data(table)
    n_last = float(data.sizes[6]) * 0.73**0.5
    share = 0.3 * 2_000_000 / (2_000_000 - 0.9 * n_last)
    odds = 0.1 * share / (1 - 0.1 * share) / (share / (1 - share))
    assert cause.log_odds == pytest.approx(math.log(odds), abs=0.05)


def test_where_no_url_is_captured_twice_in_a_row_it_is_said_so():
    _, _, cause, resolved = examine(draw("avoid-all"))
    assert cause.log_odds == -math.inf
    assert "none that the last crawl captured are captured again" in resolved.message


def test_re_seeding_is_told_from_mixed_lifetimes():
    found, _, cause, resolved = examine(draw("reseed"))
    assert not found.is_avoidance
    assert (cause.cause, cause.n_lags) == ("re-seeding", 1)
    assert "coverage from all pairs is too high" in resolved.message
    assert "(--min-lag 2) it is about 47 %" in resolved.message
    assert "cannot tell these apart" not in resolved.message


def test_mixed_lifetimes_are_told_from_re_seeding():
    table = draw("survival-mix-extreme", seed=3, population=60_000)
    found, by_pairs, cause, resolved = examine(table)
    assert not found.is_avoidance
    assert (cause.cause, cause.n_lags) == ("mixed-lifetimes", 0)
    assert "cannot tell these apart" in by_pairs.message
    assert "cannot tell these apart" not in resolved.message
    assert "coverage from all pairs is too low" in resolved.message


def test_lasting_differences_are_no_policy():
    for name in ("capture-gamma-strong", "core-always", "core-periphery", "core-long-lived"):
        assert examine(draw(name))[2] is None


def test_avoidance_that_lasting_differences_hide_is_found():
    cause = find_cause(dependence(0.2, 0.6, 0.5, -0.4), None)
    assert (cause.cause, cause.n_lags, cause.log_odds) == ("avoidance", 1, -0.4)


def test_avoidance_of_two_crawls_shows_at_two_even_if_one_is_not_certain():
    wide = LogOdds(value=-0.5, error=0.4)
    cause = find_cause(dependence(wide, -1.0, 0.0, UNKNOWN), None)
    assert (cause.cause, cause.n_lags, cause.log_odds) == ("avoidance", 2, -1.0)
    assert find_cause(dependence(-1.0, -1.0, -1.0, 0.0), None).n_lags == 3


def test_an_excess_is_put_down_to_lifetimes_only_if_re_seeding_would_have_been_seen():
    assert find_cause(dependence(0.0, 0.0, 0.0, 0.0), EXCESS).cause == "mixed-lifetimes"
    vague = LogOdds(value=0.0, error=0.2)
    assert find_cause(dependence(0.0, 0.0, 0.0, vague), EXCESS) is None
    assert find_cause(dependence(0.0, 0.0, 0.0, UNKNOWN), EXCESS) is None


def test_where_most_is_captured_an_excess_has_odds_still():
    nearly_all = replace(dependence(0.0, 0.0, 0.0, 0.0), captured_share=0.97)
    assert find_cause(nearly_all, EXCESS).cause == "mixed-lifetimes"


def test_too_little_shared_is_never_put_down_to_re_seeding():
    avoiding = replace(EXCESS, coefficient=-0.5)
    assert find_cause(dependence(0.5, 0.0, 0.0, 0.5), avoiding) is None


def test_a_policy_that_pairs_do_not_show_is_added():
    _, by_pairs, cause, _ = examine(draw("pure"))
    assert (by_pairs.status, cause) == ("ok", None)
    resolved = resolve_short_lag(by_pairs, dependence(0.5, 0.0, 0.0, 0.5), None, "text")
    assert resolved.status == "warn"
    assert "among texts known to be alive" in resolved.message


def test_without_a_cause_or_with_too_few_crawls_the_check_stays_as_it_is():
    _, by_pairs, _, resolved = examine(draw("pure"))
    assert resolved == by_pairs
    _, by_pairs, cause, resolved = examine(draw("avoid-most", n_crawls=5))
    assert cause is None
    assert resolved == by_pairs
