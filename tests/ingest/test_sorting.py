"""Runs of keys: the same sorted set however little memory there is, and whatever is sampled."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crawlgauge as cg
from crawlgauge.errors import StoreError
from crawlgauge.ingest import sorting
from crawlgauge.ingest.sorting import MIN_MEMORY, KeyMemory, default_memory, parse_memory
from crawlgauge.keys.sampling import WHOLE, Sampling, parse_sampling
from crawlgauge.store.spilling import SPILL_FOLDER, SpillFolder

LARGEST = 2**64 - 1
AMPLE = 1 << 30


@pytest.fixture
def spill(tmp_path):
    with SpillFolder(tmp_path) as folder:
        yield folder


def draw_batches(seed, n_batches=40, size=300):
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, LARGEST, n_batches * size // 3, dtype=np.uint64, endpoint=True)
    extremes = np.array([0, LARGEST], dtype=np.uint64)
    return [*(rng.choice(pool, size) for _ in range(n_batches)), extremes]


def gather(runs):
    return [key for part in runs.ranges() for key in part.tolist()]


@pytest.mark.parametrize("n_bytes", [AMPLE, 40_000, 800])
@pytest.mark.parametrize("sizes", [(1, 1 << 20), (1000, 100), (1 << 22, 1 << 20)])
def test_keys_are_sorted_and_unique_in_any_memory(tmp_path, spill, monkeypatch, n_bytes, sizes):
    monkeypatch.setattr(sorting, "_RUN_KEYS", sizes[0])
    monkeypatch.setattr(sorting, "_RANGE_KEYS", sizes[1])
    runs = KeyMemory(n_bytes, spill).open_runs(Sampling())
    batches = draw_batches(1)
    for batch in batches:
        runs.add(batch)
    expected = sorted({key for batch in batches for key in batch.tolist()})
    assert (tmp_path / SPILL_FOLDER).exists() == (n_bytes != AMPLE)
    assert gather(runs) == expected
    assert gather(runs) == expected, "asking twice changes nothing"
    assert runs.n_most >= len(expected)
    assert runs.n_held * 8 <= n_bytes / 2
    assert 0 not in [path.stat().st_size for path in tmp_path.rglob("run-*")]


def test_several_crawls_share_the_memory_and_the_largest_goes_to_the_disk(spill):
    memory = KeyMemory(16 * 1000, spill)
    small, large = memory.open_runs(Sampling()), memory.open_runs(Sampling())
    small.add(np.arange(100, dtype=np.uint64))
    for start in range(0, 5000, 500):
        large.add(np.arange(start, start + 500, dtype=np.uint64))
    assert small.n_held == 100
    assert large.n_held <= 900
    assert gather(small) == list(range(100))
    assert gather(large) == list(range(5000))


@pytest.mark.parametrize("n_bytes", [AMPLE, 800])
def test_a_sample_is_what_lies_below_its_threshold(spill, n_bytes):
    batches = draw_batches(5)
    runs = KeyMemory(n_bytes, spill).open_runs(parse_sampling("1/8"))
    for batch in batches:
        runs.add(batch)
    every = sorted({key for batch in batches for key in batch.tolist()})
    assert gather(runs) == [key for key in every if key < WHOLE // 8]
    assert runs.threshold == WHOLE // 8


@given(
    st.lists(st.lists(st.integers(0, LARGEST) | st.integers(0, 30), max_size=30), max_size=12),
    st.integers(1, 40),
    st.sampled_from([AMPLE, 160]),
)
def test_auto_keeps_the_smallest_keys_and_nothing_that_it_may_have_missed(
    tmp_path_factory, batches, max_keys, n_bytes
):
    with SpillFolder(tmp_path_factory.mktemp("store")) as spill:
        runs = KeyMemory(n_bytes, spill).open_runs(Sampling(max_keys=max_keys))
        for batch in batches:
            runs.add(np.array(batch, dtype=np.uint64))
        every = sorted({key for batch in batches for key in batch})
        assert gather(runs) == every[:max_keys]
        assert runs.threshold == (every[max_keys] if len(every) > max_keys else WHOLE)


@pytest.fixture
def lists(tmp_path):
    paths = [tmp_path / f"{number}.txt" for number in range(120)]
    for number, path in enumerate(paths):
        urls = (f"http://h{k % 97}.org/{k}\n" for k in range(number * 30, number * 30 + 50))
        path.write_text("".join(urls))
    return paths


ADD_IN_LITTLE_MEMORY = """
import sys
import crawlgauge as cg
from crawlgauge.ingest import sorting
sorting._SHARE_FOR_KEYS = 1e-6  # some 30 keys: each file is spilled
write_run, n_runs = sorting.SpillFolder.write_run, []
sorting.SpillFolder.write_run = lambda *words: n_runs.append(1) or write_run(*words)
for files in (sys.argv[2:60], sys.argv[60:]):
    cg.add_crawl(sys.argv[1], "2021-06", files, append=True, memory="256M")
print(len(n_runs), cg.list_crawls(sys.argv[1])[0].checksum, cg.count_overlaps(sys.argv[1]).n_crawls)
"""


def test_a_crawl_beyond_memory_is_the_same_crawl_and_few_files_are_open(
    store, lists, environment, see_whole, tmp_path
):
    """Also where files are appended, and there are more runs than files that may be open."""
    ample = cg.add_crawl(tmp_path / "ample", "2021-06", lists).crawl_set
    done = subprocess.run(
        [sys.executable, "-c", ADD_IN_LITTLE_MEMORY, store, *lists],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)),
    )
    assert done.returncode == 0, done.stderr
    n_runs, checksum, n_crawls = done.stdout.split()
    assert int(n_runs) > 100
    assert (checksum, n_crawls) == (ample.checksum, "1")
    for path in (store / "cache").iterdir():
        path.unlink()
    (store / "cache").rmdir()
    see_whole(store, ["2021-06"])


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("2G", 2 << 30), ("1.5 GiB", 3 << 29), ("512m", 512 << 20), ("536870912", 512 << 20)],
)
def test_amounts_of_memory_are_read_as_written(text, n_bytes):
    assert parse_memory(text) == n_bytes


@pytest.mark.parametrize("text", ["", "much", "-2G", "2 apples", "1e9", "G", "100M"])
def test_what_is_no_amount_of_memory_or_too_little_is_refused(text):
    with pytest.raises(StoreError, match=r"no amount of memory|at least 256M"):
        parse_memory(text)


def test_the_default_is_a_quarter_of_the_machine_or_of_its_container(tmp_path, monkeypatch):
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    monkeypatch.setattr(sorting, "_CONTAINER_LIMIT", tmp_path / "memory.max")
    assert default_memory() == max(MIN_MEMORY, total // 4)
    (tmp_path / "memory.max").write_text("max\n")
    assert default_memory() == max(MIN_MEMORY, total // 4)
    (tmp_path / "memory.max").write_text(f"{2 << 30}\n")
    assert default_memory() == min(total, 2 << 30) // 4
