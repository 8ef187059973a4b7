"""The urn as sets: URLs are born, die and are captured one by one, with whole columns at once."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.simulate.archive import Bools, Ints, SimulatedArchive, SimulatedCrawl
from crawlgauge.simulate.urn_plan import (
    UrnPlan,
    find_capture_scale,
    make_plan,
    make_random,
    make_truth,
)
from crawlgauge.simulate.urn_settings import UrnSettings, require

# ----------------------- draw without replacement: among single URLs, or among cells that hold many


_LIMIT = 10**9
_WIDE_VARIANCE = 100


def choose_among(rng: np.random.Generator, n: int, n_chosen: int) -> Bools:
    """Choose `n_chosen` of `n` things at random and return for each whether it is chosen.

    Each thing is first chosen by itself, with the right probability; then the few too many or too
    few are taken back or added at random. The result is a simple random sample, and comes many
    times faster than by shuffling.

    Examples
    --------
    >>> int(choose_among(np.random.default_rng(1), 1000, 460).sum())
    460
    """
    chosen = rng.random(n, dtype=np.float32) < n_chosen / max(n, 1)
    n_found = int(np.count_nonzero(chosen))
    is_over = n_found > n_chosen
    n_candidates = n_found if is_over else n - n_found
    n_left = abs(n_found - n_chosen)
    while n_left:
        # Int32s are tried at random: listing all candidates would take longer than all the rest.
        n_tries = min(n, 16 + round(1.5 * n_left * n / n_candidates))
        places = rng.integers(0, n, n_tries)
        places = places[chosen[places] == is_over]
        _, first_tries = np.unique(places, return_index=True)
        places = places[np.sort(first_tries)[:n_left]]
        chosen[places] = not is_over
        n_left -= places.size
    return chosen


def choose_from_cells(rng: np.random.Generator, counts: Ints, n_chosen: int) -> Ints:
    """Choose `n_chosen` things at random and return how many of them lie in each cell.

    This is the multivariate hypergeometric distribution. The cells are halved again and again,
    each half's part being drawn from that of both, so that all cells of a level are drawn at once.
    Beyond a thousand million things it is approximated.

    Parameters
    ----------
    rng
        Source of random numbers.
    counts
        Things in each cell; of any shape.
    n_chosen
        At most as many as there are.
    """
    padded = np.zeros(1 << max(0, counts.size - 1).bit_length(), dtype=np.int64)
    padded[: counts.size] = counts.ravel()
    sums = [padded]
    while sums[-1].size > 1:
        sums.append(sums[-1][::2] + sums[-1][1::2])
    chosen = np.array([n_chosen], dtype=np.int64)
    for level in reversed(sums[:-1]):
        left = _draw_hypergeometric(rng, level[::2], level[1::2], chosen)
        chosen = np.column_stack([left, chosen - left]).ravel()
    return chosen[: counts.size].reshape(counts.shape)


def _draw_hypergeometric(rng: np.random.Generator, good: Ints, bad: Ints, n_drawn: Ints) -> Ints:
    """Draw the number of good ones; numpy's own function ends at a thousand million things."""
    is_large = good + bad >= _LIMIT
    result, small = np.zeros_like(good), ~is_large
    result[small] = rng.hypergeometric(good[small], bad[small], n_drawn[small])
    result[is_large] = _approximate(rng, good[is_large], bad[is_large], n_drawn[is_large])
    return result


def _approximate(rng: np.random.Generator, good: Ints, bad: Ints, n_drawn: Ints) -> Ints:
    rarer = np.minimum(good, bad)
    total = good + bad
    share = n_drawn / total
    variance = rarer * share * (1 - share) * ((total - rarer) / (total - 1))
    normal = np.rint(rarer * share + np.sqrt(variance) * rng.standard_normal(good.size))
    # Few among very many are chosen as if each were by itself.
    binomial = rng.binomial(np.where(variance > _WIDE_VARIANCE, 0, rarer), share)
    drawn = np.where(variance > _WIDE_VARIANCE, normal.astype(np.int64), binomial)
    drawn = np.clip(drawn, np.maximum(0, n_drawn - (total - rarer)), np.minimum(rarer, n_drawn))
    return np.where(good <= bad, drawn, n_drawn - drawn)


# -------------------------------------- names for numbered URLs, as an academic web would have them


