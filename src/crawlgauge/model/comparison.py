"""From what was counted over several archives to their comparison."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from crawlgauge.crawl import DAYS_PER_YEAR, Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.intervals import NORMAL_QUANTILE
from crawlgauge.model.phrases import count, say
from crawlgauge.model.ranges import Carrying, LogRange, find_carrying, scaled, typical_value, within
from crawlgauge.overlaps.table import ArchiveCounts, HostCounts
from crawlgauge.provenance import Provenance

__all__ = ["Comparison"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What one archive holds in all of its crawls together.

    Parameters
    ----------
    name
        The archive's.
    n_crawls
        Its crawls.
    n_urls
        Distinct URLs of all of them.
    n_only
        Those that no other archive holds.
    own_coverage
        Typical coverage of its crawls as its own series gives it.
    own_persistence
        Share of URLs that lives on for a year, as its own series gives it.
    """

    name: str
    n_crawls: int
    n_urls: Estimate
    n_only: Estimate
    own_coverage: Estimate
    own_persistence: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class JointHoldings:
    """What all archives hold together, and what several of them hold."""

    n_distinct: Estimate
    n_in_one: Estimate
    n_in_all: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedCrawls:
    """A crawl of one archive beside the crawl of another that is nearest in time.

    Parameters
    ----------
    a, b
        The crawls.
    gap_days
        From `a` to `b`; negative if `b` is the earlier.
    n_shared
        URLs that both hold, of those that were counted.
    share_of_a, share_of_b
        Which share of each crawl the other one holds as well.
    relative_size
        Size of `a` over that of `b`.
    population
        URLs that either could have reached, by Chapman's estimator, at the later of the dates.
    lincoln_petersen
        The same by the plain estimator; None where it has no value.
    coverage_a, coverage_b
        Share of the population that each crawl holds.
    joint_coverage
        Share of the population that either holds.
    """

    a: Crawl
    b: Crawl
    gap_days: int
    n_shared: int
    share_of_a: float
    share_of_b: float
    relative_size: Estimate
    population: Estimate
    lincoln_petersen: float | None
    coverage_a: Estimate
    coverage_b: Estimate
    joint_coverage: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivePair:
    """Two archives: their matched crawls, and what these have in common.

    Parameters
    ----------
    a, b
        Names of the archives.
    matched
        Crawls of matching dates, in order of date.
    unmatched_a, unmatched_b
        Labels of the crawls without a partner.
    relative_size, coverage_a, coverage_b, joint_coverage
        Geometric means over the matched crawls.
    n_shared
        URLs that both archives hold in any of their crawls.
    """

    a: str
    b: str
    matched: tuple[MatchedCrawls, ...]
    unmatched_a: tuple[str, ...]
    unmatched_b: tuple[str, ...]
    relative_size: Estimate
    coverage_a: Estimate
    coverage_b: Estimate
    joint_coverage: Estimate
    n_shared: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRow:
    """The URLs of one host, as counted in a sample: held by each archive alone, or by several."""

    host: str
    n_only: tuple[int, ...]
    n_several: int

    @property
    def n_urls(self) -> int:
        """URLs of the host that some archive holds."""
        return sum(self.n_only) + self.n_several


