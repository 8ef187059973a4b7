"""Whole commands with hostile inputs: added, appended, replaced, cut and counted as sets say."""

import json
import os
import subprocess
import sys
from pathlib import Path

import fuzz_commands
import pytest
from reading_checks import check_reading

from amounts import SEED, TIMES

ROOT = Path(__file__).parents[2]
CORPUS = sorted(path for path in fuzz_commands.CORPUS.iterdir() if path.suffix != ".md")


@pytest.mark.parametrize(
    ("seed", "n_inputs"),
    [(1, 12), pytest.param(SEED, round(200 * TIMES), marks=pytest.mark.slow)],
)
def test_commands_hold_what_their_inputs_have(seed, n_inputs):
    """By itself, since a fault of compiled code ends the process."""
    words = [f"--inputs={n_inputs}", f"--seed={seed}", "--seconds=1e9"]
    done = subprocess.run(
        [sys.executable, fuzz_commands.__file__, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-3000:]}"
    outcomes = json.loads(done.stdout)["outcomes"]
    assert {"add", "append", "replace"} <= outcomes.keys()
    assert sum(outcomes.values()) > 2 * n_inputs


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_what_once_was_not_stood_is_stood(path):
    for seed in range(10, 40, 3):
        check_reading(path, seed)


def test_a_record_that_is_lost_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "list.txt").write_text("http://a.org/\nhttp://b.org/\n")
    original = fuzz_commands.cg.add_crawl

    def lose(store, label, path, **options):
        less = path.with_name("less.txt")
        less.write_text(path.read_text().rpartition("http")[0])
        return original(store, label, less, **options)

    monkeypatch.setattr(fuzz_commands.cg, "add_crawl", lose)
    monkeypatch.setattr(fuzz_commands, "_write", lambda *_: tmp_path / "list.txt")
    with pytest.raises(fuzz_commands.WrongCount, match=r"of .*: 1, not 2"):
        fuzz_commands.check_commands(3, tmp_path)
