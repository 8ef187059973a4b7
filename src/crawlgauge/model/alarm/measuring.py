"""Which numbers of the newest crawl are out of line: by more than chance, and enough to matter."""

import math
from dataclasses import replace

import numpy as np

from crawlgauge.model.alarm.comparison import Comparison, Comparisons
from crawlgauge.model.alarm.newest_check import Course, Measure, MeasureName
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.margins import LEVEL
from crawlgauge.overlaps.histories import Histories

__all__ = ["TESTED", "measure_newest"]

_SHARES: dict[MeasureName, float] = {"coverage": 0.5, "size": 0.25, "overlap": 0.25}
"""How the false alarms are divided: coverage is what is asked for."""

TESTED: tuple[MeasureName, ...] = tuple(_SHARES)
"""What can drop; the rest follows from these."""

_OPPOSITE: dict[Course, Course] = {"drop": "rise", "rise": "drop"}

_NO_OVERLAP = "not identifiable: its overlaps with earlier crawls do not tell its coverage"
_NOTHING_SHARED = "it shares nothing with any earlier crawl"
_NO_HISTORIES = "not identifiable: capture histories are needed"
_AS_OVERLAP = "its range is that of overlap, from which it follows"
_NOTHING_NEW = "not finite: nothing new was expected"


def measure_newest(
    compared: Comparisons,
    histories: Histories | None,
    *,
    shares_nothing: bool,
    false_alarms: float,
    threshold: float,
) -> tuple[Measure, ...]:
    """Say of each number of the newest crawl whether it is out of line.

    Parameters
    ----------
    compared
        The numbers beside their predictions.
    histories
        Capture histories, which tell what is new; None without any.
    shares_nothing
        Whether the newest crawl shares nothing with any earlier one.
    false_alarms, threshold
        As for `check_newest_crawl`.

    Returns
    -------
    tuple
        Coverage, size, population, overlap and novelty.
    """
    coverage, size, overlap = (
        _test(name, compared.get(name), share * false_alarms, threshold)
        for name, share in _SHARES.items()
    )
    if shares_nothing:
        coverage, overlap = _nothing_shared(coverage), _nothing_shared(overlap)
    return (
        coverage,
        size,
        _measure_population(compared.get("population"), overlap),
        overlap,
        _measure_novelty(histories, overlap),
    )


def _unknown(name: MeasureName, reason: str, expected: Estimate | None = None) -> Measure:
    unknown = Estimate.unknown(reason)
    return Measure(
        name=name,
        course="unknown",
        found=None,
        expected=expected or unknown,
        change=unknown,
        chance=None,
    )


def _test(
    name: MeasureName, comparison: Comparison | None, false_alarms: float, threshold: float
) -> Measure:
    if comparison is None:
        return _unknown(name, _NO_OVERLAP)
    below = comparison.prediction.chance_below(comparison.found)
    worth = -math.log1p(-threshold)
    course: Course = "in-line"
    if below < false_alarms and comparison.deviation <= -worth:
        course = "drop"
    elif 1 - below < false_alarms and comparison.deviation >= worth:
        course = "rise"
    expected = comparison.expected
    return Measure(
        name=name,
        course=course,
        found=comparison.value,
        expected=expected if name == "size" else _as_share(expected),
        change=comparison.change,
        chance=min(below, 1 - below),
    )


def _as_share(estimate: Estimate) -> Estimate:
    """Leave out what is more than all."""
    value, low, high = (
        None if number is None else min(1.0, number)
        for number in (estimate.value, estimate.low, estimate.high)
    )
    return replace(estimate, value=value, low=low, high=high)


def _nothing_shared(measure: Measure) -> Measure:
    """Put nothing in the place of the most that may be, which was tested."""
    if measure.course == "unknown":
        return measure
    return replace(measure, found=0.0, change=Estimate(value=-1.0, reason=_NOTHING_SHARED))


def _measure_population(comparison: Comparison | None, overlap: Measure) -> Measure:
    """Return what could be reached: more of it is what makes overlap fall."""
    if comparison is None:
        return _unknown("population", _NO_OVERLAP)
    if overlap.found == 0:
        return _unknown("population", f"not finite: {_NOTHING_SHARED}", comparison.expected)
    return Measure(
        name="population",
        course=_OPPOSITE.get(overlap.course, overlap.course),
        found=comparison.value,
        expected=comparison.expected,
        change=comparison.change,
        chance=None,
    )


def _measure_novelty(histories: Histories | None, overlap: Measure) -> Measure:
    """Return the share that no earlier crawl holds: the rest of it changes as overlap does."""
    if histories is None:
        return _unknown("novelty", _NO_HISTORIES)
    if overlap.change.value is None:
        return _unknown("novelty", _NO_OVERLAP)
    found = _new_share(histories)
    if overlap.found == 0:
        return replace(_unknown("novelty", _NOTHING_SHARED), found=found)
    value, low, high = (
        max(0.0, 1 - (1 - found) / (1 + (change or 0.0)))
        for change in (overlap.change.value, overlap.change.low, overlap.change.high)
    )
    return Measure(
        name="novelty",
        course=_OPPOSITE.get(overlap.course, overlap.course),
        found=found,
        expected=Estimate(value=value, low=low, high=high, level=LEVEL, basis="interval"),
        change=(
            Estimate(value=found / value - 1, reason=_AS_OVERLAP)
            if value > 0
            else Estimate.unknown(_NOTHING_NEW)
        ),
        chance=None,
    )


def _new_share(histories: Histories) -> float:
    newest = np.uint64(1) << np.uint64(histories.n_crawls - 1)
    n_newest = int(histories.counts[(histories.masks & newest) != 0].sum())
    return int(histories.counts[histories.masks == newest].sum()) / max(n_newest, 1)
