"""How much memory a command takes that is its own, at its peak."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_SECONDS_BETWEEN = 0.01


class Used(NamedTuple):
    """What a command left behind, and its peak of anonymous memory in bytes."""

    code: int
    err: str
    peak: int


def run_measured(folder, *words, seconds=300):
    """Run the command line; files that it maps are not counted, which the system can take back."""
    with (folder / "err.txt").open("w+b") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "crawlgauge", *map(str, words)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        peak, end = 0, time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < end:
            peak = max(peak, _anonymous_bytes(process.pid))
            time.sleep(_SECONDS_BETWEEN)
        process.kill()
        process.wait()
        errors.seek(0)
        return Used(process.returncode, errors.read().decode(errors="replace"), peak)


def _anonymous_bytes(pid):
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:")), 0)
