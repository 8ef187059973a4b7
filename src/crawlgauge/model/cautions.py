"""What to be careful about, each in a sentence or two that say what to do."""

import math
from collections.abc import Iterator

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.intervals import Margins
from crawlgauge.model.pairs import PairData
from crawlgauge.model.paper import ZeroPairs, has_too_many_zeros
from crawlgauge.model.phrases import percent, say, span
from crawlgauge.model.two_way import TwoWayFit, lower_bound
from crawlgauge.overlaps.table import OverlapTable

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
        *_about_times(table, pairs, fit if is_headline else None),
        *_about_input(table, pairs),
    )
    if not is_headline:
        return about_input
    ends = "" if margins.typical.half_width is None else ", intervals included"
    return (
        *_about_impossible_values(table, pairs, fit, margins),
        *_about_zeros(table, pairs, zeros),
        *about_input,
        *([say("caution.uneven", ends=ends, level=table.level)] if pairs.n_pairs else []),
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
        yield say("caution.barely-possible", crawls=barely)
    least = lower_bound(pairs)
    if above and least is not None:
        needed = least ** (1 / float(pairs.lag_years[0]))
        yield say("caution.impossible-as-given", crawls=above, needed=needed)
    elif above:
        yield say("caution.impossible", crawls=above)
    if fit.log_persistence >= 0 and least is None:
        yield say("caution.no-decay")


def _about_zeros(table: OverlapTable, pairs: PairData, zeros: ZeroPairs) -> Iterator[str]:
    if has_too_many_zeros(pairs):
        yield say("caution.many-zeros", n_zeros=len(pairs.zeros), n_known=pairs.n_known)
    structural = zeros.is_structural
    if structural.any():
        worst = int(np.argmax(np.where(structural, zeros.expected, -np.inf)))
        start, end = (table.crawls[k].label for k in zeros.pairs[worst])
        yield say(
            "caution.structural-zeros",
            left_out=_left_out(int(structural.sum())),
            start=start,
            end=end,
            expected=float(zeros.expected[worst]),
            level=table.level,
        )
    if zeros.n_chance:
        left_out = _left_out(zeros.n_chance)
        yield say("caution.chance-zeros", left_out=left_out, level=table.level)
    if zeros.n_unclear:
        yield say("caution.unclear-zeros", left_out=_left_out(zeros.n_unclear))


def _about_few_crawls(
    table: OverlapTable, pairs: PairData, fit: TwoWayFit, margins: Margins
) -> Iterator[str]:
    match table.n_crawls:
        case 2 if fit.has_persistence:
            yield say("caution.two-given")
        case 2 if pairs.days[0] != pairs.days[1]:
            yield say("caution.two")
        case 3 if fit.estimated.any():
            yield say("caution.three", sampling=_sampling_alone(margins))
        case 4 if margins.typical.half_width is not None:
            half_width = margins.typical.half_width
            low, high = (math.exp(fit.log_typical + side * half_width) for side in (-1, 1))
            yield say(f"caution.four{'-wide' if half_width >= _WIDE else ''}", low=low, high=high)
        case n if n > 2 and fit.n_freedom <= 0 and fit.estimated.any():  # noqa: PLR2004 - as above
            yield say("caution.few-pairs", sampling=_sampling_alone(margins))


def _sampling_alone(margins: Margins) -> str:
    share = margins.sampling_alone or 0.0
    return f"±{percent(share)}" if share >= _LEAST_SHARE else f"below {percent(_LEAST_SHARE)}"


def _about_times(table: OverlapTable, pairs: PairData, fit: TwoWayFit | None) -> Iterator[str]:
    shortest = float(pairs.lag_years.min(initial=np.inf))
    kept = 1.0
    if fit is not None and fit.has_persistence:
        kept = math.exp(fit.log_persistence * shortest)
    if kept < _HALF:
        yield say("caution.far-apart", shortest=shortest, gone=1 - kept, level=table.level)
    gap = float((np.diff(np.unique(pairs.days)) / DAYS_PER_YEAR).min(initial=np.inf))
    durations = (
        (crawl.label, (crawl.last_capture - crawl.first_capture).total_seconds())
        for crawl in table.crawls
        if crawl.first_capture is not None and crawl.last_capture is not None
    )
    years = ((label, seconds / _SECONDS_PER_YEAR) for label, seconds in durations)
    too_long = [f"{label} ({span(own)})" for label, own in years if own > _LONG_CRAWL * gap]
    if too_long:
        yield say("caution.long-crawls", gap=gap, crawls=too_long)


def _about_input(table: OverlapTable, pairs: PairData) -> Iterator[str]:
    alike = [f"{table.crawls[a].label} and {table.crawls[b].label}" for a, b in find_repeats(table)]
    if alike:
        yield say("caution.alike", crawls=alike, level=table.level)
    damaged = [crawl.label for crawl in table.crawls if crawl.damaged]
    if damaged:
        yield say("caution.damaged", crawls=damaged)
    if pairs.n_missing:
        n_pairs = pairs.n_missing + pairs.n_known
        yield say("caution.missing-pairs", n_missing=pairs.n_missing, n_pairs=n_pairs)
    min_lag = table.provenance.settings.get("min_lag")
    if isinstance(min_lag, int) and min_lag > 1:
        yield say("caution.min-lag", min_lag=min_lag)
    if table.sample_rate < 1:
        smallest = min(crawl.n_counted for crawl in table.crawls)
        rate = table.sample_rate
        yield say("caution.sample", rate=rate, smallest=smallest, level=table.level)


def _left_out(number: int) -> str:
    if number == 1:
        return "1 pair of crawls shares nothing and was left out"
    return f"{number} pairs of crawls share nothing and were left out"
