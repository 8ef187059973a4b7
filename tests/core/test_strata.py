"""Rows of keys, codes and masks: merged and counted as by dictionaries of Python."""

import itertools

import numpy as np
import pytest

from crawlgauge.core.strata import NO_GROUP, merge_crawl, sum_repeats, tally_groups


def draw(n_crawls, seed, n_keys=400, n_codes=7):
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 2**64 - 1, n_keys, dtype=np.uint64).tolist()
    return [
        {key: int(rng.integers(-1, n_codes)) for key in pool if rng.random() < 0.3}
        for _ in range(n_crawls)
    ]


def merge(crawls, room=1000):
    n_words = -(-len(crawls) // 64)
    known, codes = np.empty(room, np.uint64), np.empty(room, np.int32)
    masks, n_rows = np.empty((room, n_words), np.uint64), 0
    for number, crawl in enumerate(crawls):
        keys = np.array(sorted(crawl), np.uint64)
        own = np.array([crawl[key] for key in sorted(crawl)], np.int32)
        n_rows = merge_crawl(known, codes, masks, n_rows, keys, own, number)
    return known[:n_rows], codes[:n_rows], masks[:n_rows]


def first_codes(crawls):
    first = {}
    for crawl in crawls:
        for key, code in crawl.items():
            first.setdefault(key, code)
    return first


@pytest.mark.parametrize("n_crawls", [1, 2, 15, 64, 65, 130])
def test_a_key_keeps_its_first_code_and_a_bit_for_each_crawl(n_crawls):
    crawls = draw(n_crawls, n_crawls)
    known, codes, masks = merge(crawls)
    first = first_codes(crawls)
    assert known.tolist() == sorted(first)
    assert codes.tolist() == [first[key] for key in sorted(first)]
    for key, row in zip(known.tolist(), masks.tolist(), strict=True):
        mask = sum(word << 64 * place for place, word in enumerate(row))
        assert mask == sum(1 << number for number, crawl in enumerate(crawls) if key in crawl)


def test_nothing_is_done_where_there_is_too_little_room():
    known, codes, masks = np.empty(3, np.uint64), np.empty(3, np.int32), np.empty((3, 1), np.uint64)
    keys = np.array([5, 9], np.uint64)
    assert merge_crawl(known, codes, masks, 0, keys, np.array([1, 2], np.int32), 0) == 2
    more = np.array([1, 5, 7], np.uint64)
    assert merge_crawl(known, codes, masks, 2, more, np.array([0, 0, 0], np.int32), 1) == -1
    assert (known[:2].tolist(), codes[:2].tolist(), masks[:2].tolist()) == (
        [5, 9],
        [1, 2],
        [[1], [1]],
    )
    assert merge_crawl(known, codes, masks, 2, more[:2], np.array([0, 0], np.int32), 1) == 3
    assert merge_crawl(known, codes, masks, 3, more[:0], np.empty(0, np.int32), 1) == 3


@pytest.mark.parametrize("n_crawls", [1, 2, 3, 7, 64, 70, 130])
def test_groups_are_counted_as_by_python_sets(n_crawls):
    crawls = draw(n_crawls, n_crawls)
    _, codes, masks = merge(crawls)
    first = first_codes(crawls)
    # Codes 0 and 3 are of one group, 5 is not counted; the last stands for none.
    groups = np.array([0, 1, 2, 0, 3, NO_GROUP, 4, 5], np.int32)
    shared = tally_groups(codes, masks, groups, 6, n_crawls)
    sums = sum_repeats(codes, masks, 8, n_crawls)
    for group in range(6):
        own = [{key for key in crawl if groups[first[key]] == group} for crawl in crawls]
        for one, other in itertools.combinations_with_replacement(range(n_crawls), 2):
            assert shared[group, one, other] == len(own[one] & own[other])
    for code in range(-1, 7):
        own = [{key for key in crawl if first[key] == code} for crawl in crawls]
        last, before = own[-1], own[max(n_crawls - 2, 0)]
        repeats = sum(len(a & b) for a, b in itertools.combinations(own, 2))
        row = [len(set().union(*own)), repeats, len(before), len(last), len(before & last)]
        assert sums[code].tolist() == row


def test_rows_that_do_not_fit_are_refused():
    codes, masks = np.array([0, 1], np.int32), np.array([[1], [2]], np.uint64)
    with pytest.raises(ValueError, match="more values"):
        sum_repeats(codes, masks, 2, 2)
    with pytest.raises(ValueError, match="more crawls"):
        tally_groups(codes, masks, np.array([0, 0, 0], np.int32), 1, 1)
    with pytest.raises(ValueError, match="needs a code"):
        tally_groups(codes[:1], masks, np.array([0, 0], np.int32), 1, 2)
