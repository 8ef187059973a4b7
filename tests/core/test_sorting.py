"""Keys are sorted and each is kept once, and of each URL its first capture."""

import numpy as np
import pytest

from crawlgauge.core.batch import NO_TIME, ROW
from crawlgauge.core.sets import first_captures, sort_unique
from crawlgauge.core.texts import TextTable

SIZES = (0, 1, 2, 5, 100, 1_000, 5_000, 100_000, 1_000_000)
GREATEST = ((1 << 64) - 1, 1 << 58, 1_000, 2, 0)


@pytest.mark.parametrize("greatest", GREATEST)
@pytest.mark.parametrize("size", SIZES)
def test_each_key_is_kept_once_in_rising_order(size, greatest):
    rng = np.random.default_rng(size)
    keys = rng.integers(0, greatest, size, dtype=np.uint64, endpoint=True)
    parts = np.split(keys, np.sort(rng.integers(0, size, 3, endpoint=True)))
    assert np.array_equal(sort_unique(parts), np.unique(keys))
    assert np.array_equal(sort_unique([keys]), np.unique(keys))


def rank(row, hosts, types):
    """Order captures as people would: by time, status, media type, host; what is missing last."""
    return (
        row["time"] == NO_TIME,
        row["time"],
        row["status"],
        (row["mime"] < 0, types[row["mime"]] if row["mime"] >= 0 else b""),
        (row["host"] < 0, hosts[row["host"]] if row["host"] >= 0 else b""),
    )


@pytest.mark.parametrize(
    ("n_rows", "greatest"), [(0, 9), (1, 9), (500, 100), (3_000, (1 << 64) - 1), (3_000, 1 << 40)]
)
def test_of_several_captures_of_a_url_the_first_is_kept(n_rows, greatest):
    rng = np.random.default_rng(n_rows)
    hosts, types = TextTable(), TextTable()
    for number in rng.permutation(50):
        hosts.number(b"h%d.org" % number)
    for number in range(5):
        types.number(b"text/%d" % number)
    rows = np.zeros(n_rows, ROW)
    rows["key"] = rng.integers(0, greatest, n_rows, dtype=np.uint64)
    rows["time"] = rng.choice([NO_TIME, 5, 7, 9], n_rows)
    rows["status"] = rng.choice([200, 404, 32767], n_rows)
    rows["host"], rows["mime"] = rng.integers(-1, 50, n_rows), rng.integers(-1, 5, n_rows)
    names = hosts.texts(), types.texts()
    expected = {}
    for row in rows:
        before = expected.get(int(row["key"]))
        if before is None or rank(row, *names) < rank(before, *names):
            expected[int(row["key"])] = row
    found = first_captures(np.split(rows, sorted(rng.integers(0, n_rows + 1, 3))), hosts, types)
    assert found["key"].tolist() == sorted(expected)
    assert [rank(row, *names) for row in found] == [
        rank(expected[key], *names) for key in sorted(expected)
    ]


def test_a_row_whose_name_is_not_known_is_refused():
    rows = np.zeros(1, ROW)
    with pytest.raises(ValueError, match="name that is not known"):
        first_captures([rows], TextTable(), TextTable())
