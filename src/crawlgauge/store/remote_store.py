"""Hold crawls on object storage for writing, and clean up what killed processes have left."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from crawlgauge.errors import StoreBusy
from crawlgauge.remote.lease import hold_lease, lease_seconds
from crawlgauge.remote.objects import Objects
from crawlgauge.remote.remote_path import RemotePath
from crawlgauge.remote.s3_objects import objects_at
from crawlgauge.store.creation import CRAWLS, create_store
from crawlgauge.store.locking import LOCK_NAME
from crawlgauge.store.manifest import MANIFEST_NAME, has_leftovers
from crawlgauge.store.remote_writer import RemoteCrawlWriter
from crawlgauge.store.spilling import SpillFolder, remove_abandoned

__all__ = ["hold_remote"]

_SHARE_TO_ARRIVE = 0.5
"""Of the time that a claim holds: so old must be what a killed process left. Its last request may
still be on its way, and a claim that is over was renewed longer ago."""


@contextmanager
def hold_remote(store: RemotePath, label: str, key_rule: str) -> Iterator[RemoteCrawlWriter]:
    """Hold a crawl for writing, and clean up what killed processes have left in the store.

    Parameters
    ----------
    store
        Where it is; made if it is missing.
    label
        The crawl's.
    key_rule
        The store's.

    Raises
    ------
    StoreBusy
        If another process is writing the crawl.
    """
    remove_abandoned(store)
    objects = objects_at(store)
    with _hold(store, objects, label, key_rule) as writer:
        # Another process that failed may have taken the empty store away meanwhile.
        create_store(store, key_rule)
        writer.clean(min_age=lease_seconds() * _SHARE_TO_ARRIVE)
        for other in _find_leftovers(objects) - {label}:
            # A crawl that is being written cleans up after itself.
            with suppress(StoreBusy), _hold(store, objects, other, key_rule) as other_writer:
                other_writer.clean(min_age=lease_seconds() * _SHARE_TO_ARRIVE)
        yield writer


@contextmanager
def _hold(
    store: RemotePath, objects: Objects, label: str, key_rule: str
) -> Iterator[RemoteCrawlWriter]:
    folder = f"{CRAWLS}/{label}"
    with (
        hold_lease(objects, f"{folder}/{LOCK_NAME}", label=label) as lease,
        SpillFolder(store) as spill,
    ):
        present = objects.head(f"{folder}/{MANIFEST_NAME}")
        yield RemoteCrawlWriter(
            store=store,
            key_rule=key_rule,
            label=label,
            objects=objects,
            lease=lease,
            manifest_tag=None if present is None else present.tag,
            spill=spill,
        )


def _find_leftovers(objects: Objects) -> set[str]:
    """Return the crawls of which there is more than a crawl at rest has, and not since just now."""
    found = [entry.name for entry in objects.listed(f"{CRAWLS}/") if entry.age >= lease_seconds()]
    names_of: dict[str, list[str]] = defaultdict(list)
    for name in (*found, *objects.unfinished_uploads(f"{CRAWLS}/")):
        _, label, *rest = name.split("/", maxsplit=2)
        names_of[label] += rest
    return {
        label
        for label, names in names_of.items()
        if label and (LOCK_NAME in names or has_leftovers(names))
    }
