"""Where an extra is not installed, it is said which one, and what to do."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import crawlgauge

EXTRAS = {
    "remote": ("obstore",),
    "spark": ("pandas", "pyarrow", "pyspark"),
    "text": ("brotli", "resiliparse"),
}


@pytest.fixture(scope="module")
def without_extras(tmp_path_factory):
    """Return the settings of a process that sees all packages but those of the extras."""
    packages = tmp_path_factory.mktemp("packages")
    extras = tuple(name for names in EXTRAS.values() for name in names)
    for one in Path(sysconfig.get_path("purelib")).iterdir():
        if not one.name.lower().lstrip("_").startswith(extras):
            (packages / one.name).symlink_to(one)
    source = Path(crawlgauge.__file__).parents[1]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (source, packages)))}


def run(settings, folder, *words):
    # Without the module site the environment's own packages stay away.
    command = [sys.executable, "-S", *words]
    return subprocess.run(
        command, env=settings, cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("remote", ["add", "2021", "s3://bucket/file.txt"]),
        ("remote", ["list", "--store", "s3://bucket/store"]),
        ("spark", ["add", "2021", "list.txt", "--engine", "spark"]),
        ("spark", ["overlaps", "--engine", "spark"]),
        ("text", ["add", "2021", "list.txt", "--levels", "url,text"]),
    ],
)
def test_a_command_names_the_extra_that_it_needs(without_extras, tmp_path, extra, words):
    (tmp_path / "list.txt").write_text("https://a.example/\n", encoding="utf-8")
    done = run(without_extras, tmp_path, "-m", "crawlgauge", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"pip install '.[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_python_names_it_too(without_extras, tmp_path):
    program = """
import crawlgauge as cg
try:
    cg.spark
except cg.SparkError as error:
    print(error)
"""
    done = run(without_extras, tmp_path, "-c", program)
    assert "needs pyspark and pyarrow and pandas" in done.stdout, done.stderr
