"""The Python API from files to a fit, as in a notebook."""

import datetime as dt
import gzip
import io
import json
import re
import sys
from dataclasses import replace

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import crawlgauge as cg


@pytest.fixture
def archive():
    return cg.simulate_urn(n_crawls=5, population=3000, seed=2)


@pytest.fixture
def store(archive, tmp_path):
    """Return a store of five simulated crawls."""
    paths = cg.write_simulation(archive, tmp_path / "lists")
    for crawl, path in zip(archive.crawls, paths, strict=True):
        cg.add_crawl(tmp_path / "store", crawl.label, path)
    return tmp_path / "store"


def test_overlaps_of_the_store_are_those_of_the_simulated_sets(archive, store):
    table = cg.count_overlaps(store)
    sets = [set(crawl.url_numbers.tolist()) for crawl in archive.crawls]
    assert table.n_shared.tolist() == [[len(a & b) for b in sets] for a in sets]
    assert table.histories.n_urls == len(set().union(*sets))
    assert [crawl.date for crawl in table.crawls] == [crawl.date for crawl in archive.crawls]


def test_a_fit_is_text_plain_data_and_json_of_the_same_numbers(store):
    fit = cg.estimate(cg.count_overlaps(store))
    assert json.loads(fit.to_json()) == json.loads(json.dumps(fit.to_dict()))
    assert fit.to_dict()["paper"]["n_pairs"] == 10
    assert "Persistence" in fit.summary()


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_a_written_table_gives_the_same_estimates(store, tmp_path, ending):
    table = cg.count_overlaps(store)
    path = tmp_path / f"table.{ending}"
    cg.write_overlaps(table, path)
    again = cg.estimate(cg.read_overlaps(path)).to_dict()
    if ending == "csv":
        # Rows of pairs have no capture histories.
        table = replace(table, histories=None)
    assert again["paper"] == cg.estimate(table).to_dict()["paper"]
    assert again["headline"]["coverage"] == cg.estimate(table).to_dict()["headline"]["coverage"]


@pytest.mark.parametrize(
    "form", [str, lambda path: path, lambda path: [path], lambda path: (str(path),)]
)
def test_inputs_may_be_one_or_many_strings_or_paths(tmp_path, form):
    path = tmp_path / "list.txt"
    path.write_text("http://a.org/\n")
    added = cg.add_crawl(tmp_path / "store", "x", form(path), date=dt.date(2020, 1, 1))
    assert added.crawl_set.crawl.n_urls == 1


def test_progress_of_counting_reaches_the_end(store):
    steps = []
    cg.count_overlaps(store, progress=lambda *step: steps.append(step))
    assert steps[-1][0] == steps[-1][1]


def test_progress_of_a_pipe_has_no_total(tmp_path, monkeypatch):
    (tmp_path / "list.txt").write_text("http://a.org/\n")
    steps = []
    with (tmp_path / "list.txt").open("rb") as file:
        monkeypatch.setattr("sys.stdin", file)
        cg.add_crawl(tmp_path / "store", "2020-01", "-", progress=steps.append)
    assert [(step.n_bytes, step.n_bytes_total) for step in steps] == [(14, None)]


def test_the_library_prints_nothing(store, tmp_path, capsys):
    cg.estimate(cg.count_overlaps(store)).summary()
    cg.verify_store(store)
    cg.list_crawls(store)
    cg.write_overlaps(cg.count_overlaps(store), tmp_path / "table.csv")
    assert capsys.readouterr() == ("", "")


def test_an_identity_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(cg.CrawlgaugeError, match="unknown URL identity 'surf'"):
        cg.add_crawl(tmp_path / "store", "2020-01", "-", identity="surf")


