"""The Python API from files to a fit, as in a notebook."""

import datetime as dt
import io
import json
from dataclasses import replace

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
