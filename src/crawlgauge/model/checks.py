"""All checks that pairs of crawls allow, in the order in which they should be read."""

from dataclasses import dataclass

from crawlgauge.model.check_change_point import ChangePoint, check_change_point, find_changes
from crawlgauge.model.check_curvature import check_curvature
from crawlgauge.model.check_lack_of_fit import check_lack_of_fit
from crawlgauge.model.check_population_trend import check_population_trend
from crawlgauge.model.check_short_lag import ShortLag, check_short_lag, find_short_lag
from crawlgauge.model.decay_shapes import DecayShape, fit_shapes
from crawlgauge.model.estimates import Check, Estimate
from crawlgauge.model.pairs import PairData, pair_data
from crawlgauge.model.regimes import Regime, drop_pairs_across, split_at
from crawlgauge.model.two_way import TwoWayFit, fit_two_way, refused_fit
from crawlgauge.model.zero_pairs import TOO_MANY_ZEROS, has_too_many_zeros
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["Diagnosis", "diagnose", "run_checks"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagnosis:
    """What is wrong with a series, and what the estimates should be made from.

    Parameters
    ----------
    table
        The overlaps to estimate from: all, or without pairs across a change.
    pairs, fit
        Its pairs and the two-way model of them.
    changes
        The changes of scope; a single one that is not certain, or none where it is untestable.
    regimes
        The crawls between changes; one if there is no change. The last one is the headline's.
    short_lag
        An effect of short lags, with coverage after the lag cut; None if there is none.
    shapes
        The model with other shapes of decay, whose range counts if the check curvature warns.
    """

    table: OverlapTable
    pairs: PairData
    fit: TwoWayFit
    changes: tuple[ChangePoint, ...]
    regimes: tuple[Regime, ...]
    short_lag: ShortLag | None
    shapes: tuple[DecayShape, ...]


def diagnose(table: OverlapTable) -> Diagnosis:
    """Look for all that pairs of crawls can show to be wrong.

    A change of scope comes first, since it spoils every other sign: short lags and the shape of
    decay are then judged by the pairs within regimes.

    Parameters
    ----------
    table
        The overlaps.
    """
    pairs, fit = _fit(table)
    short_lag = find_short_lag(pairs, fit, shapes := fit_shapes(pairs, fit))
    changes = find_changes(pairs, fit, short_lag)
    regimes = split_at(table.n_crawls, changes)
    if len(regimes) > 1:
        table = drop_pairs_across(table, regimes)
        pairs, fit = _fit(table)
        short_lag = find_short_lag(pairs, fit, shapes := fit_shapes(pairs, fit))
    return Diagnosis(
        table=table,
        pairs=pairs,
        fit=fit,
        changes=changes,
        regimes=regimes,
        short_lag=short_lag,
        shapes=shapes,
    )


def run_checks(diagnosis: Diagnosis, growth: Estimate) -> tuple[Check, ...]:
    """Grade every assumption that pairs of crawls can test, and say what to do.

    Parameters
    ----------
    diagnosis
        From `diagnose`.
    growth
        Relative growth of the population per year, with its interval.

    Returns
    -------
    tuple
        ``lack-of-fit``, ``short-lag``, ``curvature``, ``change-point``, ``population-trend``.
    """
    pairs, fit, level = diagnosis.pairs, diagnosis.fit, diagnosis.table.level
    short_lag, shapes = diagnosis.short_lag, diagnosis.shapes
    return (
        check_lack_of_fit(pairs, fit),
        check_short_lag(pairs, fit, short_lag, shapes, level),
        check_curvature(pairs, fit, shapes, short_lag, level),
        check_change_point(diagnosis.table, diagnosis.changes),
        check_population_trend(growth, level),
    )


def _fit(table: OverlapTable) -> tuple[PairData, TwoWayFit]:
    pairs = pair_data(table)
    if has_too_many_zeros(pairs):
        return pairs, refused_fit(pairs.n_crawls, TOO_MANY_ZEROS)
    return pairs, fit_two_way(pairs)
