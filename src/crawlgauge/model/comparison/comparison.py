"""The types that a comparison of archives hands over."""

from dataclasses import dataclass, field

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.provenance import Provenance

__all__ = [
    "ArchivePair",
    "Comparison",
    "Holding",
    "HostHoldings",
    "HostRow",
    "JointHoldings",
    "MatchedCrawls",
]


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