def test_a_table_of_standard_input_is_read(store, monkeypatch, tmp_path):
    cg.write_overlaps(cg.count_overlaps(store), tmp_path / "table.csv")
    data = (tmp_path / "table.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert cg.read_overlaps("-").n_crawls == 5


# --------------------------------------------------------------- data frames, buffers and notebooks


@pytest.fixture(scope="module")
def table():
    return cg.simulate_table(n_crawls=6, seed=1, with_histories=False)


@pytest.fixture(scope="module")
def fit(table):
    return cg.estimate(table)


@pytest.fixture(scope="module")
def answers(table, fit):
    return [table, fit, cg.check_newest(fit), cg.plan(fit), cg.history(table)]


PAIRS = "a,b,n_shared\nx,y,40\nx,z,30\ny,z,45\n"
CRAWLS = "label,date,n_urls\nx,2020-01-15,100\ny,2020-07-15,90\nz,2021-01-15,95\nw,2021-02-15,1\n"
FRAMES = {
    "polars": lambda table: table.to_polars(),
    "pandas": lambda table: table.to_pandas(),
    "pandas-with-gaps": lambda table: table.to_pandas().convert_dtypes(),
    "pyarrow": pa.table,
    "duckdb": lambda table: duckdb.from_arrow(pa.table(table)).to_arrow_table(),
    "table": lambda table: table,
    "stream": pa.RecordBatchReader.from_stream,
}


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_of_any_library_gives_the_same_estimate(table, library):
    read = cg.read_overlaps(FRAMES[library](table))
    assert read.crawls == table.crawls
    assert read.n_shared.tolist() == table.n_shared.tolist()


def test_a_frame_is_estimated_from_as_its_table_is(table, fit):
    assert cg.estimate(table.to_pandas()).estimates.headline == fit.estimates.headline


@pytest.mark.parametrize(
    "form", [io.StringIO, lambda text: io.BytesIO(gzip.compress(text.encode()))]
)
def test_an_open_file_is_read_as_its_path_is(form):
    table = cg.read_overlaps(form(PAIRS), form(CRAWLS))
    assert [crawl.label for crawl in table.crawls] == ["x", "y", "z"]
    assert table.n_shared.tolist() == [[100, 40, 30], [40, 90, 45], [30, 45, 95]]


def test_pairs_and_crawls_apart_are_read_from_files_of_either_kind(tmp_path):
    expected = cg.read_overlaps(io.StringIO(PAIRS), io.StringIO(CRAWLS)).n_shared.tolist()
    (tmp_path / "crawls.csv").write_text(CRAWLS)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    pl.read_csv(io.StringIO(PAIRS)).write_parquet(tmp_path / "pairs.parquet")
    for name in ("pairs.csv", "pairs.parquet"):
        table = cg.read_overlaps(tmp_path / name, tmp_path / "crawls.csv")
        assert table.n_shared.tolist() == expected
        assert len(table.provenance.inputs) == 2


def test_times_and_what_pandas_takes_for_missing_are_understood():
    frame = pd.DataFrame(
        {
            "a": ["x", "x", "y"],
            "date_a": pd.to_datetime(["2020-01-15", "2020-01-15", "2020-07-15"]),
            "n_a": [100, 100, 90],
            "b": ["y", "z", "z"],
            "date_b": pd.to_datetime(["2020-07-15", "2021-01-15", "2021-01-15"]),
            "n_b": [90, 95, 95],
            "n_shared": [40, None, 45],
        }
    )
    assert cg.read_overlaps(frame).n_shared.tolist() == [[100, 40, -1], [40, 90, 45], [-1, 45, 95]]


@pytest.mark.parametrize(
    ("pairs", "crawls", "message"),
    [
        ([1, 2], None, "the table of pairs is a list; give a data frame, the path of"),
        (
            pl.DataFrame({"a": ["x"], "b": ["y"]}),
            None,
            "the table of pairs: missing column date_a, n_a",
        ),
        (
            pl.DataFrame({"a": ["x"], "b": ["y"], "n_shared": [40.5]}),
            io.StringIO(CRAWLS),
            "the table of pairs, row 0, column n_shared: 40.5 is no whole number",
        ),
        (
            pl.DataFrame({"a": ["x"], "b": ["q"], "n_shared": [4]}),
            io.StringIO(CRAWLS),
            "the table of pairs, row 0, column b: crawl 'q' is not in the table of crawls",
        ),
        (
            io.StringIO(PAIRS),
            pl.DataFrame({"label": ["x", "x"], "date": ["2020", "2020"], "n_urls": [5, 6]}),
            "the table of crawls, row 1, column label: crawl 'x' stands on row 0 of",
        ),
        (io.StringIO(""), None, "the table of pairs is empty"),
        (
            pd.DataFrame([["x", "y"]], columns=["a", "a"]),
            None,
            "the table of pairs is a DataFrame that cannot be read: two columns have the same name",
        ),
    ],
)
def test_what_is_no_table_is_refused_in_the_terms_of_python(pairs, crawls, message):
    with pytest.raises(cg.OverlapError, match=message) as caught:
        cg.read_overlaps(pairs, crawls)
    assert "--" not in str(caught.value)


def test_histories_are_read_from_frames():
    histories = pl.DataFrame({"history": ["10", "11", "01"], "count": [60, 40, 40]})
    crawls = pd.DataFrame({"label": ["2020-01", "2020-07"], "date": ["2020-01", "2020-07"]})
    assert cg.read_histories(histories, crawls).n_shared.tolist() == [[100, 40], [40, 80]]


def test_all_that_is_returned_prints_in_a_few_lines(answers, fit):
    for answer in answers:
        printed = repr(answer)
        assert printed.startswith("<")
        assert printed.count("\n") <= 14
        assert len(printed) < 1500
    assert repr(fit).startswith("<Fit of 6 crawls, 2013-12 to 2016-06>\n\nA typical crawl holds")


def test_a_fit_from_histories_prints_its_grade():
    fit = cg.estimate(cg.simulate_table(n_crawls=5, population=2000, seed=1))
    assert f"Grade {fit.estimates.agreement.grade}: " in repr(fit)
    assert f"Grade {fit.estimates.agreement.grade}: " in fit._repr_html_()


def test_notebooks_show_a_short_page_without_scripts_links_or_ids(answers):
    for answer in answers:
        page = answer._repr_html_()
        assert len(page) < 8000
        assert not re.search(r"<script|<a |<button| id=|href", page)
        assert page.count("<tr") <= 12


def test_hostile_text_is_inert_in_a_notebook(fit):
    hostile = "</td><script>alert(1)</script>\u202e"
    rows = tuple(replace(row, note=hostile) for row in fit.estimates.per_crawl)
    changed = replace(fit, estimates=replace(fit.estimates, per_crawl=rows))
    page = changed._repr_html_()
    assert "<script" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page


def test_answers_are_frames_with_ranges_beside_the_numbers(table, fit):
    frame = fit.to_polars()
    assert frame["label"].to_list() == [crawl.label for crawl in table.crawls]
    assert frame["coverage_low"][-1] == fit.estimates.per_crawl[-1].coverage.low
    assert frame["date"].dtype == pl.Date
    assert pl.DataFrame(fit).equals(frame)
    assert pa.table(cg.plan(fit)).num_rows == len(cg.plan(fit).result.schedules)
    assert list(cg.check_newest(fit).to_pandas()["name"]) == [
        measure.name for measure in cg.check_newest(fit).result.measures
    ]
    assert cg.history(table).to_polars().height == table.n_crawls


def test_without_pandas_the_message_says_what_to_install(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(cg.CrawlgaugeError, match=r"pip install pandas pyarrow, or take to_polars"):
        table.to_pandas()
