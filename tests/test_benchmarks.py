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
import pyarrow.parquet as pq
import pytest

from crawlgauge.keys.surt import canonical_surt

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
SIZE = 1_500
N_CRAWLS = 3


@pytest.fixture(scope="module")
def load():
    """Return what imports a module of the benchmarks, which are no package."""
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def make(load, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    making = load("archives.making")
    return lambda kind: making.make_archive(folder, kind, n_crawls=N_CRAWLS, size=SIZE)


def run_benchmark(data, *arguments):
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, str(BENCHMARKS / "run.py"), "--data", str(data), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def keys_in(archive, path):
    """Read the keys of a file in the plainest way."""
    if archive.kind == "parquet":
        return pq.read_table(path).column("url_surtkey").to_pylist()
    if archive.kind == "sets":
        return pq.read_table(path).column("key").to_pylist()
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
    sets = [set(keys) for keys in captures]

    assert tuple(map(len, captures)) == archive.n_captures
    assert [[len(a & b) for b in sets] for a in sets] == archive.n_shared
    assert all(0 < len(a & b) < len(a) for a, b in combinations(sets, 2))


def test_the_keys_of_generated_indexes_are_the_canonical_urls(make):
    for path in make("cdxj").paths:
        for line in gzip.decompress(path.read_bytes()).splitlines():
            key, _, document = line.split(b" ", 2)
            assert canonical_surt(json.loads(document)["url"].encode()) == key


def test_captures_repeat_and_some_do_not_count(make):
    archive = make("cdxj")
    lines = gzip.decompress(archive.paths[0].read_bytes()).splitlines()
    fields = [(line.split(b" ")[0], json.loads(line.split(b" ", 2)[2])) for line in lines]
    n_urls = archive.n_shared[0][0]

    assert lines == sorted(lines)
    assert 0.05 < len(lines) / n_urls - 1 < 0.15
    assert (
        len({key for key, record in fields if record["status"] == "200"})
        == (archive.n_shared_2xx[0][0])
    )
    assert 0.8 < archive.n_shared_2xx[0][0] / n_urls < 0.95


def test_hosts_follow_a_power_law(load):
    names = load("archives.names")
    namer = names.Namer(n_hosts=1000)
    keys = namer.keys(np.arange(20_000, dtype=np.uint64)).to_pylist()
    sizes = sorted(Counter(key.partition(b")")[0] for key in keys).values(), reverse=True)

    assert len(set(keys)) == len(keys)
    # The k-th host has a share near log(1 + 1/k) / log(n_hosts).
    for rank in (1, 2, 5, 10):
        expected = len(keys) * np.log1p(1 / rank) / np.log(1000)
        assert abs(sizes[rank - 1] - expected) < 5 * np.sqrt(expected)


def test_an_archive_is_made_once_and_anew_when_the_generator_changes(load, tmp_path, monkeypatch):
    making = load("archives.making")
    first = making.make_archive(tmp_path, "urls", n_crawls=2, size=200)
    written = first.paths[0].stat().st_mtime_ns
    again = making.make_archive(tmp_path, "urls", n_crawls=2, size=200)
    assert again == first
    assert again.paths[0].stat().st_mtime_ns == written

    monkeypatch.setattr(making, "_fingerprint_generator", lambda _kind: "another")
    anew = making.make_archive(tmp_path, "urls", n_crawls=2, size=200)
    assert anew.n_shared == first.n_shared
    assert list(tmp_path.iterdir()) == [anew.folder]


def test_a_job_is_measured_with_all_processes_that_it_starts(load, tmp_path):
    measuring = load("measuring")
    work = "import time; data = bytearray(80_000_000); end = time.process_time() + 0.4\n"
    work += "while time.process_time() < end: pass"
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}]); print(7)"
    run = measuring.measure(
        [[sys.executable, "-c", start]], scratch=tmp_path, environment=os.environ
    )

    assert run.output == "7\n"
    assert 0.4 < run.cpu_seconds < 3
    assert run.wall_seconds > 0.4
    assert 80_000_000 < run.anonymous_bytes < 200_000_000


def test_a_job_that_fails_says_why(load, tmp_path):
    measuring = load("measuring")
    with pytest.raises(measuring.JobError, match="exited with 3:\nno luck"):
        measuring.measure(
            [[sys.executable, "-c", "import sys; print('no luck', file=sys.stderr); sys.exit(3)"]],
            scratch=tmp_path,
            environment=os.environ,
        )


