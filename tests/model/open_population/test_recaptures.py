"""When captured URLs are seen again."""

import numpy as np
import pytest

from crawlgauge.errors import FitError
from crawlgauge.model.histories.data import HistoryData, count_recaptures


def make_data(counts, years=None):
    captured = np.array([[digit != "0" for digit in history] for history in counts])
    bits = np.uint64(1) << np.arange(captured.shape[1], dtype=np.uint64)
    return HistoryData(
        captured=captured,
        masks=np.where(captured, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64),
        counts=np.array(list(counts.values()), dtype=np.float64),
        years=np.arange(captured.shape[1]) if years is None else np.array(years),
    )


def test_each_capture_is_followed_by_the_next_one():
    found = count_recaptures(make_data({"1011": 3, "1100": 2, "0010": 5}))
    assert found.n_captured.tolist() == [5, 2, 8, 3]
    assert found.n_released.tolist() == [5, 2, 8, 3]
    assert found.n_next.tolist() == [[0, 2, 3, 0], [0, 0, 0, 0], [0, 0, 0, 3], [0, 0, 0, 0]]


def test_what_follows_equals_a_count_url_by_url():
    rng = np.random.default_rng(1)
    urls = rng.random((500, 7)) < 0.4
    urls = urls[urls.any(axis=1)]
    histories, counts = np.unique(urls, axis=0, return_counts=True)
    found = count_recaptures(
        make_data(
            {"".join(map(str, h.astype(int))): n for h, n in zip(histories, counts, strict=True)}
        )
    )
    before = np.cumsum(urls, axis=1) - urls > 0
    after = np.cumsum(urls[:, ::-1], axis=1)[:, ::-1] - urls > 0
    assert found.n_seen_before.tolist() == np.sum(urls & before, axis=0).tolist()
    assert found.n_seen_again.tolist() == np.sum(urls & after, axis=0).tolist()
    assert found.n_missed.tolist() == np.sum(before & ~urls & after, axis=0).tolist()


def test_those_not_released_are_taken_from_the_crawl_that_saw_them_last():
    data = make_data({"110": 4, "011": 3})
    found = count_recaptures(data, n_lost=np.array([3.0, 0.0]))
    assert found.n_captured.tolist() == [4, 7, 3]
    assert found.n_released.tolist() == [4, 4, 3]


@pytest.mark.parametrize("n_lost", [[5.0, 0.0], [-1.0, 0.0], [1.0]])
def test_impossible_losses_are_refused(n_lost):
    data = make_data({"110": 4, "011": 3})
    with pytest.raises(FitError, match="not released"):
        count_recaptures(data, n_lost=np.array(n_lost))


def test_sixty_four_crawls_are_counted():
    rng = np.random.default_rng(2)
    captured = rng.random((100, 64)) < 0.3
    found = count_recaptures(
        HistoryData(
            captured=captured,
            masks=np.arange(100, dtype=np.uint64),
            counts=np.ones(100),
            years=np.arange(64.0),
        )
    )
    assert found.n_next.sum() == captured.sum() - 100
