"""What each check means, how it is computed and what to do, for readers of its result."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from crawlgauge.errors import FitError
from crawlgauge.model.estimates import Check, Status

__all__ = [
    "EXPLANATIONS",
    "HISTORY_EXPLANATIONS",
    "Explanation",
    "explain_check",
    "find_explanation",
]


# ------------------------------------ what is to be said about a check to those who read its result


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A check in words.

    Parameters
    ----------
    question
        What it asks.
    meaning
        What it means if the answer is no, and what that does to the estimates.
    computation
        How it is computed, and what its effect and thresholds are.
    advice
        What to do.
    """

    question: str
    meaning: str
    computation: str
    advice: str


# ----------------------------- what the checks of pairs mean, how they are computed, and what to do


_TERM = (
    "Its certainty comes from leaving out one crawl at a time: the coefficient over its jackknife "
    "standard error is held against Student's t with T − 2 degrees of freedom"
)

PAIR_EXPLANATIONS = MappingProxyType(
    {
        "lack-of-fit": Explanation(
            question="Do the overlaps lie where the model puts them?",
            meaning=(
                "The model gives each crawl one coverage and all URLs one rate of decay. Scatter "
                "about it that has no pattern (a crawl that was disturbed, junk URLs that are "
                "never seen again) widens the intervals, which allow for it. Large scatter has a "
                "cause that the other checks may name. That URLs differ lastingly in how easily "
                "they are captured shows in no scatter at all: it moves every pair alike."
            ),
            computation=(
                "The effect is the standard deviation of ln(overlap) about the two-way model, "
                "after the variance of counting and of published sketches is taken away; it is 0 "
                "if a chi-square test (1 in 1000) finds nothing beyond counting. Below 0.02 is a "
                "good fit, below 0.05 a fair one; from 0.05 on the check warns, from 0.25 on it "
                "fails. After a change-point it is that of the pairs within regimes."
            ),
            advice=(
                "Look at the residuals by crawl. A crawl whose pairs all stand apart can be left "
                "out with --exclude; if the answer then changes, say so with the number."
            ),
        ),
        "short-lag": Explanation(
            question="Do neighbouring crawls share what the distant ones lead one to expect?",
            meaning=(
                "A crawler that avoids pages it fetched recently shares too little with the crawl "
                "before. Decay then looks slow or reversed, and coverage from all pairs is too "
                "low: in simulations by up to a quarter for an effect to −0.3, up to a half to "
                "−0.7, up to nine tenths beyond. A crawler that starts from the pages of the "
                "crawl before shares too much, and coverage is too high; but many short-lived "
                "pages look the same and make it too low. The range that is named spans both; "
                "after re-seeding its lower end was still 2 to 5 % too high in simulations."
            ),
            computation=(
                "The two-way model gets one more term, which is 1 for crawls up to L apart (L = "
                "1, 2 or 3, whichever explains most). The effect is its coefficient: the "
                f"logarithm of what such crawls share over what they should. {_TERM} (1 in 100). "
                "It warns beyond 0.03 either way and fails below −0.3, or if neighbouring crawls "
                "share nothing where at least 20 URLs are expected. An excess that a shape of "
                "decay explains three times better is left to the check curvature."
            ),
            advice=(
                "Leave out the affected pairs with --min-lag L+1. In simulations of avoidance the "
                "coverage is then right within a tenth for an effect to −0.3, too high by up to "
                "30 % to −0.7, and up to twice too high beyond; the range over further lags held "
                "the truth in 19 of 20. Capture histories show who was avoided and resolve it."
            ),
        ),
        "curvature": Explanation(
            question="Do overlaps shrink by the same share every year?",
            meaning=(
                "Where short-lived and long-lived pages are mixed, overlaps shrink fast at first "
                "and slowly later. Coverage is the overlap carried back to lag zero, where there "
                "are no data: a steady rate carries it back too low (in simulations by 7 to 23 %), "
                "other shapes less so or too far."
            ),
            computation=(
                "The two-way model gets the term D·ln D, where D is the time between two crawls; "
                f"its coefficient is above zero if decay slows down. {_TERM} (1 in 100). The "
                "model is also fitted with a Weibull and a bi-exponential decay, the faster kind "
                "with a half-life of at least half the shortest lag. The effect is the logarithm "
                "of the highest over the lowest typical coverage among the shapes; the check "
                "warns above 0.03 and fails above 0.69 (a factor of two). Where short-lag has "
                "found something, curvature is not tested."
            ),
            advice=(
                "Report the range over the shapes, not one number. Two crawls close together, or "
                "capture histories, show the beginning of the decay and decide between them."
            ),
        ),
        "change-point": Explanation(
            question="Is this one series of crawls, or several?",
            meaning=(
                "When scope, seeds or limits of a crawler change, part of what it reached before "
                "is out of reach. Crawls on different sides then share less than they should, "
                "and decay looks faster than it is. A change of coverage alone is no change-point."
            ),
            computation=(
                "For each date with three or more crawls on either side the two-way model gets a "
                "term that is 1 for pairs across it; the date that explains most counts. The "
                "effect is the coefficient: the logarithm of what crawls across the date share "
                f"over what they should. {_TERM} (1 in 1000, divided by the number of dates and of "
                "changes). It warns if the effect is below −0.03. Up to three changes are sought "
                "together, as one can hide another; all must be certain beside the others."
            ),
            advice=(
                "Pairs across the change are left out, and the headline is that of the latest "
                "regime; --regime N estimates another one alone. Compare the date with the log "
                "of the crawler's settings. A lasting drop in the quality of URLs looks the same."
            ),
        ),
        "population-trend": Explanation(
            question="Does the number of URLs that could be crawled grow or shrink?",
            meaning=(
                "A finding, and no fault. If the population grows and crawls do not, coverage "
                "falls although the crawler works as before. The published method's line takes "
                "half of such a trend for turnover; the two-way model keeps them apart."
            ),
            computation=(
                "The population of each crawl is its size over its coverage; the effect is the "
                "slope of its logarithm per year. It is reported if it is beyond 0.01 either way "
                "and the interval of the growth leaves out zero."
            ),
            advice="Let the size of crawls follow the population to keep coverage where it is.",
        ),
    }
)


