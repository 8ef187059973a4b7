"""The check of even capture within strata."""

import math

import numpy as np
import pytest

from crawlgauge.model.strata.even_capture import check_even_capture, pool_odds


def test_pooled_odds_are_those_of_mantel_and_haenszel():
    """The worked example of Robins, Breslow and Greenland's variance, done by hand."""
    tables = np.array([[40, 20, 10, 30], [10, 5, 15, 40]])
    value, error = pool_odds(tables)
    together = 30 * 40 / 100 + 40 * 10 / 70
    apart = 10 * 20 / 100 + 15 * 5 / 70
    assert value == pytest.approx(math.log(together / apart))
    r, s = np.array([12, 40 * 10 / 70]), np.array([2, 15 * 5 / 70])
    p, q = np.array([0.7, 50 / 70]), np.array([0.3, 20 / 70])
    variance = (
        (p @ r) / (2 * r.sum() ** 2)
        + (p @ s + q @ r) / (2 * r.sum() * s.sum())
        + (q @ s) / (2 * s.sum() ** 2)
    )
    assert error == pytest.approx(math.sqrt(variance))


def test_hosts_of_different_coverage_are_even_within(simulate):
    rng = np.random.default_rng(1)
    archive = simulate(rng, [2000] * 12, np.linspace(0.1, 0.9, 12), [0.75] * 12, 8)
    check = check_even_capture(archive.counts)
    assert check.status == "ok"
    assert abs(check.effect) < 0.1
    assert "Within a host capture looks even" in check.message
    assert "Between hosts it is uneven, which dividing by them allows for" in check.message


def test_uneven_capture_within_hosts_is_a_warning(simulate, make_counts):
    """Each host consists of two halves, one of which is captured readily."""
    rng = np.random.default_rng(2)
    halves = simulate(rng, [2000] * 10, [0.2, 0.8] * 5, [0.75] * 10, 8).counts
    shared, alive = (
        counts.reshape(5, 2, *counts.shape[1:]).sum(axis=1)
        for counts in (halves.n_shared, halves.n_alive)
    )
    check = check_even_capture(make_counts(shared, n_alive=alive))
    assert check.status == "warn"
    assert check.effect > 0.5
    assert "Also within a host, some URLs are captured more readily" in check.message


def test_few_crawls_and_few_urls_cannot_be_tested(simulate):
    rng = np.random.default_rng(3)
    four = check_even_capture(simulate(rng, [500], [0.4], [0.7], 4).counts)
    assert (four.status, four.effect) == ("na", None)
    assert "cannot be tested: that takes 5 crawls" in four.message
    few = check_even_capture(simulate(rng, [20], [0.4], [0.7], 6).counts)
    assert few.status == "na"
    assert "too few URLs of single hosts are seen before and after" in few.message
