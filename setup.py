"""Builds the compiled core; all else is in pyproject.toml."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

CORE = Path("src/crawlgauge/core")

# For the checks of memory: CRAWLGAUGE_CORE=checked compares each index of an array with its
# bounds, CRAWLGAUGE_CORE=sanitized also has the compiler watch over each access (gcc, clang).
VARIANT = os.environ.get("CRAWLGAUGE_CORE", "")
SANITIZER = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
FLAGS = ["-O1", "-g", *SANITIZER] if VARIANT == "sanitized" else ["-O3"]

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"crawlgauge.core.{source.stem}",
                [str(source)],
                extra_compile_args=FLAGS,
                extra_link_args=SANITIZER if VARIANT == "sanitized" else [],
            )
            for source in sorted(CORE.glob("*.pyx"))
        ],
        build_dir="build/core",
        include_path=["src"],
        compiler_directives={
            "language_level": 3,
            "boundscheck": bool(VARIANT),
            "wraparound": False,
            "initializedcheck": bool(VARIANT),
            "cdivision": True,
            "freethreading_compatible": True,
        },
    ),
)
