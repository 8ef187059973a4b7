"""The check curvature: whether overlaps shrink by the same share every year.

Where long-lived and short-lived pages are mixed, they shrink fast at first and then slowly. A
straight line through the logarithms then meets lag zero too low, and so does coverage.
"""

import math

from crawlgauge.model.check_short_lag import ShortLag
from crawlgauge.model.decay_shapes import DecayShape, coverage_range, find_bend
from crawlgauge.model.estimates import Check, Status
from crawlgauge.model.pairs import PairData
from crawlgauge.model.phrases import percent, things
from crawlgauge.model.two_way import TwoWayFit

__all__ = ["check_curvature"]

_WARN = 0.03
_FAIL = math.log(2)
_LEAST_CHANGE = 0.01


def check_curvature(
    pairs: PairData,
    fit: TwoWayFit,
    shapes: tuple[DecayShape, ...],
    short_lag: ShortLag | None,
    level: str,
) -> Check:
    """Say whether the shape of decay matters for coverage, and by how much.

    The effect is the logarithm of the highest over the lowest typical coverage among the shapes
    of decay: 0.03 means that they differ by 3 %. It counts only where the bend is upwards and
    stands out from what leaving out single crawls does to it.

    Parameters
    ----------
    pairs
        The pairs.
    fit
        The two-way model of them.
    shapes
        Other shapes of decay.
    short_lag
        An effect of short lags, which no shape of decay should be fitted to.
    level
        What is compared.
    """
    bend = find_bend(pairs, fit) if shapes else None
    if bend is None:
        return _not_testable(
            "whether decay is steady shows only with five or more crawls and the overlaps of most "
            "pairs. Add crawls."
        )
    if short_lag is not None:
        return _not_testable(
            "neighbouring crawls avoid or repeat each other (see short-lag), which bends the "
            "decay by itself. Leave out the affected pairs "
            f"(--min-lag {short_lag.n_lags + 1}) to test the rest."
        )
    between = coverage_range(shapes)
    effect = math.log(between.high / between.low)
    if not (bend.is_certain and effect > _WARN):
        return Check(
            id="curvature",
            status="ok",
            effect=effect,
            threshold=_WARN,
            message=(
                "Overlaps shrink at a steady rate, as far as the scatter between crawls lets it "
                f"be told; other shapes of decay would change coverage by {_change(effect)}."
            ),
        )
    status: Status = "warn" if effect < _FAIL else "fail"
    low, high = percent(between.low), percent(between.high)
    verdict = (
        "Report the range and not one number"
        if status == "warn"
        else "The range is too wide for any one number to be trusted"
    )
    return Check(
        id="curvature",
        status=status,
        effect=effect,
        threshold=_WARN,
        message=(
            f"Overlaps shrink fast at first and more slowly later: short-lived and long-lived "
            f"{things(level)} are mixed, or neighbouring crawls repeat each other. Coverage then "
            f"depends on the shape of decay before the shortest lag, which no pair shows: {low} "
            f"({_SHAPES[between.low_shape]}) to {high} ({_SHAPES[between.high_shape]}). {verdict}; "
            "capture histories, or two crawls close together, resolve it."
        ),
    )


_SHAPES = {
    "exponential": "one steady rate",
    "weibull": "a rate that falls with age",
    "bi-exponential": "two kinds of page",
}


def _change(effect: float) -> str:
    return "less than 1 %" if effect < _LEAST_CHANGE else f"up to {percent(math.expm1(effect))}"


def _not_testable(reason: str) -> Check:
    return Check(
        id="curvature",
        status="na",
        effect=None,
        threshold=_WARN,
        message=f"Not testable: {reason}",
    )
