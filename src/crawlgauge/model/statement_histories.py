"""The answer from capture histories in one sentence, never more certain than its grade."""

from crawlgauge.model.estimates import Estimate, Newest
from crawlgauge.model.known_alive.results import Grade
from crawlgauge.model.phrases import percent, percent_range, things
from crawlgauge.model.statement import append_clauses, state_decay, state_reachable

__all__ = ["state_known_alive"]


def state_known_alive(
    *,
    coverage: Estimate,
    grade: Grade,
    reason: str,
    half_life_years: Estimate,
    newest: Newest,
    level: str,
) -> str:
    """Write the headline's sentence.

    Parameters
    ----------
    coverage
        The typical coverage, with its band.
    grade, reason
        How far it can be trusted, and why. At ``C`` the range leads and not the number.
    half_life_years
        The turnover.
    newest
        The last crawl.
    level
        What is compared.
    """
    what = things(level)
    share = f"of the {what} that it could have reached"
    value, low, high = coverage.value, coverage.low, coverage.high
    if value is None or low is None or high is None:
        raise ValueError("a coverage from known-alive windows has a value and a band")
    if grade == "C":
        return (
            f"Do not trust a single number here: a typical crawl holds between {percent(low)} and "
            f"{percent(min(high, 1.0))} {share}, and where in between is not settled ({reason}); "
            f"the best guess is {percent(min(value, 1.0))}."
        )
    if value > 1:
        return (
            f"A typical crawl holds at least {percent(low)} {share}; the estimate itself, "
            f"{percent(value)}, is more than there can be."
        )
    held = percent_range(value, low, high) if high <= 1 else f"{percent(value)}"
    clauses = append_clauses(state_decay(half_life_years, what), state_reachable(newest))
    return (
        f"A typical crawl holds about {held} {share}, judged by {what} known to have been alive"
        f"{clauses}."
    )
