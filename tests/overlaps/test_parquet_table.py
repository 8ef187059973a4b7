import datetime as dt
import io
import json
import math
from contextlib import suppress

import numpy as np
import polars as pl
import pytest

from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.files import from_parquet, to_parquet
from crawlgauge.overlaps.table import MISSING
from csv_tables import from_csv

OTHERS = {
    "a": ["x", "x"],
    "date_a": [dt.date(2013, 12, 15)] * 2,
    "n_a": [100, 100],
    "b": ["y", "z"],
    "date_b": [dt.date(2014, 6, 15), dt.date(2014, 12, 15)],
    "n_b": [80, 90],
    "n_shared": [40, None],
}


def file_of(columns, metadata=None):
    sink = io.BytesIO()
    pl.DataFrame(columns, strict=False).write_parquet(sink, metadata=metadata)
    return sink.getvalue()


def metadata_of(table):
    found = pl.read_parquet_metadata(io.BytesIO(to_parquet(table)))
    return {"crawlgauge": found["crawlgauge"]}


def error_of(data):
    with pytest.raises(OverlapError) as caught:
        from_parquet(data, name="t.parquet")
    return str(caught.value)


@pytest.fixture
def table():
    return from_csv(
        "a,date_a,n_a,b,date_b,n_b,n_shared,se_shared\n"
        "x,2013-12-15,100,y,2014-06-15,80,40,1.5\n"
        "z,2014-12-15,5,z,2014-12-15,5,5,\n",
        name="t.csv",
    )


def test_columns_are_typed_and_hold_the_similarities(table):
    found = pl.read_parquet(io.BytesIO(to_parquet(table)))
    types = {"date_a": pl.Date, "n_shared": pl.Int64, "se_shared": pl.Float64}
    assert types.items() <= dict(found.schema).items()
    first = found.row(0, named=True)
    assert first == {
        "a": "x",
        "date_a": dt.date(2013, 12, 15),
        "n_a": 100,
        "b": "y",
        "date_b": dt.date(2014, 6, 15),
        "n_b": 80,
        "n_shared": 40,
        "se_shared": 1.5,
        "containment_a_in_b": 0.4,
        "containment_b_in_a": 0.5,
        "jaccard": 40 / 140,
        "dice": 80 / 180,
    }


def test_the_metadata_is_the_json_document_without_the_matrix(table):
    document = json.loads(metadata_of(table)["crawlgauge"])
    assert document["schema"] == "crawlgauge.overlaps/1"
    assert [crawl["label"] for crawl in document["crawls"]] == ["x", "y", "z"]
    assert "n_shared" not in document


def test_a_file_made_by_others_is_read():
    table = from_parquet(file_of({**OTHERS, "remark": [[1], [2]]}), name="t.parquet")
    assert table.n_shared.tolist() == [
        [100, 40, MISSING],
        [40, 80, MISSING],
        [MISSING, MISSING, 90],
    ]
    assert table.se_shared is None


def test_other_types_of_dates_and_counts_are_read():
    columns = {
        **OTHERS,
        "date_a": [dt.datetime(2013, 12, 15)] * 2,  # noqa: DTZ001 - as others write it
        "date_b": pl.Series(["2014-06", "2014-12"], dtype=pl.Categorical),
        "n_b": [80.0, 90.0],
        "n_shared": [40.0, math.nan],
    }
    table = from_parquet(file_of(columns), name="t.parquet")
    assert [crawl.date.month for crawl in table.crawls] == [12, 6, 12]
    assert table.n_shared[0].tolist() == [100, 40, MISSING]


def test_rows_taken_out_are_missing_pairs(table):
    found = pl.read_parquet(io.BytesIO(to_parquet(table)))
    read = from_parquet(file_of(found[1:], metadata_of(table)), name="t.parquet")
    assert read.crawls == table.crawls
    assert read.n_shared[0, 1] == MISSING


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_a": [100, -1]}, "t.parquet, row 2, column n_a: -1 is negative"),
        ({"n_a": [100, 101]}, "t.parquet, row 2, column n_a: crawl 'x' has n_urls 101 here"),
        ({"n_a": ["100", "many"]}, "t.parquet, row 2, column n_a: 'many' is no whole number"),
        ({"date_b": ["2014-06", None]}, "t.parquet, row 2, column date_b: '' is not a date"),
        ({"b": ["y", "y"]}, "t.parquet, row 2, column date_b: "),
        ({"n_shared": [81, 1]}, "t.parquet, row 1, column n_shared: "),
    ],
)
def test_a_bad_cell_is_named_by_file_row_and_column(changes, words):
    assert words in error_of(file_of({**OTHERS, **changes}))


def test_missing_columns_are_listed_with_those_that_are_there():
    assert "missing column n_b; " in error_of(
        file_of({name: values for name, values in OTHERS.items() if name != "n_b"})
    )
    assert "there are key" in error_of(file_of({"key": [1]}))


def test_a_column_given_twice_is_refused():
    pa, pq = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    names = [*OTHERS, "a"]
    columns = pa.Table.from_arrays([pa.array(OTHERS[name]) for name in names], names=names)
    sink = io.BytesIO()
    pq.write_table(columns, sink)
    assert "cannot be read as Parquet: column with name 'a'" in error_of(sink.getvalue())


def test_a_file_that_promises_more_rows_than_any_table_has_is_refused(monkeypatch):
    monkeypatch.setattr("crawlgauge.overlaps.files._MAX_ROWS", 1)
    assert "t.parquet has 2 rows; no table of overlaps has so many" in error_of(file_of(OTHERS))


@pytest.mark.parametrize("length", [4, 50, -20])
def test_a_file_cut_off_is_refused(table, length):
    message = error_of(to_parquet(table)[:length])
    assert message.startswith("t.parquet cannot be read as Parquet")


def test_text_that_is_no_utf8_is_refused():
    pa, pq = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    buffers = pa.array([b"x", b"\xff"], pa.binary()).buffers()
    labels = pa.StringArray.from_buffers(2, buffers[1], buffers[2])
    sink = io.BytesIO()
    pq.write_table(pa.table({**OTHERS, "a": labels}), sink)
    assert "cannot be read as Parquet" in error_of(sink.getvalue())


@pytest.mark.parametrize("seed", range(200))
def test_a_flipped_byte_is_read_or_refused_and_nothing_else(table, seed):
    content = bytearray(to_parquet(table))
    rng = np.random.default_rng(seed)
    content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    with suppress(OverlapError):
        from_parquet(bytes(content), name="t.parquet")


def test_rows_that_contradict_the_metadata_are_refused(table):
    metadata = metadata_of(table)
    resized = file_of({**OTHERS, "n_b": [81, 90]}, metadata)
    assert "crawl 'y' has n_urls 81 here, but 80 in the file's metadata" in error_of(resized)
    renamed = file_of({**OTHERS, "b": ["y", "other"]}, metadata)
    assert "a crawl stands in the rows, not in the metadata" in error_of(renamed)
    newer = {"crawlgauge": metadata["crawlgauge"].replace("overlaps/1", "overlaps/2")}
    assert "t.parquet, metadata crawlgauge, at $.schema" in error_of(file_of(OTHERS, newer))
