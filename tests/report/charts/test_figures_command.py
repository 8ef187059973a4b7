"""The command that writes every figure."""

import json

import pytest
from click.testing import CliRunner

import crawlgauge as cg
from crawlgauge.cli.figures import figures


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Give a function that runs the command beside the overlap table of three crawls."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRAWLGAUGE_STORE", raising=False)
    cg.write_overlaps(cg.simulate_table(n_crawls=3), "overlaps.csv")
    return lambda *words: CliRunner().invoke(figures, words)


def test_figures_captions_and_data_are_written(run, tmp_path):
    result = run("overlaps.csv", "-o", "out", "--format", "svg, PDF")
    assert (result.exit_code, result.stdout) == (0, "")
    suffixes = {path.suffix for path in (tmp_path / "out").iterdir()}
    assert suffixes == {".svg", ".pdf", ".csv", ".md"}
    assert (tmp_path / "out" / "regression.pdf").read_bytes().startswith(b"%PDF")


def test_json_lists_what_was_written(run, tmp_path):
    result = run("overlaps.csv", "-o", "out", "--json")
    written = json.loads(result.stdout)["written"]
    assert sorted(written) == sorted(f"out/{path.name}" for path in (tmp_path / "out").iterdir())


def test_the_window_is_chosen_as_for_an_estimate(run, tmp_path):
    assert run("overlaps.csv", "-o", "out", "--exclude", "2014-06").exit_code == 0
    assert not (tmp_path / "out" / "regression.svg").exists()
    assert (tmp_path / "out" / "decay.svg").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("overlaps.csv",), "Missing option '-o'"),
        (("overlaps.csv", "-o", "out", "--format", "gif"), "--format takes some of svg, png, pdf"),
        (("overlaps.csv", "-o", "out", "--format", ","), "--format takes some of svg, png, pdf"),
        (("overlaps.csv", "-o", "out", "--width", "90"), "'90' is not one of '84', '174'"),
        (("overlaps.csv", "-o", "out", "--store", "s"), "give one of TABLE, --histories and"),
        (("-o", "out", "--histories", "h.csv"), "--histories needs --crawls CSV"),
    ],
)
def test_wrong_usage_is_explained_and_nothing_written(run, tmp_path, words, message):
    result = run(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out").exists()
