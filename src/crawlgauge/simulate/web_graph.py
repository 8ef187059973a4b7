"""A web at one date: living pages on hosts, and the links between them."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.simulate.archive import Bools, Floats, Int32s, Ints
from crawlgauge.simulate.web_settings import GraphSettings

# ------------------------------------------------------------------------ graphs of links as arrays


def group_by(keys: Int32s, n_groups: int) -> tuple[Ints, Int32s]:
    """Order the places of `keys` by key, equal keys in order of place.

    Parameters
    ----------
    keys
        From 0 to ``n_groups - 1``; places with a negative key are left out.
    n_groups
        Number of different keys.

    Returns
    -------
    tuple
        ``starts`` and ``order``: the places of key k are ``order[starts[k]:starts[k + 1]]``.
    """
    order = np.argsort(keys, kind="stable").astype(np.int32)
    order = order[np.count_nonzero(keys < 0) :]
    sizes = np.bincount(keys[order], minlength=n_groups)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), order


def find_distances(starts: Ints, targets: Int32s, seeds: Int32s) -> Int32s:
    """Return for each page how many links it is away from the nearest seed, or -1.

    Parameters
    ----------
    starts, targets
        Page p links to ``targets[starts[p]:starts[p + 1]]``.
    seeds
        Where the walk begins.
    """
    distances = np.full(starts.size - 1, -1, np.int32)
    pages, distance = np.unique(seeds), 0
    while pages.size:
        distances[pages] = distance
        distance += 1
        found = targets[_places(starts, pages)]
        pages = np.unique(found[distances[found] < 0])
    return distances


def _places(starts: Ints, pages: Int32s) -> Ints:
    """Return where the links of some pages stand among all."""
    sizes = starts[pages + 1] - starts[pages]
    first = np.repeat(starts[pages] - np.cumsum(sizes) + sizes, sizes)
    return first + np.arange(first.size)


def rank_pages(
    starts: Ints, targets: Int32s, is_member: Bools, damping: float, n_rounds: int
) -> Floats:
    """Return the PageRank of the members, which link only to members; others have rank 0.

    A reader who does not follow a link, or finds none, goes on at any member.

    Parameters
    ----------
    starts, targets
        As for `find_distances`.
    is_member
        Pages that are ranked.
    damping
        Probability of following a link.
    n_rounds
        Steps of the power iteration.
    """
    n_members = is_member.sum()
    n_links = np.diff(starts)
    linking = np.flatnonzero(is_member & (n_links > 0))
    linked = targets[_places(starts, linking.astype(np.int32))]
    rank: Floats = is_member / n_members
    for _ in range(n_rounds):
        followed = damping * rank[linking]
        parts = np.repeat(followed / n_links[linking], n_links[linking])
        moved = np.bincount(linked, parts, minlength=rank.size)
        # Added up one by one, in the order of pages: the last digit depends on it.
        n_followed = float(np.cumsum(followed)[-1]) if followed.size else 0.0
        rank = np.where(is_member, moved + (1.0 - n_followed) / n_members, 0.0)
    return rank


# ----------------------------- A web at one date: living pages on hosts, and the links between them


GONE = -1
"""Target of a link whose page has vanished."""

NO_PAGE = -1
"""Parent of a page that no menu leads to."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Web:
    """The living pages and their links.

    Pages stand in order of their numbers; the first are the hosts' entry pages, which never
    vanish, so that the entry page of host h stands at place h.

    Parameters
    ----------
    numbers
        Of the living pages; a number is never used again.
    hosts, depths
        Of the living pages; the depth is counted from the host's entry page, which has depth 0.
    parents
        Place of the page whose menu leads to it, or `NO_PAGE`.
    born
        Date of birth, in years.
    sources, targets
        Int32s of the pages that each link besides the menus leads from and to; a target may be
        `GONE`.
    hosts_ever, parents_ever
        Host of each page that ever lived, and the number of the page under which it was made
        (its own for an entry page).
    """

    numbers: Ints
    hosts: Int32s
    depths: Int32s
    parents: Int32s
    born: Floats
    sources: Int32s
    targets: Int32s
    hosts_ever: Int32s
    parents_ever: Int32s

    def __post_init__(self) -> None:
        for name in self.__slots__:
            getattr(self, name).flags.writeable = False

    @property
    def n_pages(self) -> int:
        """Number of living pages."""
        return self.numbers.size


