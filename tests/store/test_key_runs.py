"""Runs of keys: the same sorted set however little memory there is, and whatever is sampled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crawlgauge as cg
from crawlgauge.keys import thresholds
from crawlgauge.keys.thresholds import WHOLE, Sampling, count_ranges, parse_sampling
from crawlgauge.store import key_runs
from crawlgauge.store.key_runs import KeyMemory, sort_unique
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


def gather(runs, bits=None):
    return np.concatenate(list(runs.ranges(runs.choose_range_bits() if bits is None else bits)))


@pytest.mark.parametrize("n_bytes", [AMPLE, 40_000, 800])
@pytest.mark.parametrize("run_keys", [1, 1000, 1 << 22])
def test_keys_are_sorted_and_unique_in_any_memory(tmp_path, spill, monkeypatch, n_bytes, run_keys):
    monkeypatch.setattr(key_runs, "_RUN_KEYS", run_keys)
    runs = KeyMemory(n_bytes, spill).open_runs(Sampling())
    batches = draw_batches(1)
    for batch in batches:
        runs.add(batch)
    expected = sorted({key for batch in batches for key in batch.tolist()})
    assert (tmp_path / SPILL_FOLDER).exists() == (n_bytes != AMPLE)
    for bits in (0, 1, 5):
        parts = list(runs.ranges(bits))
        assert len(parts) == 1 << bits
        assert np.concatenate(parts).tolist() == expected
        assert all(key >> (64 - bits) == k for k, part in enumerate(parts) for key in part.tolist())
    assert runs.n_held * 8 <= n_bytes / 2


def test_several_crawls_share_the_memory_and_the_largest_goes_to_the_disk(spill):
    memory = KeyMemory(16 * 1000, spill)
    small, large = memory.open_runs(Sampling()), memory.open_runs(Sampling())
    small.add(np.arange(100, dtype=np.uint64))
    for start in range(0, 5000, 500):
        large.add(np.arange(start, start + 500, dtype=np.uint64))
    assert small.n_held == 100
    assert large.n_held <= 900
    assert gather(small).tolist() == list(range(100))
    assert gather(large).tolist() == list(range(5000))


def test_how_keys_are_cut_depends_on_the_set_alone(spill, monkeypatch):
    monkeypatch.setattr(key_runs, "_RUN_KEYS", 700)
    rng = np.random.default_rng(3)
    keys = rng.integers(0, LARGEST, 3_000_000, dtype=np.uint64)
    once = KeyMemory(AMPLE, spill).open_runs(Sampling())
    once.add(keys.copy())
    monkeypatch.setattr(key_runs, "_RUN_KEYS", 1 << 20)
    twice = KeyMemory(1 << 25, spill).open_runs(Sampling())
    for _ in range(2):
        twice.add(rng.permutation(keys))
    assert twice.n_most > once.n_most
    assert once.choose_range_bits() == twice.choose_range_bits() == 2


@pytest.mark.parametrize("n_bytes", [AMPLE, 800])
def test_a_sample_is_what_lies_below_its_threshold(spill, n_bytes):
    batches = draw_batches(5)
    sampling = parse_sampling("1/8")
    runs = KeyMemory(n_bytes, spill).open_runs(sampling)
    for batch in batches:
        runs.add(batch)
    every = sorted({key for batch in batches for key in batch.tolist()})
    assert gather(runs).tolist() == [key for key in every if key < WHOLE // 8]
    assert runs.threshold == WHOLE // 8
    assert len(list(runs.ranges(4))) == count_ranges(4, WHOLE // 8) == 2


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
        assert gather(runs, 0).tolist() == every[:max_keys]
        expected = every[max_keys] if len(every) > max_keys else WHOLE
        assert runs.threshold == expected


def test_a_crawl_beyond_memory_is_the_same_crawl(tmp_path, monkeypatch):
    lists = [tmp_path / f"{number}.txt" for number in range(4)]
    for number, path in enumerate(lists):
        urls = (f"http://h{k % 97}.org/{k}\n" for k in range(number * 3000, number * 3000 + 5000))
        path.write_text("".join(urls))
    ample = cg.add_crawl(tmp_path / "ample", "2021-06", lists)
    monkeypatch.setattr(key_runs, "_SHARE_FOR_KEYS", 1e-7)
    spilled = []
    write_run = SpillFolder.write_run
    monkeypatch.setattr(
        SpillFolder, "write_run", lambda *words: spilled.append(1) or write_run(*words)
    )
    scarce = cg.add_crawl(tmp_path / "scarce", "2021-06", lists, memory="256M")
    assert spilled
    assert scarce.crawl_set.checksum == ample.crawl_set.checksum
    assert scarce.crawl_set.range_bits == ample.crawl_set.range_bits
    assert not (tmp_path / "scarce" / SPILL_FOLDER).exists()


def test_sorting_handles_the_extremes():
    keys = np.array([LARGEST, 0, 2**63, 0, LARGEST], dtype=np.uint64)
    assert sort_unique(keys).tolist() == [0, 2**63, LARGEST]
    assert sort_unique(np.empty(0, dtype=np.uint64)).size == 0


@pytest.mark.parametrize("n_bytes", [AMPLE, 800])
def test_keys_that_somebody_has_sorted_need_not_be_sorted_again(spill, monkeypatch, n_bytes):
    runs = KeyMemory(n_bytes, spill).open_runs(Sampling())
    batches = draw_batches(5)
    for batch in batches:
        runs.add(batch)
    expected = sort_unique(np.concatenate(batches))
    plain = gather(runs)
    monkeypatch.setattr(key_runs.KeyRuns, "_sort_pending", lambda _: None)
    runs.settle(expected, WHOLE)
    assert gather(runs).tolist() == plain.tolist() == expected.tolist()
    assert runs.n_most == expected.size


@pytest.mark.parametrize(("sample", "threshold"), [(None, WHOLE - 1), ("auto", WHOLE)])
def test_keys_of_a_part_do_not_stand_for_all(spill, monkeypatch, sample, threshold):
    monkeypatch.setattr(thresholds, "_AUTO_KEYS", 20)
    runs = KeyMemory(AMPLE, spill).open_runs(parse_sampling(sample))
    batches = draw_batches(6)
    for batch in batches:
        runs.add(batch)
    every = sort_unique(np.concatenate(batches))
    runs.settle(every[:10], threshold)
    assert gather(runs).tolist() == every[: 20 if sample else every.size].tolist()
