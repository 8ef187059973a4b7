"""Spark counts the same overlaps and histories as one machine, however they are cut."""

import datetime as dt
import gzip
import json
from functools import partial

import numpy as np
import polars as pl
import pytest

import crawlgauge as cg
from crawlgauge.crawl import Crawl
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.overlaps import histories
from crawlgauge.overlaps.counting import count_sets
from crawlgauge.provenance import Provenance
from crawlgauge.spark import counting
from crawlgauge.store import ranges
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.key_set import write_keys


@pytest.fixture
def write_sets(tmp_path):
    """Write files of random sets that share many keys."""

    def write(n_sets, *, n_keys=3000, threshold=WHOLE, seed=1, share=0.3):
        chance = np.random.default_rng(seed)
        population = np.unique(chance.integers(0, threshold, n_keys, dtype=np.uint64))
        sets = []
        for number in range(n_sets):
            keys = population[chance.random(population.size) < share]
            folder = tmp_path / f"c{number:02}"
            folder.mkdir()
            description = CrawlSet(
                crawl=Crawl(label=f"c{number:02}", date=dt.date(2014, 1, 1), n_urls=1),
                level="url",
                key_rule="raw/1",
                threshold=threshold,
                n_captures=keys.size,
                rejected={},
                excluded={},
                damage=(),
                checksum="",
                provenance=Provenance(),
                folder=folder,
            )
            sets.append(write_keys(folder, [keys], description, n_most=keys.size))
        return sets

    return write


@pytest.fixture
def assert_same_counts(spark):
    def compare(sets, threshold=WHOLE):
        here = count_sets(sets, threshold=threshold)
        there = count_sets(
            sets, threshold=threshold, engine=partial(counting.count_with_spark, spark)
        )
        assert np.array_equal(here.n_shared, there.n_shared)
        assert (here.histories is None) == (there.histories is None)
        if here.histories is not None:
            for name in ("masks", "counts", "sample_rate"):
                assert np.array_equal(getattr(here.histories, name), getattr(there.histories, name))
        return there

    return compare


@pytest.fixture
def few_keys_per_range(monkeypatch):
    monkeypatch.setattr(ranges, "_KEYS_PER_RANGE", 1 << 9)


@pytest.mark.parametrize("n_sets", [1, 20, 70])
@pytest.mark.usefixtures("few_keys_per_range")
def test_any_number_of_sets_gives_the_same_counts(write_sets, assert_same_counts, n_sets):
    table = assert_same_counts(write_sets(n_sets))
    assert (table.histories is not None) == (n_sets <= 64)


@pytest.mark.parametrize("threshold", [1 << 58, WHOLE // 3])
def test_samples_give_the_same_counts(write_sets, assert_same_counts, threshold):
    sets = write_sets(4, threshold=threshold)
    assert_same_counts(sets, threshold)
    assert_same_counts(sets, threshold // 2)


@pytest.mark.parametrize(
    ("most", "threshold"), [(1 << 4, WHOLE), (1 << 7, WHOLE), (1 << 10, 3 << 57)]
)
@pytest.mark.usefixtures("few_keys_per_range")
def test_histories_that_are_too_many_end_at_the_same_key(
    write_sets, assert_same_counts, monkeypatch, most, threshold
):
    monkeypatch.setattr(histories, "MAX_HISTORIES", most)
    table = assert_same_counts(write_sets(20, threshold=threshold), threshold)
    assert table.histories.sample_rate < table.sample_rate
    assert table.histories.masks.size <= most


def test_a_set_that_executors_do_not_see_is_told(spark, write_sets):
    sets = write_sets(2)
    sets[1].path.unlink()
    with pytest.raises(cg.StoreError, match=r"c01/url-.* is not there on the executor .*share"):
        counting.count_with_spark(spark, sets, WHOLE)


def test_a_damaged_set_is_told_with_its_crawl(spark, write_sets):
    sets = write_sets(2)
    data = bytearray(sets[1].path.read_bytes())
    data[sets[1].stored.offset + 8] ^= 1
    sets[1].path.write_bytes(data)
    with pytest.raises(cg.StoreError, match="crawl 'c01' cannot be counted"):
        counting.count_with_spark(spark, sets, WHOLE)


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
                pl.DataFrame({"url": urls}).write_parquet(place)
            lines.append(f"{crawl.label},{crawl.date},{place}")
        lists[kind] = folder / f"{kind}.csv"
        lists[kind].write_text("\n".join(lines), encoding="utf-8")
    return lists


def _urls_of(path):
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
    kept = [
        {path.name: path.read_bytes() for path in (tmp_path / engine / "cache").glob("*.json")}
        for engine in ("local", "spark")
    ]
    assert kept[0].keys() == kept[1].keys() != set()
