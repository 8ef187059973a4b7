"""Pieces of the work on Spark that need no Spark, and what is said where Spark is missing."""

import importlib.util
import io
import pickle
import random
import shutil

import numpy as np
import pytest

import crawlgauge as cg
from crawlgauge.cli.main import main
from crawlgauge.ingest.options import Choices
from crawlgauge.keys.names import Names
from crawlgauge.sources.what_counts import Settings
from crawlgauge.spark import session, tasks
from crawlgauge.spark.session import explain_failure, tell_driver, watch_tasks
from crawlgauge.spark.tasks import LineStream, Piece


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
        (["--engine", "spark", "--spark-conf", "ab"], "'ab' is not a setting"),
        (["--engine", "spark", "--spark-conf", "=b"], "'=b' is not a setting"),
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
    assert "pip install '.[spark]'" in told
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
            end = min(start + size, len(data))
            piece = Piece(number=0, name=str(path), n_bytes=end - start, start=start, end=end)
            with LineStream(piece, Settings()) as part:
                content = b"".join(part.blocks())
            assert content == data[part.first : part.first + len(content)]
            assert not content or part.first == 0 or data[part.first - 1 : part.first] == b"\n"
            found.write(content)
            n_lines += part.n_lines
        assert found.getvalue() == data
        assert n_lines == data.count(b"\n")


def read(path, number):
    plan = tasks.Plan(Choices(memory=1 << 28), "2021-12", range_bits=1, slots=(0, 3))
    piece = Piece(number=number, name=str(path), n_bytes=path.stat().st_size)
    return list(tasks.read_pieces(plan, [piece]))


def test_merging_does_not_depend_on_which_task_was_first(write_cdxj):
    rows = [
        row
        for number in range(4)
        for batch in read(write_cdxj(f"{number}.cdxj", seed=number), number)
        for row in (batch.slice(place, 1) for place in range(batch.num_rows))
    ]
    outcomes = []
    for seed in range(4):
        random.Random(seed).shuffle(rows)
        merged = [row for batch in tasks.merge_rows(iter(rows)) for row in batch.to_pylist()]
        reports = [row for row in merged if row["what"] == tasks.REPORT]
        assert len(reports) == 4
        assert all(pickle.loads(row["data"]).pieces for row in reports)  # noqa: S301 - our own
        outcomes.append([row for row in merged if row["what"] != tasks.REPORT])
    assert {row["what"] for row in outcomes[0]} == {"url", tasks.ATTRIBUTES}
    for outcome in outcomes:
        for row, first in zip(outcome, outcomes[0], strict=True):
            assert [row[name] for name in ("part", "label", "what", "n", "total")] == [
                first[name] for name in ("part", "label", "what", "n", "total")
            ]
            assert describe(row) == describe(first)


def describe(row):
    """Return what a row holds: keys, or attributes with their texts."""
    if row["what"] != tasks.ATTRIBUTES:
        keys = np.frombuffer(row["data"], np.uint64)
        assert np.all(keys[1:] > keys[:-1])
        assert (row["n"], row["total"] % 2**64) == (keys.size, int(keys.sum()))
        return keys.tolist()
    names = Names()
    rows = tasks.unpack_attributes(row["data"], names)
    hosts, types = ([*table.texts(), None] for table in (names.hosts, names.types))
    return [
        (one["key"], one["time"], one["status"], hosts[one["host"]], types[one["mime"]])
        for one in rows
    ]


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
