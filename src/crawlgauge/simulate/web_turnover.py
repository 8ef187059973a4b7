"""How a web changes: pages vanish and are born, links rot, menus are mended."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.simulate.web_graph import GONE, NO_PAGE, Web
from crawlgauge.simulate.web_growth import add_links, add_pages, grow_web
from crawlgauge.simulate.web_settings import GraphSettings

__all__ = ["evolve_web", "turn_over"]

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
    vanishes = rng.random(web.n_pages) < _vanishing_chances(web, before, after, settings)
    links = _rot_links(web, vanishes, after - before, settings, rng)
    parents = _mend_menus(web, vanishes, after - before, settings, rng)
    kept = _keep_pages(web, vanishes, parents, links)
    wanted = round(settings.n_pages * (1 + settings.growth_per_year) ** max(after, 0.0))
    n_new = max(0, wanted - kept.n_pages)
    born = after - rng.random(n_new) * (after - before)
    return add_links(add_pages(kept, born, settings, rng), links.n_lost, settings, rng)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _RottenLinks:
    """Links that stay, by places in the web before, and how many were removed."""

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    n_lost: int


def _vanishing_chances(
    web: Web, before: float, after: float, settings: GraphSettings
) -> NDArray[np.float64]:
    age = (before + after) / 2 - web.born
    youth = 1 + (settings.infant_factor - 1) * np.exp(-age / settings.infant_years)
    # Relative to the mean, so that a larger web, whose sites are deeper, lives as long.
    exposure = 1 + settings.depth_factor * web.depths
    rate = settings.death_rate * youth * exposure / exposure.mean()
    rate[: settings.n_hosts] = 0
    chances: NDArray[np.float64] = -np.expm1(-rate * (after - before))
    return chances


def _rot_links(
    web: Web,
    vanishes: NDArray[np.bool_],
    years: float,
    settings: GraphSettings,
    rng: np.random.Generator,
) -> _RottenLinks:
    has_source = ~vanishes[web.sources]
    is_lost = rng.random(web.sources.size) < -math.expm1(-settings.link_loss_rate * years)
    stays = has_source & ~is_lost
    targets = web.targets[stays]
    return _RottenLinks(
        sources=web.sources[stays],
        targets=np.where((targets == GONE) | vanishes[targets], np.int32(GONE), targets),
        n_lost=int((has_source & is_lost).sum()),
    )


def _mend_menus(
    web: Web,
    vanishes: NDArray[np.bool_],
    years: float,
    settings: GraphSettings,
    rng: np.random.Generator,
) -> NDArray[np.int32]:
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


def _keep_pages(
    web: Web, vanishes: NDArray[np.bool_], parents: NDArray[np.int32], links: _RottenLinks
) -> Web:
    stays = ~vanishes
    places = np.full(web.n_pages + 1, -1, dtype=np.int32)
    # The last entry is what the place -1 (no page, gone) looks up: it stays -1.
    places[:-1][stays] = np.arange(int(stays.sum()), dtype=np.int32)
    return Web(
        numbers=web.numbers[stays],
        hosts=web.hosts[stays],
        depths=web.depths[stays],
        parents=places[parents[stays]],
        born=web.born[stays],
        sources=places[links.sources],
        targets=places[links.targets],
        hosts_ever=web.hosts_ever,
        parents_ever=web.parents_ever,
    )
