"""Tell whether something takes time in proportion to its size, whatever the machine does beside."""

import time

FIRST, FACTOR = 64, 4
_MAX_RATIO = 10.0
"""For four times as much: squares would take sixteen times as long, n log n not quite five."""
_N_TRIES = 3


class GrowsFaster(AssertionError):  # noqa: N818 - the name says what happened
    """Something takes more time than in proportion to its size."""


def check_growth(run, largest, slack=0.1):
    """Check that each step to four times as much takes about four times as long.

    Small sizes come first, so that what grows with a power of its size is found before it hangs.

    Parameters
    ----------
    run
        Does it in a size.
    largest
        The size to go to.
    slack
        Seconds that a step may take beside, where times are too short to be compared.
    """

    def measure(size):
        begin = time.process_time()
        run(size)
        return time.process_time() - begin

    size, before = FIRST, slack
    while size <= largest:
        took = measure(size)
        for _ in range(_N_TRIES):
            if took <= _MAX_RATIO * before + slack:
                break
            # Other work on the machine slows one run, hardly four; or it had sped up the last.
            before = max(before, measure(size // FACTOR))
            took = min(took, measure(size))
        else:
            raise GrowsFaster(f"{size:,} took {took:.2f} s, and a quarter of it {before:.3f} s")
        before, size = took, FACTOR * size
