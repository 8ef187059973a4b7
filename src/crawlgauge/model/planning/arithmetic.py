"""What crawls of a size and at intervals lead to, if each draws evenly from what lives."""

import math

from crawlgauge.model.planning.situation import Point

__all__ = [
    "coverage_to_keep",
    "coverage_to_reach",
    "mean_union",
    "steady_union",
    "union_and_gain",
    "years_until",
]


def union_and_gain(
    point: Point, ratio: float, n_urls: float, years: float
) -> tuple[float, float, float]:
    """Return union coverage before a crawl, what the crawl adds to it, and its new URLs.

    Parameters
    ----------
    point
        The situation just after the newest crawl.
    ratio
        How likely a held URL is to be captured, over how likely any living one is.
    n_urls, years
        Size of the crawl, and the time until it.

    Examples
    --------
    >>> point = Point(population=1000.0, persistence=0.5, growth=0.0, union=0.8)
    >>> union_and_gain(point, 1.0, 300.0, 1.0)
    (0.4, 0.18, 180.0)
    """
    population = point.population_after(years)
    before = point.union * point.seniority(years)
    captured = min(n_urls, population)
    ratio = _possible(ratio, captured / population)
    new = captured * (1 - min(1.0, ratio * before))
    return before, min(new / population, 1 - before), new


def coverage_to_reach(before: float, ratio: float, target: float) -> float:
    """Return the coverage of one crawl that lifts the union to `target`; above 1 if none does.

    Examples
    --------
    >>> round(coverage_to_reach(0.4, 1.0, 0.7), 6)
    0.5
    """
    if target <= before:
        return 0.0
    room = 1 - ratio * before
    return (target - before) / room if room > 0 else math.inf


def coverage_to_keep(kept: float, ratio: float, target: float) -> float:
    """Return the coverage of every crawl that keeps the union at `target` after each.

    Parameters
    ----------
    kept
        Share of the union that is left when the next crawl comes.
    ratio
        As in `union_and_gain`.
    target
        The union coverage just after a crawl.
    """
    room = 1 - ratio * kept * target
    return target * (1 - kept) / room if room > 0 else math.inf


def steady_union(kept: float, ratio: float, coverage: float) -> float:
    """Return the union coverage after each crawl, once it has settled.

    For even capture this is ``c / (1 − (1 − c)·γ)``.

    Examples
    --------
    >>> round(steady_union(0.5, 1.0, 0.4), 6)
    0.571429
    """
    ratio = _possible(ratio, coverage)
    return min(1.0, coverage / (1 - kept + coverage * ratio * kept))


def mean_union(kept: float, ratio: float, coverage: float) -> float:
    """Return the union coverage averaged over the time between crawls, once it has settled."""
    after = steady_union(kept, ratio, coverage)
    if kept >= 1:
        return after
    return after * (1 - kept) / -math.log(kept) if kept > 0 else 0.0


def _possible(ratio: float, coverage: float) -> float:
    """Cut a ratio by which held URLs would be captured more than certainly."""
    return min(ratio, 1 / coverage) if coverage > 0 else ratio


def years_until(point: Point, held: float, floor: float) -> float:
    """Return when a held share of the living falls to `floor` by turnover; infinite if never.

    Examples
    --------
    >>> point = Point(population=1000.0, persistence=0.5, growth=0.0, union=0.8)
    >>> years_until(point, 0.8, 0.2)
    2.0
    """
    if held <= floor:
        return 0.0
    yearly = point.seniority(1.0)
    return math.log(held / floor) / -math.log(yearly) if yearly < 1 else math.inf
