"""Archives whose truth is known: webs that live and die, and crawlers of many kinds.

A web is a table of which URLs exist at each date; a crawler turns it into a table of which it
captures. `DESIGN` worlds may be looked at while a rule is made; `VALIDATION` worlds are for testing
it, with webs and crawlers of other kinds.
"""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.bool_]
Numbers = NDArray[np.float64]
Random = np.random.Generator


@dataclass(frozen=True, slots=True)
class Web:
    """Which URLs exist at each date, and what is known of them.

    Parameters
    ----------
    exists
        A row for each URL, a column for each date.
    years
        The dates.
    host
        Number of the host of each URL.
    persistence
        Share of the URLs that live on for a year; NaN where lives are not of one law.
    """

    exists: Table
    years: Numbers
    host: NDArray[np.int64]
    persistence: float

    @property
    def born(self) -> NDArray[np.int64]:
        """Date at which each URL is there first."""
        return np.argmax(self.exists, axis=1)


# ------------------------------------------------------------------------------------------ webs


def living(
    rng: Random,
    *,
    n_alive: int = 6000,
    n_dates: int | None = None,
    alpha: float | None = None,
    growth: float = 0.0,
    mixed: float = 0.0,
    n_per_host: float = 30.0,
) -> Web:
    """Make a web of steady turnover.

    Parameters
    ----------
    rng
        Draws everything.
    n_alive, n_dates, alpha
        URLs at the first date, dates half a year apart, and the share that lives on for a year.
    growth
        Of the population, per year.
    mixed
        Share of URLs that live a sixth as long.
    n_per_host
        Mean number of URLs of a host, of which some have many.
    """
    n_dates = n_dates or int(rng.integers(6, 13))
    alpha = alpha or float(rng.uniform(0.55, 0.95))
    years = np.arange(n_dates) / 2
    sizes = n_alive * (1 + growth) ** years
    dies = 1 - alpha**0.5
    alive = np.zeros((0,), np.bool_)
    table = np.zeros((0, n_dates), np.bool_)
    hazard = np.zeros(0)
    for date in range(n_dates):
        alive = alive & (rng.random(alive.size) >= hazard)
        n_born = max(int(sizes[date]) - int(alive.sum()), 0)
        own = np.full(n_born, dies)
        short = rng.random(n_born) < mixed
        own[short] = 1 - (1 - dies) ** 6
        hazard = np.concatenate([hazard, own])
        alive = np.concatenate([alive, np.ones(n_born, np.bool_)])
        table = np.concatenate([table, np.zeros((n_born, n_dates), np.bool_)])
        table[:, date] = alive
    return Web(table, years, hosts(rng, len(table), n_per_host), alpha if mixed == 0 else np.nan)


def hosts(rng: Random, n_urls: int, n_per_host: float) -> NDArray[np.int64]:
    """Deal URLs out to hosts, of which few have many."""
    weight = rng.pareto(1.3, max(int(n_urls / n_per_host), 5)) + 0.2
    return rng.choice(weight.size, n_urls, p=weight / weight.sum())


def flickering(rng: Random, web: Web, share: float) -> Web:
    """Let URLs go absent for single dates, some more often than others."""
    often = rng.beta(1, 1 / share - 1, len(web.exists))
    absent = rng.random(web.exists.shape) < often[:, None]
    return Web(web.exists & ~absent, web.years, web.host, web.persistence)


def resting(rng: Random, web: Web, share: float) -> Web:
    """Let URLs go absent for two or three dates in a row."""
    starts = rng.random(web.exists.shape) < share / 2.5
    absent = starts.copy()
    absent[:, 1:] |= starts[:, :-1]
    absent[:, 2:] |= starts[:, :-2] & (rng.random(starts[:, :-2].shape) < 0.5)
    return Web(web.exists & ~absent, web.years, web.host, web.persistence)


def dying_by_host(rng: Random, web: Web, share: float) -> Web:
    """Let whole hosts go for good, beside the URLs that die one by one."""
    n_hosts = int(web.host.max()) + 1
    gone = rng.geometric(share / 2, n_hosts)[web.host]
    return Web(
        web.exists & (np.arange(web.years.size) < gone[:, None]), web.years, web.host, np.nan
    )


