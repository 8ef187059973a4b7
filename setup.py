"""Builds the compiled core, the manual and completions; all else is in pyproject.toml."""

import os
import sys
from pathlib import Path

import click
import vl_convert
from click.shell_completion import BashComplete, FishComplete, ZshComplete
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError, PlatformError

CORE = Path("src/crawlgauge/core")
SHARE = Path("build/share")
WIDTH = 78

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


def write_shared_files() -> list[tuple[str, list[str]]]:
    """Write the manual and the completions of shells; return where they are installed."""
    sys.path.insert(0, "src")
    from crawlgauge.cli import options
    from crawlgauge.cli.main import command

    SHARE.mkdir(parents=True, exist_ok=True)
    shells = {
        ("crawlgauge", BashComplete): "bash-completion/completions",
        ("_crawlgauge", ZshComplete): "zsh/site-functions",
        ("crawlgauge.fish", FishComplete): "fish/vendor_completions.d",
    }
    for name, kind in shells:
        script = kind(command, {}, "crawlgauge", options.COMPLETE).source()
        (SHARE / name).write_text(script, encoding="utf-8")
    (SHARE / "crawlgauge.1").write_text(write_manual(command), encoding="utf-8")
    homes = {"crawlgauge.1": "man/man1"} | {name: home for (name, _), home in shells.items()}
    return [(f"share/{home}", [str(SHARE / name)]) for name, home in homes.items()]


def write_manual(command: click.Group) -> str:
    """Write the help of all commands as one page of the manual."""
    settings = {"resilient_parsing": True, "terminal_width": WIDTH}
    top = command.make_context("crawlgauge", [], **settings)
    sections = {"DESCRIPTION": command.get_help(top)}
    for name, one in command.commands.items():
        context = one.make_context(name, [], parent=top, **settings)
        sections[f"crawlgauge {name}".upper()] = one.get_help(context)
    summary = command.get_short_help_str(1000).rstrip(".")
    lines = ['.TH CRAWLGAUGE 1 "" "crawlgauge" "User commands"', ".SH NAME"]
    lines.append(rf"crawlgauge \- {summary[0].lower()}{summary[1:]}")
    for title, text in sections.items():
        # As it is: lines are not filled, and no character begins a request or an escape.
        escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
        safe = [rf"\&{line}" if line.startswith(".") else line for line in escaped.splitlines()]
        lines += [f'.SH "{title}"', ".nf", *safe, ".fi"]
    return "\n".join(lines) + "\n"


setup(
    cmdclass={"build_ext": BuildCore},
    data_files=write_shared_files(),
    ext_modules=cythonize(
        [
            Extension(
                f"crawlgauge.core.{source.stem}",
                [str(source)],
                extra_compile_args=["-O1", "-g", *SANITIZER] if IS_SANITIZED else ["-O3"],
                extra_link_args=SANITIZER if IS_SANITIZED else [],
                define_macros=[("CRAWLGAUGE_VARIANT", f'"{VARIANT or "release"}"')],
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