def test_a_program_that_counts_otherwise_is_found_out(load, make, tmp_path):
    contenders, racing = load("contenders"), load("racing")
    wrong = contenders.Contender(
        name="guess",
        commands=lambda _archive, _scratch: [[sys.executable, "-c", "print([[1]])"]],
        read=json.loads,
    )
    archive = make("urls")
    with pytest.raises(racing.DisagreementError, match="guess counted other overlaps"):
        racing.run_once(wrong, archive, archive.n_shared, tmp_path)


def test_ratios_are_taken_within_rounds(load):
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

    race = racing.Race(runs={"ours": runs(2, 4, 1), "theirs": runs(6, 8, 5)}, absent={})
    ours, theirs = race.rows()

    assert ours == ("ours", "1.00", "1.00", "1.00–1.00", "0.50", "1.00", "4", "0")
    assert theirs == ("theirs", "5.00", "3.00", "2.00–5.00", "2.50", "3.00", "8", "0")
    assert [item.is_met for item in race.at_least("theirs", 3)] == [True]
    assert [item.is_met for item in race.at_least("theirs", 3.1)] == [False]
    assert race.at_least("absent", 2) == []


def test_all_programs_agree_on_a_small_archive(load, make, tmp_path):
    contenders, racing = load("contenders"), load("racing")
    archive = make("cdxj")
    race = racing.race(
        [
            contenders.crawlgauge("--identity", "given", "--status", "any"),
            contenders.peer("with_polars", "cdxj", name="Polars", needs=["polars"]),
            contenders.peer("with_duckdb", "cdxj", name="DuckDB", needs=["duckdb"]),
            contenders.peer("with_sort", "cdxj", name="sort", needs=["sort", "comm", "bash"]),
            contenders.peer("with_nothing", "cdxj", name="nobody", needs=["no_such_module"]),
            contenders.igzip_alone(),
        ],
        archive,
        archive.n_shared,
        n_rounds=1,
        folder=tmp_path,
        warm_up=None,
    )
    assert list(race.runs) == ["crawlgauge", "Polars", "DuckDB", "sort", "igzip alone"]
    parts, absent = race.notes()
    assert re.fullmatch(r"crawlgauge: [\d.]+ \+ [\d.]+ CPU s for its commands .*", parts)
    assert absent == "nobody did not take part: there is no no_such_module here."
    assert int(race.runs["igzip alone"][0].output) == sum(archive.n_text_bytes)
    assert all(run.cpu_seconds > 0 for (run,) in race.runs.values())
    assert not list(tmp_path.iterdir())


def test_a_table_says_what_was_run_where(tmp_path):
    result = run_benchmark(tmp_path, "--table", "sketches", "--size", "3000", "--rounds", "1")
    assert result.returncode == 0, result.stderr
    rows = re.findall(r"^\| (\S.*?) +\| +[\d.]+ \| +([\d.]+) \|", result.stdout, re.MULTILINE)
    errors = {name: float(error) for name, error in rows}

    # Crawls of 3000 URLs are smaller than that sample: it is the whole.
    assert errors["crawlgauge, smallest 2^12 keys"] == 0
    assert 0 < errors["crawlgauge, sample 1/10"] < 30
    assert "`python benchmarks/run.py --table sketches --size 3000 --rounds 1`" in result.stdout
    assert f"Python {platform.python_version()}" in result.stdout


@pytest.mark.java
@pytest.mark.slow
def test_spark_agrees_on_a_small_archive(tmp_path, java):
    pytest.importorskip("pyspark")
    result = run_benchmark(tmp_path, "--table", "parquet", "--size", str(SIZE), "--rounds", "1")
    assert java
    assert result.returncode == 0, result.stderr
    assert "| Spark local |" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "table",
    ["cdxj", "cdxj-2xx", "canonical", "merge", "growth", "sixteenth", "estimate", "formats"],
)
def test_every_table_can_be_made_at_a_small_size(tmp_path, table):
    size = "20000" if table in {"estimate", "growth"} else "3000"
    # Spark takes part in a test of its own: starting it takes longer than all others together.
    result = run_benchmark(
        tmp_path, "--table", table, "--size", size, "--rounds", "1", "--without", "spark"
    )
    assert result.returncode == 0, result.stderr


def test_the_page_has_a_place_for_every_table(load, tmp_path):
    run, listing = load("run"), load("tables.listing")
    page = tmp_path / "performance.md"
    text = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    for name in listing.TABLES:
        run.write_into(page, name, f"the numbers of {name}\n")
    written = page.read_text(encoding="utf-8")

    assert all(written.count(f"\nthe numbers of {name}\n") == 1 for name in listing.TABLES)
    assert all(f"--table {name}" in text for name in listing.TABLES)
    with pytest.raises(SystemExit, match="has no place for the table"):
        run.write_into(page, "another", "text")
