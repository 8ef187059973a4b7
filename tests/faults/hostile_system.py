"""A system whose calls fail: the library that makes it so, built, loaded and told what to do."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("hostile_system.c")
ROOT = SOURCE.parents[2]
FILES, MEMORY = 1, 2
_VARIABLE = "HOSTILE_SYSTEM"


def build(folder):
    """Build the library; return its path."""
    path = folder / "hostile_system.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-w", "-o", path, SOURCE, "-ldl"]
    subprocess.run(list(map(str, command)), check=True)
    return path


def environment(library):
    """Return the environment of processes that the library is loaded into before all else."""
    return {
        **os.environ,
        "LD_PRELOAD": str(library),
        _VARIABLE: str(library),
        "PYTHONPATH": str(ROOT / "src"),
        "OPENBLAS_NUM_THREADS": "1",
    }


class HostileSystem:
    """The library, in a process that it was loaded into."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(os.environ[_VARIABLE])
        self._library.hostile_failed.restype = ctypes.c_char_p
        self._library.hostile_end.restype = ctypes.c_long

    def begin(self, folder, kind, at, number):
        """Let the n-th call that concerns files below a folder, or much memory, fail so."""
        where = os.fsencode(folder)
        self._library.hostile_begin(where, kind, ctypes.c_long(at), number)

    def end(self):
        """Be kind again; return how many calls there were, and which one failed."""
        n_calls = self._library.hostile_end()
        return n_calls, self._library.hostile_failed().decode()

    def be_odd(self, *, has_no_links=False, seconds_back=0):
        """Have no hard links, or a clock that goes back by so much each time it is looked at."""
        self._library.hostile_oddities(has_no_links, ctypes.c_long(seconds_back))


def run_python(library, *words, **options):
    """Run a script in such a system."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        env=environment(library),
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