_SECTIONS = ("about", "teaching", "research", "library", "people", "news", "events")


def name_university_urls(numbers: Ints, *, n_hosts: int = 150) -> list[str]:
    """Return a URL for each number; distinct numbers give distinct URLs.

    Parameters
    ----------
    numbers
        Of the URLs.
    n_hosts
        Hosts that the URLs are spread over, number by number.

    Examples
    --------
    >>> name_university_urls(np.array([1234]))
    ['https://www.university-34.example/research/4d2.html']
    """
    return [
        f"https://www.university-{number % n_hosts}.example/"
        f"{_SECTIONS[number % len(_SECTIONS)]}/{number:x}.html"
        for number in numbers.tolist()
    ]


# ---------------------------------------------------------------------------------- the urn as sets


_NEVER = -(1 << 14)


def draw_sets(settings: UrnSettings, *, seed: int = 1) -> SimulatedArchive:
    """Draw an archive, URL by URL.

    Between crawls each URL dies with the probability of its class, and new ones take the places
    of the dead. Where capture is even, a crawl draws its size exactly, at random and without
    replacement; where it is uneven, each URL is captured by itself with a probability in
    proportion to its weight, at most 1, and the size varies by chance.

    Parameters
    ----------
    settings
        What to simulate.
    seed
        Equal seeds give equal archives.

    Raises
    ------
    SimulationError
        If the settings contradict each other or ask for noise that sets cannot have.

    Examples
    --------
    >>> archive = draw_sets(UrnSettings(population=1000), seed=7)
    >>> [(crawl.label, crawl.url_numbers.size) for crawl in archive.crawls[:3]]
    [('2013-12', 460), ('2014-06', 460), ('2014-12', 460)]
    """
    require(
        settings.table_noise is None,
        f"the scenario {settings.scenario} has noise of the overlaps themselves, which no sets "
        "of URLs can have; simulate it as a table",
    )
    plan = make_plan(settings, seed)
    population = _Population(plan, make_random(seed, "sets"))
    crawls = []
    for number, (label, date) in enumerate(zip(plan.labels, plan.dates, strict=True)):
        population.turn_over(number)
        captured = population.capture(number)
        crawls.append(SimulatedCrawl(label=label, date=date, url_numbers=captured))
    n_hosts = settings.n_hosts if settings.host_noise is None else settings.host_noise.n_hosts
    return SimulatedArchive(
        crawls=tuple(crawls),
        truth=make_truth(plan, [crawl.url_numbers.size for crawl in crawls], plan.populations),
        name_urls=functools.partial(name_university_urls, n_hosts=n_hosts),
    )


