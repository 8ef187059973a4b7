"""Read a reference list of hosts or domains, and find which of them each crawl holds."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from crawlgauge.errors import SourceError
from crawlgauge.keys.host import host_of_url
from crawlgauge.keys.thresholds import WHOLE
from crawlgauge.overlaps.stratum_names import BY
from crawlgauge.sources.name_list import read_names
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["ReferenceNames", "are_domains", "find_names", "read_reference_names"]

_NO_NAME = "no-host"
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+|\[[0-9a-f:]+\]")
"""What a name on the public web looks like, or an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceNames:
    """The hosts or domains of a reference.

    Parameters
    ----------
    names
        Each once, as crawls have them, with the entry that it was first read from.
    n_entries
        Entries that were read, repeated ones included.
    left_out
        Entries that name no host, by reason.
    """

    names: dict[str, str]
    n_entries: int
    left_out: Counter[str]


def read_reference_names(path: str, *, by: str, column: str | None = None) -> ReferenceNames:
    """Read the hosts or domains of a reference; URLs stand for their hosts.

    Parameters
    ----------
    path
        The file.
    by
        ``host`` or ``domain``.
    column
        Which column holds them; None to find out.

    Raises
    ------
    SourceError
        If it cannot be read, or names no host.
    """
    names: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    n_entries = 0
    for entry in read_names(path, column=column):
        host = host_of_url(entry.encode()).decode()
        if not _NAME.fullmatch(host):
            left_out[_NO_NAME] += 1
            continue
        n_entries += 1
        names.setdefault(BY[by].name(host), entry)
    if not names:
        raise SourceError(f"{path}: none of {left_out.total():,} lines names a host or domain")
    return ReferenceNames(names=names, n_entries=n_entries, left_out=left_out)


def are_domains(names: Iterable[str]) -> bool:
    """Tell whether all names are registered domains, and none is a host below one."""
    domain_of: Callable[[str], str] = BY["domain"].name
    return all(domain_of(name) == name for name in names)


def find_names(store: Store, item: CrawlSet, *, by: str) -> tuple[set[str], bool]:
    """Return the hosts or domains that a crawl holds a URL of, and whether there may be more.

    Only those of the crawl's smallest keys are known: of a crawl with more URLs than these, hosts
    with few URLs may be missing.

    Parameters
    ----------
    store
        The crawl's store.
    item
        Its set.
    by
        ``host`` or ``domain``.

    Raises
    ------
    StoreError
        If the crawl cannot be read.
    """
    attributes = store.attributes(item)
    used = np.unique(attributes.host_codes)
    hosts = attributes.hosts.take(used[used >= 0]).to_pylist()
    return {BY[by].name(host) for host in hosts}, attributes.threshold < WHOLE
