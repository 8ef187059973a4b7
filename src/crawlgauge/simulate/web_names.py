"""Readable URLs of a simulated web: a host, the path down to a page, and its number."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.simulate.web_settings import TrapKind

__all__ = ["WebNames", "number_trap_urls"]

_WORDS = (
    *("about", "teaching", "research", "library", "people", "news", "events", "projects"),
    *("courses", "seminars", "papers", "staff", "students", "press", "archive", "faculty"),
)
_TRAP_BIT = 1 << 60
_CRAWL_SHIFT = 48
_HOST_SHIFT = 32
_HOST_MASK = (1 << (_CRAWL_SHIFT - _HOST_SHIFT)) - 1
_CRAWL_MASK = (1 << (60 - _CRAWL_SHIFT)) - 1
_ORDINAL_MASK = (1 << _HOST_SHIFT) - 1


def number_trap_urls(
    n_in_trap: NDArray[np.int64], *, kind: TrapKind, n_crawl: int
) -> NDArray[np.int64]:
    """Return the numbers of the URLs that a crawl fetched inside traps.

    A calendar leads through the same URLs again; session ids are new in each crawl.

    Parameters
    ----------
    n_in_trap
        How many of each host's.
    kind
        Of the traps.
    n_crawl
        Number of the crawl, from 0.
    """
    crawl = n_crawl + 1 if kind == "session" else 0
    hosts = np.repeat(np.arange(n_in_trap.size), n_in_trap)
    ordinals = np.arange(hosts.size) - np.repeat(np.cumsum(n_in_trap) - n_in_trap, n_in_trap)
    return _TRAP_BIT + (crawl << _CRAWL_SHIFT) + (hosts << _HOST_SHIFT) + ordinals


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WebNames:
    """Gives URLs to numbers; distinct numbers have distinct URLs.

    Parameters
    ----------
    hosts, parents
        Of every page that ever lived: its host, and the number of the page above it.
    n_seeds
        Hosts that are universities; the others are institutes of one of them.

    Examples
    --------
    >>> names = WebNames(hosts=np.array([0, 1, 0, 0]), parents=np.array([0, 1, 0, 2]), n_seeds=1)
    >>> names(np.array([0, 1, 2, 3]))
    ['https://www.university-0.example/', 'https://institute-1.university-0.example/',
     'https://www.university-0.example/2.html', 'https://www.university-0.example/research/3.html']
    """

    hosts: NDArray[np.int32]
    parents: NDArray[np.int32]
    n_seeds: int

    def __call__(self, numbers: NDArray[np.int64]) -> list[str]:
        """Return the URL of each number."""
        folders: dict[int, str] = {}
        return [
            self._name_trap(number) if number & _TRAP_BIT else self._name_page(number, folders)
            for number in numbers.tolist()
        ]

    def _name_page(self, number: int, folders: dict[int, str]) -> str:
        parent = int(self.parents[number])
        if parent == number:
            return f"{self._name_site(int(self.hosts[number]))}/"
        return f"{self._find_folder(parent, folders)}/{number:x}.html"

    def _find_folder(self, number: int, folders: dict[int, str]) -> str:
        """Return the address below which the pages under a page stand, without a final slash."""
        if number not in folders:
            parent = int(self.parents[number])
            folders[number] = (
                self._name_site(int(self.hosts[number]))
                if parent == number
                else f"{self._find_folder(parent, folders)}/{_WORDS[number % len(_WORDS)]}"
            )
        return folders[number]

    def _name_site(self, host: int) -> str:
        if host < self.n_seeds:
            return f"https://www.university-{host}.example"
        return f"https://institute-{host}.university-{host % self.n_seeds}.example"

    def _name_trap(self, number: int) -> str:
        crawl = number >> _CRAWL_SHIFT & _CRAWL_MASK
        site = self._name_site(number >> _HOST_SHIFT & _HOST_MASK)
        ordinal = number & _ORDINAL_MASK
        if crawl:
            return f"{site}/index.php?sessionid={crawl:x}-{ordinal:08x}"
        return f"{site}/calendar?page={ordinal}"
