"""From what was counted over several archives to their comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from crawlgauge.model.comparison.carrying import Carrying, carrying_from_series, carrying_with
from crawlgauge.model.comparison.comparison import (
    ArchivePair,
    Comparison,
    Holding,
    HostHoldings,
    HostRow,
    JointHoldings,
)
from crawlgauge.model.comparison.matching import match_crawls
from crawlgauge.model.comparison.pairing import compare_crawls, typical_share, typical_size
from crawlgauge.model.estimates import Estimate
from crawlgauge.model.possible import within
from crawlgauge.model.sampled_counts import scaled
from crawlgauge.overlaps.table import ArchiveCounts, HostCounts
from crawlgauge.provenance import Provenance

__all__ = ["OwnSeries", "compare_archives"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSeries:
    """What an archive's own series of crawls says."""

    coverage: Estimate
    persistence: Estimate


def compare_archives(
    counts: ArchiveCounts,
    *,
    names: Sequence[str],
    series: Sequence[OwnSeries],
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
        Of each archive, its name and what its own crawls say.
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
    if persistence is None:
        carrying = carrying_from_series([item.persistence for item in series])
    else:
        carrying = carrying_with(persistence)
    places = range(len(names))
    pairs = tuple(
        _compare_two(counts, names, i, j, carrying, max_gap_days)
        for i, j in combinations(places, 2)
    )
    return Comparison(
        level=counts.level,
        key_rule=counts.key_rule,
        sample_rate=counts.sample_rate,
        max_gap_days=max_gap_days,
        persistence=carrying.persistence,
        archives=tuple(_holding(counts, names, k, series[k]) for k in places),
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


def _compare_two(
    counts: ArchiveCounts,
    names: Sequence[str],
    i: int,
    j: int,
    carrying: Carrying,
    max_gap_days: int,
) -> ArchivePair:
    of_a, of_b = counts.crawls[i], counts.crawls[j]
    matching = match_crawls(of_a, of_b, max_gap_days=max_gap_days)
    compared = [
        compare_crawls(
            of_a[a],
            of_b[b],
            n_shared=counts.shared(i, a, j, b),
            sample_rate=counts.sample_rate,
            carrying=carrying,
        )
        for a, b in matching.pairs
    ]
    return ArchivePair(
        a=names[i],
        b=names[j],
        matched=tuple(item.matched for item in compared),
        unmatched_a=tuple(of_a[place].label for place in matching.unmatched_a),
        unmatched_b=tuple(of_b[place].label for place in matching.unmatched_b),
        relative_size=typical_size(compared),
        coverage_a=typical_share(compared, "coverage_a", carrying),
        coverage_b=typical_share(compared, "coverage_b", carrying),
        joint_coverage=typical_share(compared, "joint_coverage", carrying),
        n_shared=scaled(counts.held(i, j), counts.sample_rate),
    )


def _holding(counts: ArchiveCounts, names: Sequence[str], k: int, series: OwnSeries) -> Holding:
    return Holding(
        name=names[k],
        n_crawls=len(counts.crawls[k]),
        n_urls=scaled(counts.held(k), counts.sample_rate),
        n_only=scaled(counts.held_only(k), counts.sample_rate),
        own_coverage=within(series.coverage, most=1.0),
        own_persistence=series.persistence,
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


def _doubts(pairs: Sequence[ArchivePair], counts: ArchiveCounts) -> list[str]:
    doubts = []
    damaged = [crawl.label for crawls in counts.crawls for crawl in crawls if crawl.damaged]
    if damaged:
        doubts.append(
            f"Part of the input of {', '.join(damaged)} was damaged and is missing, so that its "
            "archive looks smaller than it is."
        )
    for pair in pairs:
        empty = [item.a.label for item in pair.matched if item.n_shared == 0]
        if empty:
            doubts.append(
                f"{pair.a} and {pair.b} share no URL at all in {', '.join(empty)}: see whether "
                "they cover the same scope and write URLs in the same way."
            )
    return doubts
