"""The newest crawl beside the earlier ones: whether it holds as much as they did."""

from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import percent, things
from crawlgauge.report.page.answer import has_quotable_number
from crawlgauge.report.page.verdict import Verdict
from crawlgauge.report.range_text import with_range

__all__ = ["judge_newest"]

_ALIKE = 0.01
"""A difference in size below this share is none that one would name."""


def judge_newest(estimates: Estimates, alarm: str = "") -> Verdict:
    """Return what can be said of the newest crawl beside the earlier ones.

    Only the estimates themselves are compared; that a difference is more than chance is said
    only where the ranges do not meet.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    alarm
        What a check of the crawl against the series has found, if that is a drop.
    """
    if alarm:
        return Verdict(tone="bad", word="a drop", sentence=alarm)
    coverage = estimates.newest.coverage
    size = _describe_size(estimates)
    if coverage.value is None:
        sentence = f"{size} Its coverage is not known: {_without_prefix(coverage)}."
        return Verdict(tone="plain", word="not known", sentence=sentence)
    if not has_quotable_number(estimates):
        sentence = (
            f"{size} As long as the answer as a whole is not to be trusted, neither is the "
            "coverage of a single crawl."
        )
        return Verdict(tone="plain", word="not judged", sentence=sentence)
    if coverage.value > 1:
        sentence = f"{size} Its coverage comes out at {percent(coverage.value)}, above what can be."
        return Verdict(tone="look", word="not settled", sentence=sentence)
    held = (
        f"It holds about {with_range(coverage, percent)} of the {things(estimates.level)} that it "
        "could have reached"
    )
    compared = _compare(coverage, estimates)
    note = estimates.per_crawl[-1].note
    caution = f" Note: {note}." if note else ""
    # What could be read of a damaged crawl may look as good as ever.
    is_damaged = estimates.crawls[-1].damaged
    return Verdict(
        tone="look" if is_damaged else compared.tone,
        word=f"{compared.word}, but damaged" if is_damaged else compared.word,
        sentence=f"{size} {held}{compared.sentence}.{caution}",
    )


def _compare(newest: Estimate, estimates: Estimates) -> Verdict:
    """Hold a coverage against those of the earlier crawls; the sentence is a clause."""
    earlier = [row.coverage for row in estimates.per_crawl[:-1] if row.coverage.value is not None]
    values = [number.value for number in earlier if number.value is not None]
    if newest.value is None or not values:
        return Verdict(tone="plain", word="nothing to compare with", sentence="")
    least, most = min(values), max(values)
    if percent(least) == percent(most) == percent(newest.value):
        sentence = f", as {'did the one before' if len(values) == 1 else 'all before it did'}"
        return Verdict(tone="good", word="as before", sentence=sentence)
    ends = f"{percent(least)} to {percent(most)}"
    if percent(least) == percent(most):
        ends = percent(least)
    others = f"the earlier crawls ({ends})"
    if least <= newest.value <= most:
        return Verdict(tone="good", word="as before", sentence=f", within the range of {others}")
    is_less = newest.value < least
    direction = "less" if is_less else "more"
    if newest.low is None or all(number.low is None for number in earlier):
        return Verdict(
            tone="plain",
            word="not settled",
            sentence=f", {direction} than {others}, but without ranges that may be chance",
        )
    if _meets(newest, earlier):
        return Verdict(
            tone="good",
            word="about as before",
            sentence=f", a little {direction} than {others}, but the ranges meet",
        )
    return Verdict(
        tone="look" if is_less else "good",
        word=f"{direction} than before",
        sentence=f", {direction} than {others}, and its range meets none of theirs",
    )


def _meets(newest: Estimate, earlier: list[Estimate]) -> bool:
    """Tell whether the range meets that of any other; without a range nothing can be told apart."""
    if newest.low is None or newest.high is None:
        return True
    return any(
        other.low is None
        or other.high is None
        or (other.low <= newest.high and newest.low <= other.high)
        for other in earlier
    )


def _without_prefix(number: Estimate) -> str:
    return (number.reason or "").removeprefix("not identifiable: ")


def _describe_size(estimates: Estimates) -> str:
    newest, before = estimates.crawls[-1], estimates.crawls[-2]
    change = newest.n_urls / before.n_urls - 1
    size = f"It has {newest.n_urls:,} {things(estimates.level)}"
    if abs(change) < _ALIKE:
        return f"{size}, about as many as the one before."
    direction = "more" if change > 0 else "fewer"
    return f"{size}, {percent(abs(change))} {direction} than the one before."
