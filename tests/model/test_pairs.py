import numpy as np
import pytest

from crawlgauge.model.pairs import pair_data


def test_a_pair_gives_both_containments_and_the_lag_in_years(make_table):
    pairs = pair_data(make_table([0, 1461], [200, 400], {(0, 1): 50}))
    assert pairs.lag_years.tolist() == [4.0]
    assert np.exp(pairs.log_forward) == pytest.approx([0.25])
    assert np.exp(pairs.log_backward) == pytest.approx([0.125])
    assert pairs.n_pairs == 1


def test_missing_pairs_are_left_out_and_counted(make_table):
    pairs = pair_data(make_table([0, 100, 200], [10, 10, 10], {(0, 1): 5}))
    assert (pairs.n_pairs, pairs.n_known, pairs.n_missing) == (1, 1, 2)
    assert list(zip(pairs.start, pairs.end, strict=True)) == [(0, 1)]


def test_pairs_that_share_nothing_are_set_apart(make_table):
    pairs = pair_data(make_table([0, 100, 200], [10, 10, 10], {(0, 1): 5, (0, 2): 0, (1, 2): 4}))
    assert pairs.zeros.tolist() == [[0, 2]]
    assert (pairs.n_pairs, pairs.n_known) == (2, 3)


def test_a_same_date_pair_enters_in_both_directions_with_half_the_weight(make_table):
    pairs = pair_data(make_table([0, 0], [100, 200], {(0, 1): 50}))
    assert list(zip(pairs.start, pairs.end, strict=True)) == [(0, 1), (1, 0)]
    assert pairs.weight.tolist() == [0.5, 0.5]
    assert np.exp(pairs.log_forward) == pytest.approx([0.5, 0.25])
    assert pairs.n_pairs == 1


def test_a_same_date_pair_that_shares_nothing_is_one_zero(make_table):
    pairs = pair_data(make_table([0, 0], [100, 200], {(0, 1): 0}))
    assert pairs.zeros.tolist() == [[0, 1]]
    assert pairs.start.size == 0


def test_ratios_are_taken_within_the_sample_and_sizes_kept(make_table):
    options = {0: {"n_sampled": 10}, 1: {"n_sampled": 20}}
    pairs = pair_data(
        make_table([0, 365], [1000, 2000], {(0, 1): 5}, crawl_options=options, sample_rate=0.01)
    )
    assert np.exp(pairs.log_forward) == pytest.approx([0.5])
    assert pairs.n_urls.tolist() == [1000, 2000]


def test_arrays_cannot_be_written_to(make_table):
    pairs = pair_data(make_table([0, 1], [10, 10], {(0, 1): 5}))
    with pytest.raises(ValueError, match="read-only"):
        pairs.n_shared[0] = 6


def test_standard_errors_are_taken_relative_to_the_overlaps(make_table):
    errors = np.array([[np.nan, 5.0, np.nan], [5.0, np.nan, 2.0], [np.nan, 2.0, np.nan]])
    overlaps = {(0, 1): 50, (0, 2): 40, (1, 2): 20}
    pairs = pair_data(make_table([0, 100, 100], [100] * 3, overlaps, se_shared=errors))
    assert pairs.relative_error == pytest.approx([0.1, 0.0, 0.1, 0.1])
    assert pairs.log_variance == pytest.approx(
        [1 / 50 + 0.01, 1 / 40, 1 / 20 + 0.01, 1 / 20 + 0.01]
    )
    assert pairs.fit_weights(0.03)[0] == pytest.approx(1 / (0.03 + 1 / 50 + 0.01))
