"""Standard output: JSON, or blocks of text, set for a terminal where it is one."""

import json
import logging
import sys
from typing import TYPE_CHECKING, Protocol

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlgauge.report.blocks import Block

__all__ = ["show", "show_blocks", "show_either", "show_json", "show_written"]

_log = logging.getLogger(__name__)


class _Result(Protocol):
    def to_json(self) -> str: ...


def show(result: _Result, to_blocks: "Callable[[], Sequence[Block]]", *, as_json: bool) -> None:
    """Print what a question was answered with.

    Parameters
    ----------
    result
        The answer, as the public functions return it.
    to_blocks
        Gives the same in words.
    as_json
        What the user wants to have.
    """
    if as_json:
        click.echo(result.to_json())
    else:
        show_blocks(to_blocks())


def show_blocks(blocks: "Sequence[Block]") -> None:
    """Print blocks of text."""
    if sys.stdout.isatty():
        from crawlgauge.report.terminal import print_blocks

        print_blocks(blocks, sys.stdout)
    else:
        from crawlgauge.report.blocks import render_blocks

        click.echo(render_blocks(blocks))


def show_json(document: object) -> None:
    """Print plain data as JSON."""
    click.echo(json.dumps(document, indent=1))


def show_either(document: object, text: str, *, as_json: bool) -> None:
    """Print plain data as JSON, or the same in words."""
    if as_json:
        show_json(document)
    else:
        click.echo(text)


def show_written(document: object, text: str, *, as_json: bool) -> None:
    """Tell what was written: as JSON, or in words on standard error."""
    if as_json:
        show_json(document)
    else:
        _log.info("%s", text)
