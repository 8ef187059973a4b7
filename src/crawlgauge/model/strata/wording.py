"""What the strata show, in words."""

from collections.abc import Sequence

from crawlgauge.model.phrases import count, names, percent
from crawlgauge.model.strata.strata import StratumEstimate, Whole
from crawlgauge.overlaps.table import StratumCounts

__all__ = ["LOW_COVERAGE", "say_answer", "say_gap", "say_warnings"]

LOW_COVERAGE = 0.2
"""Whoever takes the archive for the web misses four URLs of five there."""

_QUARTERS = (0.25, 0.75)
_MIN_QUARTERS = 8
_LEAST_GAP = 0.02
"""Smaller differences change nothing of what anybody would do."""


def say_answer(counts: StratumCounts, strata: Sequence[StratumEstimate]) -> str:
    """Return the answer in a sentence or two."""
    one, many = counts.noun
    newest = counts.crawls[-1].label
    known = [
        (stratum, stratum.coverage.value)
        for stratum in strata
        if not stratum.n_pooled and stratum.coverage.value is not None
    ]
    if not known:
        return f"The coverage of no {one} is known: {_why(strata)}."
    if len(known) == 1:
        stratum, coverage = known[0]
        return f"Crawl {newest} holds {percent(coverage)} of {stratum.name}."
    low = [stratum for stratum, coverage in known if coverage < LOW_COVERAGE]
    surely = [stratum for stratum in low if (stratum.coverage.high or 1.0) < LOW_COVERAGE]
    verb = "is" if len(low) == 1 else "are"
    text = (
        f"{len(low) or 'None'} of {len(known):,} {many} {verb} covered below "
        f"{percent(LOW_COVERAGE)} by crawl {newest}"
    )
    if low and len(surely) < len(low):
        text += f" ({len(surely) or 'none'} of them even at the upper end of the range)"
    worst = max(strata, key=lambda stratum: stratum.missing.value or 0.0)
    sentences = [f"{text}; {_say_spread([coverage for _, coverage in known], many)}."]
    if worst.missing.value:
        sentences.append(
            f"Most is missing of {worst.name}: about {count(worst.missing.value)} URLs."
        )
    return " ".join(sentences)


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


def say_gap(noun: tuple[str, str], plain: Whole, total: Whole, *, is_even: bool) -> str:
    """Return what it means that the sum of the strata differs from what all URLs give at once.

    Parameters
    ----------
    noun
        One stratum in a sentence, and several.
    plain, total
        All URLs taken for one stratum, and the sum of the strata.
    is_even
        Whether capture is even within strata, as far as is known.
    """
    one, many = noun
    whole, added = plain.coverage.value, total.coverage.value
    if whole is None or added is None:
        return ""
    ratio = whole / added
    if not is_even:
        return (
            f"Both are too high, as capture is uneven within a {one} as well; dividing by "
            f"{many} does not mend that."
        )
    if abs(ratio - 1) < _LEAST_GAP:
        return f"Both agree: differences between {many} do not distort the coverage."
    low, high = total.coverage.low, total.coverage.high
    is_inside = low is not None and high is not None and low <= whole <= high
    doubt = " The difference is within the range of the sum." if is_inside else ""
    size = percent(abs(ratio - 1))
    if ratio > 1:
        return (
            f"All URLs at once give a coverage {size} higher than the sum of the {many}: "
            f"{many} differ in coverage, and the well-covered ones fill the overlaps. The sum is "
            f"the better number.{doubt}"
        )
    return (
        f"All URLs at once give a coverage {size} lower than the sum of the {many}: {many} differ "
        f"in persistence, which one rate for all does not fit. The sum is the better number.{doubt}"
    )


def say_warnings(counts: StratumCounts, strata: Sequence[StratumEstimate]) -> tuple[str, ...]:
    """Return what to be careful about."""
    warnings = []
    gone = [s.name for s in strata if s.n_urls == 0 and not s.n_pooled]
    if gone:
        warnings.append(
            f"{names(gone)}: in earlier crawls, but not in {counts.crawls[-1].label}. They may be "
            "gone or have been missed; overlaps cannot tell."
        )
    if any("contradicts" in s.note for s in strata):
        odd = [s.name for s in strata if "contradicts" in s.note]
        warnings.append(
            f"{names(odd)}: the crawls contradict each other more than chance allows, as after a "
            "relaunch or a change of scope; the range is wider for it."
        )
    impossible = [s.name for s in strata if (s.coverage.low or 0.0) > 1]
    if impossible:
        warnings.append(
            f"{names(impossible)}: a coverage above 100 % is impossible. Capture there is not "
            "even, and the true coverage is lower."
        )
    damaged = [crawl.label for crawl in counts.crawls if crawl.damaged]
    if damaged:
        warnings.append(f"{names(damaged)}: part of the input was damaged and is not counted.")
    return tuple(warnings)
