"""Interrupts, termination and readers that go away: no trace is left, and no traceback."""

import os
import signal
import subprocess
import sys
import time

import pytest


@pytest.fixture
def reading(folder, environment):
    """Start an ``add`` that waits for more input, with its lock held."""
    process = subprocess.Popen(
        [sys.executable, "-m", "crawlgauge", "add", "2021-12", "-"],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A process started in the background would ignore the interrupt.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    lock = folder / "crawlgauge.store" / "crawls" / "2021-12" / "lock"
    for _ in range(1200):
        if lock.exists() and lock.read_text():
            break
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.stdin.write(b"http://a.org/\n" * 100_000)
    process.stdin.flush()
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("has_other_crawl", [False, True])
def test_an_add_that_is_stopped_leaves_no_trace(
    request, run, make_list, folder, number, code, has_other_crawl
):
    store = folder / "crawlgauge.store"
    if has_other_crawl:
        run("add", "2021-06", make_list([1]))
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*.*")}
    process = request.getfixturevalue("reading")
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (code, b"")
    assert b"Traceback" not in errors
    if number == signal.SIGINT:
        assert b"interrupted; what was not finished was not stored" in errors
    assert store.exists() == has_other_crawl
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*.*")} == before
    assert not (store / "crawls" / "2021-12").exists()


@pytest.mark.parametrize("words", [["list"], ["--help"]])
@pytest.mark.usefixtures("run", "three_crawls")
def test_a_reader_that_goes_away_is_no_error_in_words(spawn, words):
    reading_end, writing_end = os.pipe()
    os.close(reading_end)
    result = spawn(*words, stdout=writing_end)
    os.close(writing_end)
    assert result.err == ""
    assert result.code == 128 + signal.SIGPIPE


@pytest.mark.usefixtures("three_crawls")
def test_head_sees_the_beginning(folder, environment):
    command = f"set -o pipefail; {sys.executable} -m crawlgauge list | head -c 1"
    result = subprocess.run(
        ["bash", "-c", command],  # noqa: S607 - the shell that users have
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.stdout, result.stderr) == ("c", "")
