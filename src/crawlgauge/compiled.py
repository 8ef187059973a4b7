"""The one way in which crawlgauge compiles a kernel: cached on disk and without the GIL."""

import functools
import hashlib
import importlib
import logging
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba

__all__ = ["announce_compilation", "compiled"]

P = ParamSpec("P")
R = TypeVar("R")

_IMPORT = re.compile(rb"^from (crawlgauge[.\w]*) import", re.MULTILINE)

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


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with numba at its first call, or load it from numba's cache.

    Parameters
    ----------
    function
        Works on arrays and numbers only.
    """
    try:
        kernel: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        # numba found no folder that it may write its cache to (a read-only installation without
        # a home folder): compile anew in each process rather than fail.
        return cast("Callable[P, R]", numba.njit(nogil=True)(function))
    # numba looks at the kernel's own file alone, and would go on using what was compiled with an
    # older version of a kernel that it calls in another file.
    file = getattr(kernel._cache, "_cache_file", None)  # noqa: SLF001
    if file is not None:
        file._source_stamp = (file._source_stamp, _fingerprint(function.__code__.co_filename))  # noqa: SLF001
    return cast("Callable[P, R]", kernel)


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
    for kernel in kernels:
        folder = kernel.stats.cache_path  # type: ignore[attr-defined]
        name = kernel.py_func.__name__  # type: ignore[attr-defined]
        if not folder or not any(Path(folder).glob(f"*.{name}-*.nbi")):
            _log.info("compiling, once after each installation; this takes some seconds")
            return
