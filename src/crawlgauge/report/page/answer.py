"""The first screen: the answer, as large as it may be, the newest crawl, and what to do next."""

from typing import NamedTuple

from crawlgauge.model.estimates import Check, Estimates
from crawlgauge.model.phrases import names, percent, percent_with_ends, things
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS
from crawlgauge.report.anchor_blocks import COMMAND, HOW, conclude
from crawlgauge.report.blocks import Verdict
from crawlgauge.report.estimate_blocks import say_untestable
from crawlgauge.report.words import EXPLANATIONS, describe_basis, name_checks, open_sentence

# ---------------------- the answer, as large as it may be: a number, a bound, or that there is none


_TWO = 2
_RESTS_ON = {
    "histories": "the capture histories of {n} crawls, read in several ways",
    "two-way": "the overlaps of {pairs} of {n} crawls, by the two-way model",
}


class Bar(NamedTuple):
    """A range on the way from nothing to everything, in per cent of it, with the estimate in it."""

    low: float
    high: float
    value: float | None = None


class Answer(NamedTuple):
    """The answer as large type, its range in words and as a picture, where it has one."""

    figure: str
    range_text: str = ""
    bar: Bar | None = None


_NOTHING = Answer("not known")


def find_answer(estimates: Estimates) -> Answer:
    """Return the answer, never more certain than the estimates are.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    coverage = estimates.headline.coverage
    value, low, high = coverage.value, coverage.low, coverage.high
    if value is None:
        least = _least(estimates)
        return _NOTHING if least is None else _bound(least)
    if low is None or high is None:
        if not has_quotable_number(estimates):
            return _NOTHING
        place = _place(value)
        return Answer(f"about {percent(value)}", "no range", Bar(place, place, place))
    if value > 1:
        return _NOTHING if low >= 1 else _bound(low)
    basis = describe_basis(coverage)
    bar = Bar(_place(low), _place(high), _place(value))
    if estimates.agreement.grade == "C":
        ends = f"{percent(low)} to {percent(min(high, 1.0))}"
        return Answer(ends, basis, bar._replace(value=None))
    if high > 1:
        return Answer(f"about {percent(value)}", f"at least {percent(low)} ({basis})", bar)
    shown, ends = percent_with_ends(value, low, high)
    return Answer(shown, f"{ends} ({basis})", bar)


def _bound(least: float) -> Answer:
    return Answer(f"at least {percent(least)}", bar=Bar(_place(least), 100))


def describe_basis_of(estimates: Estimates) -> tuple[str, ...]:
    """Write which data and which estimator the answer rests on, and what these cannot tell.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    n = len(estimates.crawls)
    n_pairs = len(estimates.residuals)
    pairs = "the one pair" if n_pairs == 1 else f"{n_pairs:,} pairs"
    form = _RESTS_ON.get(
        estimates.headline.estimator or "", "the overlaps of {pairs} of {n} crawls"
    )
    return (f"The number rests on {form.format(n=n, pairs=pairs)}.", *say_untestable(estimates))


def has_quotable_number(estimates: Estimates) -> bool:
    """Tell whether the headline has a number that may stand by itself."""
    coverage = estimates.headline.coverage
    return (
        coverage.value is not None
        and coverage.value <= 1
        and estimates.agreement.grade != "C"
        and (estimates.headline.estimator == "histories" or not _failed(estimates))
    )


def _least(estimates: Estimates) -> float | None:
    """Return the least that the newer of two crawls covers."""
    if len(estimates.crawls) != _TWO:
        return None
    found = [pair.containment for pair in estimates.residuals if pair.lag_years > 0]
    return found[0] if found and found[0] > 0 else None


def _place(share: float) -> float:
    return round(min(100 * share, 100.0), 2)


