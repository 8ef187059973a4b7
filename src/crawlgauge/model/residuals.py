"""How far each pair lies from the fits."""

import math

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import PairResidual
from crawlgauge.model.paper import PooledLine
from crawlgauge.model.two_way import TwoWayFit
from crawlgauge.overlaps.table import OverlapTable, Pair

__all__ = ["list_residuals"]


def list_residuals(
    table: OverlapTable, line: PooledLine | None, fit: TwoWayFit
) -> tuple[PairResidual, ...]:
    """List the similarities of every known pair and its residuals.

    Parameters
    ----------
    table
        The overlaps; of two crawls of the same date the first by label is a.
    line
        The paper's forward line, where there is one.
    fit
        The two-way model.
    """
    positions = {crawl.label: k for k, crawl in enumerate(table.crawls)}
    return tuple(_residual(pair, line, fit, positions[pair.b.label]) for pair in table.pairs())


def _residual(pair: Pair, line: PooledLine | None, fit: TwoWayFit, end: int) -> PairResidual:
    lag_years = (pair.b.date - pair.a.date).days / DAYS_PER_YEAR
    lag = np.array([lag_years])
    log_r = log_r_two_way = None
    if pair.n_shared:
        log_containment = math.log(pair.containment_a_in_b)
        if line is not None:
            log_r = log_containment - float(line.log_containments(lag)[0])
        fitted = float(fit.log_containments(np.array([end]), lag)[0])
        log_r_two_way = None if math.isnan(fitted) else log_containment - fitted
    return PairResidual(
        a=pair.a.label,
        b=pair.b.label,
        lag_years=lag_years,
        n_shared=pair.n_shared,
        containment=pair.containment_a_in_b,
        containment_backward=pair.containment_b_in_a,
        jaccard=pair.jaccard,
        dice=pair.dice,
        log_r=log_r,
        log_r_two_way=log_r_two_way,
    )
