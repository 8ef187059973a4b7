"""The types of the answer: a number for each stratum, and what they come to together."""

from dataclasses import dataclass, field

from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate
from crawlgauge.provenance import Provenance

__all__ = ["Strata", "StratumEstimate", "Whole"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumEstimate:
    """What is known of one stratum.

    Parameters
    ----------
    name
        Its value, or what it was pooled from.
    n_pooled
        How many small strata it consists of; 0 if it is one by itself.
    n_urls
        What the newest crawl holds of it; scaled up where only a sample was counted.
    n_crawls
        How many crawls hold something of it.
    coverage, population, missing
        For the newest crawl: the share that it holds, how many URLs it could have reached, and how
        many of them it does not hold.
    persistence
        Share of its URLs that lives on for a year.
    typical_coverage
        Of a typical crawl.
    note
        What is special about it.
    """

    name: str
    n_pooled: int
    n_urls: int
    n_crawls: int
    coverage: Estimate
    population: Estimate
    missing: Estimate
    persistence: Estimate
    typical_coverage: Estimate
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """All strata together, for the newest crawl."""

    coverage: Estimate
    population: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """The answer for all strata.

    Parameters
    ----------
    by
        ``host``, ``domain``, ``tld``, ``mime`` or ``status``.
    noun
        One stratum in a sentence, and several.
    crawls
        In order of date; the last is the newest.
    sample_rate
        Share of the URLs that were counted.
    n_distinct, n_pooled, min_shared
        Distinct strata; how many of them were pooled, because they share fewer URLs than
        `min_shared` in the median pair of crawls.
    strata
        Those of which most is missing first.
    post_stratified
        The sum of the strata, which is what the estimates of all URLs say.
    own_sum
        Coverage that the strata would add up to by their own overlaps alone, which take capture to
        be even in each; None where that is not known, or impossible.
    statement
        The answer in words.
    warnings
        What to be careful about.
    suffix_list
        Date of the public suffix list; None if it was not needed.
    provenance
        Where the numbers come from.
    """

    by: str
    noun: tuple[str, str]
    crawls: tuple[Crawl, ...]
    sample_rate: float
    n_distinct: int
    n_pooled: int
    min_shared: int
    strata: tuple[StratumEstimate, ...]
    post_stratified: Whole
    own_sum: float | None
    statement: str
    warnings: tuple[str, ...]
    suffix_list: str | None = None
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def newest(self) -> str:
        """Label of the newest crawl."""
        return self.crawls[-1].label

    @property
    def named(self) -> tuple[StratumEstimate, ...]:
        """The strata that stand by themselves."""
        return tuple(stratum for stratum in self.strata if not stratum.n_pooled)
