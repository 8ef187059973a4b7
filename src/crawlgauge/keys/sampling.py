"""Samples of keys: all below a threshold, so that every crawl keeps the same part of the web."""

from dataclasses import dataclass
from fractions import Fraction

from crawlgauge.errors import StoreError

KEY_BITS = 64
WHOLE = 1 << KEY_BITS
"""All keys are below this threshold."""

AUTO = "auto"
_AUTO_KEYS = 1 << 22
"""Sixteen times what estimates need at most (2**18 URLs of a crawl), and yet only some 20 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Which keys of a crawl are kept.

    Parameters
    ----------
    threshold
        Those below it; all if it is `WHOLE`.
    max_keys
        The smallest ones, as many as this; None for no limit.
    text
        As the user wrote it; None if the whole crawl is kept.
    """

    threshold: int = WHOLE
    max_keys: int | None = None
    text: str | None = None


def rate_of(threshold: int) -> float:
    """Return the share of all keys that lies below a threshold.

    Examples
    --------
    >>> rate_of(1 << 58) == 1 / 64
    True
    """
    return threshold / WHOLE


def threshold_of(rate: Fraction) -> int:
    """Return the threshold below which a share of all keys lies.

    Examples
    --------
    >>> threshold_of(Fraction(1, 64)) == 1 << 58
    True
    """
    return max(1, round(WHOLE * rate))


def parse_rate(text: str) -> Fraction:
    """Read a share above 0 and at most 1.

    Raises
    ------
    StoreError
        If it is none.

    Examples
    --------
    >>> parse_rate("1/64"), parse_rate("5%")
    (Fraction(1, 64), Fraction(1, 20))
    """
    number, percent, rest = text.strip().partition("%")
    try:
        rate = Fraction(number + rest) / (100 if percent else 1)
    except (ValueError, ZeroDivisionError):
        rate = Fraction(0)
    if not 0 < rate <= 1:
        raise StoreError(
            f"{text!r} is no sample; write a share above 0 and at most 1, such as 1/64, 0.01 or 1%"
        )
    return rate


def parse_sampling(text: str | None) -> Sampling:
    """Read what the user wants to keep of a crawl.

    Parameters
    ----------
    text
        A share, ``auto`` for the smallest 2**22 keys, or None for all.

    Raises
    ------
    StoreError
        If it is neither.
    """
    if text is None:
        return Sampling()
    if text == AUTO:
        return Sampling(max_keys=_AUTO_KEYS, text=AUTO)
    rate = parse_rate(text)
    # The same share written in two ways is the same choice.
    return Sampling() if rate == 1 else Sampling(threshold=threshold_of(rate), text=str(rate))


def count_ranges(range_bits: int, threshold: int) -> int:
    """Return how many values the leading `range_bits` bits of keys below a threshold can have.

    Examples
    --------
    >>> count_ranges(8, WHOLE), count_ranges(8, 1 << 58), count_ranges(0, 5)
    (256, 4, 1)
    """
    return ((threshold - 1) >> (KEY_BITS - range_bits)) + 1
