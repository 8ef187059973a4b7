"""Draw the output of ``crawlgauge demo`` as a terminal window: ``python draw_terminal.py``."""
# ruff: noqa: INP001 - a script beside its figure, no package

import os
import re
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from click.testing import CliRunner

from crawlgauge.cli.main import command

FIGURE = Path(__file__).with_name("estimate.svg")

_COMMAND = "crawlgauge demo"
_CRAWL_ROW = re.compile(r"\d{4}-\d{2}  ")
_CRAWLS_SHOWN = 3
_CELL_WIDTH, _LINE_HEIGHT = 8.4, 19
_MARGIN, _BAR_HEIGHT = 20, 34
_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
# One dark window with an edge reads alike on a light and on a dark page.
_EDGE, _BAR, _GROUND, _TEXT, _FAINT, _PROMPT = (
    "#6e7681", "#2d333b", "#1c2128", "#e6edf3", "#9aa4af", "#7ee787",
)  # fmt: skip


def run_demo() -> str:
    """Return what ``crawlgauge demo`` prints."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            result = CliRunner().invoke(command, ["--quiet", "demo"], catch_exceptions=False)
        finally:
            os.chdir(before)
    return result.stdout


def shorten(output: str) -> list[str]:
    """Return the lines of the demo with the crawls in the middle and the last hints left out."""
    lines = output.partition("\nURL lists and truth.json:")[0].rstrip().split("\n")
    rows = [k for k, line in enumerate(lines) if _CRAWL_ROW.match(line)]
    hidden = range(rows[_CRAWLS_SHOWN], rows[-_CRAWLS_SHOWN])
    mark = f"⋮        ({len(hidden)} more crawls)"
    return [*lines[: hidden.start], mark, *lines[hidden.stop :]]


def draw(lines: list[str]) -> str:
    """Return an SVG terminal window that shows the command and its output."""
    shown = [f"$ {_COMMAND}", "", *lines]
    width = round(max(map(len, shown)) * _CELL_WIDTH + 2 * _MARGIN)
    height = _BAR_HEIGHT + len(shown) * _LINE_HEIGHT + 2 * _MARGIN - 6
    texts = "\n".join(_draw_line(k, line) for k, line in enumerate(shown) if line.strip())
    dots = "".join(
        f'<circle cx="{_MARGIN + 20 * k}" cy="{_BAR_HEIGHT / 2}" r="6" fill="{_EDGE}"/>'
        for k in range(3)
    )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" \
width="{width}" height="{height}" role="img" aria-labelledby="title">
<title id="title">Terminal window: the output of {_COMMAND}</title>
<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="9" \
fill="{_GROUND}" stroke="{_EDGE}"/>
<path d="M1 {_BAR_HEIGHT}V9.5a8.5 8.5 0 0 1 8.5-8.5H{width - 9.5}a8.5 8.5 0 0 1 8.5 8.5\
V{_BAR_HEIGHT}z" fill="{_BAR}"/>
{dots}
<g font-family="{_FONT}" font-size="14" fill="{_TEXT}" style="white-space: pre">
{texts}
</g>
</svg>
"""


def _draw_line(number: int, line: str) -> str:
    text = line.lstrip(" ")
    x = _MARGIN + (len(line) - len(text)) * _CELL_WIDTH
    y = _BAR_HEIGHT + _MARGIN + number * _LINE_HEIGHT + 9
    colour = ""
    if number == 0:
        colour = f' fill="{_PROMPT}"'
    elif text[0] in "─⋮":
        colour = f' fill="{_FAINT}"'
    # Columns stay in line whatever font the reader's machine has.
    length = f'textLength="{len(text) * _CELL_WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x:.1f}" y="{y}" {length}{colour} xml:space="preserve">{escape(text)}</text>'


if __name__ == "__main__":
    FIGURE.write_text(draw(shorten(run_demo())), encoding="utf-8")
