"""Simulated crawls as crawl.log: a line for each attempt, as Heritrix 3 writes it."""

from collections.abc import Iterator

import numpy as np

from crawlgauge.simulate.archive import SimulatedArchive
from crawlgauge.simulate.capture_times import order_captures
from crawlgauge.simulate.pages import digest_sha1, make_page, split_url

__all__ = ["to_crawl_log"]

_LINES_PER_BLOCK = 1 << 13
_N_THREADS = 50
_NO_ROBOTS = b"<html><body>404 Not Found</body></html>\n"


def to_crawl_log(archive: SimulatedArchive, number: int) -> Iterator[bytes]:
    """Yield the log of a crawl, in blocks of lines in order of time.

    As in a real log, the first visit to a host begins with looking up its address and asking for
    its robots.txt, of which there is none.

    Parameters
    ----------
    archive
        Whose crawl to write.
    number
        Of the crawl, counted from 0.
    """
    order = order_captures(archive, number)
    known_hosts: set[str] = set()
    for start in range(0, order.numbers.size, _LINES_PER_BLOCK):
        block = slice(start, start + _LINES_PER_BLOCK)
        urls = archive.name_urls(order.numbers[block])
        times = np.datetime_as_string(order.times[block], unit="ms").tolist()
        lines = []
        for place, (url, time) in enumerate(zip(urls, times, strict=True), start=start):
            host, path = split_url(url)
            thread = place % _N_THREADS
            home = f"{url.partition('://')[0]}://{host}/"
            if host not in known_hosts:
                known_hosts.add(host)
                lines += _greet(host, home, time, thread)
            steps = "L" * (1 + path.count("/"))
            page = make_page(url)
            lines.append(_line(time, 200, url, steps, home, "text/html", thread, page))
        yield "".join(lines).encode()


def _greet(host: str, home: str, time: str, thread: int) -> list[str]:
    address = f"{host}. 300 IN A 192.0.2.1\n".encode()
    return [
        _line(time, 1, f"dns:{host}", "P", home, "text/dns", thread, address),
        _line(time, 404, f"{home}robots.txt", "P", home, "text/html", thread, _NO_ROBOTS),
    ]


def _line(
    time: str, status: int, url: str, steps: str, via: str, mime: str, thread: int, body: bytes
) -> str:
    begin = time.translate(_NO_MARKS)
    return (
        f"{time}Z {status:5d} {len(body):10d} {url} {steps} {via} {mime} #{thread:03d} "
        f"{begin}+{1 + len(url) % 400} sha1:{digest_sha1(body)} - -\n"
    )


_NO_MARKS = str.maketrans("", "", "-:.T")
