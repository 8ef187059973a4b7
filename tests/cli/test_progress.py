"""Progress is shown on a terminal only, and leaves the line empty."""

import io
import shutil

import click
import pytest

from crawlgauge.cli import progress
from crawlgauge.cli.progress import describe_reading, show_progress, show_reading
from crawlgauge.sources.reading import Progress


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


def test_the_share_is_shown_and_taken_away_again(use_terminal):
    terminal = use_terminal()
    show()
    assert terminal.getvalue() == "\r\033[Kreading 25%\r\033[Kreading\r\033[K"


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
def test_a_command_on_a_terminal_shows_progress_and_the_same_result(run, folder, use_terminal):
    plain = run("overlaps").out
    shutil.rmtree(folder / "crawlgauge.store" / "cache")  # Nothing would be left to count.
    terminal = use_terminal()
    assert run("overlaps").out == plain
    assert "counting overlaps 100%" in terminal.getvalue()


def read_with(use_terminal, **options):
    terminal = use_terminal(**options)
    with click.Context(click.Command("x"), obj=False), show_reading() as listener:
        listener(Progress(file="a/b.cdx", n_bytes=50, n_bytes_total=200, n_captures=7))
    return terminal.getvalue()


def test_reading_tells_share_captures_rate_and_file(use_terminal, monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_FILES", 0.0)
    shown = read_with(use_terminal)
    assert shown.startswith("\r\033[Kreading 25% of 0 MB, 7 captures, ")
    assert shown.endswith(" a second: b.cdx\r\033[K")


def test_reading_leaves_a_line_in_a_log_now_and_then(monkeypatch, caplog):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    state = Progress(file="b\x1b[31m.cdx", n_bytes=3_000_000, n_bytes_total=None, n_captures=7)
    with caplog.at_level("INFO"), click.Context(click.Command("x"), obj=False):
        with show_reading() as listener:
            listener(state)
        assert caplog.text == ""
        monkeypatch.setattr(progress, "_SECONDS_IN_LOG", 0.0)
        with show_reading() as listener:
            listener(state)
    assert "read 3 MB, 7 captures" in caplog.text
    assert "b�[31m.cdx" in caplog.text


@pytest.mark.parametrize(
    ("n_pages", "said"), [(5, "5 of 20 pages, 0:30 left: "), (None, "5 pages: ")]
)
def test_of_a_servers_answer_pages_are_told(n_pages, said):
    pages = {"n_pages": 5, "n_pages_total": n_pages and 20}
    state = Progress(file="c", n_bytes=2_500_000, n_bytes_total=None, n_captures=0, **pages)
    assert describe_reading(state, 10.0) == f"fetched 2.5 MB, {said}c"


@pytest.mark.parametrize(
    ("n_bytes", "seconds", "left"), [(10, 10, "1:30"), (1, 100, "2:45:00"), (50, 1, None)]
)
def test_the_time_left_follows_from_the_bytes(n_bytes, seconds, left):
    state = Progress(file="a", n_bytes=n_bytes, n_bytes_total=100, n_captures=5)
    text = describe_reading(state, seconds)
    assert (f"{left} left" in text) if left else ("left" not in text)
