"""What to be careful about, each in a sentence or two that say what to do."""

import math
from collections.abc import Iterator

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.intervals import Margins
from crawlgauge.model.pairs import PairData
from crawlgauge.model.paper import ZeroPairs, has_too_many_zeros
from crawlgauge.model.phrases import count, names, per_year, percent, span, things
from crawlgauge.model.two_way import TwoWayFit, lower_bound
from crawlgauge.overlaps.table import OverlapTable

__all__ = ["find_repeats", "list_cautions"]

_HALF = 0.5
_LONG_CRAWL = 0.2
_WIDE = math.log(1.5)
_LEAST_SHARE = 0.0001
_SECONDS_PER_YEAR = DAYS_PER_YEAR * 86_400


def list_cautions(
    table: OverlapTable,
    pairs: PairData,
    fit: TwoWayFit,
    zeros: ZeroPairs,
    margins: Margins,
    *,
    is_headline: bool = True,
) -> tuple[str, ...]:
    """List the warnings that belong to a fit, the gravest first."""
    about_input = (
        *_about_few_crawls(table, pairs, fit, margins),
        *(_about_times(table, pairs, fit) if is_headline else ()),
        *_about_long_crawls(table, pairs),
        *_about_input(table, pairs),
    )
    if not is_headline:
        return about_input
    return (
        *_about_impossible_values(table, pairs, fit, margins),
        *_about_zeros(table, pairs, zeros),
        *about_input,
        *_about_uneven_capture(table, pairs, margins),
    )


def find_repeats(table: OverlapTable) -> list[tuple[int, int]]:
    """Return the positions of every two crawls that hold the same, the earlier crawl first."""
    sizes = np.diag(table.n_shared)
    same = (table.n_shared == sizes) & (sizes[:, None] == sizes) & (sizes > 0)
    return [(int(a), int(b)) for a, b in np.argwhere(np.triu(same, k=1))]


def _about_impossible_values(
    table: OverlapTable, pairs: PairData, fit: TwoWayFit, margins: Margins
) -> Iterator[str]:
    above, barely = [], []
    for crawl, log_coverage, margin in zip(
        table.crawls, fit.log_coverage.tolist(), margins.coverage, strict=True
    ):
        if log_coverage <= 0 or math.isnan(log_coverage):
            continue
        if margin.half_width is not None and log_coverage < margin.half_width:
            lower = percent(math.exp(log_coverage - margin.half_width))
            barely.append(f"{crawl.label} (at least {lower})")
        else:
            above.append(crawl.label)
    if barely:
        yield (
            f"The coverage comes out above 100 % for {names(barely)}. A crawl cannot hold more "
            "than there is, but the intervals reach below 100 %: only their lower ends count."
        )
    least = lower_bound(pairs)
    if above and least is not None:
        needed = least ** (1 / float(pairs.lag_years[0]))
        yield (
            f"At the given persistence the coverage comes out above 100 % for {names(above)}, "
            "which is impossible: a crawl cannot hold more than there is. Give a persistence of "
            f"at least {per_year(needed)}."
        )
    elif above:
        yield (
            f"The coverage comes out above 100 % for {names(above)}, which is impossible: a crawl "
            "cannot hold more than there is. Usual causes are a crawler that keeps returning to "
            "the same pages, and sizes and overlaps that were counted by different rules; do not "
            "use these figures before the cause is found."
        )
    if fit.log_persistence >= 0 and least is None:
        yield (
            "The overlaps do not shrink with time, so that there is no half-life. The usual cause "
            "is a crawler that skips pages captured recently; find out how it treats known pages, "
            "and do not plan with coverage and population until then."
        )


def _about_zeros(table: OverlapTable, pairs: PairData, zeros: ZeroPairs) -> Iterator[str]:
    if has_too_many_zeros(pairs):
        yield (
            f"{len(pairs.zeros)} of {pairs.n_known} pairs of crawls share nothing, too many for an "
            "estimate from pairs. Check that all crawls were made comparable by the same rule, "
            "and estimate from capture histories."
        )
    structural = zeros.is_structural
    if structural.any():
        worst = int(np.argmax(np.where(structural, zeros.expected, -np.inf)))
        start, end = (table.crawls[k].label for k in zeros.pairs[worst])
        yield (
            f"{_left_out(int(structural.sum()))}, although at least 20 shared "
            f"{things(table.level)} were expected (of {start} and {end} about "
            f"{count(float(zeros.expected[worst]))}): the crawler seems to skip pages of the "
            "previous crawl. Coverage is then too low and persistence too high; estimate from "
            "capture histories."
        )
    if zeros.n_chance:
        yield (
            f"{_left_out(zeros.n_chance)}; fewer than 5 shared {things(table.level)} were "
            "expected, so that chance explains it. Larger crawls or samples would let them count."
        )
    if zeros.n_unclear:
        yield (
            f"{_left_out(zeros.n_unclear)}; whether by chance or because the crawler avoids known "
            "pages cannot be told. Larger crawls or samples would show it."
        )


