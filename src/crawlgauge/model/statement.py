"""The answer in one sentence, with the assumption that it rests on."""

from collections.abc import Sequence

from crawlgauge.model.estimates import AnchorFinding, Estimate, Estimates, Grade, Newest
from crawlgauge.model.phrases import percent, percent_range, say

# --------------------------------- the answer in one sentence, with the assumption that it rests on


def state_headline(
    *,
    coverage: Estimate,
    persistence: Estimate,
    half_life_years: Estimate,
    newest: Newest,
    level: str,
    least: float | None = None,
    is_given: bool = False,
    failure: str | None = None,
    most: float | None = None,
) -> str:
    """Write the headline's sentence.

    Parameters
    ----------
    coverage, persistence, half_life_years
        The typical coverage and the turnover.
    newest
        The last crawl.
    level
        What is compared.
    least
        The least that the newer of two crawls covers, where that is all one knows.
    is_given
        Whether the persistence was given and not estimated.
    failure
        The message of the gravest check that failed, if one did.
    most
        The largest coverage over shapes of decay, where lifetimes seem to be mixed.
    """
    share = say("headline.by-pairs", level=level)
    if coverage.value is None:
        code = "unknown" if least is None else "least"
        return say(f"headline.{code}", coverage=coverage, least=least, share=share)
    if coverage.value > 1:
        is_within = coverage.low is not None and coverage.low < 1
        code = "barely-possible" if is_within else "impossible"
        return say(f"headline.{code}", coverage=coverage, share=share)
    if failure is not None:
        # An interval would lend the number a confidence that it does not have.
        return say("headline.failed", coverage=coverage, failure=failure)
    if not is_given and persistence.value is not None and half_life_years.value is None:
        return say("headline.no-decay", coverage=coverage, share=share)
    is_given = is_given and persistence.value is not None
    is_mixed = most is not None and most > coverage.value
    return say(
        "headline.given" if is_given else "headline.pairs",
        persistence=persistence,
        held=_with_range(coverage),
        share=share,
        mixed=say("headline.mixed", most=min(most or 1.0, 1.0)) if is_mixed else "",
        known=_append_known(newest, None if is_given else half_life_years, level),
        level=level,
    )


def _with_range(coverage: Estimate) -> str:
    value, low, high = coverage.value or 0.0, coverage.low, coverage.high
    if low is None or high is None:
        return percent(value)
    # A coverage above 100 % is impossible, so that only the lower end says something.
    return (
        f"{percent(value)} (at least {percent(low)})"
        if high > 1
        else percent_range(value, low, high)
    )


def _append_known(newest: Newest, half_life_years: Estimate | None, level: str) -> str:
    """Write how soon half of them are gone and how many could be reached, if that is known."""
    known = []
    if half_life_years is not None and half_life_years.value is not None:
        known.append(say("headline.half-life", half_life_years=half_life_years, level=level))
    # A population below the size of the crawl is impossible and stays out of the sentence.
    if newest.population.value is not None and (newest.coverage.value or 0) <= 1:
        known.append(say("headline.population", newest=newest))
    return f"; {', and '.join(known)}" if known else ""


# ------------- the answer from capture histories in one sentence, never more certain than its grade


def state_histories(
    *, coverage: Estimate, grade: Grade, half_life_years: Estimate, newest: Newest, level: str
) -> str:
    """Write the headline's sentence.

    Parameters
    ----------
    coverage
        The typical coverage, with its range.
    grade
        How far it can be trusted. At ``C`` only the range is told.
    half_life_years
        The turnover.
    newest
        The last crawl.
    level
        What is compared.
    """
    code = "headline.histories-range" if grade == "C" else "headline.histories"
    known = _append_known(newest, half_life_years, level)
    return say(code, coverage=coverage, known=known, level=level)


# ------------------------ the answer where something is known from elsewhere beside the crawls


def name_anchor(finding: AnchorFinding) -> str:
    """Say what an anchor is.

    Parameters
    ----------
    finding
        What it says.
    """
    hosts = "one host" if finding.n_hosts == 1 else f"{finding.n_hosts or 0:,} hosts"
    return say(f"anchor.{finding.kind}", finding=finding, hosts=hosts)


def state_verdict(findings: Sequence[AnchorFinding], by_crawls: Estimates) -> str:
    """Say of which coverage anchors and crawls speak, and whether they agree.

    Parameters
    ----------
    findings
        What the anchors say that count.
    by_crawls
        What the crawls alone say.
    """
    sentences = []
    for finding in findings:
        said, own = finding.by_anchor.value, finding.by_crawls.value
        most = "at most " if finding.kind == "frontier" else ""
        verb = "leave" if most else "say"
        share = "" if said is None else f" {verb} {most}{percent(said)} for {finding.label}"
        end = {"agrees": ": they agree", "contradicts": ": they contradict each other"}
        crawls = "" if own is None else f", the crawls alone {percent(own)}"
        sentences.append(f"{name_anchor(finding)}{share}{crawls}{end.get(finding.verdict, '')}.")
    if by_crawls.headline.coverage.value is None:
        sentences.append("The crawls alone give no coverage.")
    return " ".join(text[:1].upper() + text[1:] for text in sentences)


def state_anchored(
    estimates: Estimates,
    by_crawls: Estimates,
    grade: Grade,
    findings: Sequence[AnchorFinding],
    *,
    is_against: bool,
) -> str:
    """Write the headline's sentence.

    Parameters
    ----------
    estimates, by_crawls
        With the anchors, and by the crawls alone.
    grade
        How far the coverage can be trusted.
    findings
        What the anchors say that count, or else those that contradict the crawls.
    is_against
        Whether one of them contradicts the crawls.
    """
    coverage, alone = estimates.headline.coverage, by_crawls.headline.coverage.value
    code, who, crawls = "range" if grade == "C" else "number", "A typical crawl", ""
    if None in (coverage.value, coverage.low, coverage.high):
        code = "against-unknown"
    elif not any(item.counts for item in findings):
        code = "against-range"
    elif all(item.kind == "frontier" for item in findings):
        code = "at-most"
    elif alone is None:
        who = f"The crawl {findings[0].label}"
    elif not is_against:
        crawls = " and the crawls themselves, which agree"
    statement = say(
        f"anchor.{code}",
        who=who,
        coverage=coverage,
        said_by=[name_anchor(item) for item in findings],
        before=by_crawls.headline.statement,
        crawls=crawls,
        known=_append_known(estimates.newest, estimates.half_life_years, estimates.level),
        level=estimates.level,
    )
    if is_against and alone is not None and not code.startswith("against"):
        statement += f" {say('anchor.against', alone=min(alone, 1.0))}"
    return statement
