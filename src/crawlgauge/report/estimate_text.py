"""`Estimates` as plain text."""

from crawlgauge.model.estimates import Estimates
from crawlgauge.report.blocks import render_blocks
from crawlgauge.report.estimate_blocks import to_blocks

__all__ = ["to_text"]


def to_text(estimates: Estimates) -> str:
    """Return what `crawlgauge estimate` writes into a file or a pipe, without a final newline.

    Parameters
    ----------
    estimates
        The numbers.
    """
    return render_blocks(to_blocks(estimates))
