"""The benchmarks: archives are what they claim to be, and all programs count the same in them."""

import gzip
import importlib
import json
import os
import platform
import re
import subprocess
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crawlgauge
from crawlgauge.keys.surt import canonical_surt

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
PACKAGE = Path(crawlgauge.__file__).parents[1]


@pytest.fixture(scope="module")
def load():
    """Return what imports a module of the benchmarks, which are no package."""
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def make(load, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    make_archive = load("archives").make_archive
    return lambda kind: make_archive(folder, kind, n_crawls=3, size=1_500)


def run_table(table, data, *options, size=1_000):
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--table", table, "--data", str(data)]
    paths = [str(PACKAGE), os.environ.get("PYTHONPATH", "")]
    result = subprocess.run(
        [*command, "--size", str(size), "--rounds", "1", *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def keys_in(archive, path):
    """Read the keys of a file in the plainest way."""
    if archive.kind in {"parquet", "sets"}:
        return pl.read_parquet(path).to_series(0).to_list()
    data = gzip.decompress(path.read_bytes())
    if archive.kind == "warc":
        urls = re.findall(rb"^WARC-Target-URI: (.*)\r$", data, re.MULTILINE)
        return [canonical_surt(url) for url in urls]
    lines = data.splitlines()
    return lines if archive.kind == "urls" else [line.split(b" ")[0] for line in lines]


@pytest.mark.parametrize("kind", ["cdxj", "urls", "parquet", "warc", "sets"])
def test_the_overlaps_of_a_generated_archive_are_those_it_claims(make, kind):
    archive = make(kind)
    captures = [keys_in(archive, path) for path in archive.paths]
    crawls = [set(keys) for keys in captures]

    assert list(map(len, captures)) == archive.n_captures
    assert [[len(a & b) for b in crawls] for a in crawls] == archive.n_shared
    assert all(0 < len(a & b) < len(a) for a, b in combinations(crawls, 2))


def test_an_index_has_canonical_keys_repeated_captures_and_some_that_do_not_count(make):
    archive = make("cdxj")
    lines = gzip.decompress(archive.paths[2].read_bytes()).splitlines()
    records = [(line.split(b" ")[0], json.loads(line.split(b" ", 2)[2])) for line in lines]
    n_urls, n_2xx = archive.n_shared[2][2], archive.n_shared_2xx[2][2]

    assert lines == sorted(lines)
    assert all(canonical_surt(record["url"].encode()) == key for key, record in records)
    assert len({key for key, record in records if record["status"] == "200"}) == n_2xx
    assert 0.05 < len(lines) / n_urls - 1 < 0.15
    assert 0.8 < n_2xx / n_urls < 0.95


def test_hosts_follow_a_power_law(load):
    keys = load("captures").name_keys(np.arange(20_000, dtype=np.uint64), 1000).to_list()
    sizes = sorted(Counter(key.partition(")")[0] for key in keys).values(), reverse=True)

    assert len(set(keys)) == len(keys)
    # The k-th host has a share near log(1 + 1/k) / log(n_hosts).
    for rank in (1, 2, 5, 10):
        expected = len(keys) * np.log1p(1 / rank) / np.log(1000)
        assert abs(sizes[rank - 1] - expected) < 5 * np.sqrt(expected)


def test_an_archive_is_made_once_and_anew_when_the_generator_changes(load, tmp_path, monkeypatch):
    archives = load("archives")
    first = archives.make_archive(tmp_path, "urls", n_crawls=2, size=200)
    written = first.paths[0].stat().st_mtime_ns
    again = archives.make_archive(tmp_path, "urls", n_crawls=2, size=200)
    assert again == first
    assert again.paths[0].stat().st_mtime_ns == written

    monkeypatch.setattr(archives, "_fingerprint", lambda _kind: "another")
    anew = archives.make_archive(tmp_path, "urls", n_crawls=2, size=200)
    assert anew.n_shared == first.n_shared
    assert list(tmp_path.iterdir()) == [anew.folder]


def test_a_job_is_measured_with_all_processes_that_it_starts(load, tmp_path):
    work = "import time; data = bytearray(80_000_000); end = time.process_time() + 0.4\n"
    work += "while time.process_time() < end: pass"
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}]); print(7)"
    run = load("measuring").measure(
        [[sys.executable, "-c", start]], scratch=tmp_path, environment=os.environ
    )

    assert run.output == "7\n"
    assert 0.4 < run.cpu_seconds < 3
    assert run.wall_seconds > 0.4
    assert 80_000_000 < run.anonymous_bytes < 200_000_000


