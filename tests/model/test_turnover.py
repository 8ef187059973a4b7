"""What counting says of each crawl is what sets of URLs say."""

import datetime as dt
import random
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.model.turnover import follow_crawls
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.table import MISSING, OverlapTable

FIRST_DAY = dt.date(2014, 1, 1)
COUNTS = ("kept", "added", "new", "recovered", "dropped", "forgotten", "lost", "missed")


def draw_sets(seed):
    """A small archive with turnover, crawls of different sizes and now and then an odd one."""
    rng = random.Random(seed)
    living, following, crawls = set(range(rng.randint(5, 120))), 1000, []
    for _ in range(rng.randint(1, 12)):
        chance = rng.choice([0.1, 0.5, 0.9, rng.random()])
        crawls.append({url for url in living if rng.random() < chance} or {min(living)})
        living = {url for url in living if rng.random() < 0.8} or {following}
        born = range(following + 1, following + 1 + rng.randint(0, 30))
        living, following = living.union(born), following + 100
    return crawls


def to_table(sets, *, rate=1.0):
    masks = {}
    for url in set().union(*sets):
        mask = sum(1 << k for k, urls in enumerate(sets) if url in urls)
        masks[mask] = masks.get(mask, 0) + 1
    crawls = tuple(
        Crawl(label=f"c{k}", date=FIRST_DAY + dt.timedelta(days=100 * k), n_urls=len(urls))
        for k, urls in enumerate(sets)
    )
    return OverlapTable(
        crawls=crawls,
        n_shared=np.array([[len(a & b) for b in sets] for a in sets]),
        histories=Histories(
            n_crawls=len(sets),
            masks=np.array(sorted(masks), dtype=np.uint64),
            counts=np.array([masks[mask] for mask in sorted(masks)]),
            sample_rate=rate,
        ),
    )


def by_sets(sets, k):
    """The same categories, computed from the sets themselves; None where nothing can be said."""
    now = sets[k]
    before = set().union(*sets[:k])
    after = set().union(*sets[k + 1 :])
    expected = dict.fromkeys(COUNTS)
    if k > 0:
        previous = sets[k - 1]
        expected |= {
            "kept": now & previous,
            "added": now - previous,
            "new": now - before,
            "recovered": (now & before) - previous if k > 1 else None,
            "dropped": previous - now,
        }
        if k < len(sets) - 1:
            expected |= {
                "forgotten": (previous - now) & after,
                "lost": previous - now - after,
                "missed": (before & after) - now,
            }
    return {name: None if urls is None else len(urls) for name, urls in expected.items()}


@pytest.mark.parametrize("block", range(5))
def test_all_categories_are_those_of_the_sets_in_300_archives(block):
    for seed in range(60 * block, 60 * (block + 1)):
        sets = draw_sets(seed)
        turnover = follow_crawls(to_table(sets))
        union = set().union(*sets)
        assert turnover.n_distinct.value == len(union)
        frequencies = [sum(url in urls for urls in sets) for url in union]
        assert [number.value for number in turnover.capture_frequencies] == [
            frequencies.count(n) for n in range(1, len(sets) + 1)
        ]
        for k, row in enumerate(turnover.per_crawl):
            assert {name: getattr(row, name).value for name in COUNTS} == by_sets(sets, k)
            assert row.relative_coverage.value == len(sets[k]) / len(union)
            if 0 < k < len(sets) - 1:
                missed = row.missed.value
                assert row.missed_at_least.value == missed / (missed + len(sets[k]))


def test_the_categories_partition_what_a_crawl_and_the_one_before_it_hold():
    for seed in range(200):
        table = to_table(draw_sets(seed))
        rows = follow_crawls(table).per_crawl
        n_urls = [crawl.n_urls for crawl in table.crawls]
        for k in range(1, len(rows)):
            row = {name: getattr(rows[k], name).value or 0 for name in COUNTS}
            assert n_urls[k] == row["kept"] + row["new"] + row["recovered"]
            assert row["added"] == row["new"] + row["recovered"]
            assert n_urls[k - 1] == row["kept"] + row["dropped"]
            assert rows[k].self_overlap.value == row["kept"] / n_urls[k - 1]
            if k < len(rows) - 1:
                missed_before = rows[k - 1].missed.value or 0
                assert row["dropped"] == row["forgotten"] + row["lost"]
                assert row["missed"] == missed_before - row["recovered"] + row["forgotten"]


