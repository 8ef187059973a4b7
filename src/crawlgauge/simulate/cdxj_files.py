"""Simulated crawls as CDXJ: a sorted line for each capture, as pywb and OpenWayback write it."""

from collections.abc import Iterator

import numpy as np

from crawlgauge.simulate.archive import SimulatedArchive
from crawlgauge.simulate.capture_times import order_captures
from crawlgauge.simulate.pages import digest_sha1, make_page, split_url

__all__ = ["make_surt", "to_cdxj"]

_LINES_PER_BLOCK = 1 << 13
_SHORTEST_RECORD = 600
_RECORD_SPREAD = 1999


def to_cdxj(archive: SimulatedArchive, number: int) -> Iterator[bytes]:
    """Yield the index of a crawl, in blocks of lines, sorted by key and time.

    Lengths and offsets are such as a WARC file of that name could have; there is none.

    Parameters
    ----------
    archive
        Whose crawl to write.
    number
        Of the crawl, counted from 0.
    """
    order = order_captures(archive, number)
    urls = archive.name_urls(order.numbers)
    keys = [make_surt(url) for url in urls]
    times = order.compact_times()
    lengths = _SHORTEST_RECORD + order.numbers % _RECORD_SPREAD
    offsets = (np.cumsum(lengths) - lengths).tolist()
    lengths_of = lengths.tolist()
    file_name = f"{archive.crawls[number].label}.warc.gz"
    ranks = sorted(range(len(keys)), key=lambda rank: (keys[rank], times[rank]))
    for start in range(0, len(ranks), _LINES_PER_BLOCK):
        yield "".join(
            f'{keys[rank]} {times[rank]} {{"url": "{urls[rank]}", "mime": "text/html", '
            f'"status": "200", "digest": "{digest_sha1(make_page(urls[rank]))}", '
            f'"length": "{lengths_of[rank]}", "offset": "{offsets[rank]}", '
            f'"filename": "{file_name}"}}\n'
            for rank in ranks[start : start + _LINES_PER_BLOCK]
        ).encode()


def make_surt(url: str) -> str:
    """Return the key under which an index files a URL: its host reversed, without ``www``.

    Simulated URLs are plain ASCII in lower case, without ports or user names, and so this is all
    that it takes.

    Examples
    --------
    >>> make_surt("https://www.university-34.example/research/4d2.html")
    'example,university-34)/research/4d2.html'
    """
    host, path = split_url(url)
    return f"{','.join(reversed(host.removeprefix('www.').split('.')))})/{path}"
