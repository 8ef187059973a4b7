"""Tell whether something takes time with its size, or with more than that."""

import time


def check_linear_time(run, n_bytes, limit_seconds=10.0):
    """Check that four times as much takes about four times as long, and nothing long at all."""

    def measure(size):
        start = time.process_time()
        run(size)
        return time.process_time() - start

    short = min(measure(n_bytes) for _ in range(2))
    # Squares would take sixteen times as long; what takes no time at all may vary.
    limit = 9 * short + 0.1
    # Other work on the machine slows one run, hardly three.
    long = next((t for t in (measure(4 * n_bytes) for _ in range(3)) if t < limit), None)
    assert long is not None
    assert long < limit_seconds