def judge_answer(estimates: Estimates) -> Verdict:
    """Return how far the headline can be trusted, from its checks, its grade and its range.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    coverage, grade = estimates.headline.coverage, estimates.agreement.grade
    if coverage.value is None:
        # The sentence above says why.
        return Verdict("plain", "no estimate", "")
    failed = [check.id for check in _failed(estimates)]
    if failed and estimates.headline.estimator != "histories":
        say = "says" if len(failed) == 1 else "say"
        said = (
            f"The {name_checks(failed)} {say} that these crawls do not behave as the model assumes."
        )
        return Verdict("bad", "do not trust this number", said)
    if coverage.value > 1 and (coverage.low is None or coverage.low >= 1):
        said = "A crawl cannot hold more than there is: the model does not hold."
        return Verdict("bad", "do not trust this number", said)
    if grade == "C":
        return Verdict("bad", "trust the range only", f"Grade C: {estimates.agreement.reason}")
    return _judge_usable(estimates)


def _judge_usable(estimates: Estimates) -> Verdict:
    ran = [check for check in estimates.checks if check.status not in {"na", "info"}]
    warned = [check.id for check in ran if check.status in {"warn", "fail"}]
    damaged = [crawl.label for crawl in estimates.crawls if crawl.damaged]
    passed = _describe_passed(len(ran) - len(warned), len(ran))
    grade, noun = estimates.agreement.grade, things(estimates.level)
    opening = "" if grade == "none" else f"Grade {grade}: {estimates.agreement.reason} "
    care = ""
    if warned:
        call = "calls" if len(warned) == 1 else "call"
        care = f"{opening}The {name_checks(warned)} {call} for caution; {passed}."
    elif damaged:
        part = f"Part of the input of {names(damaged)} was damaged and left out"
        care = f"{opening}{part}; {passed}."
    elif estimates.headline.coverage.low is None:
        care = "Nothing is left to judge the error by, so the number has no range."
    if care:
        return Verdict("look", "use with care", care)
    if estimates.headline.estimator != "histories":
        said = (
            f"Nothing speaks against it: {passed}. But overlaps of pairs cannot show whether some "
            f"{noun} are always captured more readily than others; if so, the true coverage is "
            "lower."
        )
        return Verdict("look", "holds if capture is even", said)
    said = f"{opening}{open_sentence(passed)}."
    if grade == "A":
        return Verdict("good", "can be quoted with its range", said)
    return Verdict("look", "quote the range with it", said)


def _failed(estimates: Estimates) -> list[Check]:
    return [check for check in estimates.checks if check.status == "fail"]


def _describe_passed(n_passed: int, n_ran: int) -> str:
    """Write how many checks found nothing.

    Examples
    --------
    >>> _describe_passed(5, 5), _describe_passed(1, 1), _describe_passed(1, 3)
    ('all 5 checks that could be run passed', 'the one check that could be run passed', \
'1 of 3 checks that could be run passed')
    """
    if n_ran == 0:
        return "no check could be run"
    if n_ran == 1 and n_passed == 1:
        return "the one check that could be run passed"
    whole = f"all {n_ran}" if n_passed == n_ran else f"{n_passed} of {n_ran}"
    return f"{whole} checks that could be run passed"


# --------------------------- what stands below the answer: the newest crawl, and what to do next


_ALIKE = 0.01
"""A difference in size below this share is none that one would name."""

_FEW_CRAWLS = 5
"""Below this, capture histories are not used and ranges are wide or missing."""


class Fact(NamedTuple):
    """One more thing that the first screen says; `verdict` colours it, if it is a judgement."""

    heading: str
    text: str
    verdict: Verdict | None = None


def list_facts(estimates: Estimates, newest: Verdict | None) -> tuple[Fact, ...]:
    """Return what the first screen says below the answer, in this order.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    newest
        What the check of the newest crawl found; None if it was not made.
    """
    judged = _judge_newest(estimates, newest)
    held = conclude(estimates) if estimates.anchors else f"Nothing yet. {HOW} `{COMMAND}`"
    return (
        Fact(f"Newest crawl {estimates.newest.label}", judged.sentence, judged),
        Fact("Held against something known", held),
        Fact("Do next", _find_next_step(estimates, newest)),
    )


def _judge_newest(estimates: Estimates, newest: Verdict | None) -> Verdict:
    """Return what the check found, no surer than the answer as a whole."""
    size = _describe_size(estimates)
    if newest is None or newest.tone == "plain":
        sentence = f"{size} Whether that is in line takes five crawls or more to tell."
        return Verdict("plain", "too early to tell", sentence)
    sentence = newest.sentence
    if not has_quotable_number(estimates) and newest.tone != "bad":
        sentence = (
            f"{size} This compares its coverage with that of earlier crawls; how high all of them "
            "are is not known."
        )
    if estimates.crawls[-1].damaged:
        # What could be read of a damaged crawl may look as good as ever.
        return Verdict(
            "bad" if newest.tone == "bad" else "look",
            f"{newest.word}, but damaged",
            f"{sentence} Part of its input was damaged and left out.",
        )
    return Verdict(newest.tone, newest.word, sentence)


def _describe_size(estimates: Estimates) -> str:
    newest, before = estimates.crawls[-1], estimates.crawls[-2]
    change = newest.n_urls / before.n_urls - 1
    size = f"It has {newest.n_urls:,} {things(estimates.level)}"
    if abs(change) < _ALIKE:
        return f"{size}, about as many as the one before."
    direction = "more" if change > 0 else "fewer"
    return f"{size}, {percent(abs(change))} {direction} than the one before."


def _find_next_step(estimates: Estimates, newest: Verdict | None) -> str:
    """Return the one thing that would help most: mend, then enquire, then add, then plan."""
    if newest is not None and newest.tone == "bad":
        return (
            f"Find out what happened to {estimates.newest.label}: compare its log and its settings "
            "with those of the crawl before."
        )
    damaged = [crawl.label for crawl in estimates.crawls if crawl.damaged]
    if damaged:
        return f"Add {names(damaged)} again from whole files: part of the input was damaged."
    if len(estimates.crawls) < _FEW_CRAWLS:
        return (
            "Add further crawls of the same kind. Three give a number; five give it a range, and "
            "checks."
        )
    # Another check may name the reason of a bad fit.
    checks = sorted(estimates.checks, key=lambda check: check.id == "lack-of-fit")
    for status in ("fail", "warn"):
        for check in checks:
            if check.status == status and EXPLANATIONS[check.id].next:
                return EXPLANATIONS[check.id].next
    if len(estimates.crawls) > MAX_HISTORY_CRAWLS:
        return (
            f"Estimate from the newest {MAX_HISTORY_CRAWLS} crawls or fewer, `crawlgauge estimate "
            "--since`: for so many there are capture histories, which tell more than overlaps."
        )
    if estimates.headline.estimator != "histories":
        return (
            "Estimate from capture histories, which `crawlgauge add` keeps: they show whether "
            f"some {things(estimates.level)} are always captured more readily than others."
        )
    return "See what further crawls would add: “Planning the next crawls”, below."
