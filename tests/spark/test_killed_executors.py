"""On a cluster whose executors and workers are killed, the outcome is the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import crawlgauge as cg

SCRIPT = Path(__file__).with_name("killing.py")
SOURCE = Path(cg.__file__).parents[1]


@pytest.mark.java
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("needs_spark")
def test_killed_executors_and_workers_change_nothing(tmp_path, write_cdxj, assert_same):
    inputs = [str(write_cdxj(f"{n}.cdxj.gz", seed=n, n_lines=3000)) for n in range(6)]
    finished = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "spark", *inputs],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    results = json.loads(finished.stdout.splitlines()[-1])
    for result in results.values():
        # Something was killed while it ran a task, and the task was run again.
        assert result["killed"] >= 1
        assert result["repeated"] >= 1
    for label in ("executor", "worker"):
        cg.add_crawl(tmp_path / "local", label, inputs, date="2021-01-01")
        assert_same(tmp_path / "local", tmp_path / "spark", label)
    for engine in ("local", "spark"):
        table = cg.count_overlaps(tmp_path / engine)
        cg.write_overlaps(table, tmp_path / f"{engine}.csv")
    assert (tmp_path / "local.csv").read_bytes() == (tmp_path / "spark.csv").read_bytes()
