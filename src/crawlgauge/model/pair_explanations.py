"""What the checks of pairs mean, how they are computed, and what to do."""

from types import MappingProxyType

from crawlgauge.model.explanation import Explanation

__all__ = ["PAIR_EXPLANATIONS"]

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
