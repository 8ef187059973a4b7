"""What is written is read back: any table, in each format."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlgauge.crawl import Crawl
from crawlgauge.overlaps.csv_table import from_histories, read_sheet, to_csv
from crawlgauge.overlaps.files import from_parquet, read_overlaps, to_parquet, write_overlaps
from crawlgauge.overlaps.histories import Histories
from crawlgauge.overlaps.json_table import from_json, to_json
from crawlgauge.overlaps.table import LEVELS, MISSING, OverlapTable
from crawlgauge.provenance import Input, Provenance
from csv_tables import from_csv

LABELS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+=-]{0,8}", fullmatch=True)
TIMES = st.none() | st.datetimes(
    min_value=dt.datetime(1990, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    timezones=st.just(dt.UTC),
)
RATES = st.just(1.0) | st.floats(min_value=1e-6, max_value=1.0, exclude_min=True)
KEY_RULES = st.none() | st.from_regex(r"[a-z]{1,8}/[1-9]", fullmatch=True)
PROVENANCES = st.builds(
    Provenance,
    created=st.none() | st.just("2024-01-01T00:00:00Z"),
    settings=st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.text(max_size=5)),
    inputs=st.lists(
        st.builds(
            Input, name=st.text(), checksum=st.just("xxh3:0"), n_bytes=st.none() | st.just(7)
        ),
        max_size=2,
    ).map(tuple),
)


@st.composite
def crawl_series(draw, sizes):
    labels = draw(
        st.lists(LABELS, min_size=len(sizes), max_size=len(sizes), unique=True),
    )
    whole = [n if n_sampled is None else n + n_sampled for n, n_sampled in sizes]
    crawls = [
        Crawl(
            label=label,
            date=draw(st.dates()),
            n_urls=n_urls,
            n_sampled=n_sampled,
            first_capture=draw(TIMES),
            last_capture=draw(TIMES),
            damaged=draw(st.booleans()),
        )
        for label, n_urls, (_, n_sampled) in zip(labels, whole, sizes, strict=True)
    ]
    return tuple(sorted(crawls, key=lambda crawl: (crawl.date, crawl.label)))


@st.composite
def pair_tables(draw):
    counts = st.integers(1, 2**62)
    crawls = draw(
        crawl_series(draw(st.lists(st.tuples(counts, st.none() | counts), min_size=1, max_size=4)))
    )
    n = len(crawls)
    n_shared = np.diag(np.array([crawl.n_counted for crawl in crawls], dtype=np.int64))
    se_shared = np.full((n, n), np.nan) if draw(st.booleans()) else None
    for i in range(n):
        for j in range(i, n):
            if i < j:
                largest = min(crawls[i].n_counted, crawls[j].n_counted)
                n_shared[i, j] = n_shared[j, i] = draw(st.just(MISSING) | st.integers(0, largest))
            if se_shared is not None:
                se = draw(st.just(np.nan) | st.floats(0, 1e18))
                se_shared[i, j] = se_shared[j, i] = se
    return OverlapTable(
        crawls=crawls,
        n_shared=n_shared,
        se_shared=se_shared,
        level=draw(st.sampled_from(LEVELS)),
        key_rule=draw(KEY_RULES),
        sample_rate=draw(RATES),
        provenance=draw(PROVENANCES),
    )


@st.composite
def history_tables(draw):
    n = draw(st.integers(1, 64))
    every = 2**n - 1
    counts = draw(
        st.dictionaries(st.integers(1, every), st.integers(1, 10**12), min_size=0, max_size=6)
    )
    counts[every] = draw(st.integers(1, 10**12))
    rate = draw(RATES)
    masks = sorted(counts)
    histories = Histories(
        n_crawls=n,
        masks=np.array(masks, dtype=np.uint64),
        counts=np.array([counts[mask] for mask in masks], dtype=np.int64),
        sample_rate=rate,
    )
    n_shared = histories.count_pairs()
    crawls = tuple(
        Crawl(
            label=f"crawl-{k:02}",
            date=dt.date(2010, 1, 1) + dt.timedelta(days=30 * k),
            n_urls=int(size) if rate == 1 else int(size) + 5,
            n_sampled=None if rate == 1 else int(size),
            damaged=draw(st.booleans()),
        )
        for k, size in enumerate(np.diagonal(n_shared))
    )
    return OverlapTable(
        crawls=crawls,
        n_shared=n_shared,
        histories=histories,
        level=draw(st.sampled_from(LEVELS)),
        key_rule=draw(KEY_RULES),
        sample_rate=rate,
        provenance=draw(PROVENANCES),
    )


def assert_same(read, written):
    assert read.crawls == written.crawls
    assert (read.level, read.key_rule) == (written.level, written.key_rule)
    assert read.sample_rate == written.sample_rate
    assert read.provenance == written.provenance
    np.testing.assert_array_equal(read.n_shared, written.n_shared)
    assert (read.se_shared is None) == (written.se_shared is None)
    if written.se_shared is not None:
        np.testing.assert_array_equal(read.se_shared, written.se_shared)
    assert (read.histories is None) == (written.histories is None)
    if written.histories is not None:
        assert read.histories.sample_rate == written.histories.sample_rate
        np.testing.assert_array_equal(read.histories.masks, written.histories.masks)
        np.testing.assert_array_equal(read.histories.counts, written.histories.counts)


def without_times(table, **others):
    crawls = tuple(replace(crawl, first_capture=None, last_capture=None) for crawl in table.crawls)
    return replace(table, crawls=crawls, provenance=Provenance(), **others)


tables = settings(derandomize=True, deadline=None, max_examples=60)


@tables
@given(pair_tables() | history_tables())
def test_json_gives_back_everything(table):
    assert_same(from_json(to_json(table), name="t.json"), table)


@tables
@given(pair_tables() | history_tables())
def test_parquet_gives_back_everything(table):
    assert_same(from_parquet(to_parquet(table), name="t.parquet"), table)


@tables
@given(pair_tables() | history_tables())
def test_csv_gives_back_all_but_histories_times_and_provenance(table):
    assert_same(from_csv(to_csv(table), name="t.csv"), without_times(table, histories=None))


@tables
@given(history_tables())
def test_two_csv_files_give_back_histories_and_crawls(table):
    histories = [f"# level={table.level}", f"# sample_rate={table.sample_rate!r}", "history,count"]
    for captured, count in zip(
        table.histories.to_matrix(), table.histories.counts.tolist(), strict=True
    ):
        histories.append(f"{''.join(str(int(bit)) for bit in captured)},{count}")
    crawls = ["label,date,n_urls,damaged"]
    crawls += [f"{c.label},{c.date},{c.n_urls},{str(c.damaged).lower()}" for c in table.crawls]
    read = from_histories(
        read_sheet("\n".join(histories), "h.csv"), read_sheet("\n".join(crawls), "c.csv")
    )
    assert_same(read, without_times(table, key_rule=None))


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_file_with_its_own_provenance_keeps_it(tmp_path, suffix):
    table = from_csv(
        "a,date_a,n_a,b,date_b,n_b,n_shared\nx,2013-12,10,y,2014-06,10,5\n", name="t.csv"
    )
    written = replace(table, provenance=Provenance(crawlgauge="0.0.1", settings={"seed": 3}))
    write_overlaps(written, tmp_path / f"table{suffix}")
    assert_same(read_overlaps(tmp_path / f"table{suffix}"), written)
