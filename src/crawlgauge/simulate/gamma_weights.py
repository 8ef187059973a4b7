"""Gamma-distributed capture weights as a few nodes that give the same expectations."""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Nodes", "gamma_grid", "gauss_nodes"]

_N_GRID = 4000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """A discrete distribution of weights.

    Parameters
    ----------
    weights
        The values.
    shares
        Their probabilities, which add up to 1.
    """

    weights: NDArray[np.float64]
    shares: NDArray[np.float64]

    def __post_init__(self) -> None:
        self.weights.flags.writeable = False
        self.shares.flags.writeable = False


@functools.lru_cache(maxsize=32)
def gamma_grid(cv: float) -> Nodes:
    """Return the gamma distribution of mean 1 on a fine grid.

    Parameters
    ----------
    cv
        Its coefficient of variation; 0 gives the one weight 1.

    Examples
    --------
    >>> grid = gamma_grid(0.7)
    >>> round(float(grid.shares @ (grid.weights - 1) ** 2), 4)
    0.49
    """
    if cv == 0:
        return Nodes(weights=np.ones(1), shares=np.ones(1))
    shape = 1 / cv**2
    largest = 1 + 12 * cv + 40 * cv**2
    # The density has a pole at 0 where shape < 1: a power of the grid's variable removes it.
    power = max(1.0, 2 / shape)
    middles = (np.arange(_N_GRID) + 0.5) / _N_GRID * largest ** (1 / power)
    weights = middles**power
    log_density = (power * shape - 1) * np.log(middles) - shape * weights
    shares = np.exp(log_density - log_density.max())
    return Nodes(weights=weights, shares=shares / shares.sum())


def gauss_nodes(grid: Nodes, n_nodes: int, breaks: NDArray[np.float64] | None = None) -> Nodes:
    """Put a distribution on few nodes that keep the expectation of polynomials.

    Within each interval between breaks, expectations of polynomials up to the degree
    ``2 * n_nodes - 1`` are kept: this is Gauss's rule, found by Lanczos's recurrence. Beyond the
    last break one node stands for all.

    Parameters
    ----------
    grid
        The distribution.
    n_nodes
        Nodes in each interval.
    breaks
        Weights at which the functions to be integrated have a kink; they are constant beyond the
        last.

    Examples
    --------
    >>> nodes = gauss_nodes(gamma_grid(0.5), 4)
    >>> round(float(nodes.shares @ nodes.weights**3), 6)
    1.875
    """
    if breaks is None or breaks.size == 0:
        return _gauss_rule(grid, n_nodes)
    edges = np.unique(breaks)
    interval = np.searchsorted(edges, grid.weights)
    parts = []
    for number in range(edges.size + 1):
        inside = interval == number
        if inside.any():
            part = Nodes(weights=grid.weights[inside], shares=grid.shares[inside])
            parts.append(_gauss_rule(part, n_nodes if number < edges.size else 1))
    return Nodes(
        weights=np.concatenate([part.weights for part in parts]),
        shares=np.concatenate([part.shares for part in parts]),
    )


def _gauss_rule(grid: Nodes, n_nodes: int) -> Nodes:
    """Return Gauss's rule for a discrete measure, by Lanczos with full reorthogonalisation."""
    total = grid.shares.sum()
    n_nodes = min(n_nodes, grid.weights.size)
    basis = np.zeros((n_nodes, grid.weights.size))
    diagonal, beside = np.zeros(n_nodes), np.zeros(n_nodes)
    vector = np.sqrt(grid.shares / total)
    for k in range(n_nodes):
        basis[k] = vector
        product = grid.weights * vector
        diagonal[k] = vector @ product
        for _ in range(2):
            product -= basis[: k + 1].T @ (basis[: k + 1] @ product)
        beside[k] = np.linalg.norm(product)
        vector = product / beside[k] if beside[k] > 0 else product
    values, vectors = np.linalg.eigh(
        np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    )
    return Nodes(weights=np.maximum(values, 0), shares=total * vectors[0] ** 2)
