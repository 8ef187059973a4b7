"""What ``estimate --level content`` shows beside the estimates: the same crawls by their URLs."""

from dataclasses import replace
from typing import TYPE_CHECKING

from crawlgauge.cli.estimate_inputs import EstimateInputs, estimate_from
from crawlgauge.errors import FitError

if TYPE_CHECKING:
    from crawlgauge.api import Fit
    from crawlgauge.report.blocks import Block

__all__ = ["compare_levels"]


def compare_levels(inputs: EstimateInputs, fit: "Fit") -> "list[Block]":
    """Return how what was estimated looks beside the URLs, where both come from a store.

    Parameters
    ----------
    inputs
        What `estimate_inputs` gives a command.
    fit
        What was estimated from them.
    """
    from crawlgauge.report.blocks import Paragraph
    from crawlgauge.report.levels_blocks import to_blocks

    is_stored = inputs.table is None and inputs.histories is None
    if fit.table.level == "url" or not is_stored:
        return []
    try:
        of_urls = estimate_from(replace(inputs, level="url"))
    except FitError as error:
        # Such as a regime that there is at one level only; the estimates stand without it.
        return [[Paragraph(text=f"Not compared with the URLs: {error}.", role="note")]]
    return to_blocks(of_urls.estimates, fit.estimates)
