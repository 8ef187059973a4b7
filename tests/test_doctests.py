"""The examples of docstrings show what the program answers."""

import doctest
import importlib
import io
from pathlib import Path

import pytest

import crawlgauge

SOURCE = Path(crawlgauge.__file__).parent
MODULES = [
    ".".join(("crawlgauge", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name.removesuffix(".__init__"))
    found = doctest.DocTestFinder(exclude_empty=True).find(module)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report = io.StringIO()
    for test in found:
        runner.run(test, out=report.write)
    assert runner.summarize(verbose=False).attempted > 0
    assert runner.failures == 0, report.getvalue()
