"""What known-alive windows give: a coverage with its band and grade, or why there is none."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.pairs import freeze_arrays

__all__ = [
    "Grade",
    "KnownAliveFit",
    "LatentClassLevel",
    "LogBand",
    "NoKnownAlive",
    "RevisitEffect",
]

Numbers = NDArray[np.float64]
Grade = Literal["A", "B", "C"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LatentClassLevel:
    """What another model, with parametric survival and latent classes, says of the level.

    Parameters
    ----------
    log_coverage
        For each crawl; NaN where it is not known.
    rmsea
        Root mean square error of approximation of the histories: 0 for a model that gives them.
    """

    log_coverage: Numbers
    rmsea: float

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_coverage")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBand:
    """The logarithm of a coverage with an empirical band around it.

    Parameters
    ----------
    value
        The logarithm; NaN where the coverage is not known.
    low, high
        Ends of the band; NaN where it is not known.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisitEffect:
    """What a capture some crawls ago does to the chance of being captured again.

    Parameters
    ----------
    crawls_since
        Crawls since the capture.
    effect
        β, on the complementary log-log scale.
    chance
        Chance of being captured again, in a typical crawl.
    chance_ratio
        That chance over that of a URL not captured lately: below 1 for avoidance, above 1 for
        re-seeding.
    """

    crawls_since: int
    effect: float
    chance: float
    chance_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NoKnownAlive:
    """No estimate from known-alive windows.

    Parameters
    ----------
    reason
        Why not, in words.
    """

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownAliveFit:
    """Coverage from known-alive windows; all coverages as logarithms.

    Parameters
    ----------
    typical
        Typical coverage: the mean over the crawls inside windows, with its band.
    newest
        Coverage of the newest crawl, an extrapolation, with its band.
    log_coverage, low, high
        For each crawl, with its band; NaN for the first and wherever it is not known.
    trap_lags
        K: crawls back that a capture has an effect on being captured again.
    revisits
        That effect, for each number of crawls since a capture up to K.
    family
        The heaviest shape of uneven capture, in words.
    gain
        What uneven capture gains over even capture, in units of the criterion; 6 prove it.
    consistency
        ζ/τ: above 0 where URLs known before seem to live longer than all together, as if coverage
        were too high.
    uneven_effect
        Typical coverage under even capture minus the estimate (of the windows alone).
    uneven_potential
        Typical coverage under even capture minus that under the usual low tail.
    latent_difference
        Typical coverage of the latent-class model minus that of the windows; NaN without one.
    latent_weight
        Share of that difference that the estimate contains.
    run_gap
        How much higher typical coverage would be if captures in long runs showed URLs that were
        absent in between, not a crawler that returns to what it holds; 0 without such runs.
    log_plain
        Typical coverage under even capture: free of survival, aware of the trap.
    grade
        ``A``: trust it. ``B``: trust its size. ``C``: only the range.
    grade_reason
        Why that grade, in words.
    """

    typical: LogBand
    newest: LogBand
    log_coverage: Numbers
    low: Numbers
    high: Numbers
    trap_lags: int
    revisits: tuple[RevisitEffect, ...]
    family: str
    gain: float
    consistency: float
    uneven_effect: float
    uneven_potential: float
    latent_difference: float
    latent_weight: float
    run_gap: float
    log_plain: float
    grade: Grade
    grade_reason: str

    def __post_init__(self) -> None:
        freeze_arrays(self, "log_coverage", "low", "high")

    @property
    def log_typical(self) -> float:
        """Logarithm of the typical coverage."""
        return self.typical.value
