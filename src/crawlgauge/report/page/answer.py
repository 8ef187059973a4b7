"""The answer, as large as it may be: a number, a bound, or that there is none."""

from dataclasses import dataclass

from crawlgauge.model.estimates import Check, Estimate, Estimates, Status
from crawlgauge.model.phrases import names, percent, percent_range, things
from crawlgauge.report.estimate_blocks import say_untestable
from crawlgauge.report.words import (
    MARKS,
    STATUSES,
    Tone,
    describe_basis,
    name_checks,
    open_sentence,
    with_range,
)

__all__ = [
    "Answer",
    "Verdict",
    "find_answer",
    "has_quotable_number",
    "judge_answer",
    "judge_newest",
    "judge_status",
]


# ------------------------ A judgement in a word and a sentence, as it stands at the top of the page


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judgement.

    Parameters
    ----------
    tone
        How it is coloured and marked.
    word
        The judgement in a word or two.
    sentence
        What it rests on.
    """

    tone: Tone
    word: str
    sentence: str

    @property
    def mark(self) -> str:
        """The sign beside the word."""
        return MARKS[self.tone]


def judge_status(status: Status, sentence: str) -> Verdict:
    """Return the verdict that the status of a check stands for.

    Parameters
    ----------
    status
        Of a check.
    sentence
        What the check says.

    Examples
    --------
    >>> judge_status("warn", "Overlaps scatter.").word
    'look'
    """
    words = STATUSES[status]
    return Verdict(tone=words.tone, word=words.word, sentence=sentence)


# ---------------------- the answer, as large as it may be: a number, a bound, or that there is none


_TWO = 2
_NOTHING = "not known"
_RESTS_ON = {
    "histories": "the capture histories of {n} crawls, read in several ways",
    "two-way": "the overlaps of {pairs} of {n} crawls, by the two-way model",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A range on the way from nothing to everything, in per cent of it.

    Parameters
    ----------
    low, high
        Ends of the range, at most 100.
    value
        The estimate; None if only the range is to be shown.
    is_open
        Whether the range ends at 100 only because there is no more.
    """

    low: float
    high: float
    value: float | None
    is_open: bool = False

    @property
    def width(self) -> float:
        """Length of the range."""
        return round(self.high - self.low, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What stands at the top of the page.

    Parameters
    ----------
    figure
        The number as large type.
    meaning
        What it is a number of.
    range_text
        Its range in words; empty if there is none.
    bar
        The range as a picture; None if there is none.
    statement
        The answer in a sentence.
    rests_on
        Which data and which estimator it comes from.
    verdict
        How far to trust it.
    untestable
        What histories cannot tell, each in a few sentences.
    """

    figure: str
    meaning: str
    range_text: str
    bar: Bar | None
    statement: str
    rests_on: str
    verdict: Verdict
    untestable: tuple[str, ...]


def find_answer(estimates: Estimates) -> Answer:
    """Return the answer, never more certain than the estimates are.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    coverage = estimates.headline.coverage
    figure, range_text, bar = _show(estimates, coverage)
    what = things(estimates.level)
    crawl = "the newer crawl" if len(estimates.crawls) == _TWO else "a typical crawl"
    meaning = f"of the {what} within reach are held by {crawl}"
    if figure == _NOTHING:
        meaning = f"which share of the {what} within reach {crawl} holds"
    return Answer(
        figure=figure,
        meaning=meaning,
        range_text=range_text,
        bar=bar,
        statement=estimates.headline.statement,
        rests_on=_describe_basis(estimates),
        verdict=judge_answer(estimates),
        untestable=say_untestable(estimates),
    )


def has_quotable_number(estimates: Estimates) -> bool:
    """Tell whether the headline has a number that may stand by itself."""
    coverage = estimates.headline.coverage
    return (
        coverage.value is not None
        and coverage.value <= 1
        and estimates.agreement.grade != "C"
        and (estimates.headline.estimator == "histories" or not _failed(estimates))
    )


def _show(estimates: Estimates, coverage: Estimate) -> tuple[str, str, Bar | None]:
    """Return the large figure, its range in words, and its bar."""
    value, low, high = coverage.value, coverage.low, coverage.high
    if value is None:
        least = _least(estimates)
        if least is None:
            return _NOTHING, "", None
        bar = Bar(low=_place(least), high=100, value=None, is_open=True)
        return f"at least {percent(least)}", "", bar
    if low is None or high is None:
        if not has_quotable_number(estimates):
            return _NOTHING, "", None
        bar = Bar(low=_place(value), high=_place(value), value=_place(value))
        return f"about {percent(value)}", "no range", bar
    if value > 1:
        if low >= 1:
            return _NOTHING, "", None
        bar = Bar(low=_place(low), high=100, value=None, is_open=True)
        return f"at least {percent(low)}", "", bar
    basis = describe_basis(coverage)
    bar = Bar(low=_place(low), high=_place(high), value=_place(value), is_open=high > 1)
    if estimates.agreement.grade == "C":
        ends = f"{percent(low)} to {percent(min(high, 1.0))}"
        return ends, basis, Bar(low=bar.low, high=bar.high, value=None, is_open=bar.is_open)
    if high > 1:
        return f"about {percent(value)}", f"at least {percent(low)} ({basis})", bar
    shown, _, ends = percent_range(value, low, high).partition(" (")
    return shown, f"{ends.removesuffix(')')} ({basis})", bar


def _least(estimates: Estimates) -> float | None:
    """Return the least that the newer of two crawls covers."""
    if len(estimates.crawls) != _TWO:
        return None
    found = [pair.containment for pair in estimates.residuals if pair.lag_years > 0]
    return found[0] if found and found[0] > 0 else None


def _place(share: float) -> float:
    return round(min(100 * share, 100.0), 2)


def _describe_basis(estimates: Estimates) -> str:
    n = len(estimates.crawls)
    n_pairs = len(estimates.residuals)
    pairs = "the one pair" if n_pairs == 1 else f"{n_pairs:,} pairs"
    form = _RESTS_ON.get(
        estimates.headline.estimator or "", "the overlaps of {pairs} of {n} crawls"
    )
    return form.format(n=n, pairs=pairs, what=things(estimates.level))


def judge_answer(estimates: Estimates) -> Verdict:
    """Return how far the headline can be trusted, from its checks, its grade and its range.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    coverage, grade = estimates.headline.coverage, estimates.agreement.grade
    if coverage.value is None:
        reason = coverage.why
        sentence = f"{open_sentence(reason)}." if reason else ""
        return Verdict(tone="plain", word="no estimate", sentence=sentence)
    failed = _failed(estimates)
    if failed and estimates.headline.estimator != "histories":
        ids = [check.id for check in failed]
        say = "says" if len(ids) == 1 else "say"
        sentence = (
            f"The {name_checks(ids)} {say} that these crawls do not behave as the model assumes."
        )
        return Verdict(tone="bad", word="do not trust this number", sentence=sentence)
    if coverage.value > 1 and (coverage.low is None or coverage.low >= 1):
        return Verdict(
            tone="bad",
            word="do not trust this number",
            sentence="A crawl cannot hold more than there is: the model does not hold.",
        )
    if grade == "C":
        return Verdict(
            tone="bad",
            word="trust the range only",
            sentence=f"Grade C: {estimates.agreement.reason}",
        )
    return _judge_usable(estimates)


def _judge_usable(estimates: Estimates) -> Verdict:
    ran = [check for check in estimates.checks if check.status not in {"na", "info"}]
    warned = [check.id for check in ran if check.status in {"warn", "fail"}]
    passed = _describe_passed(len(ran) - len(warned), len(ran))
    grade = estimates.agreement.grade
    opening = "" if grade == "none" else f"Grade {grade}: {estimates.agreement.reason} "
    if warned:
        asks = "asks" if len(warned) == 1 else "ask"
        return Verdict(
            tone="look",
            word="use with care",
            sentence=f"{opening}The {name_checks(warned)} {asks} for a look; {passed}.",
        )
    damaged = [crawl.label for crawl in estimates.crawls if crawl.damaged]
    if damaged:
        return Verdict(
            tone="look",
            word="use with care",
            sentence=f"{opening}Part of the input of {names(damaged)} was damaged and left out; "
            f"{passed}.",
        )
    if estimates.headline.coverage.low is None:
        return Verdict(
            tone="look",
            word="use with care",
            sentence="Nothing is left to judge the error by, so that the number has no range.",
        )
    if estimates.headline.estimator != "histories":
        return Verdict(
            tone="look",
            word="holds if capture is even",
            sentence=(
                f"Nothing speaks against it: {passed}. But overlaps of pairs cannot show whether "
                f"some {things(estimates.level)} are always captured more readily than others; "
                "if so, the true coverage is lower."
            ),
        )
    if grade == "A":
        return Verdict(
            tone="good",
            word="can be quoted with its range",
            sentence=f"{opening}{open_sentence(passed)}.",
        )
    return Verdict(
        tone="look",
        word="quote the range with it",
        sentence=f"{opening}{open_sentence(passed)}.",
    )


def _failed(estimates: Estimates) -> list[Check]:
    return [check for check in estimates.checks if check.status == "fail"]


def _describe_passed(n_passed: int, n_ran: int) -> str:
    """Write how many checks found nothing.

    Examples
    --------
    >>> _describe_passed(5, 5), _describe_passed(1, 1), _describe_passed(1, 3)
    ('all 5 checks that could be run are passed', 'the one check that could be run is passed', \
'1 of 3 checks that could be run is passed')
    """
    if n_ran == 0:
        return "no check could be run"
    if n_ran == 1 and n_passed == 1:
        return "the one check that could be run is passed"
    verb = "is" if n_passed == 1 else "are"
    whole = f"all {n_ran}" if n_passed == n_ran else f"{n_passed} of {n_ran}"
    return f"{whole} checks that could be run {verb} passed"


# ------------------- the newest crawl beside the earlier ones: whether it holds as much as they did


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
        sentence = f"{size} Its coverage is not known: {coverage.why}."
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


def _describe_size(estimates: Estimates) -> str:
    newest, before = estimates.crawls[-1], estimates.crawls[-2]
    change = newest.n_urls / before.n_urls - 1
    size = f"It has {newest.n_urls:,} {things(estimates.level)}"
    if abs(change) < _ALIKE:
        return f"{size}, about as many as the one before."
    direction = "more" if change > 0 else "fewer"
    return f"{size}, {percent(abs(change))} {direction} than the one before."
