"""The shape of uneven capture: averaged over what the windows and survival leave possible.

Windows choose between families by details of the upper tail, which say nothing about the low
one. The criterion is therefore tempered, and survival consistency decides among low tails.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.known_alive.candidates import (
    Candidate,
    fit_informed,
    refit_informed,
    weigh_up,
)
from crawlgauge.model.known_alive.families import Even, LogNormal, TwoClasses
from crawlgauge.model.known_alive.information import Information
from crawlgauge.model.known_alive.trap_choice import USUAL_LOW_TAIL, TrapChoice
from crawlgauge.model.known_alive.windows import WindowCounts
from crawlgauge.model.pairs import freeze_arrays

__all__ = ["Average", "average_shapes", "is_even"]

Numbers = NDArray[np.float64]

_MIN_GAIN = 6.0
"""Uneven capture must gain this much of the criterion to be taken for proven."""

_FEW_LOW_TAILS = (0.15, USUAL_LOW_TAIL, 0.65)
_LOW_TAILS = (0.0, 0.15, 0.3, 0.45, 0.65, 1.0)
_LOW_TAIL_SD = 0.35
_LOG_ODDS_STEPS = (-2.0, -1.3, -0.6, 0.0, 0.6, 1.3, 2.0)
_LOG_ODDS_SD = 1.2
_MAX_LOG_ODDS = 4.0
"""Low tails and shares of the second class to average over, and how far from the usual one and
from the optimum they may well be."""

_MAX_INCONSISTENCY = 4.0
"""While uneven capture is not proven, survival consistency alone may not call for it."""

_PRIOR_OF_UNEVEN = 2 * math.log(3.0)
"""Three low tails share the weight of one."""

_FAMILY_TEMPER = 8.0
_FAMILY_TEMPER_TRAP = 16.0
_SHAPE_TEMPER = 20.0
"""Divisors of the criterion between families and within one."""

_HAZARD_STARTS = (0.0, -0.2, 0.2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Average:
    """Coverage averaged over shapes of uneven capture.

    Parameters
    ----------
    log_coverage
        For each crawl.
    log_typical
        Mean over the crawls inside windows.
    shape_sd
        Standard deviation of the latter between shapes.
    heaviest
        The candidate with the most weight.
    """

    log_coverage: Numbers
    log_typical: float
    shape_sd: float
    heaviest: Candidate

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_coverage")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shape:
    """A fit with what speaks against its shape before the data."""

    information: Information
    family: str
    prior: float


def average_shapes(choice: TrapChoice, even: Candidate, counts: WindowCounts) -> Average | None:
    """Average the coverage over shapes of uneven capture, or return None if none gives any.

    Parameters
    ----------
    choice
        The trap's length with the first fits.
    even
        What follows from even capture.
    counts
        The windows.
    """
    if choice.gain < _MIN_GAIN:
        weighed = _weigh_unproven(choice, even, counts)
    else:
        weighed = _weigh_proven(choice, counts)
    known = [(item, doubt) for item, doubt in weighed if np.isfinite(item.log_coverage[1:-1]).all()]
    return _average(known or weighed) if weighed else None


def _average(weighed: list[tuple[Candidate, float]]) -> Average:
    doubts = np.array([doubt for _, doubt in weighed])
    weight = np.exp((doubts.min() - doubts) / 2)
    weight /= weight.sum()
    typical = np.array([item.log_typical for item, _ in weighed])
    mean = float(weight @ typical)
    return Average(
        log_coverage=weight @ np.array([item.log_coverage for item, _ in weighed]),
        log_typical=mean,
        shape_sd=math.sqrt(float(weight @ (typical - mean) ** 2)),
        heaviest=weighed[int(np.argmax(weight))][0],
    )


def _weigh_unproven(
    choice: TrapChoice, even: Candidate, counts: WindowCounts
) -> list[tuple[Candidate, float]]:
    # Two classes are left out here: without evidence, a second class is an invisible one.
    weighed = [(even, min(even.consistency.ratio**2, _MAX_INCONSISTENCY))]
    if choice.gain <= 0:
        return weighed
    for low_tail in _FEW_LOW_TAILS:
        information = choice.log_normal
        if low_tail != USUAL_LOW_TAIL:
            information = refit_informed(information, LogNormal(low_tail=low_tail), counts)
        candidate = weigh_up(information, counts)
        gain = (choice.even.criterion - information.criterion) / choice.redundancy
        inconsistency = min(candidate.consistency.ratio**2, _MAX_INCONSISTENCY)
        weighed.append((candidate, inconsistency - gain + _PRIOR_OF_UNEVEN))
    return weighed


def _weigh_proven(choice: TrapChoice, counts: WindowCounts) -> list[tuple[Candidate, float]]:
    shapes = [*_log_normal_shapes(choice, counts), *_two_class_shapes(choice, counts)]
    lowest = min(shape.information.criterion for shape in shapes)
    temper = _FAMILY_TEMPER_TRAP if choice.trap_lags else _FAMILY_TEMPER
    weighed = []
    for shape in shapes:
        of_family = min(
            other.information.criterion for other in shapes if other.family == shape.family
        )
        candidate = weigh_up(shape.information, counts)
        doubt = (
            (of_family - lowest) / (choice.redundancy * temper)
            + (shape.information.criterion - of_family) / (choice.redundancy * _SHAPE_TEMPER)
            + candidate.consistency.doubt
            + shape.prior
        )
        weighed.append((candidate, doubt))
    return weighed


def _log_normal_shapes(choice: TrapChoice, counts: WindowCounts) -> Iterator[_Shape]:
    fits = _fit_low_tails(choice.one_sided, counts)
    best = min(fits, key=lambda information: information.criterion)
    hazard = _with_hazard(best, counts, (0.0,))
    families = {"log-normal": fits}
    if best.criterion - hazard.criterion > _MIN_GAIN * choice.redundancy:
        families["log-normal with hazard"] = _fit_low_tails(hazard, counts)
    for name, informations in families.items():
        for low_tail, information in zip(_LOW_TAILS, informations, strict=True):
            prior = ((low_tail - USUAL_LOW_TAIL) / _LOW_TAIL_SD) ** 2
            yield _Shape(information=information, family=name, prior=prior)


def _fit_low_tails(first: Information, counts: WindowCounts) -> list[Information]:
    """Fit all low tails in order, each from the one before."""
    fits: list[Information] = []
    for low_tail in _LOW_TAILS:
        near, family = fits[-1] if fits else first, LogNormal(low_tail=low_tail)
        same = near.fit.model.family == family
        fits.append(near if same else refit_informed(near, family, counts))
    return fits


def _two_class_shapes(choice: TrapChoice, counts: WindowCounts) -> Iterator[_Shape]:
    logit = replace(choice.two_classes.fit.model, link="logit")
    best = min(choice.two_classes, fit_informed(logit, counts), key=lambda fit: fit.criterion)
    hazard = _with_hazard(best, counts, _HAZARD_STARTS)
    families = {"two classes": best}
    if best.criterion - hazard.criterion > _MIN_GAIN * choice.redundancy:
        families["two classes with hazard"] = hazard
    for name, information in families.items():
        _, _, shape, _, _ = information.fit.model.places(counts.n_crawls)
        optimum = float(information.fit.vector[shape][1])
        # The share of the second class is fixed here: its place in the vector falls away.
        model = replace(information.fit.model, family=TwoClasses(log_odds=optimum))
        near = fit_informed(model, counts, [np.delete(information.fit.vector, shape.stop - 1)])
        for step in _LOG_ODDS_STEPS:
            if abs(optimum + step) <= _MAX_LOG_ODDS:
                family = TwoClasses(log_odds=optimum + step)
                yield _Shape(
                    information=refit_informed(near, family, counts) if step else near,
                    family=name,
                    prior=(step / _LOG_ODDS_SD) ** 2,
                )


def _with_hazard(
    information: Information, counts: WindowCounts, starts: tuple[float, ...]
) -> Information:
    model = replace(information.fit.model, has_hazard=True)
    _, _, _, hazard, _ = model.places(counts.n_crawls)
    vectors = [np.insert(information.fit.vector, hazard.start, start) for start in starts]
    return fit_informed(model, counts, vectors)


def is_even(candidate: Candidate) -> bool:
    """Tell whether a candidate takes all URLs to be captured alike."""
    return isinstance(candidate.model.family, Even)
