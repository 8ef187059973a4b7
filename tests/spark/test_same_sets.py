"""Spark makes the same sets as one machine: keys, counts, inputs, attributes and messages."""

import gzip
import itertools
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crawlgauge as cg
from crawlgauge.core.captures import hash_texts
from crawlgauge.ingest import builder
from crawlgauge.keys import sampling
from crawlgauge.spark import adding


@pytest.fixture
def both(spark, tmp_path, assert_same):
    """Add the same inputs with each engine to a store of its own, and compare what comes of it."""

    def add(inputs, *, levels=("url",), label="2021-12", **options):
        local, remote = tmp_path / "local", tmp_path / "spark"
        here = cg.add_crawl(local, label, inputs, levels=",".join(levels), **options)
        there = cg.spark.add(
            spark, inputs, store=remote, label=label, levels=",".join(levels), **options
        )
        assert (here.outcome, here.examples) == (there.outcome, there.examples)
        assert there.crawl_set.provenance.settings["engine"] == "spark"
        assert_same(local, remote, label, levels)
        return there.crawl_set

    return add


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"identity": "given"},
        {"identity": "raw", "status": "any"},
        {"levels": ("url", "content")},
        {"sample": "0.3", "mime": "text/html", "date": "2021-07-01", "memory": "300M"},
    ],
    ids=str,
)
def test_several_files_give_the_same_set(both, write_cdxj, options):
    paths = [write_cdxj(f"{n}.cdxj{'.gz' * (n % 2)}", seed=n, n_lines=2000) for n in range(5)]
    assert both(paths, **options).n_captures > 0


def test_a_scope_counts_the_same(both, write_cdxj, tmp_path):
    scope = tmp_path / "scope.txt"
    scope.write_text("host1.example.org\nhost2.example.org\n", encoding="utf-8")
    assert both([write_cdxj("a.cdxj", seed=1)], scope=scope).excluded["out-of-scope"] > 0


def test_the_smallest_keys_are_the_same(both, write_cdxj, monkeypatch):
    monkeypatch.setattr(sampling, "_AUTO_KEYS", 500)
    paths = [write_cdxj(f"{n}.cdxj", seed=n, n_lines=1500) for n in range(4)]
    crawl = both(paths, sample="auto")
    assert crawl.crawl.n_sampled == 500


def test_text_cut_into_pieces_gives_the_same_lines_and_examples(both, write_urls, monkeypatch):
    monkeypatch.setattr(adding, "PIECE_BYTES", 3000)
    urls = [f"http://example.org/{'x' * (n % 40)}/{n}" for n in range(1000)]
    for place in (250, 600, 999):
        urls[place] = f"broken line {place}"
    path = write_urls("urls.txt", urls)
    assert both([path]).rejected == {"several-fields": 3}


def test_indexes_cut_into_pieces_give_the_same_set(both, write_cdxj, monkeypatch):
    monkeypatch.setattr(adding, "PIECE_BYTES", 20_000)
    assert both([write_cdxj("a.cdxj", seed=1, n_lines=1000)]).n_captures > 0


def test_lines_that_break_off_are_told_alike_in_pieces(both, write_cdxj, monkeypatch):
    monkeypatch.setattr(adding, "PIECE_BYTES", 20_000)
    path = write_cdxj("a.cdxj", seed=1, n_lines=1000)
    path.write_bytes(path.read_bytes()[:-30])
    (damage,) = both([path], on_damage="keep").damage
    assert damage.byte == path.stat().st_size


def test_pieces_are_read_by_what_the_file_begins_with(both, write_urls, monkeypatch):
    monkeypatch.setattr(adding, "PIECE_BYTES", 3000)
    urls = [f"http://example.org/{n}" for n in range(300)] + ["two words"] * 600
    assert both([write_urls("urls.txt", urls)]).rejected == {"several-fields": 600}


def test_attributes_are_the_same_where_not_all_are_kept(both, write_cdxj, monkeypatch):
    for module in (builder, adding):
        monkeypatch.setattr(module, "MAX_ATTRIBUTES", 50)
    both([write_cdxj(f"{n}.cdxj", seed=n) for n in range(3)])


def test_relative_names_mean_the_same(both, write_cdxj, monkeypatch):
    path = write_cdxj("a.cdxj", seed=1)
    monkeypatch.chdir(path.parent)
    assert both(["a.cdxj"]).provenance.inputs[0].name == "a.cdxj"


MILLISECONDS = pa.timestamp("ms")


