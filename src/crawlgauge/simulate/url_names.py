"""Names for numbered URLs, as an academic web would have them."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["name_university_urls"]

_SECTIONS = ("about", "teaching", "research", "library", "people", "news", "events")


def name_university_urls(numbers: NDArray[np.int64], *, n_hosts: int = 150) -> list[str]:
    """Return a URL for each number; distinct numbers give distinct URLs.

    Parameters
    ----------
    numbers
        Of the URLs.
    n_hosts
        Hosts that the URLs are spread over, number by number.

    Examples
    --------
    >>> name_university_urls(np.array([1234]))
    ['https://www.university-34.example/research/4d2.html']
    """
    return [
        f"https://www.university-{number % n_hosts}.example/"
        f"{_SECTIONS[number % len(_SECTIONS)]}/{number:x}.html"
        for number in numbers.tolist()
    ]
