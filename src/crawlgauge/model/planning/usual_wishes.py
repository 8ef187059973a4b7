"""What to plan for where nothing is wished for: the next step above what is held today."""

from dataclasses import dataclass

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.planning.situation import find_union

__all__ = ["Wishes", "usual_wishes"]

_STEPS = (0.8, 0.9, 0.95, 0.99)
_LEAST_STEP = 0.05
"""A goal that is nearer than this is as good as reached."""

_USUAL_FLOOR = 0.5
_FLOOR_SHARE = 0.5
"""Of what is held today, where that is less than the usual floor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Shares to plan for, as in `plan_crawls`; None where nothing is to be planned."""

    target: float | None = None
    union_target: float | None = None
    floor: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is wished for."""
        return (self.target, self.union_target, self.floor) == (None, None, None)


def usual_wishes(estimates: Estimates) -> Wishes:
    """Return round numbers that lie ahead of a series.

    Parameters
    ----------
    estimates
        What is known of it.
    """
    coverage, union = estimates.newest.coverage.value, find_union(estimates).value
    floor = _USUAL_FLOOR
    if union is not None and union <= _USUAL_FLOOR:
        floor = _FLOOR_SHARE * union
    return Wishes(
        target=_step_above(0.0 if coverage is None else coverage, _STEPS),
        union_target=_step_above(0.0 if union is None else union, _STEPS[1:]),
        floor=floor,
    )


def _step_above(share: float, steps: tuple[float, ...]) -> float | None:
    """Return the first step that is not as good as reached; None above all."""
    ahead = [step for step in steps if step >= min(share + _LEAST_STEP, steps[-1])]
    return ahead[0] if ahead and share < ahead[0] else None
