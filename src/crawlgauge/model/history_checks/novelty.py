"""The check novelty: whether crawls find as many new URLs as pairs of crawls lead one to expect.

The two-way model never saw this number, and what the archive holds of the living web follows
from it.
"""

import numpy as np

from crawlgauge.model.checks import Diagnosis
from crawlgauge.model.estimates import Check
from crawlgauge.model.history_checks.capture_dependence import MIN_CRAWLS, Scatter
from crawlgauge.model.history_checks.expected_novelty import Novelty, measure_novelty
from crawlgauge.model.history_data import HistoryData
from crawlgauge.model.phrases import percent, things

__all__ = ["check_novelty"]

_THRESHOLD = 0.05
_TAIL = 0.002
# With a larger error only differences beyond a factor of two would be seen.
_MAX_ERROR = 0.25


def check_novelty(
    data: HistoryData, diagnosis: Diagnosis, scatter: Scatter | None, level: str
) -> Check:
    """Say whether each crawl holds as many new URLs as the two-way model leads one to expect.

    The effect is the logarithm of the expected over the found number of new URLs, of the crawl
    where they differ most: −0.05 means that 5 % more are new than expected. It warns below −0.05
    and above 0.05. After a change of scope, new is what no crawl since then holds.

    Parameters
    ----------
    data
        Capture histories.
    diagnosis
        What the pairs show; its crawls are those of the histories.
    scatter
        How much results scatter between crawls; None with too few crawls to tell.
    level
        What is compared.
    """
    if scatter is None or not diagnosis.fit.has_persistence:
        return _not_testable(
            f"how many {things(level)} should be new follows only from {MIN_CRAWLS} or more crawls "
            "to which the two-way model can be fitted."
        )
    novelty = measure_novelty(data, diagnosis)
    sizes = np.abs(novelty.log_ratio)
    usable = [
        int(crawl) for crawl in np.flatnonzero(np.isfinite(sizes) & (novelty.error < _MAX_ERROR))
    ]
    if not usable:
        return _not_testable(f"too few {things(level)} are new, or shared by crawls.")
    # Each crawl may be too high or too low: so many chances to find something where nothing is.
    tail = _TAIL / (2 * len(usable))
    speaking = [
        crawl
        for crawl in usable
        if sizes[crawl] > _THRESHOLD
        and scatter.is_certain(float(sizes[crawl]), float(novelty.error[crawl]), tail)
    ]
    crawl = max(speaking or usable, key=lambda crawl: float(sizes[crawl]))
    label = diagnosis.table.crawls[crawl].label
    return Check(
        id="novelty",
        status="warn" if speaking else "ok",
        effect=float(novelty.log_ratio[crawl]),
        threshold=_THRESHOLD,
        message=(
            _describe(novelty, crawl, label, things(level))
            if speaking
            else f"Each crawl finds as many new {things(level)} as the overlaps of pairs lead one "
            "to expect, as far as the scatter lets it be told."
        ),
    )


def _describe(novelty: Novelty, crawl: int, label: str, what: str) -> str:
    found, expected = float(novelty.found_share[crawl]), float(novelty.expected_share[crawl])
    more, less = ("more", "less") if found > expected else ("fewer", "more")
    return (
        f"Crawls find {more} new {what} than the overlaps of pairs lead one to expect: of crawl "
        f"{label}, no earlier one holds {percent(found)}, where {percent(expected)} should be "
        f"new. All crawls together then hold {less} of the living {what} than a model of the "
        f"pairs says, and plans made with it are off. Either {what} differ in how readily they are "
        "captured or how long they live, or the crawler avoids or repeats earlier crawls: the "
        "other checks say which."
    )


def _not_testable(reason: str) -> Check:
    return Check(
        id="novelty",
        status="na",
        effect=None,
        threshold=_THRESHOLD,
        message=f"Not testable: {reason}",
    )
