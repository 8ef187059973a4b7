"""When a simulated crawl captures each of its URLs."""

import datetime as dt
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.simulate.archive import SimulatedArchive

__all__ = ["CRAWL_DAYS", "CaptureOrder", "order_captures"]

CRAWL_DAYS = 7
"""Days that a crawl takes; the crawl's date is the middle of them."""

# Random numbers apart from those that the archive itself was drawn with.
_STREAM = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CaptureOrder:
    """The URLs of a crawl in the order in which they are captured.

    Parameters
    ----------
    numbers
        Of the URLs.
    times
        Of their captures, in UTC and rising.
    """

    numbers: NDArray[np.int64]
    times: NDArray[np.datetime64]

    def compact_times(self) -> list[str]:
        """Return the times as 14 digits."""
        seconds = np.datetime_as_string(self.times, unit="s").tolist()
        return [time.translate(_NO_MARKS) for time in seconds]


_NO_MARKS = str.maketrans("", "", "-:T")


def order_captures(archive: SimulatedArchive, number: int) -> CaptureOrder:
    """Put the URLs of a crawl into a random order, spread evenly over its days.

    Parameters
    ----------
    archive
        The archive; its seed settles the order.
    number
        Of the crawl, counted from 0.
    """
    crawl = archive.crawls[number]
    rng = np.random.default_rng([archive.truth.seed, _STREAM, number])
    n_urls = crawl.url_numbers.size
    n_milliseconds = CRAWL_DAYS * 86_400_000
    offsets = ((np.arange(n_urls) + rng.random(n_urls)) * (n_milliseconds / n_urls)).astype(
        np.int64
    )
    noon = dt.datetime.combine(crawl.date, dt.time(12))
    start = np.datetime64(noon, "ms") - n_milliseconds // 2
    return CaptureOrder(numbers=rng.permutation(crawl.url_numbers), times=start + offsets)
