"""Anchors: what is known from elsewhere of what could be crawled, and what it makes of the numbers.

A share of an even sample, or of complete lists of hosts, is coverage itself, whatever the crawler
favours. It is known of one crawl, and with an error of its own; the histories say something of all
crawls, and may all be wrong together. What becomes of both is a mean, weighted by how far either
can be off. That histories fail is a part of the reckoning, so that there is no jump from agreement
to contradiction.

How far other crawls than that one are off depends on why the histories are. If a part of the web is
never captured, all crawls are off by the same factor; if first captures are rarer than recaptures,
those are off most of which the archive knew least. The right one makes the population's course
straight.

Coverages are natural logarithms throughout.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from crawlgauge.crawl import DAYS_PER_YEAR
from crawlgauge.model.estimates import (
    AnchorFinding,
    AnchorVerdict,
    CrawlEstimate,
    Estimate,
    Estimates,
    Grade,
)
from crawlgauge.model.histories.data import count_holdings
from crawlgauge.model.intervals import LEVEL, NORMAL_QUANTILE, log_growth
from crawlgauge.model.pairs import Flags, Numbers, years_of
from crawlgauge.model.ranges import Carrying, LogRange, find_carrying, share, within
from crawlgauge.model.recall import bound_by_frontier, carry_recall
from crawlgauge.model.statement import state_anchored, state_verdict
from crawlgauge.overlaps.table import AnchorCounts, OverlapTable

ENOUGH_HOSTS = 20
"""Of fewer complete hosts the error is not known well enough: they test the number only."""

_MOST_APART = 2.5
"""Standard errors from which on an anchor contradicts the crawls."""

_FAILED_SD = 0.7
_LEAST_HALF_RANGE, _PAIRS_HALF_RANGE = 0.05, 0.6
"""Of the range on one side: that of histories and of pairs is taken to be no less."""

_PATTERN_SD = 0.07
"""Of crawls beside each other, where histories do not fail."""

_NOISE_SD, _GROWTH_SD = 0.05, 0.1
_MIX, _MIX_SD, _LEAST_MIX_SD = 0.5, 0.5, 0.1
"""Scatter of the population about a straight course, its growth per year, and the share of what is
off that rarer first captures explain, before anything is known of it."""

_SHARED_BELOW = 0.25
"""How likely histories that fail by being too low do so for all crawls, and not for one."""

_LEAST_APART, _MOST_TIMES = 0.05, 4.0
"""For telling how much farther off than the sampled crawl others are."""

_NEWER_SD = 0.5
"""Of the coverage of URLs that are newer than an anchor, or not so old."""

_N_PASSES = 3
"""After the first the scatter is known well enough."""

_HALF_WIDTH_A, _HALF_WIDTH_B = 0.15, 0.35
_MOST_QUANTILE = 6.0


def recall_of_hosts(per_host: Sequence[tuple[int, int]]) -> Estimate:
    """Return the share of all URLs that a crawl holds, by the URLs of some hosts, drawn evenly.

    Few hosts have many URLs, so that the error is worse than the number of hosts tells: degrees of
    freedom are those of as many hosts of one size as would weigh alike.

    Parameters
    ----------
    per_host
        For each host how many URLs it has, and how many of them the crawl holds.

    Examples
    --------
    >>> number = recall_of_hosts([(10, 4), (20, 9), (5, 1), (12, 6), (9, 4)])
    >>> f"{number.value:.2f} ({number.low:.2f} to {number.high:.2f})"
    '0.43 (0.25 to 0.72)'
    """
    # Here, because it takes as long to load as all the rest.
    from scipy.special import stdtrit

    alive, held = np.array(per_host, dtype=np.float64).reshape(-1, 2).T
    n_hosts, total = alive.size, float(alive.sum())
    if n_hosts < 2:  # noqa: PLR2004 - of one there is no scatter
        return Estimate.unknown("one host says nothing of the others; give the lists of several")
    if total == 0:
        return Estimate.unknown("none of its URLs can be looked for")
    value = max(float(held.sum()), 0.5) / total
    scatter = held - value * alive
    variance = n_hosts / (n_hosts - 1) * float(scatter @ scatter) / (value * total) ** 2
    n_alike = total**2 / float(alive @ alive)
    quantile = min(float(stdtrit(max(n_alike - 1, 1.0), (1 + LEVEL) / 2)), _MOST_QUANTILE)
    half_width = quantile * math.sqrt(variance + (1 - min(value, 1.0)) / (value * total))
    return LogRange(value=math.log(value), down=half_width, up=half_width).to_estimate(most=1.0)


def anchor_estimates(
    estimates: Estimates, table: OverlapTable, anchors: Sequence[AnchorCounts]
) -> Estimates:
    """Hold estimates against what is known from elsewhere, and let it move them.

    Parameters
    ----------
    estimates
        By the crawls alone; what they hold together is not looked at.
    table
        The overlaps.
    anchors
        What a crawl holds of each; those of other crawls than these are passed over.
    """
    labels = [crawl.label for crawl in estimates.crawls]
    turnover = [within(estimates.persistence, most=1.0)]
    carrying = find_carrying(turnover, None, estimates.growth_per_year)
    held = [
        _hold_against(estimates, labels.index(anchor.label), anchor, carrying)
        for anchor in anchors
        if anchor.label in labels
    ]
    # A sample says what a frontier only bounds: beside one, that is a test.
    is_sampled = any(finding.counts and finding.kind != "frontier" for finding, _ in held)
    held = [
        (replace(finding, counts=finding.counts and is_sampled != (finding.kind == "frontier")), by)
        for finding, by in held
    ]
    findings = tuple(finding for finding, _ in held)
    counting = [item for item in held if item[0].counts]
    moved = estimates
    if is_sampled:
        moved = _move_by_samples(estimates, table, counting)
    elif counting:
        moved = _move_below(estimates, [finding for finding, _ in counting])
    return _say(moved, estimates, findings)


# -------------------------------------------------------------------------- what each anchor says


class _Known(NamedTuple):
    """A coverage and its standard error; of an anchor also the place of the crawl."""

    value: float
    sd: float
    place: int = -1

    def to_estimate(self, shift: float = 0.0, sign: float = 1.0) -> Estimate:
        """Return it with its range; or a population, of the logarithm of a size and a sign."""
        ends = (min(self.value + k * self.sd, 0.0) for k in (0, -2 * sign, 2 * sign))
        value, low, high = (math.exp(shift + sign * end) for end in ends)
        return Estimate(value=value, low=low, high=high, level=LEVEL, basis="empirical-band")


def _hold_against(
    estimates: Estimates, place: int, anchor: AnchorCounts, carrying: Carrying
) -> tuple[AnchorFinding, _Known]:
    crawl = estimates.crawls[place]
    by_crawls = within(estimates.per_crawl[place].coverage, most=1.0)
    gap_days = 0 if anchor.date is None else (crawl.date - anchor.date).days
    verdict: AnchorVerdict = "untold"
    evidence = _Known(math.nan, math.nan, place)
    if anchor.kind == "frontier":
        most = bound_by_frontier(crawl, anchor.n_queued or 0, by_crawls).most
        by_anchor = Estimate(value=most)
        if by_crawls.value is not None:
            verdict = "agrees" if (by_crawls.low or by_crawls.value) <= most else "contradicts"
        counts = by_crawls.value is not None and (by_crawls.high or by_crawls.value) > most
    else:
        recall = share(anchor.n_held, anchor.n_looked_for, 0.0)
        if anchor.kind == "complete":
            recall = recall_of_hosts(anchor.per_host)
        by_anchor = carry_recall(recall, gap_days, carrying)
        counts = False
        if by_anchor.low is not None:
            evidence = _read(anchor, recall, gap_days, carrying, place)
            counts = anchor.kind == "uniform" or len(anchor.per_host) >= ENOUGH_HOSTS
            if by_crawls.value is None:
                # How other crawls stand beside this one is not known.
                counts = counts and estimates.headline.coverage.value is None
            else:
                apart = evidence.value - math.log(by_crawls.value)
                sd = math.hypot(_doubts(estimates, apart)[1], evidence.sd)
                verdict = "agrees" if abs(apart) <= _MOST_APART * sd else "contradicts"
    return (
        AnchorFinding(
            name=anchor.name,
            kind=anchor.kind,
            date=anchor.date,
            label=anchor.label,
            gap_days=gap_days,
            n_looked_for=anchor.n_looked_for,
            n_held=anchor.n_held,
            n_hosts=len(anchor.per_host) if anchor.kind == "complete" else None,
            n_queued=anchor.n_queued,
            by_anchor=by_anchor,
            by_crawls=by_crawls,
            verdict=verdict,
            counts=counts,
        ),
        evidence,
    )


def _read(
    anchor: AnchorCounts, recall: Estimate, gap_days: int, carrying: Carrying, place: int
) -> _Known:
    """Return a coverage that may be above 1, as counting and carrying have errors."""
    n = anchor.n_looked_for + 1
    value = (anchor.n_held + 0.5) / n
    variance = (1 - value) / (n * value)
    if anchor.kind == "complete":
        found = LogRange.from_estimate(recall)
        value, variance = math.exp(found.value), (found.down / NORMAL_QUANTILE) ** 2
    # What came to be in between may be captured less, or more, than what was there.
    newer = (1 - carrying.kept(gap_days)) * _NEWER_SD
    gap = carrying.variance_over(gap_days / DAYS_PER_YEAR) + newer**2
    return _Known(math.log(value / carrying.kept(gap_days)), math.sqrt(variance + gap), place)


def _doubts(
    estimates: Estimates, apart: float, own: tuple[float, float] = (0.02, 0.035)
) -> tuple[float, float, float]:
    """Return how far the crawls alone may be off, as three standard errors that are as likely.

    In a third of all archives they are off by a quarter of their range or so, in a third by a half
    of it, and in a third they fail.

    Parameters
    ----------
    estimates
        By the crawls alone.
    apart
        Its sign tells the side that they may be off to.
    own
        What a single crawl has of its own, beside what all have in common.
    """
    half = _PAIRS_HALF_RANGE if estimates.agreement.grade == "none" else _LEAST_HALF_RANGE
    coverage = within(estimates.headline.coverage, most=1.0)
    if coverage.value and coverage.low and coverage.high:
        ends = (coverage.high, coverage.value) if apart > 0 else (coverage.value, coverage.low)
        half = max(half, math.log(ends[0] / ends[1]))
    return math.hypot(half / 4, own[0]), math.hypot(half / 2, own[1]), _FAILED_SD


# ------------------------------------------------------------------------- samples move the number


def _move_by_samples(
    estimates: Estimates, table: OverlapTable, held: Sequence[tuple[AnchorFinding, _Known]]
) -> Estimates:
    rows = list(estimates.per_crawl)
    known = [item for finding, item in held if finding.by_crawls.value is not None]
    if not known or estimates.headline.coverage.value is None:
        # The crawls have no number: that of an anchor is taken.
        best = min((item for _, item in held), key=lambda item: item.sd)
        rows[best.place] = _with_coverage(estimates, best)
        return _lead_with(estimates, rows[best.place].coverage, rows)
    course = _Course.of(estimates, table)
    # The most certain one is the measure; others add to it, as far as crawls are alike.
    best = min(known, key=lambda item: item.sd)
    apart = best.value - course.by_crawls[best.place]
    moves, spread = course.explain(apart, best.place)
    found, errors = [apart], [best.sd]
    for item in known:
        if item is not best:
            found.append(apart + item.value - course.by_crawls[item.place] - moves[item.place])
            errors.append(math.hypot(item.sd, spread[item.place]))
    apart, sd = _mean(np.array(found), np.array(errors) ** 2)
    moves, spread = course.explain(apart, best.place)
    times = course.magnify(apart, best.place)
    doubts = _doubts(estimates, apart)
    spreads = [math.hypot(doubt, sd) for doubt in doubts]
    likely = [math.exp(-0.5 * (apart / spread) ** 2) / spread for spread in spreads]
    # What histories do not see makes them too high. Too low is rather the one crawl than all.
    shared = _SHARED_BELOW if apart > 0 else 1.0
    for place, by_crawls in enumerate(course.by_crawls):
        if not math.isnan(by_crawls):
            error = math.hypot(sd * times[place], spread[place])
            move = _weigh(
                moves[place],
                error,
                [doubt * times[place] for doubt in doubts],
                likely,
                1.0 if place == best.place else shared,
            )
            moved = _Known(by_crawls + move.value, move.sd, place)
            rows[place] = _with_coverage(estimates, moved)
    usual = float(times[course.is_typical].mean())
    move = _weigh(
        float(moves[course.is_typical].mean()),
        math.hypot(sd * usual, float(spread[course.is_typical].mean())),
        [doubt * usual for doubt in _doubts(estimates, apart, (0.0, 0.0))],
        likely,
        shared,
    )
    typical = math.log(min(estimates.headline.coverage.value, 1.0)) + move.value
    return _lead_with(estimates, _Known(typical, move.sd).to_estimate(), rows)


def _mean(values: Numbers, variances: Numbers) -> tuple[float, float]:
    """Return the mean of what anchors say, and its error, by DerSimonian and Laird.

    Those that contradict each other were drawn from different things, so that none of them counts
    for more because it is the larger one.
    """
    weights = 1 / variances
    total = float(weights.sum())
    mean = float(weights @ values) / total
    excess = float(weights @ (values - mean) ** 2) - (values.size - 1)
    if values.size > 1 and excess > 0:
        weights = 1 / (variances + excess / (total - float(weights @ weights) / total))
        mean = float(weights @ values / weights.sum())
    return mean, math.sqrt(1 / float(weights.sum()))


class _Course(NamedTuple):
    """What tells how far the crawls of a series are off beside each other."""

    by_crawls: Numbers
    is_typical: Flags
    known_share: Numbers | None
    years: Numbers
    log_sizes: Numbers

    @classmethod
    def of(cls, estimates: Estimates, table: OverlapTable) -> "_Course":
        rows = [within(row.coverage, most=1.0) for row in estimates.per_crawl]
        by_crawls = np.log([row.value or math.nan for row in rows])
        is_known = ~np.isnan(by_crawls)
        is_typical = is_known & [
            row.basis == "empirical-band" and "too small" not in estimates.per_crawl[k].note
            for k, row in enumerate(rows)
        ]
        is_typical[[0, -1]] = False
        holdings = count_holdings(table)
        return cls(
            by_crawls=by_crawls,
            is_typical=is_typical if is_typical.any() else is_known,
            known_share=None if holdings is None else holdings.known_share,
            years=years_of(estimates.crawls),
            log_sizes=np.log([max(crawl.n_urls, 1) for crawl in estimates.crawls]),
        )

    def explain(self, apart: float, place: int) -> tuple[Numbers, Numbers]:
        """Return how far each crawl is off if one of them is by so much, and the error of that.

        With a part of the web out of reach all are off alike. With first captures that are 1/x
        times as likely as recaptures, a crawl of which a share ρ was known before is off by the
        factor ρ + (1 − ρ)·x. The mixture of both is the one that makes the logarithm of the
        population the straightest line over time. What then remains beside the line is what crawls
        may be off on their own.
        """
        alike = np.full(self.by_crawls.size, apart)
        differs = np.zeros(alike.size)
        known = self.known_share
        if known is not None and 0 < known[place] < 1 and math.exp(-apart) > known[place]:
            rarer = (math.exp(-apart) - known[place]) / (1 - known[place])
            differs = -np.log(known + (1 - known) * rarer) - alike
        mix, error, scatter = self._mix(alike, differs)
        if known is None:
            differs = np.full(alike.size, apart / 2)
            mix = 0.0
        spread = np.hypot(max(_PATTERN_SD, math.sqrt(2) * scatter), error * np.abs(differs))
        spread[place] = 0.0
        return alike + mix * differs, spread

    def magnify(self, apart: float, place: int) -> Numbers:
        """Return how many times as far off as the sampled crawl each one is, but never less far.

        What is doubted of the sampled crawl, and what the anchor may be off, grows with it.
        """
        least = math.copysign(max(abs(apart), _LEAST_APART), apart)
        times = np.clip(self.explain(least, place)[0] / least, 1.0, _MOST_TIMES)
        times[place] = 1.0
        return np.asarray(times)

    def _mix(self, alike: Numbers, differs: Numbers) -> tuple[float, float, float]:
        """Return the share of rarer first captures, its error, and the scatter about the line."""
        is_known = ~np.isnan(self.by_crawls)
        population = (self.log_sizes - self.by_crawls - alike)[is_known]
        years = (self.years - self.years[-1])[is_known]
        design = np.column_stack([np.ones_like(years), years, differs[is_known]])
        prior = np.array([0.0, _GROWTH_SD**-2.0, _MIX_SD**-2.0])
        scatter = 0.0
        for _ in range(_N_PASSES):
            noise = max(_NOISE_SD, scatter)
            # Crawls of one date tell nothing of a course.
            inverse = np.linalg.pinv(design.T @ design / noise**2 + np.diag(prior))
            right = design.T @ population / noise**2 + prior * np.array([0.0, 0.0, _MIX])
            found = inverse @ right
            rest = population - design @ found
            scatter = math.sqrt(float(rest @ rest) / max(years.size - found.size, 1))
        mix = min(max(float(found[2]), 0.0), 1.0)
        return mix, max(math.sqrt(float(inverse[2, 2])), _LEAST_MIX_SD), scatter


def _weigh(
    found: float, sd: float, doubts: Sequence[float], likely: Sequence[float], shared: float = 1.0
) -> _Known:
    """Return how far a coverage is moved: the mean over how far the crawls may be off.

    `shared` is the chance that where histories fail they fail for this crawl as for the sampled.
    """
    shares = np.array(likely) / sum(likely)
    variances = np.array(doubts) ** 2
    kept = variances / (variances + sd**2)
    means, within_each = kept * found, kept * sd**2
    failed = means[-1]
    means[-1] *= shared
    within_each[-1] += shared * (1 - shared) * failed**2
    mean = float(shares @ means)
    return _Known(mean, math.sqrt(float(shares @ (within_each + (means - mean) ** 2))))


def _with_coverage(estimates: Estimates, coverage: _Known) -> CrawlEstimate:
    log_size = math.log(max(estimates.crawls[coverage.place].n_urls, 1))
    return replace(
        estimates.per_crawl[coverage.place],
        coverage=coverage.to_estimate(),
        population=coverage.to_estimate(log_size, -1.0),
    )


# --------------------------------------------------------------------------- frontiers move it too


def _move_below(estimates: Estimates, findings: Sequence[AnchorFinding]) -> Estimates:
    """Bring all crawls down, until those whose queues are known are at what these leave."""
    most = {item.label: item.by_anchor.value or 1.0 for item in findings}
    factor = min(
        1.0, *((item.by_anchor.value or 1.0) / (item.by_crawls.value or 1.0) for item in findings)
    )
    # Histories that fail say nothing of what lies below.
    fails = any(item.verdict == "contradicts" for item in findings)
    least = math.exp(-2 * _FAILED_SD)

    def bring_down(coverage: Estimate) -> Estimate:
        found = within(coverage, most=1.0).map(lambda share: share * factor)
        return replace(found, low=found.value * least) if fails and found.value else found

    rows = list(estimates.per_crawl)
    for place, row in enumerate(estimates.per_crawl):
        coverage = within(bring_down(row.coverage), most=most.get(row.label, 1.0))
        if coverage.value:
            n_urls = estimates.crawls[place].n_urls
            population = coverage.map(lambda share, n=n_urls: n / share)  # type: ignore[misc]
            population = replace(population, low=population.high, high=population.low)
            rows[place] = replace(row, coverage=coverage, population=population)
    return _lead_with(estimates, bring_down(estimates.headline.coverage), rows)


# ------------------------------------------------------------------------------- what comes of it


def _lead_with(estimates: Estimates, typical: Estimate, rows: Sequence[CrawlEstimate]) -> Estimates:
    newest = replace(estimates.newest, coverage=rows[-1].coverage, population=rows[-1].population)
    return replace(
        estimates,
        headline=replace(estimates.headline, coverage=typical),
        newest=newest,
        population=newest.population,
        per_crawl=tuple(rows),
        growth_per_year=_growth(estimates, rows),
        # What histories cannot tell has been told.
        readings=None,
        first_captures=None,
        by_crawls=estimates.headline.coverage,
    )


def _growth(estimates: Estimates, rows: Sequence[CrawlEstimate]) -> Estimate:
    """Return the growth of the populations, as far off as before and by how far it has moved."""
    before = estimates.growth_per_year
    populations = np.log([row.population.value or math.nan for row in rows])
    rate = log_growth(years_of(estimates.crawls), populations)
    if rate is None or before.value is None or before.low is None or before.high is None:
        return before
    half_width = math.log((1 + before.high) / (1 + before.low)) / 2
    half_width = math.hypot(half_width, rate - math.log1p(before.value))
    ends = (rate, rate - half_width, rate + half_width)
    value, low, high = map(math.expm1, ends)
    return replace(before, value=value, low=low, high=high)


def _say(moved: Estimates, by_crawls: Estimates, findings: tuple[AnchorFinding, ...]) -> Estimates:
    """Grade what has come of it, and say it."""
    against = [item for item in findings if item.verdict == "contradicts"]
    counting = [item for item in findings if item.counts]
    grade = by_crawls.agreement.grade
    if any(item.kind != "frontier" for item in counting):
        grade = _grade(moved.headline.coverage, is_at_most_b=bool(against) or grade == "none")
    elif against:
        grade = "C"
    elif not counting:
        return replace(by_crawls, anchors=findings)
    said_by = counting or against
    statement = state_anchored(moved, by_crawls, grade, said_by, is_against=bool(against))
    reason = state_verdict(said_by, by_crawls)
    if by_crawls.agreement.grade != "none":
        reason += f" {by_crawls.agreement.reason}"
    return replace(
        moved,
        anchors=findings,
        agreement=replace(by_crawls.agreement, grade=grade, reason=reason),
        headline=replace(
            moved.headline, estimator=moved.headline.estimator or "anchored", statement=statement
        ),
    )


def _grade(coverage: Estimate, *, is_at_most_b: bool) -> Grade:
    if not coverage.low or not coverage.high:
        return "C"
    half_width = math.log(coverage.high / coverage.low) / 2
    if half_width > _HALF_WIDTH_B:
        return "C"
    return "B" if is_at_most_b or half_width > _HALF_WIDTH_A else "A"
