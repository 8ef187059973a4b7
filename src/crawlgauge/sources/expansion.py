"""Stop what expands beyond sense, as files do that were made to fill disks or memory."""

from crawlgauge.sources.feed import BrokenStream

__all__ = ["Bomb", "check_expansion"]

_MIN_EXPANDED_BYTES = 1 << 28
"""Below this an expansion harms nobody, however large the ratio."""


class Bomb(BrokenStream):
    """A compressed stream has expanded beyond sense."""


def check_expansion(n_in: int, n_out: int, max_expansion: float) -> None:
    """Compare the size of compressed bytes with that of what they have expanded to.

    Parameters
    ----------
    n_in, n_out
        Sizes before and after, so far.
    max_expansion
        How many times the one the other may be.

    Raises
    ------
    Bomb
        If it is more.
    """
    if n_out >= _MIN_EXPANDED_BYTES and n_out > max_expansion * max(n_in, 1):
        raise Bomb(
            f"it has expanded to more than {max_expansion:,.0f} times its size, as no "
            "archive file does; if it is one, allow more with --max-expansion"
        )
