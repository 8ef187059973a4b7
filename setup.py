"""Builds the compiled core; all else is in pyproject.toml."""

import os
import sys
from pathlib import Path

import vl_convert
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError, PlatformError

CORE = Path("src/crawlgauge/core")

# For checks of memory: CRAWLGAUGE_CORE=checked compares each index of an array with its bounds,
# CRAWLGAUGE_CORE=sanitized also has the compiler (gcc, clang) watch over each access.
VARIANT = os.environ.get("CRAWLGAUGE_CORE", "")
SANITIZER = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
IS_SANITIZED = VARIANT == "sanitized"


class BuildCore(build_ext):
    """Builds the extensions, or says what is missing for it, and the scripts of the report."""

    def finalize_options(self) -> None:
        """Let as many compilers run at once as there are processors."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        """Build all."""
        super().run()
        # The libraries that draw charts, as one script: to put it together takes a second.
        root = Path("src" if self.inplace else self.build_lib)
        script = root / "crawlgauge/report/page/assets/vega.js"
        script.parent.mkdir(parents=True, exist_ok=True)
        bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
        script.write_text(bundle, encoding="utf-8")

    def build_extension(self, ext: Extension) -> None:
        """Build one extension."""
        try:
            super().build_extension(ext)
        except (CCompilerError, ExecError, PlatformError, OSError) as error:
            sys.exit(
                f"crawlgauge: the compiled core cannot be built: {error}\n"
                "It needs a C compiler and the headers of Python. On Debian or Ubuntu: apt install "
                "gcc python3-dev; on Fedora: dnf install gcc python3-devel; on macOS: "
                "xcode-select --install"
            )


setup(
    cmdclass={"build_ext": BuildCore},
    ext_modules=cythonize(
        [
            Extension(
                f"crawlgauge.core.{source.stem}",
                [str(source)],
                extra_compile_args=["-O1", "-g", *SANITIZER] if IS_SANITIZED else ["-O3"],
                extra_link_args=SANITIZER if IS_SANITIZED else [],
            )
            for source in sorted(CORE.glob("*.pyx"))
        ],
        build_dir=f"build/core{'-' * bool(VARIANT)}{VARIANT}",
        include_path=["src"],
        compiler_directives={
            "language_level": 3,
            "boundscheck": bool(VARIANT),
            "initializedcheck": bool(VARIANT),
            "wraparound": False,
            "cdivision": True,
            "freethreading_compatible": True,
        },
    ),
)
