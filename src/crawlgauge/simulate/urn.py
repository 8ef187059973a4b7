"""The paper's urn: a population that turns over, and crawls that draw from it at random."""

import datetime as dt

import numpy as np

from crawlgauge.simulate.archive import CrawlTruth, SimulatedArchive, SimulatedCrawl, Truth
from crawlgauge.simulate.url_names import name_university_urls

__all__ = ["draw_urn"]

_DAYS_PER_YEAR = 365.25
_MONTHS_PER_YEAR = 12


def draw_urn(
    *,
    n_crawls: int = 15,
    population: int = 200_000,
    coverage: float = 0.46,
    persistence: float = 0.73,
    first_date: dt.date = dt.date(2013, 12, 15),
    months_between: int = 6,
    seed: int = 1,
) -> SimulatedArchive:
    """Draw an archive from the urn.

    Between crawls each URL dies with probability ``1 - persistence ** years`` and a new one takes
    its place; a crawl draws its share of the living at random, without replacement.

    Parameters
    ----------
    n_crawls
        Number of crawls.
    population
        URLs alive at any time.
    coverage
        Share of them that each crawl draws.
    persistence
        Share of them that live on for a year.
    first_date, months_between
        When the crawls take place.
    seed
        Equal seeds give equal archives.

    Examples
    --------
    >>> archive = draw_urn(n_crawls=3, population=1000, seed=7)
    >>> [(crawl.label, crawl.url_numbers.size) for crawl in archive.crawls]
    [('2013-12', 460), ('2014-06', 460), ('2014-12', 460)]
    """
    if not (0 < coverage <= 1 and 0 < persistence <= 1):
        raise ValueError("coverage and persistence must be above 0 and at most 1")
    rng = np.random.default_rng(seed)
    n_drawn = round(coverage * population)
    if n_crawls < 1 or n_drawn < 1:
        raise ValueError("an archive needs at least one crawl of at least one URL")
    dates = [_add_months(first_date, months_between * k) for k in range(n_crawls)]
    alive = np.arange(population)
    n_born = population
    crawls = []
    for number, date in enumerate(dates):
        if number:
            years = (date - dates[number - 1]).days / _DAYS_PER_YEAR
            dies = rng.random(population) >= persistence**years
            n_dead = int(dies.sum())
            alive[dies] = np.arange(n_born, n_born + n_dead)
            n_born += n_dead
        drawn = rng.choice(alive, size=n_drawn, replace=False, shuffle=False)
        crawls.append(SimulatedCrawl(label=f"{date:%Y-%m}", date=date, url_numbers=drawn))
    truth = Truth(
        scenario="urn",
        seed=seed,
        crawls=tuple(
            CrawlTruth(
                label=crawl.label,
                date=crawl.date,
                n_urls=n_drawn,
                population=population,
                coverage=n_drawn / population,
            )
            for crawl in crawls
        ),
        persistence=persistence,
        settings={"coverage": coverage, "months_between": months_between},
    )
    return SimulatedArchive(crawls=tuple(crawls), truth=truth, name_urls=name_university_urls)


def _add_months(date: dt.date, months: int) -> dt.date:
    years, month = divmod(date.month - 1 + months, _MONTHS_PER_YEAR)
    return date.replace(year=date.year + years, month=month + 1)
