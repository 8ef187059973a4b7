"""Measure one job: CPU seconds of all its processes, wall time, memory and temporary disk.

CPU seconds are user and system time of the process and of all that it started and waited for, as
the kernel counts them. Memory is the anonymous memory of the process and its descendants, looked at
50 times a second (``RssAnon``, which smaps calls ``Anonymous``): pages of mapped files are left
out, since the kernel takes them back whenever it needs them.
"""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS_BETWEEN_LOOKS = 0.02
LOOKS_PER_DISK_LOOK = 25
"""Walking a folder costs more than reading a number of a process."""
N_LINES_OF_ERROR = 20


class JobError(Exception):
    """A job ended with an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What one run of a job took, what its last command printed, and CPU seconds by command."""

    cpu_seconds: float
    wall_seconds: float
    anonymous_bytes: int
    scratch_bytes: int
    output: str
    cpu_parts: tuple[float, ...] = ()


def measure(
    commands: Sequence[Sequence[str]], *, scratch: Path, environment: Mapping[str, str]
) -> Measurement:
    """Run commands one after the other, in a folder for them alone, and measure them as one job.

    Raises
    ------
    JobError
        If a command does not exit with 0.
    """
    before = _bytes_in(scratch)
    parts = [_measure_one(command, scratch, environment) for command in commands]
    return Measurement(
        cpu_seconds=sum(part.cpu_seconds for part in parts),
        wall_seconds=sum(part.wall_seconds for part in parts),
        anonymous_bytes=max(part.anonymous_bytes for part in parts),
        scratch_bytes=max(part.scratch_bytes for part in parts) - before,
        output=parts[-1].output,
        cpu_parts=tuple(part.cpu_seconds for part in parts),
    )


def _measure_one(
    command: Sequence[str], scratch: Path, environment: Mapping[str, str]
) -> Measurement:
    out_path, error_path = scratch / "output", scratch / "errors"
    anonymous = on_disk = n_looks = 0
    with out_path.open("wb") as output, error_path.open("wb") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=environment)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            anonymous = max(anonymous, sum(map(_anonymous_bytes, _with_descendants(process.pid))))
            if n_looks % LOOKS_PER_DISK_LOOK == 0:
                on_disk = max(on_disk, _bytes_in(scratch))
            n_looks += 1
            time.sleep(SECONDS_BETWEEN_LOOKS)
        wall_seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        lines = error_path.read_text(encoding="utf-8", errors="replace").splitlines()
        last = "\n".join(lines[-N_LINES_OF_ERROR:])
        raise JobError(f"{' '.join(command)[:400]} exited with {process.returncode}:\n{last}")
    return Measurement(
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        wall_seconds=wall_seconds,
        anonymous_bytes=anonymous,
        scratch_bytes=max(on_disk, _bytes_in(scratch)),
        output=out_path.read_text(encoding="utf-8"),
    )


def _with_descendants(pid: int) -> Iterator[int]:
    """Yield a process and all that it started, as long as they live."""
    yield pid
    for thread in Path("/proc", str(pid), "task").glob("*/children"):
        try:
            children = thread.read_text(encoding="ascii").split()
        except OSError:
            continue  # It has ended meanwhile.
        for child in children:
            yield from _with_descendants(int(child))


def _anonymous_bytes(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0  # It has ended meanwhile.
    _, _, found = text.partition("RssAnon:")
    return int(found.split(None, 1)[0]) * 1024 if found else 0


def _bytes_in(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(root, name).lstat().st_size
            except OSError:
                continue
    return total
