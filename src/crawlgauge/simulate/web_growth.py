"""New pages and new links: where they attach themselves to a web."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.simulate.web_graph import GONE, Web, plant_hosts
from crawlgauge.simulate.web_links import group_by
from crawlgauge.simulate.web_settings import GraphSettings

__all__ = ["add_links", "add_pages", "grow_web"]

_GROWTH_PER_ROUND = 0.25


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pool:
    """Places that can be drawn, grouped by host."""

    starts: NDArray[np.int64]
    places: NDArray[np.int32]

    def draw(self, hosts: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw a place of each host; hosts must have one."""
        first, last = self.starts[hosts], self.starts[hosts + 1]
        return self.places[first + (rng.random(hosts.size) * (last - first)).astype(np.int64)]

    def has(self, hosts: NDArray[np.int32]) -> NDArray[np.bool_]:
        return self.starts[hosts + 1] > self.starts[hosts]


class _Attachment:
    """Draws targets: where some link goes already, or any page."""

    def __init__(self, web: Web, settings: GraphSettings) -> None:
        self._share = settings.attachment
        self._hosts = web.hosts
        self._all_linked = web.targets[web.targets != GONE]
        starts, order = group_by(web.hosts[self._all_linked], settings.n_hosts)
        self._linked = _Pool(starts=starts, places=self._all_linked[order])
        starts, order = group_by(web.hosts, settings.n_hosts)
        self._pages = _Pool(starts=starts, places=order)

    def draw_parents(self, hosts: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw any page of each of the hosts."""
        return self._pages.draw(hosts, rng)

    def draw_on_host(self, hosts: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        drawn = self._pages.draw(hosts, rng)
        follows = (rng.random(hosts.size) < self._share) & self._linked.has(hosts)
        drawn[follows] = self._linked.draw(hosts[follows], rng)
        return drawn

    def draw_anywhere(self, n: int, rng: np.random.Generator) -> NDArray[np.int32]:
        drawn = rng.integers(self._hosts.size, size=n, dtype=np.int32)
        if self._all_linked.size:
            follows = rng.random(n) < self._share
            drawn[follows] = rng.choice(self._all_linked, size=int(follows.sum()))
        return drawn

    def draw_targets(
        self,
        hosts: NDArray[np.int32],
        settings: GraphSettings,
        rng: np.random.Generator,
    ) -> NDArray[np.int32]:
        """Draw a target for a link on a page of each of the hosts."""
        targets = self.draw_on_host(hosts, rng)
        leaves = rng.random(hosts.size) < settings.cross_host_share
        targets[leaves] = self.draw_anywhere(int(leaves.sum()), rng)
        return targets


def grow_web(settings: GraphSettings, rng: np.random.Generator) -> Web:
    """Grow a web from its hosts' entry pages to its full size.

    Ages are such as steady turnover leaves: the first pages are the oldest.
    """
    web = plant_hosts(settings)
    while web.n_pages < settings.n_pages:
        n_more = max(settings.n_hosts, int(_GROWTH_PER_ROUND * web.n_pages))
        n_new = min(n_more, settings.n_pages - web.n_pages)
        web = add_pages(web, np.zeros(n_new), settings, rng)
    ranks = np.arange(1, web.n_pages + 1) / web.n_pages
    turnover = max(settings.death_rate, np.finfo(float).tiny)
    return replace(web, born=np.log(ranks) / turnover)


def add_pages(
    web: Web, born: NDArray[np.float64], settings: GraphSettings, rng: np.random.Generator
) -> Web:
    """Add a page for each date of birth, with its links; the pages that are there lead to it."""
    n_new = born.size
    attachment = _Attachment(web, settings)
    shares = np.cumsum(np.arange(1.0, settings.n_hosts + 1) ** -settings.host_exponent)
    hosts = np.searchsorted(shares, rng.random(n_new) * shares[-1], side="right").astype(np.int32)
    parents = attachment.draw_parents(hosts, rng)
    n_links = rng.poisson(settings.links_per_page, size=n_new)
    new_places = np.arange(web.n_pages, web.n_pages + n_new, dtype=np.int32)
    sources = np.repeat(new_places, n_links)
    targets = attachment.draw_targets(np.repeat(hosts, n_links), settings, rng)
    n_ever = web.hosts_ever.size
    return Web(
        numbers=np.concatenate([web.numbers, np.arange(n_ever, n_ever + n_new)]),
        hosts=np.concatenate([web.hosts, hosts]),
        depths=np.concatenate([web.depths, web.depths[parents] + np.int32(1)]),
        parents=np.concatenate([web.parents, parents]),
        born=np.concatenate([web.born, born]),
        sources=np.concatenate([web.sources, sources]),
        targets=np.concatenate([web.targets, targets]),
        hosts_ever=np.concatenate([web.hosts_ever, hosts]),
        parents_ever=np.concatenate([web.parents_ever, web.numbers[parents].astype(np.int32)]),
    )


def add_links(web: Web, n_links: int, settings: GraphSettings, rng: np.random.Generator) -> Web:
    """Add links on pages drawn at random."""
    sources = rng.integers(web.n_pages, size=n_links, dtype=np.int32)
    targets = _Attachment(web, settings).draw_targets(web.hosts[sources], settings, rng)
    return replace(
        web,
        sources=np.concatenate([web.sources, sources]),
        targets=np.concatenate([web.targets, targets]),
    )
