"""Spark counts the same overlaps and histories as one machine, however they are cut."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crawlgauge as cg
from crawlgauge.crawl import Crawl
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.overlaps import history_tally, range_keys
from crawlgauge.overlaps.hash_pass import run_pass
from crawlgauge.provenance import Provenance
from crawlgauge.spark import counting
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.set_file import split_keys, write_set


@pytest.fixture
def write_sets(tmp_path):
    """Write files of random sets that share many keys, cut into ranges of their own."""

    def write(n_sets, *, n_keys=3000, threshold=WHOLE, seed=1, share=0.3):
        chance = np.random.default_rng(seed)
        population = np.unique(chance.integers(0, threshold, n_keys, dtype=np.uint64))
        sets = []
        for number in range(n_sets):
            keys = population[chance.random(population.size) < share]
            path = tmp_path / f"{seed}-{number}.parquet"
            description = CrawlSet(
                crawl=Crawl(label=f"c{number}", date=dt.date(2014, 1, 1), n_urls=1),
                level="url",
                key_rule="raw/1",
                threshold=threshold,
                n_captures=keys.size,
                rejected={},
                excluded={},
                damage=(),
                checksum="",
                range_bits=number % 5,
                provenance=Provenance(),
                path=path,
            )
            # The parts beyond the threshold have no place in the file.
            n_parts = ((threshold - 1) >> (64 - description.range_bits)) + 1
            parts = split_keys(keys, description.range_bits)[:n_parts]
            with path.open("wb") as file:
                sets.append(write_set(file, parts, description))
        return sets

    return write


@pytest.fixture
def assert_same_counts(spark):
    def compare(sets, n_new=None, threshold=WHOLE, history_end=None):
        n_new = len(sets) if n_new is None else n_new
        end = threshold if history_end is None else history_end
        here = run_pass(sets, n_new, threshold, history_end=end)
        there = counting.SparkPass(spark)(sets, n_new, threshold, history_end=end)
        assert here.history_end == there.history_end
        for name in ("n_shared", "masks", "counts"):
            assert np.array_equal(getattr(here, name), getattr(there, name))
        return there

    return compare


@pytest.fixture
def few_keys_per_range(monkeypatch):
    monkeypatch.setattr(range_keys, "_KEYS_PER_RANGE", 1 << 9)


@pytest.mark.parametrize(("n_sets", "n_new"), [(1, 1), (20, 20), (7, 2), (70, 70)])
@pytest.mark.usefixtures("few_keys_per_range")
def test_any_number_of_sets_gives_the_same_counts(write_sets, assert_same_counts, n_sets, n_new):
    counted = assert_same_counts(write_sets(n_sets), n_new)
    assert counted.history_end == (WHOLE if n_sets <= 64 else 0)


@pytest.mark.parametrize("threshold", [1 << 58, WHOLE // 3])
@pytest.mark.usefixtures("few_keys_per_range")
def test_samples_give_the_same_counts(write_sets, assert_same_counts, threshold):
    sets = write_sets(4, threshold=threshold)
    assert_same_counts(sets, threshold=threshold)
    assert_same_counts(sets, threshold=threshold // 2)


@pytest.mark.parametrize(
    ("most", "threshold"), [(1 << 4, WHOLE), (1 << 7, WHOLE), (1 << 10, 3 << 57)]
)
@pytest.mark.usefixtures("few_keys_per_range")
def test_histories_that_are_too_many_end_at_the_same_key(
    write_sets, assert_same_counts, monkeypatch, most, threshold
):
    monkeypatch.setattr(history_tally, "MAX_HISTORIES", most)
    monkeypatch.setattr(counting, "MAX_HISTORIES", most)
    counted = assert_same_counts(write_sets(20, threshold=threshold), threshold=threshold)
    assert counted.history_end < threshold
    assert counted.masks.size <= most


@pytest.mark.usefixtures("few_keys_per_range")
def test_histories_can_be_asked_for_up_to_a_key(write_sets, assert_same_counts):
    assert assert_same_counts(write_sets(6), history_end=1 << 62).history_end == 1 << 62


def test_a_set_that_executors_do_not_see_is_told(spark, write_sets):
    sets = write_sets(2)
    sets[1].path.unlink()
    with pytest.raises(cg.StoreError, match=r"1-1\.parquet is not there on the executor .*share"):
        counting.SparkPass(spark)(sets, 2, WHOLE, history_end=WHOLE)


def test_a_damaged_set_is_told_with_its_crawl(spark, write_sets):
    sets = write_sets(2)
    data = bytearray(sets[1].path.read_bytes())
    data[200] ^= 1
    sets[1].path.write_bytes(data)
    with pytest.raises(cg.StoreError, match="crawl 'c1' cannot be counted"):
        counting.SparkPass(spark)(sets, 2, WHOLE, history_end=WHOLE)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Write an archive of 15 crawls as CDXJ and as Parquet, with a list of each."""
    folder = tmp_path_factory.mktemp("archive")
    simulated = cg.simulate_urn(n_crawls=15, population=4000, seed=3)
    paths = cg.write_simulation(simulated, folder / "cdxj", "cdxj")
    lists = {}
    for kind in ("cdxj", "parquet"):
        lines = ["label,date,path"]
        for crawl, path in zip(simulated.crawls, sorted(paths), strict=True):
            place = path
            if kind == "parquet":
                store = folder / "urls"
                urls = _urls_of(path)
                store.mkdir(exist_ok=True)
                place = store / f"{crawl.label}.parquet"
                pq.write_table(pa.table({"url": urls}), place)
            lines.append(f"{crawl.label},{crawl.date},{place}")
        lists[kind] = folder / f"{kind}.csv"
        lists[kind].write_text("\n".join(lines), encoding="utf-8")
    return lists


def _urls_of(path):
    import gzip
    import json

    data = path.read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    lines = text.decode().splitlines()
    return [json.loads(line.split(" ", 2)[2])["url"] for line in lines if not line.startswith("!")]


@pytest.mark.parametrize("kind", ["cdxj", "parquet"])
def test_tables_of_15_crawls_are_the_same_byte_for_byte(spark, archive, tmp_path, kind):
    cg.add_crawls(tmp_path / "local", archive[kind])
    cg.spark.add_list(spark, archive[kind], store=tmp_path / "spark")
    assert [(item.checksum, item.crawl) for item in cg.list_crawls(tmp_path / "local")] == [
        (item.checksum, item.crawl) for item in cg.list_crawls(tmp_path / "spark")
    ]
    for sample in (None, "1/4"):
        cg.write_overlaps(cg.count_overlaps(tmp_path / "local", sample=sample), tmp_path / "l.csv")
        table = cg.spark.overlaps(spark, tmp_path / "spark", sample=sample)
        cg.write_overlaps(table, tmp_path / "s.csv")
        assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "s.csv").read_bytes()
    # What was counted is kept, and is what the other engine would have counted.
    cached = [
        sorted(path.name for path in (tmp_path / engine / "cache").iterdir())
        for engine in ("local", "spark")
    ]
    assert cached[0] == cached[1] != []
