"""Estimates for closed populations."""

import numpy as np
import pytest

from crawlgauge.model.histories.closed_population import (
    estimate_chao,
    estimate_chapman,
    estimate_lincoln_petersen,
    estimate_schnabel,
)
from crawlgauge.model.histories.data import HistoryData

ALL = (estimate_lincoln_petersen, estimate_chapman, estimate_schnabel, estimate_chao)


def make_data(counts):
    captured = np.array([[digit == "1" for digit in history] for history in counts])
    bits = np.uint64(1) << np.arange(captured.shape[1], dtype=np.uint64)
    return HistoryData(
        captured=captured,
        masks=np.where(captured, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64),
        counts=np.array(list(counts.values()), dtype=np.float64),
        years=np.arange(captured.shape[1], dtype=np.float64),
    )


def draw_data(rng, n, cover):
    urls = rng.random((n, len(cover))) < cover
    histories, counts = np.unique(urls[urls.any(axis=1)], axis=0, return_counts=True)
    return make_data(
        {"".join(map(str, h.astype(int))): k for h, k in zip(histories, counts, strict=True)}
    )


def test_two_crawls_by_hand():
    data = make_data({"10": 80, "01": 30, "11": 20})
    plain, corrected = estimate_lincoln_petersen(data), estimate_chapman(data)
    assert plain.population == 100 * 50 / 20
    assert plain.standard_error == pytest.approx(np.sqrt(100 * 50 * 80 * 30 / 20**3))
    assert corrected.population == pytest.approx(101 * 51 / 21 - 1)
    assert corrected.standard_error == pytest.approx(np.sqrt(101 * 51 * 80 * 30 / (21**2 * 22)))
    assert plain.coverage(data) == pytest.approx([100 / 250, 50 / 250])


def test_of_many_crawls_the_two_newest_are_used():
    data = make_data({"0010": 80, "1001": 30, "1111": 20, "1100": 500})
    estimate = estimate_lincoln_petersen(data)
    assert estimate.population == 100 * 50 / 20
    assert np.isnan(estimate.coverage(data)).tolist() == [True, True, False, False]


def test_schnabel_by_hand():
    data = make_data({"110": 5, "101": 3, "011": 2, "100": 12, "010": 13, "001": 15})
    # Sizes 20, 20, 20; known before 0, 20, 35; seen again 0, 5, 5.
    estimate = estimate_schnabel(data)
    assert estimate.population == pytest.approx((20 * 20 + 20 * 35) / 10)
    spread = sum(20 * (known / 110) * (1 - known / 110) * (1 - 20 / 110) for known in (20, 35))
    assert estimate.standard_error == pytest.approx(110 * np.sqrt(spread) / 10)


def test_schnabel_of_two_crawls_is_lincoln_and_petersen():
    data = make_data({"10": 80, "01": 30, "11": 20})
    one, other = estimate_schnabel(data), estimate_lincoln_petersen(data)
    assert one.population == pytest.approx(other.population)
    assert one.standard_error == pytest.approx(other.standard_error)


def test_chao_by_hand():
    data = make_data({"100": 30, "010": 20, "110": 10, "111": 4})
    ratio, share = 50 / 10, 2 / 3
    estimate = estimate_chao(data)
    assert estimate.population == pytest.approx(64 + share * 50**2 / 20)
    assert estimate.standard_error == pytest.approx(
        np.sqrt(10 * (share * ratio**2 / 2 + share**2 * ratio**3 + share**2 * ratio**4 / 4))
    )


@pytest.mark.parametrize("estimate", ALL)
def test_a_closed_population_is_recovered_with_honest_errors(estimate):
    rng = np.random.default_rng(1)
    found = [estimate(draw_data(rng, 2000, [0.2, 0.2, 0.2, 0.2])) for _ in range(200)]
    values = np.array([one.population for one in found])
    errors = np.array([one.standard_error for one in found])
    assert abs(np.mean(values) - 2000) < 4 * np.std(values) / np.sqrt(200) + 15
    assert np.std(values) / np.sqrt(np.mean(errors**2)) == pytest.approx(1, abs=0.2)


def test_uneven_capture_lets_chao_come_nearer():
    rng = np.random.default_rng(2)
    urls = rng.random((20_000, 5)) < np.where(rng.random(20_000) < 0.5, 0.4, 0.05)[:, None]
    histories, counts = np.unique(urls[urls.any(axis=1)], axis=0, return_counts=True)
    data = make_data(
        {"".join(map(str, h.astype(int))): k for h, k in zip(histories, counts, strict=True)}
    )
    assert estimate_schnabel(data).population < estimate_chao(data).population < 20_000


@pytest.mark.parametrize("estimate", ALL)
def test_without_overlap_there_is_a_reason_instead_of_a_number(estimate):
    found = estimate(make_data({"100": 5, "010": 6, "001": 7}))
    assert np.isnan(found.population)
    assert np.isnan(found.standard_error)
    assert found.reason.startswith("not identifiable")


def test_if_all_crawls_hold_the_same_the_population_is_what_they_hold():
    data = make_data({"111": 70})
    for estimate in (estimate_lincoln_petersen, estimate_chao):
        assert estimate(data).population == 70
        assert estimate(data).standard_error == 0


@pytest.mark.parametrize("estimate", ALL)
def test_one_crawl_says_nothing(estimate):
    assert estimate(make_data({"1": 70})).reason.startswith("not identifiable")
