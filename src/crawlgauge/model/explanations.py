"""What each check means, how it is computed and what to do, for readers of its result."""

from collections.abc import Sequence
from types import MappingProxyType

from crawlgauge.errors import FitError
from crawlgauge.model.checks import PAIR_CHECKS
from crawlgauge.model.estimates import Check, CheckSpec, Status

__all__ = ["EXPLANATIONS", "HISTORY_CHECKS", "explain_check"]


# ------------------------------------------------------------------ the checks of capture histories


_CERTAIN = (
    "Its certainty counts each URL once, and allows for the scatter between pairs of crawls, which "
    "is large where URLs of a host come and go together"
)

HETEROGENEOUS_CAPTURE = CheckSpec(
    id="heterogeneous-capture",
    threshold=0.05,
    question="Is every URL captured as readily as any other?",
    meaning=(
        "Crawlers come back to well-linked pages and hardly ever reach others. If URL k is "
        "captured with w_k times the usual probability in every crawl, all pairs of crawls share "
        "too much by the mean of w² and the fit looks perfect: coverage was too high by 9 % for a "
        "coefficient of variation of w of 0.3, by 37 % for 0.7, and 2.7 times for a core captured "
        "at 0.9 with a periphery at 0.04. Agreement of estimators that all assume even capture is "
        "no evidence. URLs that are captured next to never show in no history, so that any "
        "coverage is an upper bound."
    ),
    computation=(
        "Two crawls are compared among URLs seen before and after both, which were therefore "
        "alive, and alike in the crawl in between and the one on either side. If capture is even, "
        "being captured by one says nothing about the other, whatever URLs live for and whatever "
        "the crawler does with those of its last crawl. The effect is the logarithm of Mantel and "
        "Haenszel's odds ratio over all pairs two crawls apart; three apart, with all up to two "
        "crawls around alike, where the effect is negative or not carried on to three, as when a "
        f"crawler looks back over two crawls. It warns above 0.05. {_CERTAIN} (1 in 500). It needs "
        "six crawls."
    ),
    advice=(
        "Use the estimate from known-alive windows or the latent-class model, which allow for "
        "uneven capture, and not the overlaps of pairs alone. Where hosts are known, estimate "
        "within hosts or domains. A list of URLs drawn evenly from elsewhere is the strongest "
        "check: the share of it that a crawl holds is its coverage."
    ),
)

PAST_FUTURE = CheckSpec(
    id="past-future",
    threshold=0.1,
    question="Do URLs that were seen before live on like those that are new?",
    meaning=(
        "Of a crawl's URLs, those that earlier crawls hold and those that none holds should be "
        "seen again equally often. If the known ones are seen more often, URLs differ lastingly: "
        "in how readily they are captured, which makes coverage from overlaps too high, or in how "
        "long they live, which makes it too low. The check heterogeneous-capture tells these "
        "apart, unless a part is hardly ever captured. What a crawler does with URLs of its last "
        "crawls leaves no trace here, as it begins anew with every capture."
    ),
    computation=(
        "Among the URLs of each crawl but the first and last, being seen before is held against "
        "being seen after; this is component 3.SR of the classical tests. The effect is the "
        "logarithm of Mantel and Haenszel's odds ratio over the crawls. It warns above 0.1. "
        f"{_CERTAIN} (1 in 500). Simulated with 60,000 URLs: 0.13 to 0.21 for mildly uneven "
        "capture, 1.2 to 2.1 for a core and a periphery, 0.2 to 1.3 for mixed lifetimes, below "
        "0.03 otherwise. It needs six crawls."
    ),
    advice=(
        "Read it with heterogeneous-capture and curvature. For mixed lifetimes take the Manly–Parr "
        "estimate, which has no rate of decay in it; for uneven capture an estimate that allows "
        "for it."
    ),
)

NOVELTY = CheckSpec(
    id="novelty",
    threshold=0.05,
    question="Do crawls find as many new URLs as their overlaps lead one to expect?",
    meaning=(
        "Pairs of crawls fix each crawl's coverage and the turnover, from which follows how many "
        "of its URLs no earlier crawl should hold. The fit never saw this number. If more are new, "
        "the crawls together hold less of what lives than the model says, and what it promises of "
        "further crawls is off; if fewer are, the other way round."
    ),
    computation=(
        "With A living URLs held by earlier crawls, a crawl of M URLs and coverage c should find M "
        "− c·A new ones and leaves M + (1 − c)·A, of which the persistence gives the share alive "
        "at the next. The effect is the logarithm of expected over found, of the crawl where it is "
        f"largest. It warns beyond 0.05 either way. {_CERTAIN} (1 in 500 over all crawls). "
        "Simulated: 0.06 to 0.3 for uneven capture, to 1 where the core also lives longer, 0.1 to "
        "0.5 for mixed lifetimes, to 0.2 with avoidance. After a change of scope, new is what no "
        "crawl since holds. It needs six crawls."
    ),
    advice=(
        "Do not plan further crawls with the pairs' numbers. The other checks say what is behind "
        "it; if none speaks, look at the crawl that is named: it may have gone elsewhere."
    ),
)

OVERDISPERSION = CheckSpec(
    id="overdispersion",
    threshold=0.01,
    question="Are URLs captured one by one, or in bunches?",
    meaning=(
        "If each crawl prefers other hosts, URLs of one host come and go together, and counts "
        "scatter more than as many independent URLs. Nothing is biased by it, but standard errors "
        "and likelihoods that take every URL for independent evidence are too sure of themselves. "
        "Intervals from leaving out whole crawls allow for it."
    ),
    computation=(
        "How many URLs of each crawl are seen next in each later one is held against the model of "
        "Cormack, Jolly and Seber with a coverage for each crawl and a survival for each interval, "
        "by Pearson's chi-square; over its degrees of freedom this is known as c-hat. The effect "
        "is the share by which a typical count varies beyond independent URLs, so that it does not "
        "grow with the number of URLs as c-hat does. It is a finding from 0.01 on and warns from "
        "0.05 on, if the chi-square test is certain (1 in 100). Where another check found "
        "something that makes counts depart from the model by itself, it is not tested."
    ),
    advice=(
        "Trust intervals from leaving out crawls, and none that counts URLs. Estimate by host or "
        "domain to see where the bunches are."
    ),
)

HISTORY_CHECKS = (HETEROGENEOUS_CAPTURE, PAST_FUTURE, NOVELTY, OVERDISPERSION)


# ------------------------------------------------------------------------------ all checks in words


EXPLANATIONS = MappingProxyType({spec.id: spec for spec in (*PAIR_CHECKS, *HISTORY_CHECKS)})

_STATUS: dict[Status, str] = {
    "ok": "nothing found",
    "info": "a finding, no fault",
    "warn": "the number holds with the repair or caveat that is named",
    "fail": "do not trust the number",
    "na": "not testable with this data",
}


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
    if check_id not in EXPLANATIONS:
        raise FitError(f"there is no check {check_id!r}; the checks are {', '.join(EXPLANATIONS)}")
    spec = EXPLANATIONS[check_id]
    found = (("What it found here", _describe(check)) for check in checks if check.id == check_id)
    return (
        (check_id, spec.question),
        *found,
        ("What it means", spec.meaning),
        ("How it is computed", spec.computation),
        ("What to do", spec.advice),
    )


def _describe(check: Check) -> str:
    numbers = ""
    if check.effect is not None:
        numbers = f", effect {check.effect:+.3f}".replace("-", "−")
    if check.threshold is not None:
        numbers += f", threshold {check.threshold:g}"
    return f"{check.status} ({_STATUS[check.status]}{numbers}). {check.message}"
