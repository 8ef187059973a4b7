"""The estimates of Jolly and Seber: population, births and survival at each crawl, closed form.

The URLs that were known before crawl j and are still alive number M_j: those seen in it (m_j) and
those missed. Of the missed, z_j are seen later, as many in proportion as r_j of the R_j released:
``M_j = m_j + R_j·z_j/r_j``. Hence coverage m_j/M_j, population n_j·M_j/m_j, survival
``φ_j = M_{j+1}/(M_j − m_j + R_j)`` and births ``B_j = N_{j+1} − φ_j·(N_j − n_j + R_j)``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.model.histories.data import Recaptures
from crawlgauge.model.pairs import MAX_LOG, freeze_arrays
from crawlgauge.model.two_way import FIRST_CRAWL

__all__ = ["LAST_CRAWL", "JollySeberFit", "fit_jolly_seber"]

LAST_CRAWL = "not identifiable: last crawl"

_NOTHING_SHARED = "not identifiable: it shares nothing with any earlier crawl"
_NEVER_AGAIN = "not identifiable: none of its URLs is seen again later"
_NO_MARKS = "not identifiable: the known URLs alive at its start or end are not"
_NO_POPULATION = "not identifiable: the population at its start or end is not"
_NO_TIME = "no time passes: the survival has no value per year"
_TOO_CLOSE = "the crawls lie too close in time for a value per year"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JollySeberFit:
    """Population at each crawl, and what happens to it in each interval, with standard errors.

    Numbers are of the URLs that the histories were counted from, all or a sample. NaN stands
    where something is not known. Survival above 1 and negative births are left as they are.

    Parameters
    ----------
    n_marked, n_marked_se
        For each crawl, the URLs alive that an earlier crawl holds.
    population, population_se
        For each crawl, the URLs alive; the error is that of the estimate alone, and does not
        count the chances of birth and death.
    coverage, coverage_se
        For each crawl.
    crawl_reasons
        For each crawl, why nothing is known of it; None otherwise.
    survival, survival_se
        For each interval, the share of the URLs alive at its start that are so at its end.
    survival_reasons
        For each interval, why it is not known; None otherwise.
    persistence, persistence_se
        The same as a share per year.
    persistence_reasons
        The same of the persistence.
    births, births_se
        For each interval, the URLs alive at its end that were not at its start.
    births_reasons
        The same of the births.
    """

    n_marked: NDArray[np.float64]
    n_marked_se: NDArray[np.float64]
    population: NDArray[np.float64]
    population_se: NDArray[np.float64]
    coverage: NDArray[np.float64]
    coverage_se: NDArray[np.float64]
    crawl_reasons: tuple[str | None, ...]
    survival: NDArray[np.float64]
    survival_se: NDArray[np.float64]
    survival_reasons: tuple[str | None, ...]
    persistence: NDArray[np.float64]
    persistence_se: NDArray[np.float64]
    persistence_reasons: tuple[str | None, ...]
    births: NDArray[np.float64]
    births_se: NDArray[np.float64]
    births_reasons: tuple[str | None, ...]

    def __post_init__(self) -> None:
        freeze_arrays(self, "n_marked", "n_marked_se", "population", "population_se")
        freeze_arrays(self, "coverage", "coverage_se", "survival", "survival_se")
        freeze_arrays(self, "persistence", "persistence_se", "births", "births_se")


def fit_jolly_seber(recaptures: Recaptures) -> JollySeberFit:
    """Compute Jolly's estimates and their standard errors.

    Parameters
    ----------
    recaptures
        When captured URLs are seen again.
    """
    crawls = _Crawls(recaptures)
    survival, survival_variance = crawls.survive()
    births, births_variance = crawls.bear(survival)
    years = recaptures.interval_years
    with np.errstate(invalid="ignore", divide="ignore"):
        log_per_year = np.log(survival) / years
        possible = (years > 0) & (np.abs(log_per_year) < MAX_LOG)
        persistence = np.exp(np.where(possible, log_per_year, np.nan))
        persistence_se = persistence * _root(survival_variance) / (survival * years)
    survival_reasons = tuple(_NO_MARKS if unknown else None for unknown in np.isnan(survival))
    return JollySeberFit(
        n_marked=crawls.marked,
        n_marked_se=_root(crawls.marked_variance()),
        population=crawls.population,
        population_se=_root(crawls.population_variance()),
        coverage=crawls.coverage,
        coverage_se=_root(crawls.coverage_variance()),
        crawl_reasons=crawls.list_reasons(),
        survival=survival,
        survival_se=_root(survival_variance),
        survival_reasons=survival_reasons,
        persistence=persistence,
        persistence_se=persistence_se,
        persistence_reasons=tuple(
            reason or (_NO_TIME if length == 0 else None if is_possible else _TOO_CLOSE)
            for reason, length, is_possible in zip(survival_reasons, years, possible, strict=True)
        ),
        births=births,
        births_se=_root(births_variance),
        births_reasons=tuple(_NO_POPULATION if unknown else None for unknown in np.isnan(births)),
    )


class _Crawls:
    """The counts of each crawl under Jolly's names, and the variances that he gave.

    The formulas are those of Jolly (1965) as collected by Seber (1982, section 5.1) and by Pollock
    and others (1990).
    """

    def __init__(self, recaptures: Recaptures) -> None:
        self.n = recaptures.n_captured
        self.released = recaptures.n_released
        self.seen = recaptures.n_seen_before
        self.again = recaptures.n_seen_again
        self.missed = recaptures.n_missed
        # At the first crawl nothing is known before, so that no URL is marked.
        is_first = np.arange(self.n.size) == 0
        with np.errstate(invalid="ignore", divide="ignore"):
            raised = self.released * self.missed / self.again
            known = ~is_first & (self.seen > 0) & (self.again > 0)
            self.marked = np.where(is_first, 0.0, np.where(known, self.seen + raised, np.nan))
            self.coverage = np.where(known, self.seen / self.marked, np.nan)
            self.population = self.n / self.coverage
            # Of the proportion seen again, the relative variance; its chances are all that is
            # uncertain about the raised number.
            self.raising = np.where(self.again > 0, 1 / self.again - 1 / self.released, np.nan)

    def list_reasons(self) -> tuple[str | None, ...]:
        last = self.n.size - 1
        return tuple(
            FIRST_CRAWL
            if crawl == 0
            else LAST_CRAWL
            if crawl == last
            else _NOTHING_SHARED
            if self.seen[crawl] == 0
            else _NEVER_AGAIN
            if self.again[crawl] == 0
            else None
            for crawl in range(last + 1)
        )

    @property
    def after(self) -> NDArray[np.float64]:
        """Known URLs that live on from each crawl."""
        return self.marked - self.seen + self.released

    def marked_variance(self) -> NDArray[np.float64]:
        unseen = self.marked - self.seen
        variance = unseen * (unseen + self.released) * self.raising
        return np.where(self.coverage > 0, variance, np.nan)

    def population_variance(self) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return (
                self.population
                * (self.population - self.n)
                * (self.after / self.marked * self.raising + 1 / self.seen - 1 / self.n)
            )

    def coverage_variance(self) -> NDArray[np.float64]:
        rest = 1 - self.coverage
        with np.errstate(invalid="ignore", divide="ignore"):
            # (1 − p)²/z in a form that is 0 where nothing was missed.
            by_missed = rest * self.released / (self.again * self.marked)
            return self.coverage**2 * (rest**2 * (self.raising + 1 / self.seen) + by_missed)

    def survive(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return survival over each interval, and its variance."""
        with np.errstate(invalid="ignore", divide="ignore"):
            survival = self.marked[1:] / self.after[:-1]
            unseen, marked = (self.marked - self.seen), self.marked
            at_end = unseen[1:] * self.after[1:] / marked[1:] ** 2 * self.raising[1:]
            at_start = unseen[:-1] / self.after[:-1] * self.raising[:-1]
            # At the first crawl all marked URLs are seen, whether or not any is seen again.
            at_start = np.where(unseen[:-1] == 0, 0.0, at_start)
            chance = _mortality(survival) / marked[1:]
            return survival, survival**2 * (at_end + at_start + chance)

    def bear(
        self, survival: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the births in each interval, and their variance."""
        start, end = slice(None, -1), slice(1, None)
        n, population, marked, seen = self.n, self.population, self.marked, self.seen
        unmarked, unseen = population - marked, marked - seen
        with np.errstate(invalid="ignore", divide="ignore"):
            births = population[end] - survival * (population - n + self.released)[start]
            variance = (
                births**2 * unseen[end] * self.after[end] / marked[end] ** 2 * self.raising[end]
                + unseen[start]
                / self.after[start]
                * (survival * self.released[start] * unmarked[start] / marked[start]) ** 2
                * self.raising[start]
                + (population - n)[start]
                * (population[end] - births)
                * unmarked[start]
                * _mortality(survival)
                / (population[start] * self.after[start])
                + (population - n)[end] * unmarked[end] / seen[end]
                + survival**2 * (population - n)[start] * unmarked[start] / seen[start]
            )
        return births, variance


def _mortality(survival: NDArray[np.float64]) -> NDArray[np.float64]:
    # An estimate above 1 leaves no chance of death, and not a negative one.
    return np.maximum(1 - survival, 0.0)


def _root(variance: NDArray[np.float64]) -> NDArray[np.float64]:
    # Where nothing is uncertain, rounding may leave a variance just below 0.
    return np.sqrt(np.maximum(variance, 0.0))
