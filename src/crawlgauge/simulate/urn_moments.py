r"""Mean and covariance of the sizes and overlaps that an urn gives.

Let S be a set of crawls, :math:`X_S` the number of URLs that all of them hold, and in a stratum of
the population :math:`N_i` URLs at crawl i, of which :math:`\alpha` live on for a year. Then

.. math:: E X_S = N_{first} \, \alpha^{span(S)} \, E \prod_{k \in S} p_k,

where :math:`p_k` is a URL's probability of capture and strata add up. For two such sets A and B,
:math:`E X_A X_B` sums over pairs of URLs. Equal ones give :math:`E X_{A \cup B}`. For different
ones let A be the set that begins first and k the first crawl of B: the first URL lives at k with
the probability q, one if A reaches to k or beyond and :math:`\alpha^{t_k - t_{last(A)}}` if not,
which leaves :math:`N_k - q` URLs for the second. Where crawls draw an exact number M of N, two
URLs are both captured with :math:`\rho = (1 - 1/M) / (1 - 1/N)` times the product of their
probabilities, for each crawl in both sets. So

.. math::

   Cov(X_A, X_B) = E X_{A \cup B} + (P - 1) \, E X_A \, E X_B
                   - P \sum_{strata} E X_A \, E X_B \, q / N_k,
   \quad P = \prod_{A \cap B} \rho,

without any approximation.
"""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.simulate.url_types import list_types
from crawlgauge.simulate.urn_plan import Stratum, UrnPlan

__all__ = ["Moments", "compute_moments"]

_MAX_DISTINCT = 4
"""Two pairs of crawls are of at most four crawls."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Mean and covariance of counts.

    Parameters
    ----------
    first, last
        Of which two crawls each is the overlap; equal for a crawl's size.
    mean
        Of each count.
    covariance
        Of each two.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


def compute_moments(plan: UrnPlan) -> Moments:
    """Compute mean and covariance of all overlaps, and of the sizes where these vary.

    Parameters
    ----------
    plan
        Of an urn whose crawls do not depend on earlier ones.
    """
    layout = _lay_out(plan.n_crawls, with_sizes=not plan.settings.is_even)
    types = list_types(plan, degree=_MAX_DISTINCT)
    n = layout.first.size
    mean, joint, taken = np.zeros(n), np.zeros((n, n)), np.zeros((n, n))
    for number, stratum in enumerate(plan.strata):
        rows = types.stratum == number
        capture, share = types.capture[rows].T, types.share[rows]
        products = _multiply_capture(layout, capture)
        living = _expect_living(stratum, plan.years)
        of_stratum = living[layout.first, layout.last] * (products @ share)
        mean += of_stratum
        joint += living[layout.earliest, layout.latest] * _expect_joint(
            layout, products, capture, share
        )
        taken += (
            np.outer(of_stratum, of_stratum)
            * _share_taken(stratum, plan.years)[layout.last_of_earlier, layout.later_first]
        )
    both = _expect_both(plan, layout) if plan.settings.is_even else np.ones((n, n))
    covariance = joint + (both - 1) * np.outer(mean, mean) - both * taken
    return Moments(first=layout.first, last=layout.last, mean=mean, covariance=covariance)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Layout:
    """Which crawls the counts are of, and for each two of them what follows from that.

    `earliest` and `latest` are the ends of both sets together, `later_first` and
    `last_of_earlier` tell where the sets follow each other, `rows` and `columns` list the counts
    that have a crawl in common, and `union` their crawls: three, of which those that are lacking
    stand as `n_crawls`.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    earliest: NDArray[np.int64]
    latest: NDArray[np.int64]
    later_first: NDArray[np.int64]
    last_of_earlier: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    union: NDArray[np.int64]


@functools.lru_cache(maxsize=16)
def _lay_out(n_crawls: int, *, with_sizes: bool) -> _Layout:
    first, last = np.triu_indices(n_crawls, 0 if with_sizes else 1)
    a, b = first[:, None], last[:, None]
    common = (a == first) | (a == last) | (b == first) | (b == last)
    rows, columns = np.nonzero(common)
    four = np.sort(
        np.column_stack([first[rows], last[rows], first[columns], last[columns]]), axis=1
    )
    four[:, 1:][four[:, 1:] == four[:, :-1]] = n_crawls
    return _Layout(
        first=first,
        last=last,
        earliest=np.minimum(a, first),
        latest=np.maximum(b, last),
        later_first=np.maximum(a, first),
        last_of_earlier=np.where(a <= first, b, last),
        rows=rows,
        columns=columns,
        union=np.sort(four, axis=1)[:, :3],
    )


def _expect_living(stratum: Stratum, years: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many URLs of crawl i's population are expected to live at crawl j."""
    lags = np.maximum(years - years[:, None], 0)
    return stratum.populations[:, None] * stratum.persistence**lags


def _share_taken(stratum: Stratum, years: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return q / N_k for a set that ends with crawl i (row) and one that begins with k."""
    gaps = np.maximum(years - years[:, None], 0)
    return stratum.persistence**gaps / np.maximum(stratum.populations, 1)


def _multiply_capture(layout: _Layout, capture: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each count (row) and type the probability of capture by all of its crawls."""
    is_size = (layout.first == layout.last)[:, None]
    return capture[layout.first] * np.where(is_size, 1, capture[layout.last])


def _expect_joint(
    layout: _Layout,
    products: NDArray[np.float64],
    capture: NDArray[np.float64],
    share: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return for each two counts the expected probability of capture by the crawls of both."""
    joint = (products * share) @ products.T
    padded = np.concatenate([capture, np.ones((1, share.size))])
    one, two, three = layout.union.T
    # Most pairs of counts have no crawl in common; the others must not count it twice.
    joint[layout.rows, layout.columns] = (padded[one] * padded[two] * padded[three]) @ share
    return joint


def _expect_both(plan: UrnPlan, layout: _Layout) -> NDArray[np.float64]:
    """Return P: how much rarer it is that two URLs are both drawn where the size is exact."""
    log_rho = np.log1p(-1 / np.maximum(plan.sizes, 2)) - np.log1p(-1 / plan.populations)
    log_rho[plan.sizes == 1] = -np.inf
    same_first = layout.first[:, None] == layout.first
    same_last = layout.last[:, None] == layout.last
    crossed = layout.first[:, None] == layout.last
    shared = np.zeros(same_first.shape)
    for is_same, crawl in (
        (same_first, layout.first),
        (same_last, layout.last),
        (crossed, layout.last),
        (crossed.T, layout.first),
    ):
        shared[is_same] += np.broadcast_to(log_rho[crawl], is_same.shape)[is_same]
    return np.exp(shared)
