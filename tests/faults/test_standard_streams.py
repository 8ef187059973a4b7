"""Streams that are closed or full, names that steer terminals: told in words, and no harm done."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import crawlgauge as cg

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a store of three crawls."""
    folder = tmp_path_factory.mktemp("streams")
    path = folder / "list.txt"
    for year in (2019, 2020, 2021):
        path.write_text("".join(f"http://a.org/{k}\n" for k in range(year - 2019, 200)))
        cg.add_crawl(folder / "crawlgauge.store", str(year), path, date=f"{year}-06-01")
    return folder


def run(folder, *words, closed=(), **options):
    """Run a command of which some streams are closed."""
    return subprocess.run(
        [sys.executable, "-m", "crawlgauge", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
        preexec_fn=lambda: [os.close(number) for number in closed],
        **{"stdin": subprocess.DEVNULL, "capture_output": "stdout" not in options, **options},
    )


COMMANDS = {
    "list": ["list"],
    "list as JSON": ["list", "--json"],
    "verify": ["verify"],
    "overlaps": ["overlaps"],
    "estimate": ["estimate", "--full"],
    "version": ["--version"],
    "help": ["estimate", "--help"],
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_output_that_is_closed_or_full_is_told(folder, kind):
    closed = run(folder, *COMMANDS[kind], closed=[1])
    assert closed.returncode == 1
    assert closed.stderr.endswith(b"error: cannot write the output: Bad file descriptor\n")
    with Path("/dev/full").open("wb") as full:
        refused = run(folder, *COMMANDS[kind], stdout=full, stderr=subprocess.PIPE)
    assert refused.returncode == 1
    assert refused.stderr.endswith(b"error: cannot write the output: No space left on device\n")
    assert b"Traceback" not in closed.stderr + refused.stderr


@pytest.mark.parametrize("kind", ["list", "verify", "overlaps", "estimate"])
def test_closed_streams_that_are_not_needed_change_nothing(folder, kind):
    whole = run(folder, *COMMANDS[kind])
    assert whole.returncode == 0
    for closed in ([0], [2], [0, 2]):
        found = run(folder, *COMMANDS[kind], closed=closed)
        assert (found.returncode, found.stdout) == (0, whole.stdout)


def test_no_file_of_a_store_becomes_a_stream_that_was_closed(folder, tmp_path):
    """A file that is opened first would get its number, and with it all that is printed."""
    words = ["add", "2022", "list.txt", "--date", "2022", "--store", str(tmp_path / "store")]
    for closed in ([0, 1, 2], [1], [0]):
        run(folder, *words, "--replace", closed=closed)
        assert {item.problem for item in cg.verify_store(tmp_path / "store")} == {None}
        assert cg.list_crawls(tmp_path / "store")[0].crawl.n_urls == 198


@pytest.mark.parametrize("words", [["list"], ["verify"], ["estimate"]])
def test_a_reader_that_goes_away_ends_a_command_in_silence(folder, words):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        found = run(folder, *words, stdout=pipe, stderr=subprocess.PIPE)
    assert (found.returncode, found.stderr) == (141, b"")


STEERING = b"\x1b]0;title\x07\x1b[31m\x9b2J\xe2\x80\xae\r"


def test_nothing_that_others_named_steers_a_terminal(tmp_path):
    """Names of files, folders and hosts, addresses, labels, texts of errors."""
    name = b"a" + STEERING + b"\xff.txt"
    (tmp_path / "names").mkdir()
    path = os.path.join(os.fsencode(tmp_path / "names"), name)  # noqa: PTH118 - no text
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(b"http://a.org/\nhttp://b.org/" + STEERING + b"\n" + STEERING + b"\n")
    with open(os.path.join(os.fsencode(tmp_path), b"t" + name), "wb") as file:  # noqa: PTH118, PTH123
        file.write(b"a,date_a,n_a,b,date_b,n_b,n_shared\n" + STEERING + b",x,1,b,y,2,3\n")
    shown = b""
    for words in (
        [b"add", b"2021-06", path],
        [b"add", b"2021-06", b"names", b"--replace"],
        [b"add", b"--each", path],
        [b"add", STEERING, path],
        [b"add", b"2021-07", path + b"x"],
        [b"add", b"2021-07", b"http://127.0.0.1:1/" + STEERING.replace(b"\0", b"")],
        [b"add", b"2021-07", path, b"--store", b"x" + name],
        [b"add", b"2021-07", path, b"--format", STEERING],
        [b"estimate", b"t" + name],
        [b"recall", path],
        [b"recall", path, b"--store", b"x" + name],
        [b"list", b"--store", name],
        [b"remove", STEERING],
        [b"verify"],
        [b"list"],
    ):
        found = run(tmp_path, *map(os.fsdecode, words))
        shown += found.stdout + found.stderr
        assert b"Traceback" not in found.stderr, found.stderr.decode(errors="replace")
    text = shown.decode()
    assert "2021-06" in text
    assert {char for char in text if not char.isprintable()} <= {"\n"}