def list_links(web: Web) -> tuple[Ints, Int32s]:
    """List all links between living pages, menus included, by the page that they stand on.

    Returns
    -------
    tuple
        ``starts`` and ``targets``: page p links to ``targets[starts[p]:starts[p + 1]]``.
    """
    linked = np.flatnonzero(web.parents != NO_PAGE).astype(np.int32)
    alive = web.targets != GONE
    sources = np.concatenate([web.parents[linked], web.sources[alive]])
    targets = np.concatenate([linked, web.targets[alive]])
    starts, order = group_by(sources, web.n_pages)
    return starts, targets[order]


# ----------------------------------- new pages and new links: where they attach themselves to a web


_GROWTH_PER_ROUND = 0.25


def grow_web(settings: GraphSettings, rng: np.random.Generator) -> Web:
    """Grow a web from its hosts' entry pages to its full size.

    The entry pages of seeds lead to those of the hosts below them. Ages are such as steady turnover
    leaves: the first pages are the oldest.
    """
    hosts = np.arange(settings.n_hosts, dtype=np.int32)
    none = np.empty(0, dtype=np.int32)
    web = Web(
        numbers=hosts.astype(np.int64),
        hosts=hosts,
        depths=np.zeros_like(hosts),
        parents=np.where(hosts < settings.n_seeds, np.int32(NO_PAGE), hosts % settings.n_seeds),
        born=np.zeros(hosts.size),
        sources=none,
        targets=none,
        hosts_ever=hosts,
        parents_ever=hosts,
    )
    while web.n_pages < settings.n_pages:
        n_more = max(settings.n_hosts, int(_GROWTH_PER_ROUND * web.n_pages))
        n_new = min(n_more, settings.n_pages - web.n_pages)
        web = _add_pages(web, np.zeros(n_new), settings, rng)
    ranks = np.arange(1, web.n_pages + 1) / web.n_pages
    turnover = max(settings.death_rate, np.finfo(float).tiny)
    return replace(web, born=np.log(ranks) / turnover)


def _add_pages(web: Web, born: Floats, settings: GraphSettings, rng: np.random.Generator) -> Web:
    """Add a page for each date of birth, with its links; the pages that are there lead to it."""
    n_new, n_ever = born.size, web.hosts_ever.size
    shares = np.cumsum(np.arange(1.0, settings.n_hosts + 1) ** -settings.host_exponent)
    hosts = np.searchsorted(shares, rng.random(n_new) * shares[-1], side="right").astype(np.int32)
    parents = _draw_places(*group_by(web.hosts, settings.n_hosts), hosts, rng)
    n_links = rng.poisson(settings.links_per_page, size=n_new)
    new_places = np.arange(web.n_pages, web.n_pages + n_new, dtype=np.int32)
    return _extend(
        web,
        numbers=np.arange(n_ever, n_ever + n_new),
        hosts=hosts,
        depths=web.depths[parents] + np.int32(1),
        parents=parents,
        born=born,
        sources=np.repeat(new_places, n_links),
        targets=_draw_targets(web, np.repeat(hosts, n_links), settings, rng),
        hosts_ever=hosts,
        parents_ever=web.numbers[parents].astype(np.int32),
    )


def _extend(web: Web, **more: NDArray[Any]) -> Web:
    return replace(
        web, **{name: np.concatenate([getattr(web, name), part]) for name, part in more.items()}
    )


def _draw_targets(
    web: Web, hosts: Int32s, settings: GraphSettings, rng: np.random.Generator
) -> Int32s:
    """Draw a target for a link on a page of each host: where a link goes already, or any page."""
    linked = web.targets[web.targets != GONE]
    starts, order = group_by(web.hosts[linked], settings.n_hosts)
    targets = _draw_places(*group_by(web.hosts, settings.n_hosts), hosts, rng)
    follows = rng.random(hosts.size) < settings.attachment
    follows &= starts[hosts + 1] > starts[hosts]
    targets[follows] = _draw_places(starts, linked[order], hosts[follows], rng)
    leaves = rng.random(hosts.size) < settings.cross_host_share
    anywhere = rng.integers(web.n_pages, size=int(leaves.sum()), dtype=np.int32)
    if linked.size:
        follows = rng.random(anywhere.size) < settings.attachment
        anywhere[follows] = rng.choice(linked, size=int(follows.sum()))
    targets[leaves] = anywhere
    return targets


