"""Standard output: set for a terminal where it is one, plain where it goes elsewhere."""

import sys
from collections.abc import Sequence

import click

from crawlgauge.report.blocks import Block, render_blocks

__all__ = ["show_blocks"]


def show_blocks(blocks: Sequence[Block]) -> None:
    """Print blocks of text."""
    if sys.stdout.isatty():
        from crawlgauge.report.terminal import print_blocks

        print_blocks(blocks, sys.stdout)
    else:
        click.echo(render_blocks(blocks))
