"""The types that the model hands over: a number with its doubt, and all numbers of a series."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from crawlgauge.crawl import AnchorKind, Crawl
from crawlgauge.model.phrases import say
from crawlgauge.provenance import Provenance

__all__ = ["Check", "CrawlEstimate", "Estimate", "Estimates", "Headline"]

Basis = Literal["interval", "empirical-band", "none"]
Grade = Literal["A", "B", "C", "none"]
Status = Literal["ok", "info", "warn", "fail", "na"]
AnchorVerdict = Literal["agrees", "contradicts", "untold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with the range it is trusted in, or the reason why there is none.

    Parameters
    ----------
    value
        The estimate; None if it cannot be known.
    low, high
        Ends of the range; None if there is none.
    level
        Share of ranges that hold the truth.
    basis
        What the range rests on.
    reason
        Why the value or its range is missing; None if nothing is.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    basis: Basis = "none"
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError("an estimate without a value needs a reason")
        if self.basis == "none" and not (self.low is None and self.high is None):
            raise ValueError("an estimate with a range needs a basis for it")

    @classmethod
    def unknown(cls, reason: str) -> "Estimate":
        """Make an estimate that is not known, and say why."""
        return cls(value=None, reason=reason)

    @classmethod
    def between(
        cls, value: float, low: float, high: float, basis: Basis = "interval"
    ) -> "Estimate":
        """Make an estimate with its range."""
        return cls(value=value, low=low, high=high, basis=basis)

    @property
    def why(self) -> str:
        """The reason as it stands in a sentence; empty if there is none."""
        return (self.reason or "").removeprefix("not identifiable: ")

    def map(self, change: Callable[[float], float]) -> "Estimate":
        """Return the estimate with its value and the ends of its range changed alike."""
        value, low, high = (
            None if number is None else change(number)
            for number in (self.value, self.low, self.high)
        )
        return replace(self, value=value, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The answer: typical coverage, where it comes from, and one sentence."""

    coverage: Estimate
    estimator: str | None
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """What is known of the last crawl."""

    label: str
    coverage: Estimate
    population: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlEstimate:
    """Coverage of one crawl and the population it was drawn from; `note` says what is special."""

    label: str
    coverage: Estimate
    population: Estimate
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFit:
    """The paper's line through the pairs that begin with one crawl."""

    label: str
    coverage: float | None
    persistence: float | None
    n_pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFit:
    """The published method: one line through the logarithms of all containments.

    Parameters
    ----------
    coverage, persistence
        Exponentials of the intercept and of the slope per year; None without two different lags.
    half_life_years
        None unless persistence is below 1.
    r_squared
        Share of the variance that the line explains; None without degrees of freedom.
    n_pairs
        Pairs in the fit.
    direction
        ``forward`` (share of the earlier crawl found in the later) or ``backward``.
    per_start
        A line for each starting crawl.
    self_intersections
        For each crawl, the containment at time difference zero: the intercept of its own line,
        or the pooled one where it has no line of its own; None without any fit.
    """

    coverage: float | None
    persistence: float | None
    half_life_years: float | None
    r_squared: float | None
    n_pairs: int
    direction: Literal["forward", "backward"]
    per_start: tuple[StartFit, ...]
    self_intersections: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorRow:
    """One estimator beside the others: its numbers and what it assumes."""

    name: str
    coverage: float | None
    persistence: float | None
    population: float | None
    per_crawl: tuple[float | None, ...]
    assumes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far the estimators are apart, and the grade that follows."""

    spread: float | None
    grade: Grade
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Two readings of captures that attract captures, between which histories cannot decide.

    Parameters
    ----------
    returning
        Typical coverage if the crawler returns to what it holds.
    absent
        Typical coverage if URLs go absent for a while.
    """

    returning: float
    absent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCaptures:
    """Typical coverage if URLs never captured before were half, or twice, as likely to be captured.

    Histories cannot test that they are as likely as known ones, which every estimate assumes.
    """

    half: float
    twice: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorFinding:
    """What something known from elsewhere says of one crawl, beside what the crawls say.

    Parameters
    ----------
    name, kind, date
        Of the anchor; no date if it is of the crawl's own time.
    label, gap_days
        The crawl that it is held against, and the days from the anchor to it.
    n_looked_for, n_held
        URLs of it that could be looked for, and that the crawl holds.
    n_hosts
        Of complete lists, how many hosts there are.
    n_queued
        Of a frontier: URLs that were known and not fetched.
    by_anchor
        Coverage of the crawl by the anchor; of a frontier, the most that it can be.
    by_crawls
        The same by the crawls alone.
    verdict
        Whether the two agree.
    counts
        Whether the anchor has a say in the number, or only tests it.
    """

    name: str
    kind: AnchorKind
    date: dt.date | None
    label: str
    gap_days: int
    n_looked_for: int
    n_held: int
    n_hosts: int | None
    n_queued: int | None
    by_anchor: Estimate
    by_crawls: Estimate
    verdict: AnchorVerdict
    counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One assumption, tested: how large the deviation is, and what it means in words."""

    id: str
    status: Status
    effect: float | None
    threshold: float | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """A check's name, and the effect from which on it speaks; its texts are in ``checks.toml``."""

    id: str
    threshold: float

    def found(self, status: Status, effect: float, code: str = "", **values: object) -> Check:
        """Make the check's result, by the name of its text, else the status."""
        message = say(f"{self.id}.{code or status}", effect=effect, **values)
        return self.says(status, effect, message)

    def not_testable(self, code: str = "untestable", **values: object) -> Check:
        """Make the result of a check that the data do not allow."""
        return self.says("na", None, f"Not testable: {say(f'{self.id}.{code}', **values)}")

    def says(self, status: Status, effect: float | None, message: str) -> Check:
        """Make the check's result in words of its own."""
        return Check(
            id=self.id, status=status, effect=effect, threshold=self.threshold, message=message
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResidual:
    """A pair's similarities and how far it lies from the fits.

    Parameters
    ----------
    a, b
        Labels of the earlier and the later crawl.
    lag_years
        Time between them.
    n_shared
        URLs that both hold.
    containment, containment_backward
        Share of a's URLs found in b, and of b's found in a.
    jaccard, dice
        The symmetric similarities.
    log_r, log_r_two_way
        Residual from the paper's line and from the two-way model; None where the pair is not
        in the fit and has no logarithm.
    """

    a: str
    b: str
    lag_years: float
    n_shared: int
    containment: float
    containment_backward: float
    jaccard: float
    dice: float
    log_r: float | None
    log_r_two_way: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayCurve:
    """A shape of decay, fitted to the pairs: which containment it expects at each lag.

    Parameters
    ----------
    name
        ``exponential``, or what competes with it.
    coverage
        What the shape gives at time difference zero.
    lags_years, containment
        Points of its curve, from zero to the longest lag of the pairs.
    meaning
        In words, what the shape stands for.
    """

    name: str
    coverage: float
    lags_years: tuple[float, ...]
    containment: tuple[float, ...]
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Union:
    """All crawls together: share of the living URLs that the archive holds.

    Parameters
    ----------
    coverage
        Share of the URLs that lived at the newest crawl which at least one crawl holds.
    n_distinct
        URLs that at least one crawl holds.
    n_alive
        How many of them still lived at the newest crawl, within its scope.
    dead_share
        Share of what the archive holds that did not live any more.
    n_unseen
        URLs that lived at the time of at least one crawl and that no crawl holds. Counted from the
        second crawl on, since of what the first one missed and the second did not meet nothing is
        known; after a change of scope, from the second crawl of the present one on. What lived
        only between two crawls shows in none.
    per_crawl
        As `coverage`, just after each crawl.
    caution
        What may make these numbers too good; empty if nothing is known.
    held_ratio
        How likely the newest crawl was to capture a living URL that earlier crawls hold, over how
        likely it was to capture any living one; 1 if capture is even or was taken to be.
    """

    coverage: Estimate
    n_distinct: int
    n_alive: Estimate
    dead_share: Estimate
    n_unseen: Estimate
    per_crawl: tuple[Estimate, ...]
    caution: str = ""
    held_ratio: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Everything that can be said about a series of crawls.

    Parameters
    ----------
    level
        What was compared: ``url``, ``content`` or ``text``.
    crawls
        In date order.
    headline
        Typical coverage and the sentence that states it.
    newest
        The last crawl.
    persistence, half_life_years
        Share of URLs that live on for a year, and the time in which half of them are gone.
    population
        Crawlable URLs at the newest crawl.
    growth_per_year
        Relative growth of the population.
    per_crawl
        For each crawl.
    paper
        The published method's numbers.
    estimators
        All estimators side by side.
    agreement, checks
        How far they agree, and the tests of the assumptions.
    residuals
        For each known pair.
    union
        All crawls together, or None.
    decay_curves
        Curves through the same pairs that the time difference could follow; the exponential first.
    capture_frequencies
        How many URLs just one crawl holds, just two, and so on; None without histories. Counted in
        the sample where the histories are of one.
    warnings
        What to be careful about, in words.
    provenance
        Where the numbers come from.
    readings
        Where captures attract captures, the coverage under either reading of that.
    first_captures
        What the coverage would be if first captures were less or more likely than others.
    anchors
        What is known from elsewhere, and whether it agrees; `headline` and all other numbers
        allow for it.
    by_crawls
        Typical coverage by the crawls alone, where an anchor has moved it.
    """

    level: str
    crawls: tuple[Crawl, ...]
    headline: Headline
    newest: Newest
    persistence: Estimate
    half_life_years: Estimate
    population: Estimate
    growth_per_year: Estimate
    per_crawl: tuple[CrawlEstimate, ...]
    paper: PaperFit
    estimators: tuple[EstimatorRow, ...]
    agreement: Agreement
    checks: tuple[Check, ...]
    residuals: tuple[PairResidual, ...]
    union: Union | None
    warnings: tuple[str, ...]
    provenance: Provenance
    decay_curves: tuple[DecayCurve, ...] = ()
    capture_frequencies: tuple[int, ...] | None = None
    readings: Readings | None = None
    first_captures: FirstCaptures | None = None
    anchors: tuple[AnchorFinding, ...] = ()
    by_crawls: Estimate | None = None
