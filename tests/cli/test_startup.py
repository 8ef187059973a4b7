"""What is not needed is not loaded: help and import are fast."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
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


ASK = """
import sys
from crawlgauge.cli.main import main

for words in (
    *(["add", f"202{number}-06", f"{number}.parquet", "--status", "any"] for number in range(3)),
    ["add", "2023-06", "0.parquet", "--status", "any", "--mime", "text/html"],
    ["overlaps"],
    ["overlaps"],
    ["estimate"],
    ["strata", "--by", "host"],
):
    try:
        main(words)
    except SystemExit:
        pass
"""


def test_no_command_loads_pandas_for_the_sake_of_arrow(environment, tmp_path):
    """Arrow would load it wherever it is installed; that takes longer than a small crawl."""
    for number in range(3):
        rows = {
            "url": [f"http://a.org/{number}", "http://a.org/x", "http://b.org/y"],
            "mime": pa.array(["text/html", None, "text/html"]).dictionary_encode(),
            "status": [200, None, 301],
            "timestamp": ["20200601000000", None, "20200602000000"],
        }
        pq.write_table(pa.table(rows), tmp_path / f"{number}.parquet")
    (tmp_path / "pandas.py").write_text(
        "import traceback\n"
        "with open('imported', 'a') as file:\n"
        "    traceback.print_stack(file=file)\n"
        "raise ImportError\n"
    )
    environment["PYTHONPATH"] = f"{tmp_path}:{environment.get('PYTHONPATH', '')}"
    result = subprocess.run(
        [sys.executable, "-c", ASK],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "4 crawls compared" in result.stdout
    imported = tmp_path / "imported"
    assert not imported.exists(), imported.read_text()