@dataclass(frozen=True, slots=True, kw_only=True)
class HostHoldings:
    """What each archive alone holds, by host.

    Parameters
    ----------
    rows
        Hosts, those with the most URLs that one archive alone holds first.
    n_hosts
        How many hosts there are, of which `rows` are the first.
    n_undisclosed
        For each archive, URLs of it alone whose host is not known here.
    sample_rate
        Share of the URLs that was looked at.
    """

    rows: tuple[HostRow, ...]
    n_hosts: int
    n_undisclosed: tuple[int, ...]
    sample_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two or more archives side by side.

    Parameters
    ----------
    level, key_rule, sample_rate
        What is compared, by which rule URLs are the same, and which share of them was counted.
    max_gap_days
        Crawls that lie farther apart were not matched.
    persistence
        The share of URLs living on for a year by which overlaps were carried over gaps in time.
    archives
        What each holds.
    joint
        What they hold together.
    pairs
        Each two of them.
    hosts
        By host; None where no archive discloses its hosts.
    warnings
        What to be careful about.
    provenance
        Where the comparison comes from.
    """

    level: str
    key_rule: str
    sample_rate: float
    max_gap_days: int
    persistence: Estimate
    archives: tuple[Holding, ...]
    joint: JointHoldings
    pairs: tuple[ArchivePair, ...]
    hosts: HostHoldings | None
    warnings: tuple[str, ...]
    provenance: Provenance = field(default_factory=Provenance)


# ------------------------------------------------------------------------------ compare archives


def compare_archives(
    counts: ArchiveCounts,
    *,
    names: Sequence[str],
    series: Sequence[tuple[Estimate, Estimate]],
    hosts: HostCounts | None = None,
    max_gap_days: int,
    persistence: float | None = None,
    n_hosts: int = 10,
    warnings: Sequence[str] = (),
    provenance: Provenance | None = None,
) -> Comparison:
    """Compare archives.

    Parameters
    ----------
    counts
        What was counted over all of them.
    names, series
        Of each archive, its name, and what its own crawls say: typical coverage and persistence.
    hosts
        What was counted by host; None where no hosts are known.
    max_gap_days
        Crawls farther apart are not matched.
    persistence
        Share of URLs that lives on for a year, where the user knows it; else it is that of the
        series.
    n_hosts
        How many hosts to list.
    warnings, provenance
        Of the counting.
    """
    carrying = find_carrying([lives_on for _, lives_on in series], persistence)
    places = range(len(names))
    pairs = tuple(
        _compare_two(counts, names, places, carrying, max_gap_days)
        for places in combinations(range(len(names)), 2)
    )
    return Comparison(
        level=counts.level,
        key_rule=counts.key_rule,
        sample_rate=counts.sample_rate,
        max_gap_days=max_gap_days,
        persistence=carrying.persistence,
        archives=tuple(
            Holding(
                name=names[k],
                n_crawls=len(counts.crawls[k]),
                n_urls=scaled(counts.held(k), counts.sample_rate),
                n_only=scaled(counts.held_only(k), counts.sample_rate),
                own_coverage=within(series[k][0], most=1.0),
                own_persistence=series[k][1],
            )
            for k in places
        ),
        joint=JointHoldings(
            n_distinct=scaled(counts.n_distinct, counts.sample_rate),
            n_in_one=scaled(sum(map(counts.held_only, places)), counts.sample_rate),
            n_in_all=scaled(counts.held(*places), counts.sample_rate),
        ),
        pairs=pairs,
        hosts=None if hosts is None else _list_hosts(hosts, n_hosts),
        warnings=(*warnings, *_doubts(pairs, counts)),
        provenance=provenance or Provenance(),
    )


def _list_hosts(hosts: HostCounts, n_hosts: int) -> HostHoldings:
    rows = [
        HostRow(host=host, n_only=tuple(only), n_several=several)
        for host, only, several in zip(
            hosts.hosts, hosts.n_only.tolist(), hosts.n_several.tolist(), strict=True
        )
    ]
    rows = [row for row in rows if row.n_urls]
    rows.sort(key=lambda row: (-sum(row.n_only), -row.n_several, row.host))
    return HostHoldings(
        rows=tuple(rows[:n_hosts]),
        n_hosts=len(rows),
        n_undisclosed=tuple(hosts.n_undisclosed.tolist()),
        sample_rate=hosts.sample_rate,
    )


def _doubts(pairs: Sequence[ArchivePair], counts: ArchiveCounts) -> Iterator[str]:
    damaged = [crawl.label for crawls in counts.crawls for crawl in crawls if crawl.damaged]
    if damaged:
        yield say("comparison.damaged", crawls=", ".join(damaged))
    for pair in pairs:
        empty = [item.a.label for item in pair.matched if item.n_shared == 0]
        if empty:
            crawls = ", ".join(empty)
            yield say("comparison.nothing-shared", a=pair.a, b=pair.b, crawls=crawls)


# ------------------------------------------------------- two archives by their crawls, date by date


_SHARES = ("coverage_a", "coverage_b", "joint_coverage")
_NOTHING_MATCHED = "no crawls of matching dates; allow for more time between them with --max-gap"


def match_crawls(
    a: Sequence[Crawl], b: Sequence[Crawl], *, max_gap_days: int
) -> list[tuple[int, int]]:
    """Give each crawl at most one partner: the nearest two first, then the nearest of the rest.

    Returns their places in the two lists, in order of date.
    """
    near = sorted(
        (gap, i, j)
        for i, one in enumerate(a)
        for j, other in enumerate(b)
        if (gap := abs((other.date - one.date).days)) <= max_gap_days
    )
    partner_of: dict[int, int] = {}
    for _, i, j in near:
        if i not in partner_of and j not in partner_of.values():
            partner_of[i] = j
    return sorted(partner_of.items(), key=lambda pair: (a[pair[0]].date, pair))


def _compare_two(
    counts: ArchiveCounts, names: Sequence[str], two: tuple[int, int], carrying: Carrying, most: int
) -> ArchivePair:
    i, j = two
    of_a, of_b = counts.crawls[i], counts.crawls[j]
    places = match_crawls(of_a, of_b, max_gap_days=most)
    compared = [
        _compare_crawls(of_a[a], of_b[b], counts.shared(i, a, j, b), counts.sample_rate, carrying)
        for a, b in places
    ]
    matched_a, matched_b = {a for a, _ in places}, {b for _, b in places}
    return ArchivePair(
        a=names[i],
        b=names[j],
        matched=tuple(matched for matched, _ in compared),
        unmatched_a=tuple(crawl.label for k, crawl in enumerate(of_a) if k not in matched_a),
        unmatched_b=tuple(crawl.label for k, crawl in enumerate(of_b) if k not in matched_b),
        **{name: _typical(compared, name, carrying) for name in ("relative_size", *_SHARES)},
        n_shared=scaled(counts.held(i, j), counts.sample_rate),
    )


# Two matched crawls, and their ratio of sizes and their coverages, where they are known, without
# the error that all pairs have in common.
_Compared = tuple[MatchedCrawls, dict[str, LogRange]]


def _compare_crawls(
    a: Crawl, b: Crawl, n_shared: int, sample_rate: float, carrying: Carrying
) -> _Compared:
    """Compare two crawls of two archives, with the sizes that they have in the sample."""
    gap_days = (b.date - a.date).days
    first, second = (a, b) if gap_days >= 0 else (b, a)
    lists = TwoLists(
        n_a=first.n_counted, n_b=second.n_counted, n_shared=n_shared, kept=carrying.kept(gap_days)
    )
    found, plain = lists.population(), lists.lincoln_petersen()
    reason = carrying.why_not(gap_days)
    if reason is None and n_shared == a.n_counted == b.n_counted:
        reason = "both are the same set of URLs, which independent crawls never are"
    elif reason is None and not n_shared:
        least = math.exp(found.value - found.down) / sample_rate
        reason = f"no URL is shared; the population is at least {count(least)} (95 %)"
    ranges = {"relative_size": _relative_size(a, b, n_shared=n_shared, sample_rate=sample_rate)}
    unknown = None if reason is None else Estimate.unknown(reason)
    no_range = carrying.why_no_range(gap_days)
    of_gap = carrying.variance_over(abs(gap_days) / DAYS_PER_YEAR)
    shares = {}
    for name, n_held in zip(_SHARES, (a.n_counted, b.n_counted, lists.n_union), strict=True):
        if unknown is None:
            ranges[name] = _share(found, n_held, sample_rate)
            shares[name] = ranges[name].widened(of_gap).to_estimate(most=1.0, reason=no_range)
        else:
            shares[name] = unknown
    in_sample = (1 - sample_rate) / math.exp(found.value)
    population = found.shifted(-math.log(sample_rate)).widened(in_sample + of_gap)
    matched = MatchedCrawls(
        a=a,
        b=b,
        gap_days=gap_days,
        n_shared=n_shared,
        share_of_a=n_shared / a.n_counted,
        share_of_b=n_shared / b.n_counted,
        relative_size=ranges["relative_size"].to_estimate(),
        population=unknown or population.to_estimate(reason=no_range),
        lincoln_petersen=None if unknown or plain is None else plain / sample_rate,
        **shares,
    )
    return matched, ranges


def _typical(compared: Sequence[_Compared], name: str, carrying: Carrying) -> Estimate:
    """Return the geometric mean over the matched crawls of which a number is known."""
    if not compared:
        return Estimate.unknown(_NOTHING_MATCHED)
    known = [(ranges[name], matched.gap_days) for matched, ranges in compared if name in ranges]
    if not known:
        return getattr(compared[0][0], name)  # type: ignore[no-any-return]
    values = [value for value, _ in known]
    if name == "relative_size":
        return typical_value(values).to_estimate()
    # The error of the persistence is common to all of them.
    mean_gap = math.fsum(abs(days) / DAYS_PER_YEAR for _, days in known) / len(known)
    found = typical_value(values, carrying.variance_over(mean_gap))
    return found.to_estimate(most=1.0, reason=carrying.why_no_range(mean_gap))


def _share(population: LogRange, n_held: float, sample_rate: float) -> LogRange:
    """Return the share of the population that is held, with the error that a sample adds."""
    share = LogRange(value=math.log(n_held)).over(population)
    missing = max(0.0, 1 - math.exp(share.value))
    return share.widened((1 - sample_rate) * missing / n_held)


def _relative_size(a: Crawl, b: Crawl, *, n_shared: int, sample_rate: float) -> LogRange:
    """Return the size of one crawl over that of another, by Bharat and Broder.

    The share of `b` that `a` holds over the share of `a` that `b` holds, in which the overlap
    cancels out. It has an error only where a size is known from a sample.
    """
    # A size that is known in full is not just what its sample makes of it.
    if sample_rate == 1 or all(
        abs(crawl.n_counted / sample_rate - crawl.n_urls) > 1 for crawl in (a, b)
    ):
        return LogRange(value=math.log(a.n_urls / b.n_urls))
    of_sample = 1 / a.n_counted + 1 / b.n_counted - 2 * n_shared / (a.n_counted * b.n_counted)
    size = LogRange(value=math.log(a.n_counted / b.n_counted))
    return size.widened(max(0.0, (1 - sample_rate) * of_sample))


# ---------------------------------------------------------------------- two lists of one population


# As many as a number of 64 bits can be halved to some purpose.
_N_HALVINGS = 60

_MOST_LOG_RATIO = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoLists:
    """What two lists hold and share.

    Parameters
    ----------
    n_a, n_b
        URLs of the earlier and of the later list.
    n_shared
        URLs of both.
    kept
        Share of the population that lives on from the earlier list to the later.
    """

    n_a: int
    n_b: int
    n_shared: int
    kept: float = 1.0

    @property
    def n_union(self) -> float:
        """URLs of either that live when the later list is drawn."""
        return self.kept * self.n_a + self.n_b - self.n_shared

    def lincoln_petersen(self) -> float | None:
        """Return the population by Lincoln and Petersen; None if nothing is shared.

        Examples
        --------
        >>> TwoLists(n_a=400, n_b=300, n_shared=120).lincoln_petersen()
        1000.0
        """
        return self.kept * self.n_a * self.n_b / self.n_shared if self.n_shared else None

    def chapman(self) -> float:
        """Return the population by Chapman, which is nearly unbiased for few shared URLs.

        Examples
        --------
        >>> round(TwoLists(n_a=400, n_b=300, n_shared=120).chapman())
        997
        """
        return (self.kept * self.n_a + 1) * (self.n_b + 1) / (self.n_shared + 1) - 1

    def population(self) -> LogRange:
        """Return Chapman's estimate with the populations that the overlap does not contradict.

        A population is contradicted if the overlap that it makes expect lies farther from the
        observed one than 1.96 times its own standard deviation (a score interval). It holds also
        where little is shared; with nothing shared there is no upper end.
        """
        centre = math.log(self.chapman())
        least = math.log(max(self.n_a, self.n_b, self.n_union))
        low = self._find_end(centre, least, NORMAL_QUANTILE)
        high = self._find_end(centre, centre + _MOST_LOG_RATIO, -NORMAL_QUANTILE)
        up = math.inf if high >= centre + _MOST_LOG_RATIO else max(0.0, high - centre)
        return LogRange(value=centre, down=max(0.0, centre - low), up=up)

    def _find_end(self, centre: float, far: float, wanted: float) -> float:
        """Return the log population between two that expects `wanted` deviations too much."""
        if self._excess(far) * wanted < wanted * wanted:
            return far
        near = centre
        for _ in range(_N_HALVINGS):
            middle = (near + far) / 2
            if self._excess(middle) * wanted < wanted * wanted:
                near = middle
            else:
                far = middle
        return far

    def _excess(self, log_population: float) -> float:
        """Return by how many standard deviations the expected overlap exceeds the observed one."""
        population = math.exp(log_population)
        share_a, share_b = self.n_a / population, self.n_b / population
        expected = self.kept * self.n_a * share_b
        drawing = expected * max(0.0, 1 - share_b) * max(0.0, 1 - self.kept * share_a)
        dying = share_b**2 * self.n_a * self.kept * (1 - self.kept) * max(0.0, 1 - share_a)
        deviation = math.sqrt(drawing + dying)
        if deviation == 0:
            return math.copysign(math.inf, expected - self.n_shared)
        return (expected - self.n_shared) / deviation
