"""Errors of intersections: sketches of Apache DataSketches beside samples of keys.

A sample is the part of a sorted set below a threshold. Each round uses other hashes: theta sketches
take a seed, and keys are shifted for the others, which comes to the same.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import combinations

import numpy as np

from archives import draw_keys
from racing import Settings
from results import Result
from urn import Numbers, Urn

N_CRAWLS = 15
BYTES_PER_KEY = 8

Estimates = tuple[Callable[[int, int], float], float]
"""Of the size of an intersection, and how many bytes they need for each crawl."""


def compare_sketches(settings: Settings) -> Result:
    """Compare estimates with the truth."""
    urn = Urn(settings.size, N_CRAWLS)
    crawls = [draw_keys(urn) for _ in range(N_CRAWLS)]
    n_shared, _ = urn.count_shared()
    methods: dict[str, Callable[[list[Numbers], int], Estimates]] = {}
    if find_spec("datasketches"):
        for lg_k in (12, 16):
            methods[f"HLL, lg k = {lg_k}"] = partial(with_hll, lg_k)
            methods[f"theta, lg k = {lg_k}"] = partial(with_theta, lg_k)
    for rate in (1000, 100, 10):
        methods[f"sample of keys, 1/{rate}"] = partial(with_sample, rate)
    errors: dict[str, list[float]] = {name: [] for name in methods}
    sizes: dict[str, float] = {}
    for seed in range(1, settings.n_rounds + 1):
        shift = np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64)
        shifted = [np.sort(keys + shift) for keys in crawls]
        for name, make in methods.items():
            estimate, sizes[name] = make(shifted, seed)
            for a, b in combinations(range(N_CRAWLS), 2):
                errors[name].append(estimate(a, b) / n_shared[a][b] - 1)
    rows = []
    for name, found in errors.items():
        typical, largest = np.sqrt(np.mean(np.square(found))), np.max(np.abs(found))
        size = f"{sizes[name] / 1e3:,.1f}"
        rows.append((name, size, f"{100 * typical:.2f}", f"{100 * largest:.2f}"))
    return Result(
        title=f"error of the intersections of {N_CRAWLS} crawls of {settings.size:,} URLs, "
        f"{settings.n_rounds} × 105 of them",
        header=("", "kB per crawl", "rms error %", "largest error %"),
        rows=rows,
        notes=[] if find_spec("datasketches") else ["There is no datasketches here."],
    )


def with_theta(lg_k: int, crawls: list[Numbers], seed: int) -> Estimates:
    import datasketches as ds

    sketches = [ds.update_theta_sketch(lg_k, seed=seed) for _ in crawls]
    for sketch, keys in zip(sketches, crawls, strict=True):
        for key in keys.view(np.int64).tolist():
            sketch.update(key)

    def estimate(a: int, b: int) -> float:
        both = ds.theta_intersection(seed)
        both.update(sketches[a])
        both.update(sketches[b])
        return float(both.get_result().get_estimate())

    return estimate, float(np.mean([len(sketch.compact().serialize()) for sketch in sketches]))


def with_hll(lg_k: int, crawls: list[Numbers], _seed: int) -> Estimates:
    """Return estimates from sizes of unions, which is all that HyperLogLog knows."""
    import datasketches as ds

    sketches = [ds.hll_sketch(lg_k, ds.tgt_hll_type.HLL_8) for _ in crawls]
    for sketch, keys in zip(sketches, crawls, strict=True):
        for key in keys.view(np.int64).tolist():
            sketch.update(key)

    def estimate(a: int, b: int) -> float:
        union = ds.hll_union(lg_k)
        union.update(sketches[a])
        union.update(sketches[b])
        both = sketches[a].get_estimate() + sketches[b].get_estimate()
        return float(both - union.get_estimate())

    return estimate, float(np.mean([len(sketch.serialize_compact()) for sketch in sketches]))


def with_sample(rate: int, crawls: list[Numbers], _seed: int) -> Estimates:
    """Return estimates from the keys below a threshold: the beginning of each sorted set."""
    samples = [keys[: np.searchsorted(keys, np.uint64(2**64 // rate))] for keys in crawls]

    def estimate(a: int, b: int) -> float:
        return float(np.intersect1d(samples[a], samples[b], assume_unique=True).size * rate)

    return estimate, BYTES_PER_KEY * float(np.mean([sample.size for sample in samples]))
