"""Every real file that one machine reads, Spark reads too, and finds the same."""

import pytest

import crawlgauge as cg
from crawlgauge.errors import CrawlgaugeError

FOLDERS = (
    "arc",
    "cc-index-cdxj",
    "cc-index-parquet",
    "cdx",
    "cdx-server-json",
    "cdxj",
    "commoncrawl",
    "derived-broken",
    "heritrix-crawl-log",
    "wacz",
    "warc",
    "zipnum",
)


def add_here(store, path, label, on_damage="stop"):
    return cg.add_crawl(
        store, label, path, date="2014-01-01", status="any", levels="url", on_damage=on_damage
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_all_files_of_a_kind_give_the_same_set(spark, shared_data, tmp_path, folder):
    names = []
    for number, path in enumerate(sorted((shared_data / "formats" / folder).rglob("*"))):
        if path.is_file():
            try:
                add_here(tmp_path / "each", path, f"n{number}", "keep")
            except CrawlgaugeError:
                continue  # Files of other things, and ones without any capture.
            names.append(path)
    assert names
    here = add_here(tmp_path / "local", names, "x", "keep").crawl_set
    there = cg.spark.add(
        spark,
        names,
        store=tmp_path / "spark",
        label="x",
        date="2014-01-01",
        status="any",
        on_damage="keep",
    ).crawl_set
    assert there.checksum == here.checksum
    for name in ("n_captures", "rejected", "excluded", "days", "damage", "n_no_status", "crawl"):
        assert getattr(there, name) == getattr(here, name), name
    assert there.provenance.inputs == here.provenance.inputs
