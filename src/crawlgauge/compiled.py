"""The one way in which crawlgauge compiles a kernel: cached on disk and without the GIL."""

import functools
import hashlib
import importlib
import logging
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import numba

__all__ = ["Kernel", "announce_compilation", "compiled"]

P = ParamSpec("P")
R = TypeVar("R")

_IMPORT = re.compile(rb"^from (crawlgauge[.\w]*) import", re.MULTILINE)

_lock = threading.RLock()
"""Compiling one kernel sets up those that it calls."""

_log = logging.getLogger(__name__)

_LINEAR_ALGEBRA = "scipy.linalg.cython_blas"

if _LINEAR_ALGEBRA not in sys.modules:
    # When numba loads its array functions, for the first kernel, it loads this to see whether it is
    # there. No kernel here uses it, and every command would wait for it a fifth of a second.
    sys.modules[_LINEAR_ALGEBRA] = None  # type: ignore[assignment]
    array_functions: Any = importlib.import_module("numba.np.arraymath")
    del sys.modules[_LINEAR_ALGEBRA]
    # It is there: other people's kernels in the same process may use it.
    array_functions._HAVE_BLAS = True  # noqa: SLF001


class Kernel(Generic[P, R]):
    """A function that numba compiles, or loads from its cache, when it is first called.

    There are some hundred, of which a command needs a few: to set up all of them would take it
    longer than to start.

    Parameters
    ----------
    function
        What to compile.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the compiled function."""
        result: R = self.dispatcher(*args, **kwargs)
        return result

    @functools.cached_property
    def dispatcher(self) -> Any:  # noqa: ANN401 - numba has no types
        """What numba calls the function that it compiles for each type of arguments."""
        with _lock:
            # Another thread may have been faster.
            return self.__dict__.get("dispatcher") or _compile(self._function)

    @property
    def _numba_type_(self) -> Any:  # noqa: ANN401 - numba has no types
        """Tell numba what this is where another kernel calls it."""
        return self.dispatcher._numba_type_

    def is_cached(self) -> bool:
        """Tell whether it was compiled before, for whatever types, and is kept on the disk."""
        folder = self.dispatcher.stats.cache_path
        return bool(folder) and any(Path(folder).glob(f"*.{self._function.__name__}-*.nbi"))


def compiled(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile `function` with numba at its first call, or load it from numba's cache.

    Parameters
    ----------
    function
        Works on arrays and numbers only.
    """
    return Kernel(function)


def _compile(function: Callable[..., Any]) -> Any:  # noqa: ANN401 - numba has no types
    try:
        kernel: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        # numba found no folder that it may write its cache to (a read-only installation without
        # a home folder): compile anew in each process rather than fail.
        return numba.njit(nogil=True)(function)
    # numba looks at the kernel's own file alone, and would go on using what was compiled with an
    # older version of a kernel that it calls in another file.
    file = getattr(kernel._cache, "_cache_file", None)  # noqa: SLF001
    if file is not None:
        file._source_stamp = (file._source_stamp, _fingerprint(function.__code__.co_filename))  # noqa: SLF001
    return kernel


@functools.cache
def _fingerprint(file: str) -> str:
    """Return a digest of the sources that a kernel depends on: its file and all that it imports."""
    digest, pending, seen = hashlib.sha256(), [Path(file)], {Path(file)}
    while pending:
        source = pending.pop().read_bytes()
        digest.update(source)
        imported = {_find_source(name.decode()) for name in _IMPORT.findall(source)} - seen
        pending += sorted(imported)
        seen |= imported
    return digest.hexdigest()


def _find_source(module: str) -> Path:
    path = Path(__file__).parents[1].joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def announce_compilation(*kernels: Callable[..., Any]) -> None:
    """Log that a few seconds go into compiling, if numba's cache does not hold `kernels` yet."""
    if not all(kernel.is_cached() for kernel in kernels if isinstance(kernel, Kernel)):
        _log.info("compiling, once after each installation; this takes some seconds")
