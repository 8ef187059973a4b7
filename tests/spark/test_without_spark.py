"""Pieces of the work on Spark that need no Spark, and what is said where Spark is missing."""

import importlib.util
import io
import random
import shutil

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.cli.main import main
from crawlgauge.spark import session
from crawlgauge.spark.counting import _group_ranges
from crawlgauge.spark.failures import explain_failure, tell_driver
from crawlgauge.spark.line_range import LineRange
from crawlgauge.spark.reduce_task import merge_rows
from crawlgauge.spark.rows import decode_keys, facts_row, key_rows
from crawlgauge.spark.watching import watch_tasks


def run(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code, capsys.readouterr().err


@pytest.mark.parametrize("command", [["add", "x", "y.txt"], ["overlaps"]])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--master", "local[2]"], "--master is for Spark"),
        (["--spark-conf", "a=b"], "--spark-conf is for Spark"),
        (["--engine", "spark", "--spark-conf", "ab"], "'ab' is no setting"),
        (["--engine", "spark", "--spark-conf", "=b"], "'=b' is no setting"),
        (["--engine", "flink"], "flink"),
    ],
)
def test_options_that_make_no_sense_are_refused(capsys, command, words, message):
    code, told = run(capsys, *command, *words)
    assert code == 2
    assert message in told


@pytest.mark.parametrize("missing", [("pyspark",), ("pandas",), ("pyspark", "pandas")])
def test_without_the_extra_it_is_said_what_to_install(capsys, monkeypatch, missing):
    found = importlib.util.find_spec("json")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in missing else found
    )
    code, told = run(capsys, "overlaps", "--engine", "spark")
    assert code == 1
    assert f"needs {' and '.join(missing)}, not installed here" in told
    assert "pip install 'crawlgauge[spark]'" in told
    assert "Java 17" in told


@pytest.fixture
def with_packages(monkeypatch):
    monkeypatch.setattr(session, "_NEEDED", ())


@pytest.mark.usefixtures("with_packages")
def test_without_java_it_is_said_what_to_install(capsys, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    code, told = run(capsys, "overlaps", "--engine", "spark")
    assert code == 1
    assert "install Java 17 or newer" in told


@pytest.mark.usefixtures("with_packages")
def test_a_wrong_home_of_java_is_told(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    code, told = run(capsys, "add", "x", "y.txt", "--engine", "spark")
    assert code == 1
    assert f"JAVA_HOME is {tmp_path}" in told


@pytest.mark.parametrize("ends_with_newline", [True, False])
def test_ranges_of_bytes_give_each_line_once(tmp_path, ends_with_newline):
    chance = random.Random(1)
    lines = [b"x" * chance.choice([0, 1, 5, 300]) for _ in range(400)]
    data = b"\n".join(lines) + b"\n" * ends_with_newline
    path = tmp_path / "lines"
    path.write_bytes(data)
    for size in (1, 7, 100, len(data) - 1, len(data), len(data) + 5):
        found, n_lines = io.BytesIO(), 0
        for start in range(0, len(data), size):
            with LineRange(path, start, min(start + size, len(data))) as part:
                content = b"".join(iter(lambda part=part: part.read(64), b""))
            assert content == data[part.first : part.first + len(content)]
            assert not content or part.first == 0 or data[part.first - 1 : part.first] == b"\n"
            found.write(content)
            n_lines += part.n_lines
        assert found.getvalue() == data
        assert n_lines == data.count(b"\n")


def test_merging_does_not_depend_on_which_task_was_first():
    chance = np.random.default_rng(1)
    rows = [facts_row({"n": 1}, 0)]
    keys = [np.unique(chance.integers(0, 5000, 900, dtype=np.uint64)) for _ in range(4)]
    for number, some in enumerate(keys):
        label = "ab"[number % 2]
        rows += key_rows(some, slot=3, label=label, level="url", part=0, first_end=1 << 64)
    outcomes = []
    for seed in range(4):
        random.Random(seed).shuffle(rows)
        merged = [batch.to_pylist()[0] for batch in merge_rows(rows, first_end=1000)]
        outcomes.append([row for row in merged if row["label"]])
    assert all(outcome == outcomes[0] for outcome in outcomes)
    for row, label in zip(outcomes[0], (0, 1), strict=True):
        expected = np.union1d(keys[label], keys[label + 2])
        assert np.array_equal(decode_keys(row["data"]), expected)
        assert (row["n"], row["n_first"]) == (expected.size, int((expected < 1000).sum()))
        assert row["total"] == int(expected.sum())


@pytest.mark.parametrize("n_ranges", [1, 2, 3, 64, 100, 1000])
@pytest.mark.parametrize("n_tasks", [1, 8, 5000])
def test_hash_ranges_are_grouped_within_powers_of_two(n_ranges, n_tasks):
    groups = list(_group_ranges(n_ranges, n_tasks))
    assert [number for group in groups for number in group] == list(range(n_ranges))
    assert all(group[0].bit_length() == group[-1].bit_length() for group in groups)


def test_errors_come_whole_from_tasks():
    class PythonException(Exception):  # noqa: N818 - Spark's name
        __module__ = "pyspark.errors"

    error = cg.SourceError("cannot read a.gz: ünïcödé {} \n and more")
    with pytest.raises(Exception, match="crawlgauge-failure") as raised, tell_driver():
        raise error
    text = f"Job aborted\nTraceback\n  ...\nFailed: {raised.value}\n\tat org.apache.spark"
    with pytest.raises(cg.SourceError) as told, explain_failure("reading"):
        raise PythonException(text)
    assert str(told.value) == str(error)


def test_errors_of_spark_itself_are_one_line():
    class PySparkException(Exception):  # noqa: N818 - Spark's name
        __module__ = "pyspark.errors"

    text = "An error occurred\nTraceback:\n  x\nModuleNotFoundError: No module named 'crawlgauge'\n"
    told = pytest.raises(cg.SparkError, match="No module named 'crawlgauge'")
    with told as raised, explain_failure("reading the inputs"):
        raise PySparkException(text)
    assert "\n" not in str(raised.value)


def test_other_errors_stay_what_they_are():
    with pytest.raises(ValueError, match="mine"), explain_failure("reading"):
        raise ValueError("mine")


def test_a_session_without_a_context_tells_no_progress():
    with watch_tasks(object(), lambda *_: pytest.fail("nothing to tell")):
        pass
