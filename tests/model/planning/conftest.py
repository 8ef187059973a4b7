"""Estimates with known numbers, for plans."""

from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.model.coverage import estimate_coverage
from crawlgauge.model.estimates import Estimate
from crawlgauge.simulate.scenarios import find_scenario
from crawlgauge.simulate.urn_settings import change_settings
from crawlgauge.simulate.urn_table import draw_table


def between(value, low, high):
    return Estimate(value=value, low=low, high=high, basis="interval")


@pytest.fixture(scope="session")
def drawn():
    """Five half-yearly crawls of an urn of which 73 % live on for a year, the last four known."""
    settings = change_settings(find_scenario("pure"), n_crawls=4, population=100_000)
    return draw_table(settings, seed=3, with_histories=True)


@pytest.fixture(scope="session")
def make_estimates(drawn):
    """Give a function that sets the quantities a plan starts from, in place of estimated ones."""
    estimates = estimate_coverage(drawn)

    def make(*, persistence=None, population=None, union=None, ratio=1.0, **others):
        turnover = persistence or between(0.64, 0.6, 0.68)
        size = population or between(100_000.0, 90_000.0, 110_000.0)
        held = replace(
            estimates.union, coverage=union or between(0.8, 0.75, 0.85), held_ratio=ratio
        )
        return replace(
            estimates,
            **{
                "persistence": turnover,
                "population": size,
                "union": held,
                "growth_per_year": between(0.0, -0.01, 0.01),
                **others,
            },
        )

    return make


@pytest.fixture(scope="session")
def one_date(make_table):
    """Three crawls of one day."""
    return make_table([0, 0, 0], [100, 100, 100], {(0, 1): 40, (0, 2): 40, (1, 2): 40})


@pytest.fixture(scope="session")
def make_series(make_urn):
    """Give a function that makes half-yearly crawls of an urn without noise."""

    def make(n, coverage=0.4, alpha=0.73, size=40_000_000):
        days = np.arange(n) * 183
        return make_urn(days.tolist(), [size] * n, [coverage] * n, alpha)

    return make