# ----------------- what the checks of capture histories mean, how they are computed, and what to do


_CERTAIN = (
    "Its certainty counts each URL once, and allows for the scatter between pairs of crawls, which "
    "is large where URLs of a host come and go together"
)

HISTORY_EXPLANATIONS = MappingProxyType(
    {
        "heterogeneous-capture": Explanation(
            question="Is every URL captured as readily as any other?",
            meaning=(
                "Crawlers come back to well-linked pages and hardly ever reach others. If URL k is "
                "captured with w_k times the usual probability in every crawl, all pairs of crawls "
                "share too much by the mean of w² and the fit looks perfect: coverage was too high "
                "by 9 % for a coefficient of variation of w of 0.3, by 37 % for 0.7, and 2.7 times "
                "for a core captured at 0.9 with a periphery at 0.04. Agreement of estimators "
                "that all assume even capture is no evidence. URLs that are captured next to "
                "never show in no history, so that any coverage is an upper bound."
            ),
            computation=(
                "Two crawls are compared among URLs seen before and after both, which were "
                "therefore alive, and alike in the crawl in between and the one on either side. If "
                "capture is even, being captured by one says nothing about the other, whatever "
                "URLs live for and whatever the crawler does with those of its last crawl. The "
                "effect is the logarithm of Mantel and Haenszel's odds ratio over all pairs two "
                "crawls apart; three apart, with all up to two crawls around alike, where the "
                "effect is negative or not carried on to three, as when a crawler looks back over "
                f"two crawls. It warns above 0.05. {_CERTAIN} (1 in 500). It needs six crawls."
            ),
            advice=(
                "Use the estimate from known-alive windows or the latent-class model, which allow "
                "for uneven capture, and not the overlaps of pairs alone. Where hosts are known, "
                "estimate within hosts or domains. A list of URLs drawn evenly from elsewhere is "
                "the strongest check: the share of it that a crawl holds is its coverage."
            ),
        ),
        "past-future": Explanation(
            question="Do URLs that were seen before live on like those that are new?",
            meaning=(
                "Of a crawl's URLs, those that earlier crawls hold and those that none holds "
                "should be seen again equally often. If the known ones are seen more often, URLs "
                "differ lastingly: in how readily they are captured, which makes coverage from "
                "overlaps too high, or in how long they live, which makes it too low. The check "
                "heterogeneous-capture tells these apart, unless a part is hardly ever captured. "
                "What a crawler does with URLs of its last crawls leaves no trace here, as it "
                "begins anew with every capture."
            ),
            computation=(
                "Among the URLs of each crawl but the first and last, being seen before is held "
                "against being seen after; this is component 3.SR of the classical tests. The "
                "effect is the logarithm of Mantel and Haenszel's odds ratio over the crawls. It "
                f"warns above 0.1. {_CERTAIN} (1 in 500). Simulated with 60,000 URLs: 0.13 to 0.21 "
                "for mildly uneven capture, 1.2 to 2.1 for a core and a periphery, 0.2 to 1.3 for "
                "mixed lifetimes, below 0.03 otherwise. It needs six crawls."
            ),
            advice=(
                "Read it with heterogeneous-capture and curvature. For mixed lifetimes take the "
                "Manly–Parr estimate, which has no rate of decay in it; for uneven capture an "
                "estimate that allows for it."
            ),
        ),
        "novelty": Explanation(
            question="Do crawls find as many new URLs as their overlaps lead one to expect?",
            meaning=(
                "Pairs of crawls fix each crawl's coverage and the turnover, from which follows "
                "how many of its URLs no earlier crawl should hold. The fit never saw this number. "
                "If more are new, the crawls together hold less of what lives than the model says, "
                "and what it promises of further crawls is off; if fewer are, the other way round."
            ),
            computation=(
                "With A living URLs held by earlier crawls, a crawl of M URLs and coverage c "
                "should find M − c·A new ones and leaves M + (1 − c)·A, of which the persistence "
                "gives the share alive at the next. The effect is the logarithm of expected over "
                "found, of the crawl where it is largest. It warns beyond 0.05 either way. "
                f"{_CERTAIN} (1 in 500 over all crawls). Simulated: 0.06 to 0.3 for uneven "
                "capture, to 1 where the core also lives longer, 0.1 to 0.5 for mixed lifetimes, "
                "to 0.2 with avoidance. After a change of scope, new is what no crawl since holds. "
                "It needs six crawls."
            ),
            advice=(
                "Do not plan further crawls with the pairs' numbers. The other checks say what is "
                "behind it; if none speaks, look at the crawl that is named: it may have gone "
                "elsewhere."
            ),
        ),
        "overdispersion": Explanation(
            question="Are URLs captured one by one, or in bunches?",
            meaning=(
                "If each crawl prefers other hosts, URLs of one host come and go together, and "
                "counts scatter more than as many independent URLs. Nothing is biased by it, but "
                "standard errors and likelihoods that take every URL for independent evidence are "
                "too sure of themselves. Intervals from leaving out whole crawls allow for it."
            ),
            computation=(
                "How many URLs of each crawl are seen next in each later one is held against the "
                "model of Cormack, Jolly and Seber with a coverage for each crawl and a survival "
                "for each interval, by Pearson's chi-square; over its degrees of freedom this is "
                "known as c-hat. The effect is the share by which a typical count varies beyond "
                "independent URLs, so that it does not grow with the number of URLs as c-hat does. "
                "It is a finding from 0.01 on and warns from 0.05 on, if the chi-square test is "
                "certain (1 in 100). Where another check found something that makes counts depart "
                "from the model by itself, it is not tested."
            ),
            advice=(
                "Trust intervals from leaving out crawls, and none that counts URLs. Estimate by "
                "host or domain to see where the bunches are."
            ),
        ),
    }
)


