"""How much of the two-way model's weight each crawl carries."""

import numpy as np

from crawlgauge.model.checks import diagnose
from crawlgauge.model.influence import weigh_pairs
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["weigh_crawls"]


def weigh_crawls(table: OverlapTable) -> tuple[float | None, ...]:
    """Return for each crawl the share that its pairs have in the typical coverage.

    The two-way model is a weighted sum of logarithms of overlaps. A pair counts half for each of
    its crawls, by the size of its weight; all crawls together have 1.

    Parameters
    ----------
    table
        The overlaps.

    Returns
    -------
    tuple
        None for every crawl where the model cannot be fitted.
    """
    diagnosis = diagnose(table)
    pairs, fit = diagnosis.pairs, diagnosis.fit
    if np.isnan(fit.tau_squared) or not fit.typical.any():
        return (None,) * table.n_crawls
    typical = np.zeros(pairs.n_crawls + 1)
    typical[:-1] = fit.typical / fit.typical.sum()
    sizes = np.abs(weigh_pairs(pairs, fit, typical[None, :]).shared[0])
    total = float(sizes.sum())
    if total == 0:
        return (None,) * table.n_crawls
    of_crawls = (sizes.sum(axis=0) + sizes.sum(axis=1)) / (2 * total)
    return tuple(float(weight) for weight in of_crawls)
