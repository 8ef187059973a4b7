"""The commands that hold an archive against another one, or against a list."""

import json
import subprocess
import sys

import pytest


@pytest.fixture
def two_stores(folder, run):
    """Two archives of one crawl each."""
    for name, first in (("ours", 0), ("theirs", 50)):
        urls = "".join(f"https://host-{n % 3}.example/{n}\n" for n in range(first, first + 100))
        (folder / f"{name}.txt").write_text(urls)
        assert run("add", "--store", name, "2020-01", f"{name}.txt").code == 0
    return folder


@pytest.mark.usefixtures("two_stores")
def test_two_archives_are_compared(run):
    result = run("compare", "--store", "ours", "theirs")
    assert result.code == 0
    assert "ours and theirs together hold 150 different URLs" in result.out
    assert "independent" in result.out
    document = json.loads(run("compare", "--store", "ours", "theirs", "--json").out)
    assert document["pairs"][0]["matched"][0]["n_shared"] == 50


@pytest.mark.usefixtures("two_stores")
def test_a_sample_is_exported_and_compared(run):
    result = run("compare", "--store", "theirs", "--export", "given", "--sample", "1/2")
    assert (result.code, result.out) == (0, "")
    assert "hashed URLs of 1 crawls" in result.err or "hashed URLs of 1 crawl," in result.err
    assert run("compare", "--store", "ours", "given").code == 0
    written = json.loads(run("compare", "--store", "ours", "--export", "two", "--json").out or "{}")
    assert written["sample_rate"] == 1 / 64


@pytest.mark.usefixtures("two_stores")
@pytest.mark.parametrize(
    "words",
    [
        ("compare",),
        ("compare", "theirs", "--export", "given"),
        ("compare", "--export", "given", "--persistence", "0.5"),
        ("recall",),
        ("recall", "ours.txt", "--uniform"),
        ("recall", "ours.txt", "--kind", "page"),
    ],
)
def test_wrong_usage_has_exit_code_2(run, words):
    assert run(*words, "--store", "ours").code == 2


@pytest.mark.usefixtures("two_stores")
@pytest.mark.parametrize(
    "words",
    [
        ("compare", "nowhere"),
        ("compare", "ours"),
        ("compare", "theirs", "--max-gap", "soon"),
        ("recall", "nothing.txt"),
        ("recall", "theirs.txt", "--queued", "many"),
        ("recall", "theirs.txt", "--missing", "no/such/folder/file"),
    ],
)
def test_what_cannot_be_done_has_exit_code_1_and_a_message(run, words):
    result = run(*words, "--store", "ours")
    assert result.code == 1
    assert result.err.startswith("crawlgauge: error: ")


@pytest.mark.usefixtures("two_stores")
def test_a_reference_is_looked_for(run, folder):
    result = run("recall", "theirs.txt", "--store", "ours", "--missing", "seeds.txt")
    assert result.code == 0
    assert "hold 50 %" in result.out
    assert "50 that no crawl holds" in result.err
    assert len((folder / "seeds.txt").read_text().splitlines()) == 50
    document = json.loads(run("recall", "theirs.txt", "--store", "ours", "--json").out)
    assert document["n_held"] == 50


def test_a_reference_comes_from_standard_input(two_stores, environment):
    for content, n_held in (((two_stores / "theirs.txt").read_bytes(), 50), (b"", None)):
        result = subprocess.run(
            [sys.executable, "-m", "crawlgauge", "recall", "-", "--store", "ours", "--json"],
            input=content,
            capture_output=True,
            check=False,
            env=environment,
            cwd=two_stores,
        )
        if n_held is None:
            assert result.returncode == 1
            assert b"standard input: no" in result.stderr
        else:
            assert json.loads(result.stdout)["n_held"] == n_held
            assert json.loads(result.stdout)["reference"]["name"] == "-"
