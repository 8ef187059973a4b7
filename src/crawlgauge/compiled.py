"""The one way in which crawlgauge compiles a kernel: cached on disk and without the GIL."""

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
        return cast("Callable[P, R]", numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:
        # numba found no folder that it may write its cache to (a read-only installation without
        # a home folder): compile anew in each process rather than fail.
        return cast("Callable[P, R]", numba.njit(nogil=True)(function))


def announce_compilation(*kernels: Callable[..., Any]) -> None:
    """Log that a few seconds go into compiling, if numba's cache does not hold `kernels` yet."""
    for kernel in kernels:
        folder = kernel.stats.cache_path  # type: ignore[attr-defined]
        name = kernel.py_func.__name__  # type: ignore[attr-defined]
        if not folder or not any(Path(folder).glob(f"*.{name}-*.nbi")):
            _log.info("compiling, once after each installation; this takes some seconds")
            return
