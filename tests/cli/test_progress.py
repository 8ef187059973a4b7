"""Progress is shown on a terminal only, and leaves the line empty."""

import io

import click
import pytest

from crawlgauge.cli import progress
from crawlgauge.cli.progress import show_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def use_terminal(monkeypatch):
    """Make standard error a terminal, from the moment when this is called."""

    def use(seconds_between=0.0):
        terminal = Terminal()
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setattr(progress, "_SECONDS_BETWEEN", seconds_between)
        return terminal

    return use


def show(*, quiet=False, **options):
    with click.Context(click.Command("x"), obj=quiet), show_progress("reading", **options) as line:
        if line is not None:
            line(500_000, 2_000_000)
            line(3_000_000, None)
    return line


def test_share_and_amount_are_shown_and_taken_away_again(use_terminal):
    terminal = use_terminal()
    show(in_bytes=True)
    assert terminal.getvalue() == "\r\033[Kreading 25% 0 MB\r\033[Kreading 3 MB\r\033[K"


def test_it_is_not_shown_too_often(use_terminal):
    terminal = use_terminal(seconds_between=60.0)
    assert show() is not None
    assert terminal.getvalue() == ""


def test_it_is_not_shown_to_a_file_or_when_quiet(use_terminal, monkeypatch):
    terminal = use_terminal()
    assert show(quiet=True) is None
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert show() is None
    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("three_crawls")
def test_a_command_on_a_terminal_shows_progress_and_the_same_result(run, use_terminal):
    plain = run("overlaps").out
    terminal = use_terminal()
    assert run("overlaps").out == plain
    assert "counting overlaps 100%" in terminal.getvalue()
