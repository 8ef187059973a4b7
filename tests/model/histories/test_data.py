"""What follows from capture histories by counting."""

import datetime as dt

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.histories.data import count_captures, count_holdings, count_recaptures
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import OverlapTable


@pytest.fixture
def held():
    """Five crawls with every history, counted at random; optionally a sample of that rate."""

    def make(rate=1.0):
        rng = np.random.default_rng(1)
        masks = np.arange(1, 32, dtype=np.uint64)
        histories = Histories(
            n_crawls=5, masks=masks, counts=rng.integers(1, 90, 31), sample_rate=rate
        )
        shared = histories.count_pairs()
        crawls = tuple(
            Crawl(
                label=f"c{k}",
                date=dt.date(2014 + k, 1, 1),
                n_urls=round(size / rate),
                n_sampled=None if rate == 1 else int(size),
            )
            for k, size in enumerate(np.diag(shared))
        )
        return OverlapTable(crawls=crawls, n_shared=shared, histories=histories, sample_rate=rate)

    return make


def test_histories_give_exact_counts(held):
    table = held()
    holdings = count_holdings(table)
    assert holdings.n_distinct == table.histories.n_urls
    captured, counts = table.histories.to_matrix(), table.histories.counts
    for crawl in range(5):
        known = captured[:, crawl] & captured[:, :crawl].any(axis=1)
        share = counts[known].sum() / table.crawls[crawl].n_urls
        assert holdings.known_share[crawl] == pytest.approx(share, abs=1e-12)
    assert holdings.known_share[0] == 0


def test_histories_of_a_sample_are_scaled_by_their_rate(held):
    whole, sample = count_holdings(held()), count_holdings(held(0.25))
    assert sample.n_distinct == 4 * whole.n_distinct
    assert sample.known_share == pytest.approx(whole.known_share)


def test_the_error_of_the_known_share_is_that_of_counting(held):
    table = held()
    holdings = count_holdings(table)
    share = holdings.known_share[3]
    counting = np.sqrt(share * (1 - share) / table.crawls[3].n_urls)
    assert holdings.known_error[3] == pytest.approx(counting, rel=0.01)
    assert 0 < holdings.known_error[0] < 0.01


def test_two_crawls_need_no_histories(make_table):
    holdings = count_holdings(make_table([0, 300], [100, 80], {(0, 1): 30}))
    assert holdings.n_distinct == 150
    assert holdings.known_share.tolist() == [0, 30 / 80]


def test_crawls_of_which_no_three_overlap_need_none_either(make_table):
    overlaps = {(0, 1): 30, (1, 2): 20, (0, 2): 0}
    holdings = count_holdings(make_table([0, 300, 600], [100, 80, 50], overlaps))
    assert holdings.n_distinct == 180
    assert holdings.known_share.tolist() == [0, 30 / 80, 20 / 50]


@pytest.mark.parametrize(
    ("overlaps", "options"),
    [
        ({(0, 1): 30, (1, 2): 20, (0, 2): 10}, {}),
        ({(0, 1): 30, (1, 2): 20}, {}),
        ({(0, 1): 0, (1, 2): 30, (0, 2): 30}, {}),
        ({(0, 1): 30, (1, 2): 20, (0, 2): 0}, {"se_shared": np.full((3, 3), 0.5)}),
    ],
    ids=["three overlap", "a pair is missing", "no sets do so", "overlaps are estimates"],
)
def test_otherwise_pairs_do_not_tell(make_table, overlaps, options):
    assert count_holdings(make_table([0, 300, 600], [100, 80, 50], overlaps, **options)) is None


def test_capture_frequencies_count_urls_by_how_many_crawls_hold_them(held, make_table):
    table = held()
    frequencies = count_captures(table)
    assert len(frequencies) == 5
    assert sum(frequencies) == table.histories.n_urls
    captures = sum(number * n for number, n in enumerate(frequencies, start=1))
    assert captures == sum(crawl.n_urls for crawl in table.crawls)
    assert count_captures(make_table([0, 300], [100, 80], {(0, 1): 30})) is None


def test_each_capture_is_followed_by_the_next_one(make_data):
    found = count_recaptures(make_data({"1011": 3, "1100": 2, "0010": 5}))
    assert found.n_released.tolist() == [5, 2, 8, 3]
    assert found.n_next.tolist() == [[0, 2, 3, 0], [0, 0, 0, 0], [0, 0, 0, 3], [0, 0, 0, 0]]


@pytest.mark.parametrize("n_crawls", [7, 64])
def test_what_follows_equals_a_count_url_by_url(count_histories, n_crawls):
    urls = np.random.default_rng(1).random((500, n_crawls)) < 0.4
    found = count_recaptures(count_histories(urls))
    before = np.cumsum(urls, axis=1) - urls > 0
    after = np.cumsum(urls[:, ::-1], axis=1)[:, ::-1] - urls > 0
    assert found.n_seen_before.tolist() == np.sum(urls & before, axis=0).tolist()
    assert found.n_seen_again.tolist() == np.sum(urls & after, axis=0).tolist()
    assert found.n_missed.tolist() == np.sum(before & ~urls & after, axis=0).tolist()
