"""Simulated archives as files: what a real archive has, the same for the same seed."""

import gzip
import json

import pytest

import crawlgauge as cg
from crawlgauge.errors import SimulationError, SourceError
from crawlgauge.simulate.archive_files import FILE_FORMS, write_simulated
from crawlgauge.simulate.simulating import simulate_table, simulate_urn


def small(seed=4, **changes):
    return simulate_urn(**{"n_crawls": 3, "population": 400, "seed": seed, **changes})


def test_each_crawl_is_a_list_of_distinct_urls_that_other_crawls_share(tmp_path):
    archive = small(population=2000)
    paths = write_simulated(archive, tmp_path / "new" / "lists")
    assert [path.name for path in paths] == [
        *("2013-12.txt.gz", "2014-06.txt.gz", "2014-12.txt.gz")
    ]
    lists = [gzip.decompress(path.read_bytes()).decode().splitlines() for path in paths]
    for lines, crawl in zip(lists, archive.crawls, strict=True):
        assert len(set(lines)) == len(lines) == crawl.url_numbers.size
        assert all(line.startswith("https://www.university-") for line in lines)
    numbers = [set(crawl.url_numbers.tolist()) for crawl in archive.crawls]
    assert len(set(lists[0]) & set(lists[2])) == len(numbers[0] & numbers[2])


@pytest.mark.parametrize("form", FILE_FORMS)
def test_the_truth_is_beside_every_form(form, tmp_path):
    write_simulated(small(population=1000), tmp_path, form)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["schema"] == "crawlgauge.truth/1"
    assert (truth["population"], truth["coverage"], truth["persistence"]) == (1000, 0.46, 0.73)
    assert (truth["scenario"], truth["seed"]) == ("urn", 4)
    assert truth["settings"]["dates.n_crawls"] == 3
    assert truth["crawls"][1] == {
        "label": "2014-06",
        "date": "2014-06-15",
        "n_urls": 460,
        "population": 1000,
        "coverage": 0.46,
    }


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("form", FILE_FORMS)
def test_files_of_a_seed_are_equal_to_the_byte_for_any_number_of_workers(form, tmp_path):
    for workers in (1, 2, 5):
        write_simulated(small(), tmp_path / str(workers), form, workers=workers)
    one, two, five = (bytes_of(tmp_path / name) for name in ("1", "2", "5"))
    assert one == two == five
    write_simulated(small(seed=5), tmp_path / "other", form)
    other = bytes_of(tmp_path / "other")
    assert other.keys() == one.keys()
    assert all(other[name] != one[name] for name in one)


@pytest.mark.parametrize("form", ["url-lists", "cdxj", "warc"])
def test_compressed_files_bear_no_time(form, tmp_path):
    for path in write_simulated(small(), tmp_path, form):
        assert path.read_bytes()[4:8] == b"\0\0\0\0"


def test_progress_is_told_for_each_crawl(tmp_path):
    calls = []
    write_simulated(small(), tmp_path, progress=lambda *call: calls.append(call))
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_nothing_half_written_stays_behind(tmp_path):
    def fail(_numbers):
        raise KeyError("no names")

    archive = small()
    broken = type(archive)(crawls=archive.crawls, truth=archive.truth, name_urls=fail)
    with pytest.raises(KeyError):
        write_simulated(broken, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["truth.json"]


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="cannot be made"):
        write_simulated(small(), tmp_path / "file")


def test_an_unknown_form_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(SimulationError, match="'arc'; there are url-lists, cdxj"):
        write_simulated(small(), tmp_path, "arc")


def test_a_table_is_written_as_a_table_only(tmp_path):
    table = simulate_table(n_crawls=4, seed=3)
    (path,) = cg.write_simulation(table, tmp_path)
    again = cg.read_overlaps(path)
    assert again.n_shared.tolist() == table.n_shared.tolist()
    assert again.histories.counts.tolist() == table.histories.counts.tolist()
    for form in ("warc", "store"):
        with pytest.raises(SimulationError, match=f"cannot be written as {form}"):
            cg.write_simulation(table, tmp_path, form)


def test_store_and_lists_and_table_hold_the_same_overlaps(tmp_path):
    archive = small(population=3000)
    (store,) = cg.write_simulation(archive, tmp_path / "a", "store")
    (table,) = cg.write_simulation(archive, tmp_path / "b", "table")
    assert (tmp_path / "a" / "truth.json").exists()
    counted, written = cg.count_overlaps(store), cg.read_overlaps(table)
    assert counted.n_shared.tolist() == written.n_shared.tolist()
    assert counted.histories.masks.tolist() == written.histories.masks.tolist()
    assert [crawl.date for crawl in counted.crawls] == [crawl.date for crawl in archive.crawls]
