"""Which keys of a list a crawl holds, against Python's own sets."""

import numpy as np

from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.overlaps.membership import count_below, find_held


def test_keys_are_found_as_in_a_plain_set(draw_sets, write_set_file):
    (keys,) = draw_sets(1, seed=2)
    wanted = np.array(sorted({*list(keys)[::3], 0, 17, 2**64 - 2, 2**64 - 1}), dtype=np.uint64)
    found = find_held(write_set_file(0, keys), wanted)
    assert found.tolist() == [key in keys for key in wanted.tolist()]


def test_only_keys_of_the_sample_are_looked_for(draw_sets, write_set_file):
    (keys,) = draw_sets(1, seed=4)
    threshold = WHOLE // 16
    wanted = np.array(sorted(keys), dtype=np.uint64)
    found = find_held(write_set_file(0, keys, threshold), wanted)
    assert found.size == sum(key < threshold for key in keys) == count_below(wanted, threshold)
    assert found.all()


def test_an_empty_list_finds_nothing(write_set_file):
    assert find_held(write_set_file(0, {3, 4}), np.empty(0, dtype=np.uint64)).size == 0
