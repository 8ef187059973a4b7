"""The builder gathers batches into sorted, unique keys and counts what was left out."""

import numpy as np
import pyarrow as pa
import pytest
import xxhash

from crawlgauge.keys.rules import RAW
from crawlgauge.sources.captures import Captures, Rejection
from crawlgauge.store import building
from crawlgauge.store.building import SetBuilder, sort_unique


@pytest.mark.parametrize("max_pending", [1, 50, 1 << 24])
def test_keys_are_sorted_and_unique_however_often_they_are_put_together(monkeypatch, max_pending):
    monkeypatch.setattr(building, "_MAX_PENDING_KEYS", max_pending)
    rng = np.random.default_rng(1)
    builder = SetBuilder(RAW)
    urls = set()
    for _ in range(40):
        batch = [b"http://a.org/%d" % number for number in rng.integers(0, 500, 30)]
        urls.update(batch)
        builder.add(Captures(url=pa.array(batch)))
    expected = sorted(xxhash.xxh64_intdigest(url, seed=42) for url in urls)
    assert builder.keys().tolist() == expected
    assert builder.n_captures == 40 * 30
    assert builder.keys().tolist() == expected, "asking twice changes nothing"


def test_what_was_left_out_is_counted_and_the_first_examples_are_kept():
    builder = SetBuilder(RAW)
    for line in range(1, 9):
        example = Rejection(file="f", line=line, offset=0, reason="no-host", text="x")
        builder.add(
            Captures(
                url=pa.array([], pa.binary()),
                rejected={"no-host": 1},
                excluded={"other-scheme": 2},
                examples=(example, example),
            )
        )
    assert builder.rejected == {"no-host": 8}
    assert builder.excluded == {"other-scheme": 16}
    assert [example.line for example in builder.examples] == [1, 1, 2, 2, 3]
    assert builder.keys().size == builder.n_captures == 0


def test_sorting_handles_the_extremes():
    keys = np.array([2**64 - 1, 0, 2**63, 0, 2**64 - 1], dtype=np.uint64)
    assert sort_unique(keys).tolist() == [0, 2**63, 2**64 - 1]
    assert sort_unique(np.empty(0, dtype=np.uint64)).size == 0
