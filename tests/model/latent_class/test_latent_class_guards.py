"""Fits of two classes at chosen parameters: which are believed."""

import itertools

import numpy as np
import pytest

from crawlgauge.model.histories.data import HistoryData
from crawlgauge.model.histories.latent_class import (
    Optimum,
    has_recaptures,
    is_identifiable,
    mean_captures,
    why_rejected,
)
from crawlgauge.model.histories.latent_class_model import ClassModel, Likelihood, history_paths

N_CRAWLS = 6


def all_histories(count, without=()):
    captured = np.array(list(itertools.product([False, True], repeat=N_CRAWLS)))[1:]
    captured = captured[~captured[:, list(without)].any(axis=1)]
    bits = np.uint64(1) << np.arange(N_CRAWLS, dtype=np.uint64)
    return HistoryData(
        captured=captured,
        masks=(captured * bits).sum(axis=1, dtype=np.uint64),
        counts=np.full(len(captured), float(count)),
        years=np.arange(N_CRAWLS, dtype=float),
    )


@pytest.fixture
def two_classes():
    """Make a fit with given shares of the second class, gap and levels of the log-odds."""

    def make(shares=(0.0, 0.0, 0.0), gap=1.0, levels=(0.0,) * (N_CRAWLS - 1), without=()):
        model = ClassModel(n_classes=2, trap_lags=0, intervals=np.ones(N_CRAWLS - 1))
        likelihood = Likelihood.of(model, history_paths(all_histories(20, without)))
        theta = np.array([*shares, -1.5, -1.0, gap, *levels])
        value, _ = likelihood.objective(theta)
        n_urls = likelihood.paths.counts.sum()
        return Optimum(likelihood=likelihood, theta=theta, log_likelihood=-value * n_urls)

    return make


def test_two_ordinary_classes_are_believed(two_classes):
    assert why_rejected(two_classes()) is None
    assert mean_captures(two_classes()) == pytest.approx([0.5, 1 / (1 + np.e)])


@pytest.mark.parametrize("gap", [4.7, -4.7])
def test_a_class_captured_with_less_than_a_hundredth_is_not(two_classes, gap):
    level = -max(-gap, 0.0)
    fit = two_classes(gap=gap, levels=[level] * 5)
    assert "captured with 0.90% only" in why_rejected(fit)
    assert why_rejected(two_classes(gap=gap * 0.9, levels=[level * 0.9] * 5)) is None


@pytest.mark.parametrize("sign", [1, -1])
def test_a_class_of_less_than_a_hundredth_of_the_captured_is_not(two_classes, sign):
    assert "would hold 0.80%" in why_rejected(two_classes(shares=[sign * 4.82] * 3))
    # Many in one cohort of first capture are enough.
    assert why_rejected(two_classes(shares=[sign * 5.0, sign * 5.0, 0.0])) is None


def test_a_class_that_vanishes_beside_the_other_in_a_single_crawl_is_not(two_classes):
    fit = two_classes(gap=6.0, levels=[6.0, 6.0, 0.0, 6.0, 6.0])
    assert mean_captures(fit).min() > 0.3
    assert "202 times as rarely as the other" in why_rejected(fit)
    assert why_rejected(two_classes(gap=6.0, levels=[6.0] * 5)) is None


def test_a_crawl_of_unknown_coverage_is_no_reason(two_classes):
    levels = [6.0, 6.0, -12.0, 6.0, 6.0]
    assert why_rejected(two_classes(gap=6.0, levels=levels, without=[3])) is None


def test_a_crawl_needs_ten_recaptures():
    paths = history_paths(all_histories(1))
    assert list(has_recaptures(paths.count(paths.counts))) == [False, True, True, True, True, True]
    # Each history of the first two crawls occurs for each history of the other four.
    assert paths.count(paths.counts).steps[0, 1] == 16
    few = paths.count(paths.counts * 0.6)
    assert list(has_recaptures(few)) == [False, False, True, True, True, True]


def test_trap_response_needs_recaptures_after_its_lags():
    data = all_histories(5)
    assert is_identifiable(history_paths(data), 2)
    captured = np.tri(N_CRAWLS, dtype=bool)
    gapless = HistoryData(
        captured=captured,
        masks=(2 ** np.arange(1, N_CRAWLS + 1) - 1).astype(np.uint64),
        counts=np.full(N_CRAWLS, 100.0),
        years=data.years,
    )
    assert is_identifiable(history_paths(gapless), 0)
    assert not is_identifiable(history_paths(gapless), 1)
