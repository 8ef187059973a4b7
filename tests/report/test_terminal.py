"""On a terminal: tables that fit, emphasis, a small picture; the same words as in plain text."""

import contextlib
import io
import os
import re
import subprocess
import sys

import pytest

from crawlgauge.report.blocks import Column, Grid, Paragraph, Trend, print_blocks, render_blocks
from crawlgauge.report.estimate_blocks import to_blocks


def show(blocks, monkeypatch, width=80, colour=False):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.delenv("NO_COLOR", raising=False)
    if colour:
        monkeypatch.setenv("FORCE_COLOR", "1")
    output = io.StringIO()
    print_blocks(blocks, output)
    return output.getvalue()


def words_of(text):
    return re.sub(r"[\s─\N{NO-BREAK SPACE}]+", " ", text).split()


def run_on_terminal(command, environment):
    near, far = os.openpty()
    process = subprocess.Popen(command, stdout=far, env=environment)
    os.close(far)
    shown = b""
    with contextlib.suppress(OSError):  # raised at the end of a terminal's output
        while part := os.read(near, 65536):
            shown += part
    os.close(near)
    assert process.wait() == 0
    return shown


@pytest.mark.parametrize("width", [80, 200])
def test_every_word_of_the_plain_text_is_there_and_lines_fit(full, monkeypatch, width):
    blocks = to_blocks(full)
    shown = show(blocks, monkeypatch, width)
    assert max(map(len, shown.splitlines())) <= width
    if width == 200:
        trends = [item for block in blocks for item in block if isinstance(item, Trend)]
        without = [line for line in shown.splitlines() if not line.startswith(trends[0].name)]
        assert words_of("\n".join(without)) == words_of(render_blocks(blocks))


def test_nothing_is_cut_off_on_a_narrow_terminal(full, monkeypatch):
    shown = show(to_blocks(full), monkeypatch, 40)
    assert "…" not in shown
    for crawl in full.crawls:
        assert crawl.label in shown
        assert f"{crawl.n_urls:,}" in shown


def test_what_must_not_be_trusted_stands_out(monkeypatch):
    failed = Paragraph(text="do not trust", first="• ", rest="  ", role="fail")
    assert "\x1b[1;31m• do not trust" in show([[failed]], monkeypatch, colour=True)


def test_what_looks_like_markup_or_emoji_is_left_as_it_is(monkeypatch):
    text = "[red]a[/red] :smile: [/]"
    blocks = [[Paragraph(text=text), Grid(columns=(Column(header="[b]h"),), rows=((text,),))]]
    assert show(blocks, monkeypatch).count(text) == 2
    assert "[b]h" in show(blocks, monkeypatch)


@pytest.mark.parametrize(
    ("values", "bars"),
    [
        ([0.5, 0.5], "██"),
        ([0.0, 0.25, 0.5, 1.0], "▁▂▄█"),
        ([None, 0.3, None], "·█·"),
        ([0.0, 0.0], "▁▁"),
        ([], ""),
    ],
)
def test_a_sparkline_has_a_bar_for_each_number(values, bars, monkeypatch):
    trend = Trend(name="Coverage", values=tuple(values), text="rising")
    assert show([[trend]], monkeypatch) == f"Coverage: {bars} rising\n"


def test_the_command_line_is_plain_when_piped_and_set_on_a_terminal(tmp_path):
    table = tmp_path / "t.csv"
    rows = ["a,date_a,n_a,b,date_b,n_b,n_shared"]
    dates = ["2019-01-01", "2020-01-01", "2021-01-01", "2022-01-01"]
    for i in range(4):
        for j in range(i + 1, 4):
            shared = round(5000 * 0.7 ** (j - i))
            rows.append(f"c{i},{dates[i]},10000,c{j},{dates[j]},10000,{shared}")
    table.write_text("\n".join(rows))
    command = [sys.executable, "-m", "crawlgauge", "estimate", str(table)]
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    assert b"\x1b" not in piped
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "90"}
    assert b"\x1b[1m" in (shown := run_on_terminal(command, environment))
    assert "Coverage over time: " in shown.decode()
