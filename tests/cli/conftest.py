"""The command line, run in this process or in another one."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import crawlgauge

SOURCE = Path(crawlgauge.__file__).parents[1]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder without a store of the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRAWLGAUGE_STORE", raising=False)
    return tmp_path


@pytest.fixture
def environment():
    """Return an environment in which other processes find this crawlgauge."""
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


@pytest.fixture
def spawn(folder, environment):
    """Run a command in another process, as users do."""

    def spawn(*words, **options):
        finished = subprocess.run(
            [sys.executable, "-m", "crawlgauge", *map(str, words)],
            cwd=folder,
            env=environment,
            capture_output="stdout" not in options,
            stderr=subprocess.PIPE if "stdout" in options else None,
            text=True,
            check=False,
            timeout=120,
            **options,
        )
        return SimpleNamespace(code=finished.returncode, out=finished.stdout, err=finished.stderr)

    return spawn


@pytest.fixture
def make_list(folder, make_list):
    """Write a URL list of the given numbers, and return its name in the working folder."""

    def make(numbers, name="list.txt"):
        return str(make_list(numbers, name).relative_to(folder))

    return make


@pytest.fixture
def three_crawls(run, make_list):
    """Fill the store of the working folder with three crawls."""
    for number, label in enumerate(["2020-12", "2021-06", "2021-12"]):
        path = make_list(range(number * 20, number * 20 + 100), f"lists/{label}.txt")
        assert run("add", label, path).code == 0
