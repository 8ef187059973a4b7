import math
from types import SimpleNamespace

import numpy as np
import pytest

from crawlgauge.model.union.held_ratio import follow_classes

YEARS = np.arange(6) * 0.5


def classes(shares=(1.0,), captures=(0.4,), persistence=(0.7,), traps=()):
    """The part of a latent-class fit that is looked at."""
    return SimpleNamespace(
        n_classes=len(shares),
        trap_lags=len(traps),
        class_shares=np.array(shares),
        class_captures=np.array(captures),
        class_log_persistence=np.log(persistence),
        trap_effects=np.array(traps),
    )


def follow(fit, coverage):
    coverage = np.broadcast_to(coverage, YEARS.size).astype(float)
    return follow_classes(fit, YEARS, 1000 * coverage, coverage)


def test_one_class_without_memory_gives_a_ratio_of_one():
    held = follow(classes(), 0.4)
    assert held.log_ratio == pytest.approx(np.zeros(6), abs=1e-9)
    assert held.unseen_survival == pytest.approx(np.full(5, 0.7**0.5))


def test_two_classes_agree_with_the_sum_over_all_histories():
    """Follow each class alone: what is held is a geometric series of captures and deaths."""
    shares, chances = np.array([0.3, 0.7]), np.array([0.8, 0.1])
    coverage = float(shares @ chances)
    held = follow(classes(shares, chances, (0.9, 0.5)), coverage)
    survival = np.array([0.9, 0.5]) ** 0.5
    living_held = np.zeros(2)
    for crawl in range(6):
        if crawl:
            chance = living_held @ chances / living_held.sum()
            assert held.log_ratio[crawl] == pytest.approx(math.log(chance / coverage), abs=1e-6)
        living_held += (shares - living_held) * chances
        if crawl < 5:
            unseen = shares - living_held
            expected = unseen @ survival / unseen.sum()
            assert held.unseen_survival[crawl] == pytest.approx(expected, abs=1e-6)
        living_held *= survival


def test_avoidance_of_the_last_crawl_lowers_the_ratio_and_re_seeding_raises_it():
    avoiding = follow(classes(traps=(-3.0,)), 0.3).log_ratio
    repeating = follow(classes(traps=(1.5,)), 0.3).log_ratio
    assert np.all(avoiding[1:] < -0.1)
    assert np.all(repeating[1:] > 0.05)
    # All that is held at the second crawl was captured by the one before.
    chance = 1 / (1 + math.exp(3.0))
    assert math.exp(avoiding[1]) < 3 * chance / 0.3


def test_what_is_longer_ago_than_the_trap_lags_is_captured_as_anything():
    forgotten = follow(classes(traps=(-30.0,), persistence=(1.0,)), [0.2, 0.01, 0.2, 0.2, 0.2, 0.2])
    # After a tiny crawl nearly all that is held is rested, and nothing is avoided.
    assert forgotten.log_ratio[2] == pytest.approx(0.0, abs=0.05)


def test_a_crawl_of_everything_is_followed_too():
    held = follow(classes((0.5, 0.5), (0.9, 0.3), (0.9, 0.6)), 1.0)
    assert np.isfinite(held.log_ratio).all()
    assert np.isfinite(held.unseen_survival).all()
