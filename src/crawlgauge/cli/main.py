"""The command ``crawlgauge``: its subcommands, and the one place where errors become exit codes."""

import gc
import importlib
import logging
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from crawlgauge._version import __version__
from crawlgauge.errors import CrawlgaugeError

__all__ = ["command", "main"]

EXIT_ERROR = 1
_EXIT_SIGNAL = 128
_OBJECTS_PER_COLLECTION = 50_000
_COMMANDS = (
    *("add", "check", "compare", "demo", "estimate", "figures", "history", "list", "overlaps"),
    *("plan", "recall", "remove", "report", "simulate", "strata", "verify"),
)


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  crawlgauge demo
  crawlgauge add 2021-06 crawls/2021-06/*.txt.gz
  crawlgauge add 2021-12 crawls/2021-12/*.txt.gz
  crawlgauge estimate
  crawlgauge report --open

Each command has --help with examples, and --json.
Exit codes: 0 done, 1 error, 2 wrong usage, 3 check found a drop, 4 done, but some
input was damaged.""",
)
@click.version_option(__version__, prog_name="crawlgauge")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only, no progress or warnings.")
@click.pass_context
def command(context: click.Context, quiet: bool) -> None:
    """Tell how much of the crawlable web an archive holds, from the overlaps of its crawls."""
    context.obj = quiet
    logging.basicConfig(
        level=logging.ERROR if quiet else logging.INFO,
        format="crawlgauge: %(message)s",
        stream=sys.stderr,
        force=True,
    )
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_our_concern)


def _is_our_concern(record: logging.LogRecord) -> bool:
    # What libraries tell of their work, such as where they found credentials, is not ours to tell.
    return record.name.startswith("crawlgauge") or record.levelno >= logging.WARNING


for name in _COMMANDS:
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
    # The matrices here are small: threads would wait for each other longer than they compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own allocator asks the system for fresh memory where this one hands out used one.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # What libraries make while they are loaded is no garbage; to look through it takes a while.
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
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
        click.echo(f"crawlgauge: error: {error}", err=True)
        return EXIT_ERROR
    except (click.Abort, KeyboardInterrupt):
        click.echo("crawlgauge: interrupted; what was not finished was not stored", err=True)
        return _EXIT_SIGNAL + signal.SIGINT
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        return _close_output(_EXIT_SIGNAL + signal.SIGPIPE)
    except OSError as error:
        # All files and folders that users name are read and written within errors of our own.
        click.echo(f"crawlgauge: error: cannot write the output: {error.strerror}", err=True)
        return _close_output(EXIT_ERROR)
    return status if isinstance(status, int) else 0


def _close_output(code: int) -> int:
    """Let Python not complain again when it flushes what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    # As an exception it passes through all clean-up, as Ctrl-C does.
    sys.exit(_EXIT_SIGNAL + signal.SIGTERM)