def _about_few_crawls(
    table: OverlapTable, pairs: PairData, fit: TwoWayFit, margins: Margins
) -> Iterator[str]:
    match table.n_crawls:
        case 2 if fit.has_persistence:
            yield (
                "With two crawls the coverage rests wholly on the given persistence. Add a third "
                "crawl to estimate both."
            )
        case 2 if pairs.days[0] != pairs.days[1]:
            yield (
                "Two crawls cannot tell coverage from turnover. Add a third crawl, or give a "
                "persistence that is known from elsewhere."
            )
        case 3 if fit.estimated.any():
            yield (
                "Three crawls determine coverage and persistence without remainder: nothing is "
                f"left to judge the error by, and {_sampling_alone(margins)}. Add a fourth crawl "
                "to get intervals."
            )
        case 4 if margins.typical.half_width is not None:
            half_width = margins.typical.half_width
            wide = "wide for what the data show"
            if half_width >= _WIDE:
                low, high = (math.exp(fit.log_typical + side * half_width) for side in (-1, 1))
                wide = (
                    f"very wide: the typical coverage may lie anywhere from {percent(low)} to "
                    f"{percent(high)}, so that the figures are an order of magnitude only"
                )
            yield (
                f"With four crawls the intervals rest on two degrees of freedom and are {wide}. "
                "Each further crawl narrows them considerably."
            )
        case n if n > 2 and fit.n_freedom <= 0 and fit.estimated.any():  # noqa: PLR2004 - as above
            yield (
                "So many pairs are missing that nothing is left to judge the error by, and "
                f"{_sampling_alone(margins)}. Supply the missing overlaps to get intervals."
            )


def _sampling_alone(margins: Margins) -> str:
    share = margins.sampling_alone or 0.0
    size = f"±{percent(share)}" if share >= _LEAST_SHARE else f"below {percent(_LEAST_SHARE)}"
    return f"the sampling error alone is {size} of the coverage"


def _about_times(table: OverlapTable, pairs: PairData, fit: TwoWayFit) -> Iterator[str]:
    if not pairs.n_pairs:
        return
    shortest = float(pairs.lag_years.min())
    kept = float(np.exp(fit.log_persistence * shortest)) if fit.has_persistence else 1.0
    if kept < _HALF:
        yield (
            f"Even the closest crawls are {span(shortest)} apart, in which {percent(1 - kept)} of "
            f"the {things(table.level)} disappear: coverage is extrapolated over more than a "
            "half-life. Crawls at shorter intervals, two of them close together, would show it "
            "directly."
        )


def _about_long_crawls(table: OverlapTable, pairs: PairData) -> Iterator[str]:
    gap = float((np.diff(np.unique(pairs.days)) / DAYS_PER_YEAR).min(initial=np.inf))
    durations = (
        (crawl.label, (crawl.last_capture - crawl.first_capture).total_seconds())
        for crawl in table.crawls
        if crawl.first_capture is not None and crawl.last_capture is not None
    )
    too_long = [
        f"{label} ({span(seconds / _SECONDS_PER_YEAR)})"
        for label, seconds in durations
        if seconds / _SECONDS_PER_YEAR > _LONG_CRAWL * gap
    ]
    if too_long:
        yield (
            f"Capturing took long beside the shortest time between two crawls ({span(gap)}): "
            f"{names(too_long)}. A crawl counts as one moment here; date it by the middle of its "
            "captures, and expect the persistence to be less certain."
        )


def _about_input(table: OverlapTable, pairs: PairData) -> Iterator[str]:
    alike = [f"{table.crawls[a].label} and {table.crawls[b].label}" for a, b in find_repeats(table)]
    if alike:
        yield (
            f"The same {things(table.level)} are in {names(alike)}: was one of them added twice? "
            "Leave one out."
        )
    damaged = [crawl.label for crawl in table.crawls if crawl.damaged]
    if damaged:
        yield (
            f"Part of the input of {names(damaged)} was damaged and left out: coverage is that of "
            "what could be read, not of the crawl as it was made. Add it again from whole files."
        )
    if pairs.n_missing:
        yield (
            f"The overlap of {pairs.n_missing} of {pairs.n_missing + pairs.n_known} pairs of "
            "crawls is not known. The estimates rest on the others; supply the missing ones if "
            "you can."
        )
    min_lag = table.provenance.settings.get("min_lag")
    if isinstance(min_lag, int) and min_lag > 1:
        yield (
            f"Pairs fewer than {min_lag} crawls apart were left out, and what they would show is "
            "not checked. If the crawler avoids pages that it fetched recently, the coverage may "
            "still be up to twice too high; say with the number that they were left out."
        )
    if table.sample_rate < 1:
        smallest = min(crawl.n_counted for crawl in table.crawls)
        yield (
            f"The overlaps were counted in a sample of {percent(table.sample_rate)} of the "
            f"{things(table.level)} (at least {count(smallest)} of each crawl). Count them in full "
            "or in a larger sample if small differences matter."
        )


def _about_uneven_capture(table: OverlapTable, pairs: PairData, margins: Margins) -> Iterator[str]:
    if pairs.n_pairs:
        has_intervals = margins.typical.half_width is not None
        yield (
            f"Pairs of crawls cannot show whether some {things(table.level)} are always more "
            "likely to be captured than others. If so, the true coverage is lower and the "
            f"population larger than stated{', intervals included' if has_intervals else ''}; the "
            "capture histories of five or more crawls can test it."
        )


def _left_out(number: int) -> str:
    if number == 1:
        return "1 pair of crawls shares nothing and was left out"
    return f"{number} pairs of crawls share nothing and were left out"
