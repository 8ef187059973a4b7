"""The notebooks run from top to bottom, and what they show stays short."""

import ast
import html
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_PIXELS_A_CELL = 6000 / 12


def cells_of(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    return [(cell["cell_type"], "".join(cell["source"])) for cell in document["cells"]]


def run_cell(source, namespace, where):
    """Run a cell as a notebook does, and return what its last expression shows, as HTML."""
    tree = ast.parse(source, where)
    shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), namespace)  # noqa: S102 - our own notebooks
    if shown is None:
        return ""
    value = eval(compile(ast.Expression(shown.value), where, "eval"), namespace)  # noqa: S307 - as above
    if value is None:
        return ""
    if hasattr(value, "_repr_mimebundle_"):
        return value._repr_mimebundle_()["image/svg+xml"]
    return value._repr_html_() if hasattr(value, "_repr_html_") else html.escape(repr(value))


def run_notebook(path, capsys):
    """Return what each cell of code shows and prints."""
    namespace, outputs = {}, []
    for kind, source in cells_of(path):
        if kind == "code":
            shown = run_cell(source, namespace, path.name)
            outputs.append(f"<pre>{html.escape(capsys.readouterr().out)}</pre>{shown}")
    return outputs


def test_notebooks_are_kept_without_outputs():
    assert [path.stem for path in NOTEBOOKS] == ["common-crawl", "tutorial"]
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert all(cell.get("outputs", []) == [] for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_short_results(path, capsys, monkeypatch):
    monkeypatch.chdir(FOLDER)
    outputs = run_notebook(path, capsys)
    assert max(output.count("<tr") for output in outputs) <= 12
    if path.stem == "tutorial":
        assert "A typical crawl holds about 40" in "".join(outputs)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_twelve_cells_take_less_than_6000_pixels(path, chromium, capsys, monkeypatch):
    playwright = pytest.importorskip("playwright.sync_api")
    monkeypatch.chdir(FOLDER)
    outputs = run_notebook(path, capsys)
    texts = [source for _, source in cells_of(path)]
    body = "".join(f"<pre>{html.escape(text)}</pre>" for text in texts) + "".join(outputs)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 800})
        page.set_content(f"<body style='font: 14px sans-serif'>{body}</body>")
        height = page.evaluate("document.body.scrollHeight")
        browser.close()
    assert height <= MOST_PIXELS_A_CELL * len(outputs), height
