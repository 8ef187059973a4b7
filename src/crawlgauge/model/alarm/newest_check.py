"""The types of a check of the newest crawl: what was measured, and what it means."""

from dataclasses import dataclass
from typing import Literal

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.provenance import Provenance

__all__ = ["Cause", "CheckStatus", "Course", "Grade", "Measure", "MeasureName", "NewestCheck"]

CheckStatus = Literal["in-line", "drop", "unknown"]
Course = Literal["in-line", "drop", "rise", "unknown"]
MeasureName = Literal["coverage", "size", "population", "overlap", "novelty"]
Grade = Literal["A", "B", "C", "none"]
Cause = Literal["crawl-shrank", "web-grew-or-went-elsewhere", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number of the newest crawl beside what the earlier crawls lead one to expect.

    Parameters
    ----------
    name
        ``coverage``: share of what it could have reached. ``size``: its URLs. ``population``: what
        it could have reached. ``overlap``: share of its URLs that an earlier crawl holds as well.
        ``novelty``: share that no earlier crawl holds.
    course
        Whether it is below or above what is expected: by as much as is worth an alarm, and by more
        than chance. ``unknown`` where it cannot be told.
    found
        The number; None where it is not known. Coverage and population are those of the estimates.
    low, high
        Range of the number itself, where the estimates give one; None of what was counted.
    expected
        What was expected; its range holds that of single crawls that are in line.
    change
        The number over what was expected, minus 1: −0.5 for half of it.
    chance
        How likely a crawl that is in line would be so low or lower (so high or higher, where it is
        above); None where it is not tested by itself: population and novelty follow from overlap.
    """

    name: MeasureName
    course: Course
    found: float | None
    expected: Estimate
    change: Estimate
    chance: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestCheck:
    """Whether the newest crawl is in line with the ones before it.

    Parameters
    ----------
    status
        ``drop`` if coverage, size or overlap is below what is expected; ``unknown`` if it cannot
        be told.
    cause
        Where there is a drop, what has changed.
    statement
        The answer in words.
    level
        What was compared: ``url``, ``content`` or ``text``.
    grade
        That of the estimates, or ``none``: at C their ranges hold, and not their numbers.
    newest
        The crawl that is checked.
    compared_with
        Labels of the crawls it is compared with.
    overlap_with
        Label of the crawl that overlap is counted with; None if there is none.
    false_alarms
        How often a crawl that is in line may be taken for a drop.
    threshold
        Least drop that is worth an alarm, as a share.
    scatter
        Typical difference of a single crawl's coverage from its course, as a logarithm; None where
        it is not known.
    measures
        All that was measured; empty if nothing could be.
    warnings
        What to be careful about, in words.
    provenance
        Where the numbers come from.
    """

    status: CheckStatus
    cause: Cause | None
    statement: str
    level: str
    grade: Grade
    newest: Crawl
    compared_with: tuple[str, ...]
    overlap_with: str | None
    false_alarms: float
    threshold: float
    scatter: float | None
    measures: tuple[Measure, ...]
    warnings: tuple[str, ...]
    provenance: Provenance

    @property
    def has_drop(self) -> bool:
        """Whether there is a drop."""
        return self.status == "drop"

    def measure(self, name: MeasureName) -> Measure:
        """Return a measure by its name.

        Raises
        ------
        KeyError
            If it was not measured.
        """
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise KeyError(name)
