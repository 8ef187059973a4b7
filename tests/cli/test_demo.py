"""The demo tells the truth and leaves other people's files alone."""

import importlib
import json

import pytest

from crawlgauge.cli import main
from crawlgauge.cli.demo import run_demo
from crawlgauge.errors import SourceError


@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
def test_the_estimates_are_near_the_truth(tmp_path, seed):
    steps = []
    _, fit = run_demo(tmp_path, seed=seed, progress=lambda *step: steps.append(step))
    estimates = fit.to_dict()
    truth = json.loads((tmp_path / "crawls" / "truth.json").read_text())
    assert (truth["coverage"], truth["persistence"]) == pytest.approx((0.46, 0.73))
    assert estimates["headline"]["coverage"]["value"] == pytest.approx(0.46, abs=0.01)
    assert estimates["persistence"]["value"] == pytest.approx(0.73, abs=0.01)
    assert estimates["paper"]["coverage"] == pytest.approx(0.46, abs=0.01)
    assert estimates["paper"]["persistence"] == pytest.approx(0.73, abs=0.01)
    assert estimates["population"]["value"] == pytest.approx(200_000, rel=0.03)
    assert steps == [(number, 15) for number in range(1, 16)]


@pytest.mark.slow
def test_it_can_be_repeated_and_shows_truth_beside_estimate(tmp_path, capsys):
    folder = tmp_path / "new" / "demo"
    run_demo(folder, seed=5)
    (folder / "notes.txt").write_text("mine")
    assert main._run(["demo", str(folder), "--seed", "1"]) == 0
    shown = capsys.readouterr().out
    assert "The truth and the estimate:" in shown
    assert str(folder / "store") in shown
    assert f"Report: {folder / 'report.html'}" in shown
    assert "<!DOCTYPE html>" in (folder / "report.html").read_text(encoding="utf-8")
    assert json.loads((folder / "crawls" / "truth.json").read_text())["seed"] == 1
    assert (folder / "notes.txt").read_text() == "mine"
    assert main._run(["demo", str(folder), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["truth"]["persistence"] == 0.73
    assert document["estimate"]["schema"] == "crawlgauge.estimate/1"
    assert document["report"] == str(folder / "report.html")


@pytest.mark.parametrize("name", ["thesis.txt", "crawls/list.txt", "store/chapter.txt"])
def test_a_folder_of_other_files_is_refused_and_left_alone(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("x")
    with pytest.raises(SourceError, match="holds files that are not of a demo"):
        run_demo(tmp_path)
    assert path.read_text() == "x"
    assert [entry for entry in tmp_path.rglob("*") if entry.is_file()] == [path]


@pytest.mark.slow
@pytest.mark.parametrize(
    "step", ["crawlgauge.ingest.adding.add_crawl", "crawlgauge.simulate.archive_files._write_file"]
)
def test_a_demo_that_was_interrupted_can_be_run_again(tmp_path, monkeypatch, step):
    """While its lists were written, or while they were added."""
    home, _, name = step.rpartition(".")
    original = getattr(importlib.import_module(home), name)
    n_calls = 0

    def interrupt(*arguments, **options):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 3:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_demo(tmp_path)
    assert run_demo(tmp_path)[1].table.n_crawls == 15