def read_list(folder: Path, first: int, n_dates: int) -> Web:
    """Read consecutive snapshots of a list of real URLs, which are all there is of it."""
    files = sorted(folder.glob("*.txt.gz"))[first : first + n_dates]
    texts = [gzip.decompress(file.read_bytes()).decode(errors="replace") for file in files]
    held = [set(text.split("\n")) - {""} for text in texts]
    number = {url: place for place, url in enumerate(sorted(set().union(*held)))}
    exists = np.zeros((len(number), len(files)), np.bool_)
    for date, urls in enumerate(held):
        exists[[number[url] for url in urls], date] = True
    days = np.array([np.datetime64(file.name[:10]) for file in files]).astype(np.int64)
    names = [url.split("//")[-1].split("/")[0].lower() for url in sorted(number)]
    host = np.unique(names, return_inverse=True)[1].astype(np.int64)
    return Web(exists, (days - days[0]) / 365.25, host, np.nan)


# -------------------------------------------------------------------------------------- crawlers


def crawl(rng: Random, web: Web, chance: Callable[[int, Table], Numbers | float]) -> Table:
    """Capture URLs with a chance that may depend on the date and on what was captured so far."""
    held = np.zeros_like(web.exists)
    for date in range(web.years.size):
        drawn = rng.random(len(held)) < chance(date, held)
        held[:, date] = web.exists[:, date] & drawn
    return held


def even(rng: Random, web: Web, level: float | None = None) -> Table:
    """Capture all alike, with budgets that vary a little."""
    level = level or float(rng.uniform(0.2, 0.7))
    levels = np.clip(level * np.exp(0.15 * rng.standard_normal(web.years.size)), 0, 0.999)
    return crawl(rng, web, lambda date, _: float(levels[date]))


def propensity(rng: Random, n: int, kind: str) -> Numbers:
    """Draw how readily each of some URLs, or hosts, is captured: a factor of the rate."""
    match kind:
        case "log-normal .5":
            return np.exp(0.5 * rng.standard_normal(n))
        case "log-normal .8":
            return np.exp(0.8 * rng.standard_normal(n))
        case "two kinds":
            return np.where(rng.random(n) < 0.4, 1.0, 0.25)
        case "gamma":
            return rng.gamma(2.5, 0.4, n)
        case "three kinds":
            return rng.choice([2.0, 0.8, 0.2], n, p=[0.25, 0.45, 0.3])
        case "beta":
            return -np.log1p(-np.clip(rng.beta(1.2, 1.8, n), 0, 0.98))
    raise ValueError(kind)


def uneven(rng: Random, web: Web, kind: str, *, by_host: bool = False) -> Table:
    """Capture some URLs, or hosts, more readily than others."""
    n = int(web.host.max()) + 1 if by_host else len(web.exists)
    factor = propensity(rng, n, kind)
    factor = factor[web.host] if by_host else factor
    rate = float(rng.uniform(0.4, 0.9))
    return crawl(rng, web, lambda *_: -np.expm1(-rate * factor))


def avoiding(rng: Random, web: Web, lags: int, left: float, kind: str | None = None) -> Table:
    """Avoid what was captured lately."""
    level = float(rng.uniform(0.3, 0.6))
    factor = 1.0 if kind is None else propensity(rng, len(web.exists), kind)
    base = -np.expm1(np.log1p(-level) * factor)

    def chance(date: int, held: Table) -> Numbers:
        recent = held[:, max(date - lags, 0) : date].any(axis=1)
        return base * np.where(recent, left, 1.0)

    return crawl(rng, web, chance)


def returning(rng: Random, web: Web, again: float, kind: str | None = None) -> Table:
    """Take a part of the last crawl again, and draw the rest."""
    level = float(rng.uniform(0.2, 0.5))
    factor = 1.0 if kind is None else propensity(rng, len(web.exists), kind)
    base = -np.expm1(np.log1p(-level) * factor)

    def chance(date: int, held: Table) -> Numbers:
        last = held[:, date - 1] if date else np.zeros(len(held), np.bool_)
        return np.where(last, again + (1 - again) * base, base)

    return crawl(rng, web, chance)


