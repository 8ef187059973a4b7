"""Counting over several archives at once, against Python's own sets."""

import numpy as np
import pytest

from crawlgauge.errors import OverlapError
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.overlaps.archive_pass import count_archives, merge_keys


def test_counts_are_those_of_plain_sets(draw_sets, write_sets):
    drawn = draw_sets(7, seed=5)
    sets = write_sets(drawn)
    archives, parts = [sets[:3], sets[3:5], sets[5:]], [drawn[:3], drawn[3:5], drawn[5:]]
    seen = []
    found = count_archives(archives, progress=lambda n, of: seen.append((n, of)))
    for i, one in enumerate(drawn):
        for j, other in enumerate(drawn):
            assert found.n_shared[i, j] == len(one & other)
    unions = [set().union(*part) for part in parts]
    assert [found.held(k) for k in range(3)] == [len(union) for union in unions]
    assert found.held(0, 2) == len(unions[0] & unions[2])
    assert found.held_only(1) == len(unions[1] - unions[0] - unions[2])
    assert found.n_distinct == len(set().union(*drawn))
    assert found.shared(1, 1, 2, 0) == len(drawn[4] & drawn[5])
    assert seen[-1][0] == seen[-1][1]


def test_archives_combine_at_the_smallest_sample(draw_sets, write_set_file):
    drawn = draw_sets(2, seed=8)
    threshold = WHOLE // 4
    archives = [[write_set_file(0, drawn[0])], [write_set_file(1, drawn[1], threshold)]]
    found = count_archives(archives)
    below = [{key for key in keys if key < threshold} for keys in drawn]
    assert found.sample_rate == 1 / 4
    assert found.n_shared[0, 1] == len(below[0] & below[1])
    whole, sampled = found.crawls[0][0], found.crawls[1][0]
    # The size of a crawl that is known in full stays; another is estimated from its sample.
    assert (whole.n_urls, whole.n_sampled) == (len(drawn[0]), len(below[0]))
    assert sampled.n_urls == 4 * len(below[1])


def test_a_sample_without_any_url_of_a_crawl_is_an_error(write_set_file):
    archives = [[write_set_file(0, {5})], [write_set_file(1, {2**63})]]
    with pytest.raises(OverlapError, match="none of the 1 URLs"):
        count_archives(archives, threshold=1 << 40)


def test_more_archives_than_a_mask_has_bits_are_refused(write_set_file):
    one = [write_set_file(0, {5})]
    with pytest.raises(OverlapError, match="at most 64"):
        count_archives([one] * 65)


def test_merged_keys_are_sorted_and_each_is_there_once():
    parts = [np.array(part, dtype=np.uint64) for part in ([1, 5, 9], [], [1, 2, 9, 2**64 - 1])]
    assert merge_keys(parts).tolist() == [1, 2, 5, 9, 2**64 - 1]
