"""What it takes to write a crawl, into whichever kind of store, and where in it everything is.

::

    crawlgauge.store/
      store.json                 by which rule URLs are the same
      crawls/LABEL/              manifest.json, a file for each set, one for attributes, a lock
      cache/                     counts and the like, which can be lost
      spill/                     what does not fit into memory, while a process runs
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from crawlgauge.sources.remote import AnyPath
from crawlgauge.store.crawl_set import CrawlSet, Manifest

if TYPE_CHECKING:
    from crawlgauge.store.attributes import Attributes
    from crawlgauge.store.key_set import Keys

__all__ = ["CACHE", "CRAWLS", "STORE_FILE", "CrawlWriter", "UnwrittenSet", "write_crawl"]

STORE_FILE = "store.json"
CRAWLS = "crawls"
CACHE = "cache"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnwrittenSet:
    """A set that is to be written.

    Parameters
    ----------
    description
        All that is known of it without its keys.
    ranges
        Its keys, sorted and unique, in parts.
    n_most
        How many keys there are at most.
    """

    description: CrawlSet
    ranges: "Iterable[Keys]"
    n_most: int


class CrawlWriter(Protocol):
    """Writes one crawl that is held for writing; see `Store.writing`."""

    @property
    def label(self) -> str:
        """The crawl's."""

    @property
    def folder(self) -> AnyPath:
        """Where the crawl is, or will be."""

    @property
    def workplace(self) -> Path:
        """The folder on the disk that its files are made in; it exists."""

    def publish(self, sets: Sequence[UnwrittenSet], attributes: "Attributes") -> Manifest:
        """Write the sets of all levels and make them the crawl's, in place of what was there.

        Raises
        ------
        StoreError
            If that is not possible; the crawl is as it was.
        """

    def remove(self) -> None:
        """Take the crawl away."""


def write_crawl(
    folder: Path, label: str, sets: Sequence[UnwrittenSet], attributes: "Attributes"
) -> Manifest:
    """Write the files of a crawl into a folder on the disk, but for its manifest."""
    from crawlgauge.store.attributes import write_attributes
    from crawlgauge.store.key_set import write_keys

    written = [
        write_keys(folder, item.ranges, item.description, n_most=item.n_most) for item in sets
    ]
    return Manifest(
        label=label,
        sets={item.level: item for item in written},
        attributes=write_attributes(folder, attributes),
    )
