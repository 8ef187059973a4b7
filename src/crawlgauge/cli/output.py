"""Standard output: JSON, or blocks of text, set for a terminal where it is one."""

import json
import logging
import sys
from typing import TYPE_CHECKING

import click

from crawlgauge.cli.options import is_quiet, wants_json
from crawlgauge.cli.progress import clear_line
from crawlgauge.errors import printable_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawlgauge.report.answers import Answer
    from crawlgauge.report.blocks import Block

_log = logging.getLogger(__name__)


def say(text: str) -> None:
    """Print text for people, unless they want to read of errors only."""
    if not is_quiet():
        clear_line()
        click.echo(printable_lines(text))


def show(answer: "Answer", *, is_alarm: bool = False) -> None:
    """Print what a question was answered with.

    Parameters
    ----------
    answer
        As the public functions return it.
    is_alarm
        Whether it must be seen even by those who want to read of errors only.
    """
    if wants_json():
        click.echo(answer.to_json())
    elif is_alarm or not is_quiet():
        show_blocks(answer.to_blocks())


def show_blocks(blocks: "Sequence[Block]") -> None:
    """Print blocks of text."""
    from crawlgauge.report.blocks import print_blocks, render_blocks

    if sys.stdout.isatty():
        print_blocks(blocks, sys.stdout)
    else:
        click.echo(printable_lines(render_blocks(blocks)))


def show_json(document: object) -> None:
    """Print plain data as JSON."""
    click.echo(json.dumps(document, indent=1))


def show_either(document: object, text: str) -> None:
    """Print plain data as JSON, or the same in words."""
    if wants_json():
        show_json(document)
    else:
        say(text)


def show_written(document: object, text: str) -> None:
    """Tell what was written: as JSON, or in words on standard error."""
    if wants_json():
        show_json(document)
    else:
        _log.info("%s", text)


def show_crate(files: "Sequence[Path]") -> None:
    """Tell what was written into a crate."""
    names = ", ".join(file.name for file in files)
    show_written({"files": [str(file) for file in files]}, f"wrote {files[0].parent}: {names}")