def test_a_job_that_fails_says_why(load, tmp_path):
    measuring = load("measuring")
    command = [sys.executable, "-c", "import sys; print('no luck', file=sys.stderr); sys.exit(3)"]
    with pytest.raises(measuring.JobError, match="exited with 3:\nno luck"):
        measuring.measure([command], scratch=tmp_path, environment=os.environ)


def test_a_program_that_counts_otherwise_is_found_out(load, make, tmp_path):
    racing = load("racing")
    wrong = racing.Contender(
        name="guess",
        commands=lambda _scratch: [[sys.executable, "-c", "print([[1]])"]],
        expected=make("urls").n_shared,
    )
    with pytest.raises(racing.DisagreementError, match="guess did not count"):
        racing.run_once(wrong, tmp_path)
    assert not list(tmp_path.iterdir())


def test_figures_are_medians_and_ratios_are_taken_within_rounds(load):
    measuring, racing = load("measuring"), load("racing")

    def runs(*seconds):
        return [
            measuring.Measurement(
                cpu_seconds=cpu,
                wall_seconds=cpu / 2,
                anonymous_bytes=round(cpu * 1e6),
                scratch_bytes=0,
                output="",
            )
            for cpu in seconds
        ]

    race = racing.Race(
        runs={"ours": runs(2, 4, 1), "a": runs(6, 8, 5), "b": runs(20, 40, 10)}, absent={}
    )
    ours, theirs, _ = race.rows()

    assert ours == ("ours", "2.00", "1.00", "1.00–1.00", "1.00", "1.00", "4", "0")
    assert theirs == ("a", "6.00", "3.00", "2.00–5.00", "3.00", "3.00", "8", "0")
    assert [item.is_met for item in race.is_faster(3, "a", "b", "absent")] == [True]
    assert [item.is_met for item in race.is_faster(3.1, "a", "b")] == [False]
    assert race.is_faster(2, "absent") == []


@pytest.mark.parametrize(
    "table",
    ["cdxj", "cdxj-default", "parquet", "urls", "merge", "sixteenth", "add-memory", "canonical"],
)
def test_all_programs_find_the_truth_and_the_table_says_what_was_run_where(tmp_path, table):
    text = run_table(table, tmp_path)
    assert f"`--table {table} --size 1000 --rounds 1`, " in text
    assert f"Python {platform.python_version()}" in text
    assert "reached" in text or "missed" in text
    assert "did not take part" not in text
    assert not list((tmp_path / "scratch").glob("*"))


def test_what_one_waits_for_is_measured(tmp_path):
    text = run_table("start", tmp_path, size=2_000)
    assert len(re.findall(r"^- .*at most [\d.]+ CPU s;", text, re.MULTILINE)) == 3


def test_every_text_format_is_measured(tmp_path):
    text = run_table("formats", tmp_path, "--without", "warc", "--without", "wacz")
    assert all(f"\n| {name} " in text for name in ("URL list", "CDXJ", "CDX", "crawl.log", "CSV"))
    assert len(re.findall(r"^- .* text format, .*: at least 0.3 M", text, re.MULTILINE)) == 1
    assert "WARC" not in text


def test_errors_of_sketches_are_those_of_their_size(tmp_path):
    pytest.importorskip("datasketches")
    text = run_table("sketches", tmp_path, size=3_000)
    rows = re.findall(r"^\| (\S.*?) +\| +[\d.]+ \| +([\d.]+) \|", text, re.MULTILINE)
    errors = {name: float(error) for name, error in rows}

    # Crawls of 3000 URLs are smaller than that sketch: it is the whole.
    assert errors["theta, lg k = 12"] == 0
    assert 0 < errors["sample of keys, 1/10"] < 30


@pytest.mark.slow
def test_formats_with_whole_pages_are_measured(tmp_path):
    text = run_table("formats", tmp_path)
    assert "| WARC " in text
    assert "| WACZ " in text


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.usefixtures("needs_spark")
def test_spark_finds_the_truth(tmp_path):
    text = run_table("spark", tmp_path)
    assert "| Spark, as crawlgauge's engine |" in text
    assert "did not take part" not in text


def test_the_page_has_a_place_for_every_table(load, tmp_path):
    run, tables = load("run"), load("tables").TABLES
    page = tmp_path / "performance.md"
    text = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    for name in tables:
        run.write_into(page, f"table {name}", f"the numbers of {name}\n")
    run.write_into(page, "machine", "a fast one\n")
    written = page.read_text(encoding="utf-8")

    assert all(written.count(f"\nthe numbers of {name}\n") == 1 for name in tables)
    assert written.count("\na fast one\n") == 1
    assert all(f"--table {name}" in text for name in tables)
    with pytest.raises(SystemExit, match="has no place for: <!-- table another"):
        run.write_into(page, "table another", "text")
