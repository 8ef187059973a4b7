"""The command line, run in this process or in another one."""

import logging
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import crawlgauge
from crawlgauge.cli import main

SOURCE = Path(crawlgauge.__file__).parents[1]


@dataclass
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder without a store of the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRAWLGAUGE_STORE", raising=False)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command in this process."""
    root = logging.getLogger()
    before = root.handlers[:], root.level

    def run(*words):
        capsys.readouterr()
        code = main._run([str(word) for word in words])
        return Result(code, *capsys.readouterr())

    yield run
    root.handlers[:], root.level = before[0], before[1]


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
        return Result(finished.returncode, finished.stdout, finished.stderr)

    return spawn


@pytest.fixture
def make_list(folder):
    """Write a URL list of the given numbers."""

    def make(numbers, name="list.txt"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"http://example.org/{number}\n" for number in numbers))
        return name

    return make


@pytest.fixture
def three_crawls(run, make_list):
    """Fill the store of the working folder with three crawls."""
    for number, label in enumerate(["2020-12", "2021-06", "2021-12"]):
        path = make_list(range(number * 20, number * 20 + 100), f"lists/{label}.txt")
        assert run("add", label, path).code == 0
