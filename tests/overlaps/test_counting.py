"""Overlaps and histories counted from sets, against Python's own sets."""

import datetime as dt
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.errors import OverlapError
from crawlgauge.overlaps import counting
from crawlgauge.overlaps.counting import count_sets
from crawlgauge.provenance import Provenance
from crawlgauge.store import set_file
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.set_file import read_description, write_set

LARGEST = 2**64 - 1


@pytest.fixture
def write_sets(tmp_path):
    """Write a set file for each Python set of keys."""

    def write(sets):
        written = []
        for number, keys in enumerate(sets):
            path = tmp_path / f"{number}.parquet"
            description = CrawlSet(
                crawl=Crawl(
                    label=f"c{number:02}",
                    date=dt.date(2014, 1, 1) + dt.timedelta(days=number),
                    n_urls=len(keys),
                ),
                level="url",
                key_rule="raw/1",
                sample_rate=1.0,
                n_captures=len(keys),
                rejected={},
                excluded={},
                damage=(),
                checksum="",
                range_bits=0,
                provenance=Provenance(),
                path=path,
            )
            with path.open("wb") as file:
                write_set(file, np.array(sorted(keys), dtype=np.uint64), description)
            written.append(read_description(path))
        return written

    return write


def draw_sets(n_crawls, seed):
    """Draw crawls of very different sizes that share some keys."""
    rng = np.random.default_rng(seed)
    pool = np.unique(rng.integers(0, LARGEST, 3000, dtype=np.uint64, endpoint=True)).tolist()
    sets = [set(rng.choice(pool, size=int(n)).tolist()) for n in rng.integers(1, 1500, n_crawls)]
    for keys in sets[::2]:
        keys.add(LARGEST)
    return sets


def check(table, sets):
    assert table.n_shared.tolist() == [[len(a & b) for b in sets] for a in sets]
    if len(sets) > 64:
        assert table.histories is None
        return
    masks = Counter()
    for key in set().union(*sets):
        masks[sum(1 << number for number, keys in enumerate(sets) if key in keys)] += 1
    found = zip(table.histories.masks.tolist(), table.histories.counts.tolist(), strict=True)
    assert dict(found) == masks


@pytest.mark.parametrize("n_crawls", [1, 2, 3, 15, 64, 65, 70])
@pytest.mark.parametrize("keys_per_range", [1 << 20, 500])
def test_counts_are_those_of_python_sets(write_sets, monkeypatch, n_crawls, keys_per_range):
    monkeypatch.setattr(set_file, "_KEYS_PER_RANGE", keys_per_range)
    monkeypatch.setattr(counting, "_KEYS_PER_RANGE", 4 * keys_per_range)
    sets = draw_sets(n_crawls, seed=n_crawls)
    written = write_sets(sets)
    if n_crawls > 3 and keys_per_range == 500:
        assert len({item.range_bits for item in written}) > 1, "sets are cut differently"
    steps = []
    table = count_sets(written, progress=lambda *step: steps.append(step))
    check(table, sets)
    n_ranges = len(steps)
    assert steps == [(number, n_ranges) for number in range(1, n_ranges + 1)]
    assert (n_ranges > 1) == (keys_per_range == 500)


@pytest.mark.parametrize(
    "sets",
    [
        [{1, 2, 3}] * 3,
        [{1, 2}, {3, 4}, {5}],
        [{LARGEST}, {LARGEST}, {0}],
        [{0, LARGEST}, {LARGEST - 1, LARGEST}],
        [{7}, set(range(1000))],
    ],
    ids=["identical", "nothing shared", "largest key alone", "largest key", "one URL"],
)
def test_extreme_crawls_are_counted_right(write_sets, sets):
    check(count_sets(write_sets(sets)), sets)


def test_many_distinct_histories_are_put_together(write_sets, monkeypatch):
    """Histories that come back in later ranges are added to those of earlier ones."""
    monkeypatch.setattr(set_file, "_KEYS_PER_RANGE", 100)
    sets = draw_sets(12, seed=5)
    table = count_sets(write_sets(sets))
    check(table, sets)
    assert table.histories.masks.size > 500


def test_the_table_carries_crawls_rule_and_checksums(write_sets):
    written = write_sets([{1, 2}, {2, 3}])
    table = count_sets(written)
    assert table.crawls == tuple(item.crawl for item in written)
    assert (table.key_rule, table.level, table.sample_rate) == ("raw/1", "url", 1.0)
    inputs = [(entry.name, entry.checksum) for entry in table.provenance.inputs]
    assert inputs == [(item.crawl.label, item.checksum) for item in written]


def test_no_sets_and_sets_of_two_rules_are_refused(write_sets):
    with pytest.raises(OverlapError, match="the store holds no crawls"):
        count_sets([])
    first, second = write_sets([{1}, {2}])
    with pytest.raises(OverlapError, match="their key rule is raw/1 and other/1"):
        count_sets([first, replace(second, key_rule="other/1")])