def _draw_places(starts: Ints, places: Int32s, hosts: Int32s, rng: np.random.Generator) -> Int32s:
    """Draw one of the places of each host; each must have one."""
    first, last = starts[hosts], starts[hosts + 1]
    return places[first + (rng.random(hosts.size) * (last - first)).astype(np.int64)]


# ------------------------ how a web changes: pages vanish and are born, links rot, menus are mended


_USUAL_INTERVAL = 0.5


def evolve_web(
    settings: GraphSettings, years: Sequence[float], rng: np.random.Generator
) -> Iterator[Web]:
    """Yield the web at each of the given dates.

    Parameters
    ----------
    settings
        How the web is built and how it changes.
    years
        Dates in years, the first at 0.
    rng
        The random numbers of the web.
    """
    web = grow_web(settings, rng)
    interval = years[-1] / (len(years) - 1) if years[-1] > 0 else _USUAL_INTERVAL
    now = -settings.n_warm_up * interval
    for _ in range(settings.n_warm_up):
        web = turn_over(web, now, now + interval, settings, rng)
        now += interval
    yield web
    for before, after in itertools.pairwise(years):
        web = turn_over(web, before, after, settings, rng)
        yield web


def turn_over(
    web: Web, before: float, after: float, settings: GraphSettings, rng: np.random.Generator
) -> Web:
    """Return the web at a later date.

    Parameters
    ----------
    web
        At the earlier date.
    before, after
        The two dates in years; growth is counted from date 0.
    settings
        How it changes.
    rng
        The random numbers of the web.
    """
    years = after - before
    vanishes = rng.random(web.n_pages) < _vanishing_chances(web, before, after, settings)
    has_source = ~vanishes[web.sources]
    is_lost = rng.random(web.sources.size) < -math.expm1(-settings.link_loss_rate * years)
    is_kept = has_source & ~is_lost
    parents = _mend_menus(web, vanishes, years, settings, rng)
    stays = ~vanishes
    # Where the pages stand now. The last entry is what the place -1 (no page, gone) looks up.
    places = np.full(web.n_pages + 1, -1, dtype=np.int32)
    places[:-1][stays] = np.arange(int(stays.sum()), dtype=np.int32)
    web = replace(
        web,
        numbers=web.numbers[stays],
        hosts=web.hosts[stays],
        depths=web.depths[stays],
        parents=places[parents[stays]],
        born=web.born[stays],
        sources=places[web.sources[is_kept]],
        targets=places[web.targets[is_kept]],
    )
    wanted = round(settings.n_pages * (1 + settings.growth_per_year) ** max(after, 0.0))
    born = after - rng.random(max(0, wanted - web.n_pages)) * years
    web = _add_pages(web, born, settings, rng)
    # As many links as were lost are set elsewhere.
    n_lost = int((has_source & is_lost).sum())
    sources = rng.integers(web.n_pages, size=n_lost, dtype=np.int32)
    targets = _draw_targets(web, web.hosts[sources], settings, rng)
    return _extend(web, sources=sources, targets=targets)


def _vanishing_chances(web: Web, before: float, after: float, settings: GraphSettings) -> Floats:
    age = (before + after) / 2 - web.born
    youth = 1 + (settings.infant_factor - 1) * np.exp(-age / settings.infant_years)
    # Relative to the mean, so that a larger web, whose sites are deeper, lives as long.
    exposure = 1 + settings.depth_factor * web.depths
    rate = settings.death_rate * youth * exposure / exposure.mean()
    rate[: settings.n_hosts] = 0
    chances: Floats = -np.expm1(-rate * (after - before))
    return chances


def _mend_menus(
    web: Web, vanishes: Bools, years: float, settings: GraphSettings, rng: np.random.Generator
) -> Int32s:
    """Return the place of each page's parent, in the web before.

    Where the parent vanished the nearest ancestor that is left takes its place, or none.
    """
    parents = web.parents.copy()
    orphans = np.flatnonzero((parents != NO_PAGE) & vanishes[parents])
    is_mended = rng.random(orphans.size) < settings.relinking_share
    parents[orphans[~is_mended]] = NO_PAGE
    mended = orphans[is_mended]
    while mended.size:
        parents[mended] = web.parents[parents[mended]]
        mended = mended[(parents[mended] != NO_PAGE) & vanishes[parents[mended]]]
    drops = rng.random(web.n_pages) < -math.expm1(-settings.unlinking_rate * years)
    drops[: settings.n_hosts] = False
    parents[drops] = NO_PAGE
    return parents
