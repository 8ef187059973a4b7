"""The sentences that open the sections of the page, made from the estimates."""

from collections.abc import Callable

from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.model.phrases import count, growth_per_year, names, per_year, percent, span, things
from crawlgauge.report.page.answer import has_quotable_number
from crawlgauge.report.page.safe_text import to_visible
from crawlgauge.report.range_text import explain_ranges, with_range

__all__ = [
    "describe_agreement",
    "describe_crawls",
    "describe_paper",
    "describe_provenance",
    "describe_ranges",
    "describe_turnover",
    "describe_union",
]


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
        sentences.append(f"Persistence is not known: {_why(persistence)}.")
    else:
        sentences.append(f"Of the {what}, {_say(persistence, percent)} live on for a year.")
        if half_life.value is not None:
            sentences.append(f"Half of them are gone after {_say(half_life, span)}.")
    if growth.value is None:
        sentences.append(f"The growth of the population is not known: {_why(growth)}.")
    else:
        sentences.append(f"The population changes by {_say(growth, growth_per_year)}.")
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
    pairs = "1 pair" if paper.n_pairs == 1 else f"{paper.n_pairs:,} pairs"
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
    reason = f"{agreement.reason[:1].upper()}{agreement.reason[1:]}"
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
        held += f", of which about {_say(union.n_alive, count)} still lived at the newest crawl"
    sentences = [f"{held}."]
    if union.coverage.value is not None:
        sentences.append(
            f"That is {_say(union.coverage, percent)} of what could then have been reached."
        )
    if union.dead_share.value is not None:
        sentences.append(
            f"{_say(union.dead_share, percent)} of what the archive holds lived no more."
        )
    if union.n_unseen.value is not None:
        sentences.append(
            f"About {_say(union.n_unseen, count)} {what} lived at some time and are in no crawl."
        )
    return tuple(filter(None, (" ".join(sentences), union.caution)))


def describe_ranges(estimates: Estimates) -> tuple[str, ...]:
    """Write what the ranges of the crawls rest on.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    return tuple(
        explain_ranges(
            named
            for row in estimates.per_crawl
            for named in (("coverage", row.coverage), ("population", row.population))
        )
    )


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


def _say(number: Estimate, phrase: Callable[[float], str]) -> str:
    return with_range(number, phrase)


def _why(number: Estimate) -> str:
    return (number.reason or "").removeprefix("not identifiable: ")
