"""Families of uneven capture have shares that add up and slopes that are right."""

import numpy as np
import pytest

from crawlgauge.model.known_alive.families import Even, LogNormal, TwoClasses

SHAPES = {
    "log-normal": (LogNormal(low_tail=0.35), [0.8]),
    "one-sided": (LogNormal(low_tail=0.0), [0.8]),
    "two classes": (TwoClasses(), [1.5, -0.4]),
    "two classes of given shares": (TwoClasses(log_odds=0.7), [1.5]),
}
STEP = 1e-6


@pytest.mark.parametrize("name", SHAPES)
def test_slopes_are_those_of_effects_and_shares(name):
    family, shape = SHAPES[name]
    nodes = family.nodes(np.array(shape))
    assert nodes.share.sum() == pytest.approx(1)
    for k in range(len(shape)):
        step = STEP * np.eye(len(shape))[k]
        above, below = family.nodes(shape + step), family.nodes(shape - step)
        assert nodes.effect_slope[k] == pytest.approx(
            (above.effect - below.effect) / (2 * STEP), abs=1e-8
        )
        assert nodes.log_share_slope[k] == pytest.approx(
            np.log(above.share / below.share) / (2 * STEP), abs=1e-8
        )


@pytest.mark.parametrize("family", [*(family for family, _ in SHAPES.values()), Even()])
def test_bounds_guards_and_starts_belong_to_the_same_parameters(family):
    assert len(family.bounds) == len(family.prior_sd)
    for start in family.starts:
        assert len(start) == len(family.bounds)
        for value, (low, high) in zip(start, family.bounds, strict=True):
            assert low <= value <= high


def test_the_full_log_normal_law_has_its_spread():
    nodes = LogNormal(low_tail=1.0).nodes(np.array([0.8]))
    assert nodes.share @ nodes.effect == pytest.approx(0, abs=1e-12)
    assert nodes.share @ nodes.effect**2 == pytest.approx(0.64, rel=0.02)


def test_a_one_sided_law_leaves_nobody_below_the_middle():
    assert LogNormal(low_tail=0.0).nodes(np.array([0.8])).effect.min() == 0


def test_log_odds_of_0_are_equal_shares():
    assert TwoClasses(log_odds=0.0).nodes(np.array([2.0])).share.tolist() == [0.5, 0.5]
