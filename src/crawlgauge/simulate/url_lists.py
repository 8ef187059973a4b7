"""Simulated crawls as plain lists of URLs."""

from collections.abc import Iterator

from crawlgauge.simulate.archive import SimulatedArchive

__all__ = ["to_url_list"]

_URLS_PER_BLOCK = 1 << 14


def to_url_list(archive: SimulatedArchive, number: int) -> Iterator[bytes]:
    """Yield the URLs of a crawl, in blocks of lines.

    Parameters
    ----------
    archive
        Whose crawl to write.
    number
        Of the crawl, counted from 0.
    """
    numbers = archive.crawls[number].url_numbers
    for start in range(0, numbers.size, _URLS_PER_BLOCK):
        urls = archive.name_urls(numbers[start : start + _URLS_PER_BLOCK])
        yield "\n".join([*urls, ""]).encode()