def write_parquet(path, n_rows, *, seed=0, time=MILLISECONDS, url="url"):
    numbers = np.random.default_rng(seed).integers(0, n_rows, n_rows)
    table = pa.table(
        {
            url: [f"http://example.org/{n}" for n in numbers] + ["no url", None],
            "fetch_time": pa.array([1_600_000_000 + n for n in range(n_rows + 2)])
            .cast(pa.timestamp("s"))
            .cast(time),
            "fetch_status": pa.array([200, 404] * (n_rows // 2 + 1), pa.int16()),
            "content_mime_type": ["text/html", None] * (n_rows // 2 + 1),
            "ignored": list(range(n_rows + 2)),
        }
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=300)
    return path


@pytest.mark.parametrize(
    "time", [pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.timestamp("ns")]
)
def test_parquet_gives_the_same_set(spark, tmp_path, time):
    folder = tmp_path / "crawl=CC-MAIN-2023-40" / "subset=warc"
    for number in range(3):
        write_parquet(folder / f"{number}.parquet", 1000, seed=number, time=time)
    here = cg.add_crawl(tmp_path / "local", "x", tmp_path / "crawl=CC-MAIN-2023-40").crawl_set
    there = cg.spark.add(
        spark, tmp_path / "crawl=CC-MAIN-2023-40", store=tmp_path / "spark", label="x"
    ).crawl_set
    assert there.checksum == here.checksum
    assert there.rejected == here.rejected != {}
    assert (there.excluded, there.days, there.n_captures) == (
        here.excluded,
        here.days,
        here.n_captures,
    )
    assert there.provenance.inputs == here.provenance.inputs


def test_parquet_files_with_other_columns_stand_beside_each_other(spark, tmp_path):
    write_parquet(tmp_path / "in" / "a.parquet", 100, seed=1)
    write_parquet(tmp_path / "in" / "b.parquet", 100, seed=2, url="original")
    (tmp_path / "in" / "c.txt").write_text("http://example.org/c\n", encoding="utf-8")
    here = cg.add_crawl(tmp_path / "local", "2021-01-01", tmp_path / "in").crawl_set
    there = cg.spark.add(
        spark, tmp_path / "in", store=tmp_path / "spark", label="2021-01-01"
    ).crawl_set
    assert (there.checksum, there.n_captures) == (here.checksum, here.n_captures)


def test_a_table_gives_the_same_set_as_its_file(spark, tmp_path):
    path = write_parquet(tmp_path / "in" / "part=1" / "a.parquet", 500)
    write_parquet(tmp_path / "in" / "part=2" / "a.parquet", 500, seed=9)
    frame = spark.read.parquet(str(tmp_path / "in")).where("part = 1")
    here = cg.add_crawl(tmp_path / "local", "x", path).crawl_set
    there = cg.spark.add(spark, frame, store=tmp_path / "spark", label="x")
    assert there.crawl_set.checksum == here.checksum
    assert there.crawl_set.days == here.days
    again = cg.spark.add(spark, frame, store=tmp_path / "spark", label="x")
    assert again.outcome == "unchanged"
    with pytest.raises(cg.StoreError, match="made from other files"):
        cg.spark.add(spark, frame.limit(9), store=tmp_path / "spark", label="x")
    with pytest.raises(cg.StoreError, match="replace=True"):
        cg.spark.add(spark, frame, store=tmp_path / "spark", label="x", append=True)
    with pytest.raises(cg.SourceError, match="which column holds the URLs"):
        cg.spark.add(spark, frame.select("ignored"), store=tmp_path / "spark", label="y")


def test_further_files_are_appended_alike(spark, tmp_path, write_cdxj, assert_same):
    first, second = write_cdxj("a.cdxj", seed=1), write_cdxj("b.cdxj", seed=2)
    stores = tmp_path / "local", tmp_path / "spark"
    cg.add_crawl(stores[0], "x", first, levels="url,content")
    cg.add_crawl(stores[0], "x", second, append=True, levels="url,content")
    cg.spark.add(spark, first, store=stores[1], label="x", levels="url,content")
    there = cg.spark.add(
        spark, [first, second], store=stores[1], label="x", append=True, levels="url,content"
    )
    assert there.outcome == "appended"
    assert_same(*stores, "x", ("url", "content"))


def test_what_either_engine_added_the_other_knows(spark, tmp_path, write_cdxj):
    path, other = write_cdxj("a.cdxj", seed=1), write_cdxj("b.cdxj", seed=2)
    cg.spark.add(spark, path, store=tmp_path / "s", label="x")
    assert cg.add_crawl(tmp_path / "s", "x", path).outcome == "unchanged"
    assert cg.spark.add(spark, path, store=tmp_path / "s", label="x").outcome == "unchanged"
    with pytest.raises(cg.StoreError, match="--replace"):
        cg.spark.add(spark, other, store=tmp_path / "s", label="x")
    replaced = cg.spark.add(spark, other, store=tmp_path / "s", label="x", replace=True)
    assert replaced.outcome == "replaced"


@pytest.mark.parametrize("how", [{"period": "quarter"}, {"pattern": r"CRAWL-(\d{4}-\d\d)"}])
def test_a_collection_is_cut_into_the_same_crawls(spark, tmp_path, write_cdxj, assert_same, how):
    paths = [write_cdxj(f"{n}.cdxj", seed=n, year=2020 + n) for n in range(2)]
    paths[0].write_text(paths[0].read_text() + "no line\n", encoding="utf-8")
    here = cg.split_collection(tmp_path / "local", paths, **how)
    there = cg.spark.split(spark, paths, store=tmp_path / "spark", **how)
    assert (here.unassigned, here.examples) == (there.unassigned, there.examples)
    labels = [item.crawl_set.crawl.label for item in here.additions]
    assert labels == [item.crawl_set.crawl.label for item in there.additions]
    for label in labels:
        assert_same(tmp_path / "local", tmp_path / "spark", label)


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-200])
    return path


def test_damage_is_told_alike(spark, tmp_path, write_cdxj, both):
    paths = [write_cdxj("a.cdxj.gz", seed=1), cut_off(write_cdxj("b.cdxj.gz", seed=2))]
    messages = []
    for add in (
        lambda: cg.add_crawl(tmp_path / "local", "x", paths),
        lambda: cg.spark.add(spark, paths, store=tmp_path / "spark", label="x"),
    ):
        with pytest.raises(cg.DamagedInput) as error:
            add()
        messages.append((str(error.value), error.value.damage))
    assert messages[0] == messages[1]
    assert not (tmp_path / "spark").exists()
    assert len(both(paths, on_damage="keep").damage) == 1


def test_other_errors_are_told_alike(spark, tmp_path, write_urls):
    paths = [write_urls("a.txt", ["http://example.org/"])]
    empty = write_urls("b.txt", ["# nothing"])
    for inputs, options, kind in (
        (paths, {}, cg.CrawlError),
        ([empty], {"date": "2021-01-01"}, cg.SourceError),
        (paths, {"levels": "url,content", "date": "2021-01-01"}, cg.SourceError),
    ):
        messages = []
        for add in (
            lambda: cg.add_crawl(tmp_path / "local", "x", inputs, **options),  # noqa: B023
            lambda: cg.spark.add(spark, inputs, store=tmp_path / "s", label="x", **options),  # noqa: B023
        ):
            with pytest.raises(kind) as error:
                add()
            messages.append(str(error.value))
        assert messages[0] == messages[1]


def test_what_several_processes_cannot_read_is_refused(spark, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("-", tmp_path / "pipe"):
        with pytest.raises(cg.SourceError, match="save it to a file"):
            cg.spark.add(spark, name, store=tmp_path / "s", label="2021-12")


def test_files_without_captures_are_warned_of(spark, tmp_path, write_urls, caplog):
    paths = [write_urls("a.txt", ["http://example.org/"]), write_urls("b.txt", ["# nothing"])]
    cg.spark.add(spark, paths, store=tmp_path / "s", label="2021-12")
    assert f"{paths[1]} holds no captures" in caplog.text


def test_the_hash_is_that_of_spark(spark):
    texts = ["", "a", "org,example)/", "x" * 31, "y" * 32, "ünïcödé", "z" * 1000]
    frame = spark.createDataFrame([(text,) for text in texts], "u string")
    from pyspark.sql import functions as sf

    found = [row[0] % 2**64 for row in frame.select(sf.xxhash64("u")).collect()]
    assert found == hash_texts([text.encode() for text in texts]).tolist()


def test_one_host_with_nearly_all_urls_makes_no_task_larger(
    spark, tmp_path, monkeypatch, write_urls
):
    sizes = []

    class Recording(adding._Merged):
        def fill(self, builder, label):
            sizes.extend(row["n"] for row in self._sizes[label, "url"])
            super().fill(builder, label)

    monkeypatch.setattr(adding, "_Merged", Recording)
    urls = [f"http://{'large' if n % 20 else f's{n}'}.example.org/{n}" for n in range(20_000)]
    paths = [write_urls(f"{n}.txt", urls[n::5]) for n in range(5)]
    cg.spark.add(spark, paths, store=tmp_path / "s", label="2021-12")
    assert sum(sizes) == 20_000
    assert len(sizes) >= 4
    # Four standard deviations of what an even hash gives.
    share = 20_000 / len(sizes)
    assert max(sizes) < share + 4 * share**0.5


def test_a_list_of_crawls_is_added(spark, tmp_path, write_cdxj):
    rows = [f"{2018 + n},,{write_cdxj(f'{n}.cdxj.gz', seed=n)}\n" for n in range(2)]
    crawl_list = tmp_path / "crawls.csv"
    crawl_list.write_text("label,date,path\n" + "".join(rows), encoding="utf-8")
    told = itertools.count()
    cg.spark.add_list(spark, crawl_list, store=tmp_path / "s", on_added=lambda _: next(told))
    cg.add_crawls(tmp_path / "l", crawl_list)
    assert [item.checksum for item in cg.list_crawls(tmp_path / "s")] == [
        item.checksum for item in cg.list_crawls(tmp_path / "l")
    ]
    assert next(told) == 2


def test_gzip_members_are_read_alike(both, tmp_path):
    members = [gzip.compress(f"http://example.org/{n}\n".encode()) for n in range(50)]
    (tmp_path / "a.gz").write_bytes(b"".join(members))
    assert both([tmp_path / "a.gz"]).n_captures == 50
