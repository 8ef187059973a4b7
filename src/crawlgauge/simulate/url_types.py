"""The kinds of URLs that a plan tells apart, each with its probability of capture at each crawl."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.simulate.gamma_weights import Nodes, gamma_grid, gauss_nodes
from crawlgauge.simulate.urn_plan import UrnPlan

__all__ = ["UrlTypes", "list_types"]

_MAX_NODES = 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UrlTypes:
    """Kinds of URLs: a stratum each, and within it a weight and a host.

    Parameters
    ----------
    stratum
        Number of the stratum of each type.
    share
        Share of the type among the newborn URLs of its stratum.
    weight
        For each type and crawl, how readily it is captured.
    capture
        For each type and crawl, the probability of capture, where that depends on nothing else;
        0 where the type is out of scope.
    """

    stratum: NDArray[np.int64]
    share: NDArray[np.float64]
    weight: NDArray[np.float64]
    capture: NDArray[np.float64]

    @property
    def n_types(self) -> int:
        """Number of types."""
        return self.stratum.size


def list_types(plan: UrnPlan, *, degree: int) -> UrlTypes:
    """List the types of a plan; gamma-distributed weights are put on a few nodes.

    Parameters
    ----------
    plan
        The plan.
    degree
        Of how many crawls at once the capture must be right in expectation.
    """
    scale = np.array([_scale_of(plan, crawl) for crawl in range(plan.n_crawls)])
    hosts = np.ones((plan.n_crawls, 1)) if plan.host_weights is None else plan.host_weights
    parts = []
    for number, stratum in enumerate(plan.strata):
        nodes = _find_nodes(plan, stratum.weight * scale[:, None] * hosts, degree)
        weight = stratum.weight * np.multiply.outer(nodes.weights, hosts.T)
        share = np.repeat(nodes.shares / hosts.shape[1], hosts.shape[1])
        weight = weight.reshape(-1, plan.n_crawls)
        if plan.settings.is_even:
            capture = np.tile(plan.sizes / plan.populations, (share.size, 1))
        else:
            capture = np.minimum(1, scale * weight)
        parts.append((np.full(share.size, number), share, weight, capture * stratum.in_scope))
    stratum_of, share_of, weight_of, capture_of = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return UrlTypes(stratum=stratum_of, share=share_of, weight=weight_of, capture=capture_of)


def _scale_of(plan: UrnPlan, crawl: int) -> float:
    # What a crawl with a memory captures depends on the others, and is found as it takes place.
    if plan.settings.is_even or plan.settings.has_memory:
        return 1.0
    # An endless scale captures all; a large one does so too, and can be multiplied.
    return min(plan.capture_scale(crawl), 1e300)


def _find_nodes(plan: UrnPlan, factors: NDArray[np.float64], degree: int) -> Nodes:
    grid = gamma_grid(plan.settings.capture_cv)
    n_nodes = min(degree // 2 + 1, _MAX_NODES)
    if plan.settings.has_memory or plan.host_weights is not None:
        return gauss_nodes(grid, _MAX_NODES)
    # Beyond these weights the probability is 1.
    return gauss_nodes(grid, n_nodes, 1 / factors.ravel())
