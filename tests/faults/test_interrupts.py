"""Ctrl-C and SIGTERM end any command within two seconds of the processor's time, whatever it does.

On a machine that has other work, two seconds of a watch are no measure of a program.
"""

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

import crawlgauge as cg

ROOT = Path(__file__).parents[2]
SECONDS = 2.0
PATIENCE = 60.0
"""Of a watch, on a machine that does much else."""
N_LINES = 3_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a large list, a large index and a store of many crawls."""
    folder = tmp_path_factory.mktemp("interrupts")
    with (folder / "list.txt").open("w") as file:
        file.writelines(f"http://h{k % 999}.org/{k}\n" for k in range(N_LINES))
    with (folder / "index.cdxj").open("w") as file:
        file.writelines(
            f'org,h{k % 999})/{k} 20210601000000 {{"url": "http://h{k % 999}.org/{k}", '
            f'"status": "200", "digest": "{k:032d}"}}\n'
            for k in range(N_LINES // 4)
        )
    for number in range(12):
        part = folder / "part.txt"
        part.write_text("".join(f"http://a.org/{k}\n" for k in range(9 * number, 9 * number + 500)))
        cg.add_crawl(folder / "crawlgauge.store", f"20{10 + number}-06", part)
    return folder


@pytest.fixture
def silent_server():
    """Accept connections and say nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def accept():
            with suppress(OSError):
                while True:
                    held.append(server.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"


def used_seconds(pid):
    """Return how long a process has had a processor, by all of its threads."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def send(number, process, *, to_newest):
    """Send a signal, which the system may hand to any thread: first of all, to the one named."""
    # It may have ended.
    with suppress(ProcessLookupError, FileNotFoundError):
        threads = [int(path.name) for path in Path(f"/proc/{process.pid}/task").iterdir()]
        os.kill(max(threads, default=process.pid) if to_newest else process.pid, number)


COMMANDS = {
    "add a list": ["add", "x", "list.txt", "--date", "2021", "--store", "NEW"],
    "add an index": ["add", "2021-06", "index.cdxj", "--levels=url,content", "--store", "NEW"],
    "add a server's answer": [
        "add",
        "2021-06",
        "cdx+http://SERVER/cdx?url=a.org",
        "--store",
        "NEW",
    ],
    "add a web file": ["add", "2021-06", "http://SERVER/a.gz", "--store", "NEW"],
    "count": ["overlaps", "--store", "crawlgauge.store", "-o", "x.csv"],
    "estimate": ["estimate", "--full"],
    "report": ["report", "-o", "x.html"],
    "figures": ["figures", "-o", "NEW"],
    "plan": ["plan"],
    "simulate": ["simulate", "urn", "--scenario", "gaw", "-o", "NEW"],
    "demo": ["demo", "NEW"],
    "verify": ["verify"],
}
ALWAYS = ("add a list", "add a server's answer", "estimate", "simulate")


_numbers = itertools.count()


def _put_in(names, word):
    for name, text in names.items():
        word = word.replace(name, text)
    return word


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the time that is used")
@pytest.mark.parametrize(
    "kind",
    [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS],
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_whatever_a_command_does_it_ends_when_it_is_told_to(
    folder, silent_server, kind, number, code
):
    outcomes = []
    # Into the start, the middle and what comes behind.
    for share in (0.4, 0.9, 2.0) if kind in ALWAYS else (0.6, 1.2):
        names = {"SERVER": silent_server, "NEW": f"new-{next(_numbers)}"}
        words = [_put_in(names, word) for word in COMMANDS[kind]]
        process = subprocess.Popen(
            [sys.executable, "-m", "crawlgauge", *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )
        end = time.monotonic() + 15
        while process.poll() is None and used_seconds(process.pid) < share:
            if time.monotonic() > end:
                break  # It waits for a server.
            time.sleep(0.01)
        used = used_seconds(process.pid)
        send(number, process, to_newest=share > 1)
        end, more = time.monotonic() + PATIENCE, 0.0
        while process.poll() is None and time.monotonic() < end and more < SECONDS:
            more = max(more, used_seconds(process.pid) - used)
            time.sleep(0.01)
        still_runs = process.poll() is None
        process.kill()
        _, errors = process.communicate()
        assert not still_runs, f"{kind} went on for {more:.1f} s, {share} s after its start"
        assert b"Traceback" not in errors, errors.decode()
        assert process.returncode in (0, 1, code, -number), errors.decode()
        outcomes.append(process.returncode)
    assert code in outcomes or -number in outcomes or 0 in outcomes
