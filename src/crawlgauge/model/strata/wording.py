"""What the strata show, in words."""

from collections.abc import Sequence

from crawlgauge.model.estimates import Estimate
from crawlgauge.model.phrases import count, names, percent
from crawlgauge.model.strata.strata import StratumEstimate
from crawlgauge.overlaps.table import StratumCounts

__all__ = ["LOW_COVERAGE", "say_answer", "say_warnings"]

LOW_COVERAGE = 0.2
"""Whoever takes the archive for the web misses four URLs of five there."""

_QUARTERS = (0.25, 0.75)
_MIN_QUARTERS = 8


def say_answer(counts: StratumCounts, strata: Sequence[StratumEstimate], grade: str) -> str:
    """Return the answer in a sentence or two.

    Parameters
    ----------
    counts, strata
        What was counted, and what follows.
    grade
        Of the coverage of all URLs; at C only the ends of ranges are spoken of.
    """
    one, many = counts.noun
    newest = counts.crawls[-1].label
    known = [
        (stratum, stratum.coverage.value)
        for stratum in strata
        if not stratum.n_pooled and stratum.coverage.value is not None
    ]
    if not known:
        return f"The coverage of no {one} is known: {_why(strata)}."
    low = [stratum for stratum, coverage in known if coverage < LOW_COVERAGE]
    surely = [stratum for stratum in low if (stratum.coverage.high or 1.0) < LOW_COVERAGE]
    worst = max(strata, key=lambda stratum: stratum.missing.value or 0.0)
    most = f"Most is missing of {worst.name}" if worst.missing.value else ""
    if grade == "C":
        text = f"{_share(surely, known, many)} surely covered below {percent(LOW_COVERAGE)} by "
        return f"{text}crawl {newest}. {most}{'.' if most else ''}".rstrip()
    if len(known) == 1:
        stratum, coverage = known[0]
        return f"Crawl {newest} holds {percent(coverage)} of {stratum.name}."
    text = f"{_share(low, known, many)} covered below {percent(LOW_COVERAGE)} by crawl {newest}"
    if low and len(surely) < len(low):
        text += f" ({len(surely) or 'none'} of them even at the upper end of the range)"
    sentences = [f"{text}; {_say_spread([coverage for _, coverage in known], many)}."]
    if most:
        sentences.append(f"{most}: about {count(worst.missing.value or 0.0)} URLs.")
    return " ".join(sentences)


def _share(some: Sequence[object], known: Sequence[object], many: str) -> str:
    verb = "is" if len(some) == 1 else "are"
    return f"{len(some) or 'None'} of {len(known):,} {many} {verb}"


def _say_spread(coverages: list[float], many: str) -> str:
    ordered = sorted(coverages)
    if len(ordered) < _MIN_QUARTERS:
        return f"they range from {percent(ordered[0])} to {percent(ordered[-1])}"
    low, high = (percent(ordered[round(q * (len(ordered) - 1))]) for q in _QUARTERS)
    if low == high:
        return f"half of the {many} are at {low}"
    return f"half of the {many} lie between {low} and {high}"


def _why(strata: Sequence[StratumEstimate]) -> str:
    reasons = [stratum.coverage.reason for stratum in strata if stratum.coverage.reason]
    return reasons[0] if reasons else "all are too small"


def say_warnings(
    counts: StratumCounts, strata: Sequence[StratumEstimate], whole: Estimate, grade: str
) -> tuple[str, ...]:
    """Return what to be careful about.

    Parameters
    ----------
    counts, strata
        What was counted, and what follows.
    whole
        Coverage of all URLs.
    grade
        Of that coverage.
    """
    warnings = []
    if grade == "C" and whole.low is not None and whole.high is not None:
        ends = f"{percent(whole.low)} to {percent(whole.high)}"
        warnings.append(
            f"The coverage has grade C: of all URLs its range is known, {ends}, and not where in "
            f"it. How {counts.noun[1]} compare with each other is known better."
        )
    gone = [s.name for s in strata if s.n_urls == 0 and not s.n_pooled]
    if gone:
        warnings.append(
            f"{names(gone)}: in earlier crawls, but not in {counts.crawls[-1].label}. They may be "
            "gone or have been missed; overlaps cannot tell."
        )
    damaged = [crawl.label for crawl in counts.crawls if crawl.damaged]
    if damaged:
        warnings.append(f"{names(damaged)}: part of the input was damaged and is not counted.")
    return tuple(warnings)
