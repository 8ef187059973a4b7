"""Sets written from Python sets of keys, and the counts that Python's own sets give."""

import datetime as dt
from collections import Counter

import numpy as np
import pytest

from crawlgauge.core.batch import NO_STATUS, NO_TIME
from crawlgauge.crawl import Crawl
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.provenance import Provenance
from crawlgauge.store import ranges
from crawlgauge.store.attributes import Attributes
from crawlgauge.store.catalogue import create_store, open_store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.crawl_writer import UnwrittenSet
from crawlgauge.store.key_set import write_keys

LARGEST = 2**64 - 1


def describe(number, n_keys, threshold, sample, folder):
    date = dt.date(2014, 1, 1) + dt.timedelta(days=90 * number)
    return CrawlSet(
        crawl=Crawl(label=f"c{number:02}", date=date, n_urls=n_keys),
        level="url",
        key_rule="raw/1",
        threshold=threshold,
        n_captures=n_keys,
        rejected={},
        excluded={},
        damage=(),
        checksum="",
        provenance=Provenance(settings={"sample": sample}),
        folder=folder,
    )


def below(keys, threshold):
    return np.array(sorted(key for key in keys if key < threshold), dtype=np.uint64)


@pytest.fixture
def write_set_file(tmp_path):
    """Write the file of one crawl from a Python set of keys and return its description."""

    def write(number, keys, threshold=WHOLE, sample=None):
        folder = tmp_path / f"{number}-{threshold:x}-{hash(frozenset(keys)):x}"
        folder.mkdir(exist_ok=True)
        kept = below(keys, threshold)
        about = describe(number, len(keys), threshold, sample, folder)
        return write_keys(folder, [kept], about, n_most=kept.size)

    return write


@pytest.fixture
def write_sets(write_set_file):
    """Write a set for each Python set of keys."""

    def write(sets, threshold=WHOLE):
        return [write_set_file(number, keys, threshold) for number, keys in enumerate(sets)]

    return write


@pytest.fixture
def store(tmp_path):
    """Make an empty store."""
    create_store(tmp_path / "store", "raw/1")
    return open_store(tmp_path / "store")


@pytest.fixture
def make_attributes():
    """Make attributes of a mapping from keys to host, media type and status."""

    def make(captured, threshold=WHOLE):
        keys = sorted(key for key in captured if key < threshold)
        hosts, mimes = ([captured[key][k] for key in keys] for k in (0, 1))
        host_list, mime_list = (sorted({t for t in texts if t}) for texts in (hosts, mimes))
        return Attributes(
            keys=np.array(keys, dtype=np.uint64),
            times=np.full(len(keys), NO_TIME, dtype=np.int64),
            statuses=np.array([captured[key][2] or NO_STATUS for key in keys], dtype=np.int16),
            host_codes=np.array([host_list.index(t) if t else -1 for t in hosts], dtype=np.int32),
            mime_codes=np.array([mime_list.index(t) if t else -1 for t in mimes], dtype=np.int32),
            hosts=tuple(host_list),
            mimes=tuple(mime_list),
            threshold=threshold,
        )

    return make


@pytest.fixture
def add_crawl(store, make_attributes):
    """Put a crawl into the store, in the place of what was there: keys with host, type, status."""

    def add(number, captured, *, threshold=WHOLE, kept_below=WHOLE, sample=None):
        folder = store.folder(f"c{number:02}")
        about = describe(number, len(captured), threshold, sample, folder)
        keys = below(captured, threshold)
        with store.writing(about.crawl.label) as writer:
            unwritten = UnwrittenSet(description=about, ranges=[keys], n_most=keys.size)
            attributes = make_attributes(captured, min(threshold, kept_below))
            writer.publish([unwritten], attributes)

    return add


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


@pytest.fixture
def read(monkeypatch):
    """List the labels of the sets that are read, pass after pass."""
    seen = []

    class Readers(ranges.SetReaders):
        def __init__(self, sets):
            seen.append([item.crawl.label for item in sets])
            super().__init__(sets)

    monkeypatch.setattr(ranges, "SetReaders", Readers)
    return seen