# -------------- what each check means, how it is computed and what to do, for readers of its result


EXPLANATIONS = MappingProxyType({**PAIR_EXPLANATIONS, **HISTORY_EXPLANATIONS})

_STATUS: dict[Status, str] = {
    "ok": "nothing found",
    "info": "a finding, no fault",
    "warn": "the number holds with the repair or caveat that is named",
    "fail": "do not trust the number",
    "na": "not testable with this data",
}


def find_explanation(check_id: str) -> Explanation:
    """Return what is to be said about a check.

    Parameters
    ----------
    check_id
        Its id.

    Raises
    ------
    FitError
        If there is no such check.
    """
    if check_id not in EXPLANATIONS:
        raise FitError(f"there is no check {check_id!r}; the checks are {', '.join(EXPLANATIONS)}")
    return EXPLANATIONS[check_id]


def explain_check(check_id: str, checks: Sequence[Check]) -> tuple[tuple[str, str], ...]:
    """Explain a check and say what it found, as headings with a paragraph each.

    Parameters
    ----------
    check_id
        The check to explain.
    checks
        The results.

    Raises
    ------
    FitError
        If there is no such check.
    """
    explanation = find_explanation(check_id)
    found = tuple(
        ("What it found here", _describe(check)) for check in checks if check.id == check_id
    )
    return (
        (check_id, explanation.question),
        *found,
        ("What it means", explanation.meaning),
        ("How it is computed", explanation.computation),
        ("What to do", explanation.advice),
    )


def _describe(check: Check) -> str:
    numbers = "" if check.effect is None else f", effect {_signed(check.effect)}"
    if check.threshold is not None:
        numbers += f", threshold {check.threshold:g}"
    return f"{check.status} ({_STATUS[check.status]}{numbers}). {check.message}"


def _signed(effect: float) -> str:
    return f"{effect:+.3f}".replace("-", "−")
