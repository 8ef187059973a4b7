"""The answer from capture histories in one sentence, never more certain than its grade."""

from crawlgauge.model.estimates import Estimate, Newest
from crawlgauge.model.headline import Grade
from crawlgauge.model.phrases import percent, percent_range, things
from crawlgauge.model.statement import append_clauses, state_decay, state_reachable

__all__ = ["state_histories"]


def state_histories(
    *,
    coverage: Estimate,
    grade: Grade,
    half_life_years: Estimate,
    newest: Newest,
    level: str,
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
    clauses = append_clauses(state_decay(half_life_years, what), state_reachable(newest))
    return f"A typical crawl holds about {percent_range(value, low, high)} {share}{clauses}."
