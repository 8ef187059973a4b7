"""What the number means, and what it does not mean."""

from collections.abc import Iterator
from dataclasses import dataclass

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import percent, things
from crawlgauge.report.page.answer import has_quotable_number

__all__ = ["Remark", "list_limits", "list_readings"]

_FEW_CRAWLS = 5
"""Below this, capture histories are not used and intervals are wide or missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A paragraph under a heading of its own."""

    heading: str
    text: str


def list_readings(estimates: Estimates) -> tuple[Remark, ...]:
    """Return three ways to read a coverage.

    Parameters
    ----------
    estimates
        Of a series of crawls; the number stands in the text where it can be quoted.
    """
    what = things(estimates.level)
    coverage = estimates.headline.coverage.value
    share = "a share equal to the coverage"
    if coverage is not None and has_quotable_number(estimates):
        share = f"about {percent(coverage)}"
    return (
        Remark(
            heading="A share",
            text=f"Of all {what} that a crawl of this configuration could have reached at its "
            f"date, it holds {share}.",
        ),
        Remark(
            heading="A hit rate",
            text=f"Had somebody drawn an even sample of those {what} at that moment, the crawl "
            f"would hold {share} of the sample. This holds however unevenly the crawl itself "
            "captures, and makes an even sample the strongest check there is.",
        ),
        Remark(
            heading="A repeat",
            text="Had the crawl been repeated independently at the same moment, the two would "
            f"share {share} of their {what}: the self-intersection. This reading holds only if "
            f"all {what} are equally likely to be captured; a crawler that prefers some shares "
            "more with its own repeat.",
        ),
    )


def list_limits(estimates: Estimates) -> tuple[Remark, ...]:
    """Return what the number does not mean.

    Parameters
    ----------
    estimates
        Of a series of crawls; which limits matter depends on their number and on the estimator.
    """
    what = things(estimates.level)
    return (
        Remark(
            heading="Not a share of the web",
            text=f"It is a share of the {what} that this configuration (seeds, scope, limits) "
            "could have reached. Another list of seeds has another population, and two archives "
            "of the same coverage may hold quite different amounts.",
        ),
        _about_uneven_capture(estimates, what),
        *_about_content(estimates.level, what),
        *_about_fits(),
        Remark(
            heading="Gone means out of reach",
            text="Persistence counts a page as gone when the crawler cannot reach it any more, "
            "also where it exists without a link to it, or under another URL.",
        ),
        Remark(
            heading="A crawl is taken for a moment",
            text="The population is assumed not to change while a crawl runs. In a part of the web "
            "that grows fast, the published line mixes growth with coverage; the estimate for each "
            "crawl keeps them apart.",
        ),
        *_about_few_crawls(len(estimates.crawls)),
    )


def _about_uneven_capture(estimates: Estimates, what: str) -> Remark:
    opening = (
        "A breadth-first crawl finds well-linked pages each time and remote ones hardly ever, and "
        f"rules of scope leave out others. The coverage of {what} that are easily found is higher "
        "than stated, that of the others lower."
    )
    rest = (
        "Overlaps of pairs cannot show it at all: the estimate is then too high, and the "
        "population too small. If the chance of capture varies by 30 % of its mean, the coverage "
        "comes out 9 % too high; if it varies by 70 %, about 50 % too high."
    )
    if estimates.headline.estimator == "histories":
        rest = (
            f"The estimate allows for what the capture histories show of it; {what} that are "
            "hardly ever captured leave no trace, and if there are many, the true coverage is "
            "below the range."
        )
    return Remark(heading="Weighted by the way the crawler works", text=f"{opening} {rest}")


def _about_content(level: str, what: str) -> Iterator[Remark]:
    quality = (
        "how well single pages were captured, with their images and scripts: that is another "
        "question, with methods of its own."
    )
    if level == "url":
        yield Remark(
            heading="Not of content",
            text="Coverage is of URLs. A page may change under its URL, and one content may have "
            f"many URLs. Nor does it say {quality}",
        )
    else:
        yield Remark(
            heading="Not of quality",
            text=f"Coverage is of {what}. It does not say {quality}",
        )


def _about_fits() -> Iterator[Remark]:
    yield Remark(
        heading="Small residuals are no proof",
        text="If a crawler always prefers the same pages, every pair of crawls shares too much by "
        "the same factor, and the fit absorbs it: ln R stays near zero while the coverage is too "
        "high. That R is near 1 does not show that capture is even.",
    )
    yield Remark(
        heading="Rising intercepts are no progress",
        text="The paper’s line for each starting crawl never contains that crawl’s own coverage, "
        "and where short-lived and long-lived URLs are mixed, its intercept rises with the date "
        "by itself, as late starts have short time differences only.",
    )
    yield Remark(
        heading="Not comparable with closed estimates",
        text="Lincoln–Petersen, Schnabel or Chao take the web for unchanging and count what is "
        "gone as missed. On a living web they make the population too large: 1.2 to 2.6 times "
        "in simulations of twelve half-yearly crawls with a half-life of 2.2 years.",
    )


def _about_few_crawls(n: int) -> Iterator[Remark]:
    if n < _FEW_CRAWLS:
        number = {2: "Two", 3: "Three", 4: "Four"}[n]
        yield Remark(
            heading=f"{number} crawls say little",
            text="One crawl says nothing about coverage, two give a bound, three a number without "
            "an error, four an interval that is often very wide. Each further crawl helps "
            "considerably.",
        )
