"""Set files written from Python sets of keys, and the counts that Python's own sets give."""

import datetime as dt
from collections import Counter

import numpy as np
import pytest

from crawlgauge.crawl import Crawl
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.provenance import Provenance
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.set_file import choose_range_bits, split_keys, write_set

LARGEST = 2**64 - 1


@pytest.fixture
def write_set_file(tmp_path):
    """Write the file of one crawl from a Python set of keys and return its description."""

    def write(number, keys, threshold=WHOLE, sample=None):
        path = tmp_path / f"{number}-{threshold:x}-{hash(frozenset(keys)):x}.parquet"
        kept = np.array(sorted(key for key in keys if key < threshold), dtype=np.uint64)
        range_bits = choose_range_bits(kept.size, threshold)
        described = CrawlSet(
            crawl=Crawl(
                label=f"c{number:02}",
                date=dt.date(2014, 1, 1) + dt.timedelta(days=90 * number),
                n_urls=len(keys),
            ),
            level="url",
            key_rule="raw/1",
            threshold=threshold,
            n_captures=len(keys),
            rejected={},
            excluded={},
            damage=(),
            checksum="",
            range_bits=range_bits,
            provenance=Provenance(settings={"sample": sample}),
            path=path,
        )
        with path.open("wb") as file:
            return write_set(file, split_keys(kept, range_bits), described)

    return write


@pytest.fixture
def write_sets(write_set_file):
    """Write a set file for each Python set of keys."""

    def write(sets, threshold=WHOLE):
        return [write_set_file(number, keys, threshold) for number, keys in enumerate(sets)]

    return write


@pytest.fixture
def draw_sets():
    """Draw crawls of very different sizes that share some keys."""

    def draw(n_crawls, seed, n_pool=3000):
        rng = np.random.default_rng(seed)
        pool = rng.integers(0, LARGEST, n_pool, dtype=np.uint64, endpoint=True)
        sizes = rng.integers(1, n_pool // 2, n_crawls)
        sets = [set(rng.choice(pool, size=int(n)).tolist()) for n in sizes]
        for keys in sets[::2]:
            keys.add(LARGEST)
        return sets

    return draw


@pytest.fixture
def count_plainly():
    """Count pairs and histories of Python sets of keys, one key after the other."""

    def count(sets, threshold=WHOLE, history_end=None):
        kept = [{key for key in keys if key < threshold} for keys in sets]
        masks = Counter()
        for key in set().union(*kept):
            if history_end is None or key < history_end:
                masks[sum(1 << number for number, keys in enumerate(kept) if key in keys)] += 1
        return [[len(a & b) for b in kept] for a in kept], dict(masks)

    return count


@pytest.fixture
def check_table(count_plainly):
    """Hold an overlap table against what Python's own sets give."""

    def check(table, sets, threshold=WHOLE):
        rate = None if table.histories is None else table.histories.sample_rate
        history_end = None if rate is None else round(rate * WHOLE)
        n_shared, masks = count_plainly(sets, threshold, history_end)
        assert table.n_shared.tolist() == n_shared
        if len(sets) > 64:
            assert table.histories is None
            return
        found = zip(table.histories.masks.tolist(), table.histories.counts.tolist(), strict=True)
        assert dict(found) == masks

    return check
