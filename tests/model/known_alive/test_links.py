"""Links turn effects into chances, with the right slopes, up to certainty."""

import numpy as np
import pytest

from crawlgauge.model.known_alive.links import capture_table, to_effect

STEP = 1e-6


@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_slopes_are_those_of_the_logarithms(link):
    effect = np.linspace(-6, 2.5, 30)
    table = capture_table(effect, link)
    above, below = capture_table(effect + STEP, link), capture_table(effect - STEP, link)
    hit_slope = (np.log(above.hit) - np.log(below.hit)) / (2 * STEP)
    miss_slope = (np.log(above.miss) - np.log(below.miss)) / (2 * STEP)
    assert table.hit_slope == pytest.approx(hit_slope, abs=1e-7)
    assert table.miss_slope == pytest.approx(miss_slope, abs=1e-7)
    assert table.hit + table.miss == pytest.approx(1.0)


@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_effects_and_chances_belong_together(link):
    chance = np.array([0.001, 0.3, 0.97])
    assert capture_table(to_effect(chance, link), link).hit == pytest.approx(chance)


@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_far_effects_stay_numbers(link):
    table = capture_table(np.array([-1e3, 1e3]), link)
    for chances in (table.hit, table.miss):
        assert np.all((chances > 0) & (chances <= 1))
        assert np.all(np.isfinite(np.log(chances)))