def from_own_database(rng: Random, web: Web, new: float, known: float) -> Table:
    """Capture what was ever captured more readily than what is new."""
    return crawl(rng, web, lambda date, held: np.where(held[:, :date].any(axis=1), known, new))


def by_age(rng: Random, web: Web, young: float, old: float) -> Table:
    """Capture new URLs more, or less, readily than old ones."""
    return crawl(rng, web, lambda date, _: old + (young - old) * np.exp(-(date - web.born) / 2.0))


def whole_hosts(rng: Random, web: Web, share: float) -> Table:
    """Capture some hosts nearly whole and the others hardly, others at each crawl."""
    n_hosts = int(web.host.max()) + 1
    return crawl(rng, web, lambda *_: np.where(rng.random(n_hosts) < share, 0.9, 0.05)[web.host])


def rotating(rng: Random, web: Web, n_groups: int) -> Table:
    """Visit groups of hosts in turn, and the others a little."""
    group = rng.integers(0, n_groups, int(web.host.max()) + 1)[web.host]
    return crawl(rng, web, lambda date, _: np.where(group == date % n_groups, 0.8, 0.25))


def linked(rng: Random, budget: float) -> tuple[Web, Table]:
    """Start from some seeds and follow links, breadth first, up to a share of what they lead to."""
    web = living(rng)
    n, n_links = len(web.exists), 12
    popular = rng.pareto(2.0, n) + 0.3
    links = rng.choice(n, (n, n_links), p=popular / popular.sum())
    seeds = rng.choice(n, n // 30, replace=False)
    reached, held = np.zeros_like(web.exists), np.zeros_like(web.exists)

    def follow(date: int, most: float, share: float) -> Table:
        exists, seen = web.exists[:, date], np.zeros(n, np.bool_)
        front = seeds
        while True:
            front = np.unique(front)
            front = rng.permutation(front[exists[front] & ~seen[front]])
            front = front[: max(int(most - seen.sum()), 0)]
            if not front.size:
                return seen
            seen[front] = True
            front = links[front][rng.random((front.size, n_links)) < share]

    for date in range(web.years.size):
        reached[:, date] = follow(date, n, 1.0)
        held[:, date] = follow(date, budget * reached[:, date].sum(), 0.6)
    known = reached.any(axis=1)
    return Web(reached[known], web.years, web.host[known], web.persistence), held[known]


def changing(rng: Random, web: Web) -> Table:
    """Change the budget strongly from crawl to crawl, with one that broke off."""
    levels = rng.uniform(0.15, 0.75, web.years.size)
    levels[rng.integers(1, levels.size - 1)] *= 0.3
    return crawl(rng, web, lambda date, _: float(levels[date]))


def halving(rng: Random, web: Web) -> Table:
    """Cut the budget to a half in the middle of the series."""
    level = float(rng.uniform(0.4, 0.8))
    middle = web.years.size // 2
    return crawl(rng, web, lambda date, _: level if date < middle else level / 2)


def by_host_size(rng: Random, web: Web) -> Table:
    """Take no more than so many URLs of a host at each crawl."""
    most = int(rng.integers(15, 60))
    held = np.zeros_like(web.exists)
    for date in range(web.years.size):
        order = rng.permutation(np.flatnonzero(web.exists[:, date]))
        order = order[np.argsort(web.host[order], kind="stable")]
        host = web.host[order]
        starts = np.searchsorted(host, host)
        held[order[np.arange(order.size) - starts < most], date] = True
    return held & (rng.random(held.shape) < 0.8)


def drifting(rng: Random, web: Web) -> Table:
    """Let what is captured readily change slowly."""
    noise = rng.standard_normal(web.exists.shape)
    state = noise[:, 0]
    states = [state]
    for date in range(1, web.years.size):
        state = 0.8 * state + 0.6 * noise[:, date]
        states.append(state)
    return crawl(rng, web, lambda date, _: -np.expm1(-0.5 * np.exp(0.7 * states[date])))


def nearly_all(rng: Random, web: Web) -> Table:
    """Capture nearly all, some URLs a little less readily."""
    chance = rng.beta(18, 1, len(web.exists))
    return crawl(rng, web, lambda *_: chance)


def deep(rng: Random, web: Web, share: float) -> Table:
    """Never reach a part of the URLs."""
    reached = rng.random(len(web.exists)) >= share
    return crawl(rng, web, lambda *_: np.where(reached, 0.5, 0.002))


def deep_hosts(rng: Random, web: Web, share: float) -> Table:
    """Never reach some hosts, and take of the others some more readily."""
    n_hosts = int(web.host.max()) + 1
    hidden = (rng.random(n_hosts) < share)[web.host]
    level = np.clip(rng.beta(4, 4, n_hosts), 0.05, 0.95)[web.host]
    return crawl(rng, web, lambda *_: np.where(hidden, 0.001, level))


def adaptive(rng: Random, web: Web, new: float) -> Table:
    """Find new URLs slowly, and take known ones again as often as they change."""
    changes = rng.beta(2.0, 1.0, len(web.exists))
    return crawl(
        rng, web, lambda date, held: np.where(held[:, :date].any(axis=1), 0.3 + 0.6 * changes, new)
    )


Make = Callable[[Random], tuple[Web, Table]]


def _on(make_web: Callable[[Random], Web], crawler: Callable[[Random, Web], Table]) -> Make:
    def make(rng: Random) -> tuple[Web, Table]:
        web = make_web(rng)
        return web, crawler(rng, web)

    return make


def _mixed(rng: Random) -> Web:
    return living(rng, mixed=0.3)


DESIGN: dict[str, Make] = {
    "even": _on(living, even),
    "growing": _on(lambda rng: living(rng, growth=0.25), even),
    "log-normal .5": _on(living, lambda rng, web: uneven(rng, web, "log-normal .5")),
    "log-normal .8": _on(living, lambda rng, web: uneven(rng, web, "log-normal .8")),
    "two kinds": _on(living, lambda rng, web: uneven(rng, web, "two kinds")),
    "hosts log-normal .8": _on(
        living, lambda rng, web: uneven(rng, web, "log-normal .8", by_host=True)
    ),
    "avoids 1": _on(living, lambda rng, web: avoiding(rng, web, 1, 0.1)),
    "avoids 2": _on(living, lambda rng, web: avoiding(rng, web, 2, 0.3)),
    "avoids 1, uneven": _on(living, lambda rng, web: avoiding(rng, web, 1, 0.4, "log-normal .5")),
    "returns .3": _on(living, lambda rng, web: returning(rng, web, 0.3)),
    "returns .6": _on(living, lambda rng, web: returning(rng, web, 0.6)),
    "flickers .1": _on(lambda rng: flickering(rng, living(rng), 0.1), even),
    "rests .1": _on(lambda rng: resting(rng, living(rng), 0.1), even),
    "mixed lives": _on(_mixed, even),
    "nearly complete": _on(living, lambda rng, web: even(rng, web, float(rng.uniform(0.9, 1)))),
    "complete, flickers": _on(
        lambda rng: flickering(rng, living(rng), 0.08), lambda rng, web: even(rng, web, 0.995)
    ),
    "whole hosts": _on(living, lambda rng, web: whole_hosts(rng, web, 0.4)),
    "links .5": lambda rng: linked(rng, 0.5),
    "by age": _on(living, lambda rng, web: by_age(rng, web, 0.6, 0.35)),
}
"""Worlds to look at."""

VALIDATION: dict[str, Make] = {
    "shrinking": _on(lambda rng: living(rng, growth=-0.15), even),
    "changing budgets": _on(living, changing),
    "gamma": _on(living, lambda rng, web: uneven(rng, web, "gamma")),
    "three kinds": _on(living, lambda rng, web: uneven(rng, web, "three kinds")),
    "beta": _on(living, lambda rng, web: uneven(rng, web, "beta")),
    "hosts, three kinds": _on(
        living, lambda rng, web: uneven(rng, web, "three kinds", by_host=True)
    ),
    "uneven, mixed lives": _on(_mixed, lambda rng, web: uneven(rng, web, "gamma")),
    "drifting": _on(living, drifting),
    "avoids 1 by .4": _on(living, lambda rng, web: avoiding(rng, web, 1, 0.4)),
    "avoids 3": _on(living, lambda rng, web: avoiding(rng, web, 3, 0.1)),
    "avoids 2, gamma": _on(living, lambda rng, web: avoiding(rng, web, 2, 0.3, "gamma")),
    "returns .45": _on(living, lambda rng, web: returning(rng, web, 0.45)),
    "returns .3, gamma": _on(living, lambda rng, web: returning(rng, web, 0.3, "gamma")),
    "rotation of 2": _on(living, lambda rng, web: rotating(rng, web, 2)),
    "rotation of 3": _on(living, lambda rng, web: rotating(rng, web, 3)),
    "whole hosts .25": _on(living, lambda rng, web: whole_hosts(rng, web, 0.25)),
    "links .2": lambda rng: linked(rng, 0.2),
    "links .8": lambda rng: linked(rng, 0.8),
    "older preferred": _on(living, lambda rng, web: by_age(rng, web, 0.3, 0.5)),
    "flickers .2": _on(lambda rng: flickering(rng, living(rng), 0.2), even),
    "flickers .1, gamma": _on(
        lambda rng: flickering(rng, living(rng), 0.1), lambda rng, web: uneven(rng, web, "gamma")
    ),
    "rests .2": _on(lambda rng: resting(rng, living(rng), 0.2), even),
    "nearly complete, uneven": _on(
        living,
        nearly_all,
    ),
    "complete, rests": _on(
        lambda rng: resting(rng, living(rng), 0.1), lambda rng, web: even(rng, web, 0.99)
    ),
    "budget halved": _on(living, halving),
    "most per host": _on(living, by_host_size),
    "hosts die": _on(lambda rng: dying_by_host(rng, living(rng), 0.15), even),
    "hosts die, uneven": _on(
        lambda rng: dying_by_host(rng, living(rng), 0.15),
        lambda rng, web: uneven(rng, web, "gamma", by_host=True),
    ),
    "avoids 2 by .1, hosts": _on(
        lambda rng: living(rng, n_per_host=100), lambda rng, web: avoiding(rng, web, 2, 0.1)
    ),
    "thin": _on(
        lambda rng: living(rng, n_alive=60_000),
        lambda rng, web: even(rng, web, float(rng.uniform(0.003, 0.03))),
    ),
    "small": _on(lambda rng: living(rng, n_alive=500), even),
    "many crawls": _on(lambda rng: living(rng, n_dates=20, n_alive=3000), even),
}
"""Worlds to test on."""

DEEP: dict[str, Make] = {
    "deep .3": _on(living, lambda rng, web: deep(rng, web, 0.3)),
    "own database .3, .5": _on(living, lambda rng, web: from_own_database(rng, web, 0.3, 0.5)),
    "own database .1, .8": _on(living, lambda rng, web: from_own_database(rng, web, 0.1, 0.8)),
}
"""Worlds in which histories cannot tell the truth: what was never captured is captured less."""

FAILING: dict[str, Make] = {
    **DEEP,
    "own database .2, .6": _on(living, lambda rng, web: from_own_database(rng, web, 0.2, 0.6)),
    "deep .5": _on(living, lambda rng, web: deep(rng, web, 0.5)),
    "deep hosts .5": _on(living, lambda rng, web: deep_hosts(rng, web, 0.5)),
    "adaptive .1": _on(living, lambda rng, web: adaptive(rng, web, 0.1)),
    "adaptive .2": _on(living, lambda rng, web: adaptive(rng, web, 0.2)),
    "links .3": lambda rng: linked(rng, 0.3),
    "links .1": lambda rng: linked(rng, 0.1),
}
"""Worlds in which histories fail, and something from outside of them has to tell."""
