import datetime as dt
import io
import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawlgauge.errors import OverlapError
from crawlgauge.overlaps.csv_table import from_csv
from crawlgauge.overlaps.parquet_table import from_parquet, to_parquet_bytes, write_parquet
from crawlgauge.overlaps.table import MISSING

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
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), sink)
    return sink.getvalue()


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
    arrow = pq.read_table(io.BytesIO(to_parquet_bytes(table)))
    assert arrow.schema.field("date_a").type == pa.date32()
    assert arrow.schema.field("n_shared").type == pa.int64()
    assert arrow.schema.field("se_shared").type == pa.float64()
    first = arrow.to_pylist()[0]
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
    metadata = pq.read_schema(io.BytesIO(to_parquet_bytes(table))).metadata
    document = json.loads(metadata[b"crawlgauge"])
    assert document["schema"] == "crawlgauge.overlaps/1"
    assert [crawl["label"] for crawl in document["crawls"]] == ["x", "y", "z"]
    assert "n_shared" not in document


def test_a_file_is_read_by_its_path(table, tmp_path):
    write_parquet(table, tmp_path / "t.parquet")
    read = from_parquet(tmp_path / "t.parquet", name="t.parquet")
    assert read.n_shared.tolist() == table.n_shared.tolist()


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
        "date_a": pa.array([dt.datetime(2013, 12, 15)] * 2, pa.timestamp("us")),  # noqa: DTZ001
        "date_b": pa.array(["2014-06", "2014-12"]).dictionary_encode(),
        "n_b": pa.array([80.0, 90.0]),
        "n_shared": pa.array([40.0, math.nan]),
    }
    table = from_parquet(file_of(columns), name="t.parquet")
    assert [crawl.date.month for crawl in table.crawls] == [12, 6, 12]
    assert table.n_shared[0].tolist() == [100, 40, MISSING]


def test_rows_taken_out_are_missing_pairs(table):
    arrow = pq.read_table(io.BytesIO(to_parquet_bytes(table)))
    sink = io.BytesIO()
    pq.write_table(arrow.slice(1), sink)
    read = from_parquet(sink.getvalue(), name="t.parquet")
    assert read.crawls == table.crawls
    assert read.n_shared[0, 1] == MISSING


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_a": [100, -1]}, "t.parquet, row 2, column n_a: -1 is negative"),
        ({"n_a": [100, 101]}, "t.parquet, row 2, column n_a: crawl 'x' has n_urls 101 here"),
        ({"n_a": ["100", "many"]}, "t.parquet, row 2, column n_a: 'many' is no whole number"),
        ({"date_b": ["2014-06", None]}, "t.parquet, row 2, column date_b: '' is no date"),
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
    names = [*OTHERS, "a"]
    columns = pa.Table.from_arrays([pa.array(OTHERS[name]) for name in names], names=names)
    sink = io.BytesIO()
    pq.write_table(columns, sink)
    assert "two columns are named a" in error_of(sink.getvalue())


@pytest.mark.parametrize("length", [4, 50, -20])
def test_a_file_cut_off_is_refused(table, length):
    message = error_of(to_parquet_bytes(table)[:length])
    assert message.startswith("t.parquet cannot be read as Parquet")


def test_text_that_is_no_utf8_is_refused():
    buffers = pa.array([b"x", b"\xff"], pa.binary()).buffers()
    labels = pa.StringArray.from_buffers(2, buffers[1], buffers[2])
    assert "cannot be read as Parquet" in error_of(file_of({**OTHERS, "a": labels}))


def test_rows_that_contradict_the_metadata_are_refused(table):
    metadata = pq.read_schema(io.BytesIO(to_parquet_bytes(table))).metadata
    resized = file_of({**OTHERS, "n_b": [81, 90]}, metadata)
    assert "crawl 'y' has n_urls 81 in the rows, but 80 in the metadata" in error_of(resized)
    renamed = file_of({**OTHERS, "b": ["y", "other"]}, metadata)
    assert "crawl 'other' stands in the rows, not in the metadata" in error_of(renamed)
    newer = {b"crawlgauge": metadata[b"crawlgauge"].replace(b"overlaps/1", b"overlaps/2")}
    assert "t.parquet, metadata crawlgauge, at $.schema" in error_of(file_of(OTHERS, newer))
