"""The one way in which crawlgauge compiles a kernel: cached on disk and without the GIL."""

import functools
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba

__all__ = ["announce_compilation", "compiled"]

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)


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
        file._source_stamp = (file._source_stamp, _fingerprint_kernels())  # noqa: SLF001
    return cast("Callable[P, R]", kernel)


@functools.cache
def _fingerprint_kernels() -> str:
    """Return a digest of all files that hold kernels."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        source = path.read_bytes()
        if b"@compiled" in source:
            digest.update(source)
    return digest.hexdigest()


def announce_compilation(*kernels: Callable[..., Any]) -> None:
    """Log that a few seconds go into compiling, if numba's cache does not hold `kernels` yet."""
    for kernel in kernels:
        folder = kernel.stats.cache_path  # type: ignore[attr-defined]
        name = kernel.py_func.__name__  # type: ignore[attr-defined]
        if not folder or not any(Path(folder).glob(f"*.{name}-*.nbi")):
            _log.info("compiling, once after each installation; this takes some seconds")
            return
