"""Counts of samples: scaled without bias, with ranges that hold as often as they say."""

import numpy as np
import pytest

from crawlgauge.model.ranges import part_of, scaled, share


def test_what_was_counted_in_full_is_exact_and_has_no_range():
    for number in (scaled(7, 1.0), part_of(9, 7, 9, 1.0)):
        assert (number.value, number.low, number.high, number.basis) == (7, None, None, "none")
    assert share(1, 4, 1.0).basis == "none"


@pytest.mark.parametrize("rate", [0.5, 0.1, 1 / 64])
@pytest.mark.parametrize("total", [3, 40, 700, 20_000])
def test_a_scaled_count_is_unbiased_and_its_range_holds(rate, total):
    counted = np.random.default_rng(1).binomial(total, rate, size=4000)
    numbers = [scaled(int(n), rate) for n in counted]
    error = np.std(counted) / rate / np.sqrt(counted.size)
    assert np.mean([number.value for number in numbers]) == pytest.approx(total, abs=4 * error)
    held = np.mean([number.low <= total <= number.high for number in numbers])
    assert held > 0.92


@pytest.mark.parametrize("rate", [0.5, 0.1, 1 / 64])
@pytest.mark.parametrize(("part", "total"), [(0, 100), (30, 1000), (4000, 10_000)])
def test_a_part_of_a_known_total_keeps_within_it_and_its_range_holds(rate, part, total):
    rng = np.random.default_rng(2)
    held = []
    for _ in range(2000):
        n, others = rng.binomial(part, rate), rng.binomial(total - part, rate)
        number = part_of(total, int(n), int(n + others), rate)
        if number.value is not None:
            assert 0 <= number.low <= number.value <= number.high <= total
            held.append(number.low <= part <= number.high)
    assert np.mean(held) > 0.92


def test_a_share_of_nothing_is_unknown():
    assert share(0, 0, 0.5).reason == "none of them is in the sample"
    assert part_of(10, 0, 0, 0.5).value is None
    assert part_of(0, 0, 0, 0.5).value == 0
