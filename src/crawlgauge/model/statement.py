"""The answer in one sentence, with the assumption that it rests on."""

from crawlgauge.model.estimates import Estimate, Grade, Newest
from crawlgauge.model.phrases import count, percent, percent_range, span, things

__all__ = ["state_headline", "state_histories"]


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
    what = things(level)
    # The caveat stands in the sentence itself: the number is often quoted without its page.
    share = (
        f"of the {what} that it could have reached, if all of them were equally likely to be "
        "captured, which overlaps of pairs cannot test"
    )
    if coverage.value is None:
        if least is not None:
            return (
                "Two crawls cannot tell coverage from turnover: the newer one holds at least "
                f"{percent(least)} {share}."
            )
        return f"Coverage cannot be estimated from these overlaps: {coverage.why}."
    if coverage.value > 1 and coverage.low is not None and coverage.low < 1:
        return (
            f"A typical crawl holds at least {percent(coverage.low)} {share}; the estimate itself "
            "is more than there can be, but its interval reaches below 100 %."
        )
    if coverage.value > 1:
        return (
            "The overlaps give a coverage above 100 %, which is impossible, as a crawl cannot hold "
            "more than there is: these crawls do not behave as the model assumes, and their "
            "coverage remains unknown."
        )
    if failure is not None:
        # An interval would lend the number a confidence that it does not have.
        return (
            f"The overlaps give a coverage of about {percent(coverage.value)}, but do not trust "
            f"this number. {failure}"
        )
    held = f"about {_with_range(coverage.value, coverage)} {share}"
    if most is not None and most > coverage.value:
        held += f", or up to {percent(min(most, 1.0))} if lifetimes are mixed, as they seem to be"
    if is_given and persistence.value is not None:
        return (
            f"If {percent(persistence.value)} of the {what} live on for a year, as given, the "
            f"newer crawl holds {held}{_append_known(newest, None, what)}."
        )
    if persistence.value is not None and half_life_years.value is None:
        return (
            f"A typical crawl seems to hold about {percent(coverage.value)} {share}; but the "
            "overlaps do not shrink with time, which speaks against the model and leaves no "
            "half-life."
        )
    known = _append_known(newest, half_life_years, what)
    return f"A typical crawl holds {held}{known}."


def _with_range(value: float, coverage: Estimate) -> str:
    if coverage.low is None or coverage.high is None:
        return percent(value)
    if coverage.high > 1:
        # A coverage above 100 % is impossible, so that only the lower end says something.
        return f"{percent(value)} (at least {percent(coverage.low)})"
    return percent_range(value, coverage.low, coverage.high)


def _append_known(newest: Newest, half_life_years: Estimate | None, what: str) -> str:
    """Write how soon half of them are gone and how many could be reached, if that is known."""
    known = []
    if half_life_years is not None and half_life_years.value is not None:
        known.append(f"half of the {what} are gone after {span(half_life_years.value)}")
    population = newest.population.value
    # A population below the size of the crawl is impossible and stays out of the sentence.
    if population is not None and (newest.coverage.value or 0) <= 1:
        known.append(f"the newest crawl could have reached about {count(population)}")
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
    what = things(level)
    share = f"of the {what} that such crawls can reach"
    value, low, high = coverage.value, coverage.low, coverage.high
    if value is None or low is None or high is None:
        raise ValueError("a coverage from histories has a value and a range")
    if grade == "C":
        return (
            f"A typical crawl holds between {percent(low)} and {percent(high)} {share}; where in "
            "between, these histories do not settle."
        )
    known = _append_known(newest, half_life_years, what)
    return f"A typical crawl holds about {percent_range(value, low, high)} {share}{known}."
