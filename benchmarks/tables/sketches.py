"""Errors of intersections: sketches of Apache DataSketches beside crawlgauge's samples of keys.

A sample is the part of a sorted set below a threshold; the error is that of the 105 intersections
of 15 crawls, relative to the true ones. Each round uses other hashes: theta sketches take a seed,
and keys are shifted for the other two, which comes to the same.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from results import Result
from settings import N_CRAWLS, Settings, Table

__all__ = ["TABLE"]

Keys = NDArray[np.uint64]
Estimate = Callable[[int, int], float]
WHOLE = 2.0**64
BYTES_PER_KEY = 5.4
"""Of a sampled key in a store, as of any."""


def run(settings: Settings) -> Result:
    """Compare estimates with the truth."""
    archive = settings.archive("sets").first(N_CRAWLS)
    crawls = [pq.read_table(path).column("key").to_numpy() for path in archive.paths]
    errors: dict[str, list[float]] = {}
    sizes: dict[str, float] = {}
    for seed in range(1, settings.n_rounds + 1):
        shifted = [np.sort(keys + np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64)) for keys in crawls]
        for name, make in methods().items():
            estimate, sizes[name] = make(shifted, seed)
            for a, b in combinations(range(N_CRAWLS), 2):
                true = archive.n_shared[a][b]
                errors.setdefault(name, []).append(estimate(a, b) / true - 1)
    rows = [
        (
            name,
            f"{sizes[name] / 1e3:,.1f}",
            f"{100 * np.sqrt(np.mean(np.square(found))):.2f}",
            f"{100 * np.max(np.abs(found)):.2f}",
        )
        for name, found in errors.items()
    ]
    return Result(
        title=f"error of the intersections of {N_CRAWLS} crawls of {settings.size:,} URLs, "
        f"{settings.n_rounds} × 105 of them",
        header=("", "kB per crawl", "rms error %", "largest error %"),
        rows=rows,
        notes=[] if has_sketches() else ["There is no datasketches here."],
    )


def methods() -> dict[str, Callable[[list[Keys], int], tuple[Estimate, float]]]:
    found: dict[str, Callable[[list[Keys], int], tuple[Estimate, float]]] = {}
    if has_sketches():
        for lg_k in (12, 16):
            found[f"HLL, lg k = {lg_k}"] = lambda crawls, _seed, k=lg_k: with_hll(crawls, k)
            found[f"theta, lg k = {lg_k}"] = lambda crawls, seed, k=lg_k: with_theta(
                crawls, k, seed
            )
    for lg_k in (12, 16):
        found[f"crawlgauge, smallest 2^{lg_k} keys"] = lambda crawls, _seed, k=lg_k: with_smallest(
            crawls, 1 << k
        )
    for rate in (1000, 100, 10):
        found[f"crawlgauge, sample 1/{rate}"] = lambda crawls, _seed, r=rate: with_threshold(
            crawls, [WHOLE / r] * len(crawls)
        )
    return found


def has_sketches() -> bool:
    from importlib.util import find_spec

    return find_spec("datasketches") is not None


def with_theta(crawls: list[Keys], lg_k: int, seed: int) -> tuple[Estimate, float]:
    import datasketches as ds

    sketches = []
    for keys in crawls:
        sketch = ds.update_theta_sketch(lg_k, seed=seed)
        for key in keys.view(np.int64).tolist():
            sketch.update(key)
        sketches.append(sketch.compact())

    def estimate(a: int, b: int) -> float:
        both = ds.theta_intersection(seed)
        both.update(sketches[a])
        both.update(sketches[b])
        return both.get_result().get_estimate()

    return estimate, float(np.mean([len(sketch.serialize()) for sketch in sketches]))


def with_hll(crawls: list[Keys], lg_k: int) -> tuple[Estimate, float]:
    import datasketches as ds

    sketches = []
    for keys in crawls:
        sketch = ds.hll_sketch(lg_k, ds.tgt_hll_type.HLL_8)
        for key in keys.view(np.int64).tolist():
            sketch.update(key)
        sketches.append(sketch)

    def estimate(a: int, b: int) -> float:
        # HLL knows unions only; an intersection follows from the sizes.
        union = ds.hll_union(lg_k)
        union.update(sketches[a])
        union.update(sketches[b])
        sizes = sketches[a].get_estimate() + sketches[b].get_estimate()
        return sizes - union.get_estimate()

    return estimate, float(np.mean([len(sketch.serialize_compact()) for sketch in sketches]))


def with_smallest(crawls: list[Keys], n_keys: int) -> tuple[Estimate, float]:
    thresholds = [float(keys[n_keys]) if keys.size > n_keys else WHOLE for keys in crawls]
    return with_threshold(crawls, thresholds)


def with_threshold(crawls: list[Keys], thresholds: list[float]) -> tuple[Estimate, float]:
    """Return estimates from the keys below thresholds; the smaller of two counts for both."""

    def estimate(a: int, b: int) -> float:
        threshold = min(thresholds[a], thresholds[b])
        samples = [cut(crawls[number], threshold) for number in (a, b)]
        return np.intersect1d(*samples, assume_unique=True).size * (WHOLE / threshold)

    samples = [cut(keys, end) for keys, end in zip(crawls, thresholds, strict=True)]
    return estimate, float(np.mean([sample.size for sample in samples])) * BYTES_PER_KEY


def cut(keys: Keys, threshold: float) -> Keys:
    return keys if threshold >= WHOLE else keys[: np.searchsorted(keys, np.uint64(threshold))]


TABLE = Table(
    name="sketches",
    summary="errors of intersections by theta and HLL sketches beside samples of keys",
    moderate=200_000,
    full=1_000_000,
    run=run,
    full_rounds=5,
)
