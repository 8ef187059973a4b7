"""On what something was measured: machine, versions, date, and how busy others kept the machine."""

import datetime as dt
import importlib.metadata
import os
import platform
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Bystanders", "describe_machine", "describe_versions", "today"]

PACKAGES = ("numpy", "polars", "isal", "duckdb", "pyarrow", "pyspark", "datasketches")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
BUSY_FIELDS = (0, 1, 2, 5, 6)
"""user, nice, system, irq and softirq in the first line of /proc/stat."""


def describe_machine() -> str:
    """Return processor, cores, memory and system in words."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    models = [line.partition(":")[2].strip() for line in info.splitlines() if "model name" in line]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    name = models[0] if models else platform.machine()
    return f"{name}, {cores} cores, {memory:.0f} GiB, Linux {platform.release()}"


def describe_versions() -> str:
    """Return the versions of all programs that take part."""
    import crawlgauge

    found = [f"crawlgauge {crawlgauge.__version__}", f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    sort = subprocess.run(["sort", "--version"], capture_output=True, text=True, check=False)
    found.append(sort.stdout.partition("\n")[0].replace("sort (GNU coreutils)", "coreutils"))
    return ", ".join(found)


def today() -> str:
    """Return the date."""
    return dt.datetime.now(dt.UTC).date().isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bystanders:
    """Tells how much of the machine other processes took meanwhile.

    Parameters
    ----------
    wall, busy, own
        Seconds at the start: of the clock, of all processors, of this process and its children.
    """

    wall: float
    busy: float
    own: float

    @classmethod
    def start(cls) -> "Bystanders":
        """Start to look."""
        return cls(wall=time.monotonic(), busy=_busy_seconds(), own=_own_seconds())

    def share(self) -> float:
        """Return the share of all cores that others have taken since."""
        wall = (time.monotonic() - self.wall) * (os.cpu_count() or 1)
        others = (_busy_seconds() - self.busy) - (_own_seconds() - self.own)
        return max(0.0, others / wall)


def _busy_seconds() -> float:
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    return sum(int(fields[position]) for position in BUSY_FIELDS) / TICKS_PER_SECOND


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
