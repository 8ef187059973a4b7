"""A web at one date: living pages on hosts, and the links between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.simulate.web_links import group_by
from crawlgauge.simulate.web_settings import GraphSettings

__all__ = ["GONE", "NO_PAGE", "Links", "Web", "list_links", "plant_hosts"]

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
        Places of the pages that each link besides the menus leads from and to; a target may be
        `GONE`.
    hosts_ever, parents_ever
        Host of each page that ever lived, and the number of the page under which it was made
        (its own for an entry page).
    """

    numbers: NDArray[np.int64]
    hosts: NDArray[np.int32]
    depths: NDArray[np.int32]
    parents: NDArray[np.int32]
    born: NDArray[np.float64]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    hosts_ever: NDArray[np.int32]
    parents_ever: NDArray[np.int32]

    def __post_init__(self) -> None:
        for name in self.__slots__:
            getattr(self, name).flags.writeable = False

    @property
    def n_pages(self) -> int:
        """Number of living pages."""
        return self.numbers.size


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """All links that lead to living pages, menus included, by the page that they stand on.

    Page p links to ``targets[starts[p]:starts[p + 1]]``.
    """

    starts: NDArray[np.int64]
    targets: NDArray[np.int32]


def list_links(web: Web) -> Links:
    """List all links between living pages."""
    linked = np.flatnonzero(web.parents != NO_PAGE).astype(np.int32)
    alive = web.targets != GONE
    sources = np.concatenate([web.parents[linked], web.sources[alive]])
    targets = np.concatenate([linked, web.targets[alive]])
    starts, order = group_by(sources, web.n_pages)
    return Links(starts=starts, targets=targets[order])


def plant_hosts(settings: GraphSettings) -> Web:
    """Return a web of entry pages only; those of seeds lead to those of the hosts below them."""
    n_hosts = settings.n_hosts
    hosts = np.arange(n_hosts, dtype=np.int32)
    parents = np.where(hosts < settings.n_seeds, NO_PAGE, hosts % settings.n_seeds)
    return Web(
        numbers=np.arange(n_hosts, dtype=np.int64),
        hosts=hosts,
        depths=np.zeros(n_hosts, dtype=np.int32),
        parents=parents.astype(np.int32),
        born=np.zeros(n_hosts),
        sources=np.empty(0, dtype=np.int32),
        targets=np.empty(0, dtype=np.int32),
        hosts_ever=hosts.copy(),
        parents_ever=hosts.copy(),
    )
