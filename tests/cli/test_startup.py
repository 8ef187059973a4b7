"""What is not needed is not loaded: help and import are fast."""

import json
import subprocess
import sys

import pytest

HEAVY = {"numba", "numpy", "pyarrow", "llvmlite", "scipy", "pandas", "matplotlib", "altair", "isal"}

COUNT = """
import json, sys
sys.argv[1:] = {words!r}
try:
    {statement}
except SystemExit:
    pass
sys.stderr.write("\\n" + json.dumps(sorted(name for name in sys.modules if "." not in name)))
"""


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("import crawlgauge; dir(crawlgauge); crawlgauge.__version__", []),
        ("import crawlgauge.errors", []),
        ("from crawlgauge.cli.main import main; main()", ["--help"]),
        ("from crawlgauge.cli.main import main; main()", ["--version"]),
        ("from crawlgauge.cli.main import main; main()", ["add", "--help"]),
        ("from crawlgauge.cli.main import main; main()", ["estimate", "--nonsense"]),
    ],
)
def test_nothing_heavy_is_loaded(environment, statement, words):
    code = COUNT.format(statement=statement, words=words)
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(result.stderr.splitlines()[-1]))
    assert "crawlgauge" in loaded
    assert loaded & HEAVY == set()


def test_it_runs_as_a_module_and_as_a_program(spawn):
    assert spawn("--version").out.startswith("crawlgauge, version ")
