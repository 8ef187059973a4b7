"""How many processors this process may use."""

import os

__all__ = ["count_processors"]


def count_processors() -> int:
    """Return how many processors there are for this process, which may be fewer than there are."""
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
