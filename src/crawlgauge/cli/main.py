"""The command ``crawlgauge``: its subcommands, and the one place where errors become exit codes."""

import atexit
import gc
import importlib
import itertools
import logging
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click
from click.core import ParameterSource

from crawlgauge._version import __version__
from crawlgauge.cli import options
from crawlgauge.cli.options import option
from crawlgauge.cli.progress import LogHandler
from crawlgauge.errors import CrawlgaugeError, printable, printable_lines

EXIT_ERROR = 1
_EXIT_SIGNAL = 128
_OBJECTS_PER_COLLECTION = 50_000
_COMMANDS = {
    "Add crawls": ("add", "anchor", "list", "remove", "verify"),
    "Ask": ("estimate", "check", "plan", "strata", "history", "recall", "compare"),
    "Share": ("report", "figures", "overlaps"),
    "Try out and set up": ("demo", "simulate", "completion"),
}
_WIDEST = max(len(name) for names in _COMMANDS.values() for name in names)
_WHOLE = 1000
"""Characters; no summary is so long that it is cut."""


class _Commands(click.Group):
    """Commands that the help shows in groups, each with its whole first sentence."""

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in _COMMANDS.items():
            with formatter.section(title):
                summaries = (self.commands[name].get_short_help_str(_WHOLE) for name in names)
                columns = zip((name.ljust(_WIDEST) for name in names), summaries, strict=True)
                formatter.write_dl(list(columns))


def _show_version(context: click.Context, _option: click.Parameter, value: bool) -> None:
    is_verbose = context.get_parameter_source("verbose") is ParameterSource.COMMANDLINE
    if is_verbose and not value:
        raise click.UsageError("--verbose goes with --version")
    if not value:
        return
    click.echo(f"crawlgauge, version {__version__}")
    if is_verbose:
        click.echo(_describe_installation())
    context.exit()


def _describe_installation() -> str:
    """Return the versions that matter in reports of faults, a line each."""
    import platform

    from crawlgauge.core.machine import describe_build
    from crawlgauge.store.catalogue import STORE_SCHEMA

    python = f"{platform.python_implementation()} {platform.python_version()}"
    lines = {
        "python": f"{python}, {platform.platform()}",
        "core": describe_build(),
        "store": f"format {STORE_SCHEMA}",
    }
    for group, packages in _find_packages().items():
        lines[group] = ", ".join(packages)
    width = max(map(len, lines)) + 2
    return "\n".join(f"{name:<{width}}{text}" for name, text in lines.items())


def _find_packages() -> dict[str, list[str]]:
    """Return the packages that crawlgauge needs, and those of each extra, with their versions."""
    import importlib.metadata
    import re

    groups: dict[str, list[str]] = {}
    for requirement in importlib.metadata.requires("crawlgauge") or ():
        name = re.split(r"[^\w.-]", requirement)[0]
        extra = re.search(r"extra == .(\w+)", requirement)
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = "not installed"
        group = f"[{extra[1]}]" if extra else "packages"
        groups.setdefault(group, []).append(f"{name} {version}")
    return groups


@options.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@option(
    "--version",
    "Show the version and exit; with --verbose all that a report of a fault needs.",
    expose_value=False,
    callback=_show_version,
)
@option("--verbose", "With --version.", is_eager=True, expose_value=False, hidden=True)
@options.store_of_all
@options.quiet
@click.pass_context
def command(context: click.Context) -> None:
    """Tell how much of the crawlable web an archive holds, from the overlaps of its crawls.

    Examples
    --------
    crawlgauge demo
    crawlgauge add 2021-06 crawls/2021-06/*.txt.gz
    crawlgauge add 2021-12 crawls/2021-12/*.txt.gz
    crawlgauge estimate
    crawlgauge report --open

    Notes
    -----
    Each command has --help with examples, and --json. --store and -q may stand before the command
    or after it.

    Exit codes: 0 done, 1 error, 2 wrong usage, 3 check found a drop, 4 done, but some input was
    damaged.
    """
    handler = LogHandler()
    handler.addFilter(_is_our_concern)
    logging.basicConfig(
        level=logging.ERROR if context.obj else logging.INFO,
        format="crawlgauge: %(message)s",
        handlers=[handler],
        force=True,
    )


def _is_our_concern(record: logging.LogRecord) -> bool:
    # What libraries tell of their work, such as where they found credentials, is not ours to tell.
    return record.name.startswith("crawlgauge") or record.levelno >= logging.WARNING


for name in itertools.chain.from_iterable(_COMMANDS.values()):
    module = importlib.import_module(f"crawlgauge.cli.{name}")
    command.add_command(getattr(module, name))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    Parameters
    ----------
    arguments
        Words after the program's name; those of the process if not given.
    """
    signal.signal(signal.SIGTERM, _stop)
    _open_standard_streams()
    # The matrices here are small: threads would wait for each other longer than they compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own allocator asks the system for fresh memory where this one hands out used one.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # What libraries make while they are loaded is no garbage; to look through it takes a while.
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    # Nor is what is left in the end, which the system takes back as a whole.
    atexit.register(gc.freeze)
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    if asked := os.environ.get(options.COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(command, {}, "crawlgauge", options.COMPLETE, asked)
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # click's own main() would turn a broken pipe into an error.
        with command.make_context("crawlgauge", words) as context:
            status = command.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except CrawlgaugeError as error:
        click.echo(printable_lines(f"crawlgauge: error: {error}"), err=True)
        return EXIT_ERROR
    except (click.Abort, KeyboardInterrupt):
        click.echo("crawlgauge: interrupted; what was not finished was not stored", err=True)
        return _EXIT_SIGNAL + signal.SIGINT
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        return _close_output(_EXIT_SIGNAL + signal.SIGPIPE)
    except OSError as error:
        # What concerns a file tells its name; the output has none.
        if error.filename is not None:
            name = printable(str(error.filename))
            click.echo(f"crawlgauge: error: cannot use {name}: {error.strerror}", err=True)
            return EXIT_ERROR
        click.echo(f"crawlgauge: error: cannot write the output: {error.strerror}", err=True)
        return _close_output(EXIT_ERROR)
    except MemoryError:
        click.echo(
            "crawlgauge: error: the system gives no more memory; end other programs, or keep a "
            "part of each crawl with --sample",
            err=True,
        )
        return EXIT_ERROR
    return status if isinstance(status, int) else 0


def _open_standard_streams() -> None:
    """See that no file opened later becomes a stream that whoever started this has closed."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            # What was closed cannot be read or written, but for messages, which go nowhere.
            flags = os.O_RDONLY if name == "stdout" else os.O_WRONLY
            os.dup2(os.open(os.devnull, flags), number)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 - no path


def _close_output(code: int) -> int:
    """Let Python not complain again when it flushes what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    # As an exception it passes through all clean-up, as Ctrl-C does.
    sys.exit(_EXIT_SIGNAL + signal.SIGTERM)
