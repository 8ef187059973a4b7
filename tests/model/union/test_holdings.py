import numpy as np
import pytest

from crawlgauge.model.union.holdings import count_captures, count_holdings


def test_histories_give_exact_counts(make_archive):
    table, truth = make_archive(1, n_crawls=5, population=3000)
    holdings = count_holdings(table)
    assert holdings.n_distinct == truth.n_distinct
    captured, counts = table.histories.to_matrix(), table.histories.counts
    for crawl in range(5):
        known = captured[:, crawl] & captured[:, :crawl].any(axis=1)
        share = counts[known].sum() / table.crawls[crawl].n_urls
        assert holdings.known_share[crawl] == pytest.approx(share, abs=1e-12)
    assert holdings.known_share[0] == 0


def test_histories_of_a_sample_are_scaled_by_their_rate(make_archive):
    table, truth = make_archive(1, population=40_000, sample_rate=0.25)
    holdings = count_holdings(table)
    assert holdings.n_distinct == round(table.histories.n_urls / 0.25)
    assert holdings.n_distinct == pytest.approx(truth.n_distinct, rel=0.03)


def test_the_error_of_the_known_share_is_that_of_counting(make_archive):
    table, _ = make_archive(2, population=10_000)
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


def test_capture_frequencies_count_urls_by_how_many_crawls_hold_them(make_archive, make_table):
    table, truth = make_archive(3, population=2000)
    frequencies = count_captures(table)
    assert len(frequencies) == 4
    assert sum(frequencies) == truth.n_distinct
    captures = sum(number * n for number, n in enumerate(frequencies, start=1))
    assert captures == sum(crawl.n_urls for crawl in table.crawls)
    assert count_captures(make_table([0, 300], [100, 80], {(0, 1): 30})) is None