class _Population:
    """The living URLs of each stratum, and the ways in which crawls draw from them."""

    def __init__(self, plan: UrnPlan, rng: np.random.Generator) -> None:
        self._plan = plan
        self._rng = rng
        self._n_born = 0
        # What must be known of each URL, by stratum.
        self._strata = [self._bear(0) for _ in plan.weights]

    def turn_over(self, crawl: int) -> None:
        """Let URLs die and be born."""
        survival = self._plan.survival(crawl) if crawl else np.ones(len(self._strata))
        for number, urls in enumerate(self._strata):
            n, n_wanted = urls["number"].size, int(self._plan.counts[number, crawl])
            n_dead = max(int(self._rng.binomial(n, 1 - survival[number])), n - n_wanted)
            dead = np.flatnonzero(choose_among(self._rng, n, n_dead))
            n_new = n_wanted - (n - n_dead)
            # Newborn URLs take the places of dead ones; the columns are rebuilt only where they
            # grow or shrink.
            n_replaced = min(n_new, n_dead)
            for name, born in self._bear(n_replaced).items():
                urls[name][dead[:n_replaced]] = born
            if n_dead > n_replaced:
                left = {name: np.delete(column, dead[n_replaced:]) for name, column in urls.items()}
                self._strata[number] = left
            elif n_new > n_replaced:
                more = self._bear(n_new - n_replaced)
                self._strata[number] = {
                    name: np.concatenate([column, more[name]]) for name, column in urls.items()
                }

    def _bear(self, n: int) -> dict[str, NDArray[Any]]:
        """Return newborn URLs: their numbers, and what else must be known of them."""
        urls: dict[str, NDArray[Any]] = {"number": np.arange(self._n_born, self._n_born + n)}
        self._n_born += n
        settings = self._plan.settings
        if settings.capture_cv > 0:
            shape = 1 / settings.capture_cv**2
            drawn = self._rng.standard_gamma(shape, n, dtype=np.float32)
            urls["weight"] = drawn / np.float32(shape)
        if settings.has_memory:
            urls["last_seen"] = np.full(n, _NEVER, dtype=np.int16)
        return urls

    def capture(self, crawl: int) -> Ints:
        """Return the numbers of the URLs that a crawl captures."""
        strata = np.flatnonzero(self._plan.in_scope[:, crawl]).tolist()
        settings = self._plan.settings
        if settings.has_memory:
            chosen = self._choose_with_memory(crawl, strata)
        elif settings.is_even:
            chosen = self._choose_evenly(crawl, strata)
        else:
            scale = self._plan.capture_scale(crawl)
            chosen = [self._choose_by_weight(crawl, number, scale) for number in strata]
        numbers = [
            self._strata[number]["number"][part]
            for number, part in zip(strata, chosen, strict=True)
        ]
        return numbers[0] if len(numbers) == 1 else np.concatenate(numbers)

    def _choose_evenly(self, crawl: int, strata: list[int]) -> list[Bools]:
        sizes = [self._strata[number]["number"].size for number in strata]
        parts = self._rng.multivariate_hypergeometric(
            sizes, int(self._plan.sizes[crawl]), method="marginals"
        )
        return [
            choose_among(self._rng, size, int(part))
            for size, part in zip(sizes, parts, strict=True)
        ]

    def _choose_by_weight(self, crawl: int, number: int, scale: float) -> Bools:
        n = self._strata[number]["number"].size
        if self._plan.settings.capture_cv > 0 or self._plan.host_weights is not None:
            return self._rng.random(n, dtype=np.float32) < scale * self._weights_of(number, crawl)
        share = min(1.0, scale * self._plan.weights[number])
        return choose_among(self._rng, n, int(self._rng.binomial(n, share)))

    def _weights_of(self, number: int, crawl: int) -> NDArray[np.float32]:
        urls = self._strata[number]
        weights = np.full(urls["number"].size, self._plan.weights[number], dtype=np.float32)
        if "weight" in urls:
            weights *= urls["weight"]
        if self._plan.host_weights is not None:
            of_hosts = self._plan.host_weights[crawl].astype(np.float32)
            weights *= of_hosts[urls["number"] % of_hosts.size]
        return weights

    def _choose_with_memory(self, crawl: int, strata: list[int]) -> list[Bools]:
        """Choose URLs by how many crawls ago they were captured last."""
        rng, settings = self._rng, self._plan.settings
        columns = [self._strata[number]["last_seen"] for number in strata]
        age, n_wanted = crawl - np.concatenate(columns), int(self._plan.sizes[crawl])
        chosen, avoided = np.zeros((2, age.size), dtype=np.bool_)
        if settings.avoidance is not None:
            avoided = age <= settings.avoidance.n_crawls
            if settings.avoidance.probability < 1:
                avoided &= rng.random(age.size, dtype=np.float32) < settings.avoidance.probability
        elif (seeds := np.flatnonzero(age == 1)).size:
            n_seeds = min(round(settings.reseeded_share * n_wanted), seeds.size)
            chosen[seeds[choose_among(rng, seeds.size, n_seeds)]] = True
            n_wanted -= n_seeds
        pool = np.flatnonzero(~(avoided | chosen))
        if pool.size <= n_wanted:
            chosen[pool] = True
            left_over = np.flatnonzero(avoided)
            chosen[left_over[choose_among(rng, left_over.size, n_wanted - pool.size)]] = True
        elif settings.is_even:
            chosen[pool[choose_among(rng, pool.size, n_wanted)]] = True
        else:
            weights = np.concatenate([self._weights_of(number, crawl) for number in strata])
            of_pool = weights[pool].astype(np.float64)
            scale = find_capture_scale(of_pool, np.ones(pool.size), n_wanted)
            chosen[pool[rng.random(pool.size) < scale * of_pool]] = True
        parts = np.split(chosen, np.cumsum([column.size for column in columns])[:-1])
        for column, part in zip(columns, parts, strict=True):
            column[part] = crawl
        return parts