def test_what_lies_before_the_first_or_after_the_last_crawl_is_unknown_and_not_zero():
    first, second, *_, last = follow_crawls(to_table(draw_sets(3))).per_crawl
    for name in (*COUNTS, "self_overlap", "missed_at_least"):
        assert (getattr(first, name).value, getattr(first, name).reason) == (
            None,
            "first crawl: there is none before it",
        )
    assert second.recovered.reason.startswith("second crawl")
    for name in ("forgotten", "lost", "missed", "missed_at_least"):
        assert getattr(last, name).reason == "not yet known: there is no later crawl"


def test_pairs_alone_tell_what_was_kept_added_and_dropped_and_why_the_rest_is_missing():
    whole = to_table(draw_sets(5))
    known, rows = (
        follow_crawls(table).per_crawl for table in (whole, replace(whole, histories=None))
    )
    assert len(rows) > 3
    for row, same in zip(rows, known, strict=True):
        for name in ("kept", "added", "dropped", "self_overlap"):
            assert getattr(row, name) == getattr(same, name)
    # All that the second crawl adds to the first is new.
    assert rows[1].new == known[1].new
    for row in rows[2:-1]:
        for name in ("new", "recovered", "forgotten", "lost", "missed", "relative_coverage"):
            assert "takes capture histories" in getattr(row, name).reason


def test_two_crawls_need_no_histories():
    whole = to_table([{1, 2, 3}, {3, 4}])
    assert follow_crawls(replace(whole, histories=None)) == follow_crawls(whole)
    assert follow_crawls(whole).n_distinct.value == 4


def test_one_crawl_has_nothing_to_be_compared_with():
    turnover = follow_crawls(to_table([{1, 2, 3}]))
    assert turnover.self_overlap.value is None
    assert turnover.forgotten_share.value is None
    assert turnover.n_distinct.value == 3


def test_a_pair_that_is_missing_is_taken_from_the_histories_or_left_unknown():
    whole = to_table([{1, 2, 3}, {2, 3, 4}, {4, 5}])
    shared = whole.n_shared.copy()
    shared[0, 1] = shared[1, 0] = MISSING
    assert follow_crawls(replace(whole, n_shared=shared)).per_crawl[1].kept.value == 2
    without = follow_crawls(replace(whole, n_shared=shared, histories=None))
    assert "not in the table" in without.per_crawl[1].kept.reason
    assert without.self_overlap.value == 1 / 3


def test_64_crawls_are_followed_to_the_last():
    sets = [{0, k + 1} | ({99} if k in {0, 63} else set()) for k in range(64)]
    rows = follow_crawls(to_table(sets)).per_crawl
    assert (rows[63].recovered.value, rows[63].new.value, rows[63].kept.value) == (1, 1, 1)
    assert [row.missed.value for row in rows[1:63]] == [1] * 62


def test_published_overlaps_keep_their_errors(make_table):
    errors = np.array([[0, 20.0, np.nan], [20.0, 0, 5], [np.nan, 5, 0]])
    overlaps = {(0, 1): 400, (1, 2): 300, (0, 2): 100}
    table = make_table([0, 180, 360], [1000, 900, 800], overlaps, se_shared=errors)
    row = follow_crawls(table).per_crawl[1]
    assert (row.kept.value, row.kept.low, row.kept.high) == (
        400,
        pytest.approx(400 - 39.2, abs=0.01),
        pytest.approx(400 + 39.2, abs=0.01),
    )
    assert (row.added.low, row.added.high) == pytest.approx((460.8, 539.2), abs=0.01)


def test_known_sizes_and_overlaps_stay_exact_where_only_histories_are_sampled():
    sets = [set(range(100 * k, 100 * k + 500)) for k in range(5)]
    whole = to_table(sets)
    every_other = to_table([{url for url in urls if url % 2 == 0} for urls in sets], rate=0.5)
    rows = follow_crawls(replace(whole, histories=every_other.histories)).per_crawl
    for k in range(1, 5):
        assert (rows[k].kept.value, rows[k].kept.low) == (400, None)
    third = rows[2]
    assert third.new.value + third.recovered.value == third.added.value == 100
    assert third.forgotten.value + third.lost.value == third.dropped.value == 100
    assert third.new.low <= third.new.value <= third.new.high


def test_a_damaged_crawl_and_crawls_of_one_date_are_warned_of(make_table):
    table = make_table(
        [0, 0, 360],
        [10, 10, 10],
        {(0, 1): 5, (1, 2): 5, (0, 2): 5},
        crawl_options={2: {"damaged": True}},
    )
    damaged, same_date = follow_crawls(table).warnings
    assert damaged.startswith("Part of the input of c3 was damaged")
    assert same_date.startswith("Same date as the crawl before: c2.")
