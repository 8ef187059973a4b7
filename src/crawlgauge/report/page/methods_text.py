"""The paragraph on methods, to be pasted into the user's own paper."""

from collections.abc import Iterator

from crawlgauge._version import __version__
from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Check, Estimates
from crawlgauge.model.phrases import growth_per_year, names, percent, span, things
from crawlgauge.report.page.answer import has_quotable_number
from crawlgauge.report.page.safe_text import to_visible
from crawlgauge.report.range_text import with_range

__all__ = ["describe_methods"]

_BASES = {
    "interval": "{} interval",
    "empirical-band": "a range calibrated on simulations",
}


def describe_methods(estimates: Estimates) -> str:
    """Return what was done and found, with version and settings, as one paragraph.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    return " ".join(_sentences(estimates))


def _sentences(estimates: Estimates) -> Iterator[str]:
    what = things(estimates.level)
    yield (
        f"Coverage was estimated with crawlgauge {__version__} from the overlaps of "
        f"{len(estimates.crawls)} crawls between {_day(estimates.crawls[0])} and "
        f"{_day(estimates.crawls[-1])}, which hold {_sizes(estimates.crawls)} {what} each"
        f"{_sample(estimates.crawls)}."
    )
    yield from _about_paper(estimates)
    yield from _about_headline(estimates, what)
    yield from _about_turnover(estimates, what)
    yield from _about_checks(estimates.checks)
    settings = estimates.provenance.settings
    if settings:
        listed = ", ".join(f"{name} = {to_visible(str(settings[name]))}" for name in settings)
        yield f"Settings: {listed}."


def _about_paper(estimates: Estimates) -> Iterator[str]:
    paper = estimates.paper
    if paper.coverage is None or paper.persistence is None:
        return
    pairs = "1 pair" if paper.n_pairs == 1 else f"{paper.n_pairs:,} pairs"
    fit = "" if paper.r_squared is None else f" (R² = {paper.r_squared:.2f})"
    yield (
        "By the method of Paris, Paris and Baumann (2026), a straight line through the logarithms "
        f"of the containments of {pairs} against the time difference, coverage is "
        f"{paper.coverage:.3g} and persistence {paper.persistence:.3g} a year{fit}."
    )


def _about_headline(estimates: Estimates, what: str) -> Iterator[str]:
    coverage = estimates.headline.coverage
    if coverage.value is None:
        reason = (coverage.reason or "").removeprefix("not identifiable: ")
        yield f"The typical coverage of a crawl cannot be estimated: {reason}."
        return
    how = (
        f"Capture histories were read in ways that assume different things: known-alive windows "
        f"({what} seen before and after a crawl, after Manly and Parr 1968), latent classes of "
        f"{what}, the share held of those that rested, and a two-way model of the pairs. Windows "
        "and classes, which allow for uneven capture and for a crawler that avoids or repeats what "
        "it captured lately, give, within a range set by how far all of them lie apart,"
        if estimates.headline.estimator == "histories"
        else "A two-way model, which gives each crawl a coverage of its own and all "
        f"{what} one rate of decay, and assumes that all are equally likely to be captured, gives"
    )
    if not has_quotable_number(estimates):
        yield f"{how} a coverage that the checks tell not to trust."
        return
    basis = ""
    if coverage.low is not None:
        basis = f" ({_BASES[coverage.basis].format(percent(coverage.level))})"
    yield f"{how} a typical coverage of {with_range(coverage, percent)}{basis}."


def _about_turnover(estimates: Estimates, what: str) -> Iterator[str]:
    if not has_quotable_number(estimates):
        return
    persistence, half_life = estimates.persistence, estimates.half_life_years
    if persistence.value is not None and half_life.value is not None:
        leaving_out = ""
        if persistence.basis == "interval":
            leaving_out = "; intervals from leaving out one crawl at a time"
        yield (
            f"Of the {what}, {with_range(persistence, percent)} live on for a year, a half-life of "
            f"{with_range(half_life, span)}{leaving_out}."
        )
    growth = estimates.growth_per_year
    if growth.value is not None:
        yield f"The population changes by {with_range(growth, growth_per_year)}."


def _about_checks(checks: tuple[Check, ...]) -> Iterator[str]:
    ran = [check for check in checks if check.status not in {"na", "info"}]
    if not ran:
        return
    fired = [check.id for check in ran if check.status != "ok"]
    passed = ", ".join(check.id for check in ran if check.status == "ok")
    if fired and passed:
        yield f"Of the checks of its assumptions, {names(fired)} fired; {passed} found nothing."
    elif fired:
        yield f"The checks of its assumptions fired: {names(fired)}."
    else:
        yield f"The checks of its assumptions found nothing: {passed}."


def _day(crawl: Crawl) -> str:
    return f"{crawl.date.day} {crawl.date:%B %Y}"


def _sizes(crawls: tuple[Crawl, ...]) -> str:
    least, most = (pick(crawl.n_urls for crawl in crawls) for pick in (min, max))
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _sample(crawls: tuple[Crawl, ...]) -> str:
    sampled = [crawl for crawl in crawls if crawl.n_sampled is not None]
    if not sampled:
        return ""
    share = sum(c.n_counted for c in sampled) / sum(c.n_urls for c in sampled)
    which = "" if len(sampled) == len(crawls) else f" in {len(sampled)} of them"
    return f", counted{which} in a hash sample of {percent(share)}"
