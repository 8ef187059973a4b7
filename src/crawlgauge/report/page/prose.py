"""What the number means, and what it does not mean."""

from collections.abc import Iterator
from dataclasses import dataclass

from crawlgauge.model.estimates import Estimates
from crawlgauge.model.phrases import count, growth_per_year, names, per_year, percent, span, things
from crawlgauge.report.estimate_blocks import numbers_per_crawl
from crawlgauge.report.page.answer import has_quotable_number
from crawlgauge.report.page.safe_text import to_visible
from crawlgauge.report.words import explain_ranges, number_of, open_sentence, with_range

__all__ = [
    "Remark",
    "describe_agreement",
    "describe_crawls",
    "describe_paper",
    "describe_provenance",
    "describe_ranges",
    "describe_turnover",
    "describe_union",
    "list_limits",
    "list_readings",
]


# ------------------------ the sentences that open the sections of the page, made from the estimates


def describe_crawls(estimates: Estimates) -> str:
    """Write how many crawls there are, from when to when, and what is compared.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    first, last = (estimates.crawls[k].date for k in (0, -1))
    sizes = sum(crawl.n_urls for crawl in estimates.crawls) / len(estimates.crawls)
    return (
        f"{len(estimates.crawls)} crawls, {first.day} {first:%B %Y} to {last.day} {last:%B %Y}, of "
        f"{count(sizes)} {things(estimates.level)} on average"
    )


def describe_turnover(estimates: Estimates) -> str:
    """Write persistence, half-life and growth in sentences.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    what = things(estimates.level)
    persistence, half_life = estimates.persistence, estimates.half_life_years
    growth = estimates.growth_per_year
    sentences = []
    if persistence.value is None:
        sentences.append(f"Persistence is not known: {persistence.why}.")
    else:
        sentences.append(f"Of the {what}, {with_range(persistence, percent)} live on for a year.")
        if half_life.value is not None:
            sentences.append(f"Half of them are gone after {with_range(half_life, span)}.")
    if growth.value is None:
        sentences.append(f"The growth of the population is not known: {growth.why}.")
    else:
        sentences.append(f"The population changes by {with_range(growth, growth_per_year)}.")
    if not has_quotable_number(estimates) and estimates.headline.coverage.value is not None:
        sentences.append("As the checks speak against the model, do not rely on these numbers.")
    return " ".join(sentences)


def describe_paper(estimates: Estimates) -> str:
    """Write what the published method gives.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    paper = estimates.paper
    pairs = number_of(paper.n_pairs, "pair")
    opening = (
        "Paris, Paris and Baumann (2026) draw one straight line through the logarithms of the "
        f"containments of all pairs ({pairs} here) against the time between the two crawls."
    )
    if paper.coverage is None or paper.persistence is None:
        return f"{opening} No line can be drawn, as that takes two different time differences."
    half_life = (
        "no half-life"
        if paper.half_life_years is None
        else f"a half-life of {span(paper.half_life_years)}"
    )
    fit = "" if paper.r_squared is None else f" (R² = {paper.r_squared:.2f})"
    return (
        f"{opening} Its height at time difference zero is a coverage of {percent(paper.coverage)}, "
        f"its slope a persistence of {per_year(paper.persistence)} and {half_life}{fit}."
    )


def describe_agreement(estimates: Estimates) -> str:
    """Write what the estimators side by side say.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    agreement = estimates.agreement
    reason = open_sentence(agreement.reason)
    if not reason.endswith("."):
        reason += "."
    if agreement.grade != "none":
        reason = f"Grade {agreement.grade}: {agreement.reason}"
    return (
        f"{reason} Where estimators disagree, what they assume tells why; those that take the web "
        "for unchanging stand last, for comparison only."
    )


def describe_union(estimates: Estimates) -> tuple[str, ...]:
    """Write what all crawls hold together, if it is known.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    union = estimates.union
    if union is None:
        return ()
    what = things(estimates.level)
    held = f"All crawls together hold {union.n_distinct:,} different {what}"
    if union.n_alive.value is not None:
        held += (
            f", of which about {with_range(union.n_alive, count)} still lived at the newest crawl"
        )
    sentences = [f"{held}."]
    if union.coverage.value is not None:
        sentences.append(
            f"That is {with_range(union.coverage, percent)} of what could then have been reached."
        )
    if union.dead_share.value is not None:
        sentences.append(
            f"{with_range(union.dead_share, percent)} of what the archive holds lived no more."
        )
    if union.n_unseen.value is not None:
        sentences.append(
            f"About {with_range(union.n_unseen, count)} {what} lived at some time and are in no "
            "crawl."
        )
    return tuple(filter(None, (" ".join(sentences), union.caution)))


def describe_ranges(estimates: Estimates) -> tuple[str, ...]:
    """Write what the ranges of the crawls rest on.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    return tuple(explain_ranges(numbers_per_crawl(estimates)))


def describe_provenance(estimates: Estimates) -> tuple[str, ...]:
    """Write which program, which settings and which damage the numbers come from.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    made = estimates.provenance
    when = (
        "" if made.created is None else f"; the overlaps were counted on {to_visible(made.created)}"
    )
    texts = [f"Estimated by crawlgauge {to_visible(made.crawlgauge)}{when}."]
    if made.settings:
        listed = ", ".join(
            f"{to_visible(name)} = {to_visible(str(value))}"
            for name, value in made.settings.items()
        )
        texts.append(f"Settings: {listed}.")
    damaged = [crawl.label for crawl in estimates.crawls if crawl.damaged]
    if damaged:
        texts.append(
            f"Damage: part of the input of {names(damaged)} could not be read and was left out."
        )
    else:
        texts.append("Damage: none was met.")
    sampled = [crawl for crawl in estimates.crawls if crawl.n_sampled is not None]
    if sampled:
        least = min(crawl.n_counted for crawl in sampled)
        texts.append(
            f"Overlaps were counted in a sample of {count(least)} or more "
            f"{things(estimates.level)} of each crawl."
        )
    return tuple(texts)


# ------------------------------------------------- what the number means, and what it does not mean


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
