"""Results with a description that repositories of data understand."""

import hashlib
import json

import pytest
from rocrate.rocrate import ROCrate

import crawlgauge as cg


@pytest.fixture(scope="module")
def fit():
    return cg.estimate(cg.simulate_table(n_crawls=6, population=3000, seed=4))


def test_the_reference_library_reads_what_was_written(fit, tmp_path):
    files = cg.write_crate(fit, tmp_path / "crate", title="Our <web> archive")
    crate = ROCrate(tmp_path / "crate")
    assert crate.name == "Our <web> archive: coverage, from its crawls' overlaps"
    assert fit.estimates.headline.statement in crate.description
    parts = {part.id: part for part in crate.root_dataset["hasPart"]}
    names = {"overlaps.csv", "overlaps.parquet", "estimate.json", "report.html"}
    assert set(parts) == names
    assert {file.name for file in files} == names | {"ro-crate-metadata.json"}
    for name, part in parts.items():
        content = (tmp_path / "crate" / name).read_bytes()
        assert part["sha256"] == hashlib.sha256(content).hexdigest()
        assert part["contentSize"] == str(len(content))
    measured = {one["name"]: one for one in crate.root_dataset["variableMeasured"]}
    coverage = fit.estimates.headline.coverage
    assert measured["typical coverage"]["value"] == coverage.value
    assert measured["typical coverage"]["minValue"] == coverage.low
    run = crate.dereference("#run")
    assert run["instrument"]["softwareVersion"] == cg.__version__
    assert [crawl["name"] for crawl in run["object"]] == [crawl.label for crawl in fit.table.crawls]
    # What the library writes again says the same.
    crate.write(tmp_path / "again")
    again = ROCrate(tmp_path / "again")
    assert {part.id for part in again.root_dataset["hasPart"]} == names
    assert again.root_dataset["temporalCoverage"] == crate.root_dataset["temporalCoverage"]


def test_the_files_of_a_crate_give_the_same_estimate(fit, tmp_path):
    cg.write_crate(fit, tmp_path)
    again = cg.estimate(tmp_path / "overlaps.parquet").to_dict()
    stored = json.loads((tmp_path / "estimate.json").read_text("utf-8"))
    assert stored["headline"] == again["headline"]
    assert cg.read_overlaps(tmp_path / "overlaps.csv").n_crawls == 6


def test_a_table_alone_makes_a_crate_without_an_estimate(fit, tmp_path):
    cg.write_crate(fit.table, tmp_path)
    assert {part.id for part in ROCrate(tmp_path).root_dataset["hasPart"]} == {
        "overlaps.csv",
        "overlaps.parquet",
    }


def test_a_crate_that_cannot_be_written_is_an_error(fit, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(cg.CrawlgaugeError, match="file is a file; name a folder"):
        cg.write_crate(fit.table, tmp_path / "file")


def test_commands_write_crates(run, fit, tmp_path):
    cg.write_overlaps(fit.table, tmp_path / "table.parquet")
    done = run("report", tmp_path / "table.parquet", "--crate", tmp_path / "crate", "--json")
    assert done.code == 0
    written = json.loads(done.out)["files"]
    assert sorted(written) == sorted(map(str, (tmp_path / "crate").iterdir()))
    refused = run("report", tmp_path / "table.parquet", "-o", "a.html", "--crate", tmp_path)
    assert refused.code == 2
    assert "give one of -o FILE and --crate DIR" in refused.err
