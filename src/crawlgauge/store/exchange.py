"""Write a sample of a store that can be given away: keys of URLs, and nothing that names them."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from crawlgauge.errors import StoreError
from crawlgauge.keys.rules import BY_URL
from crawlgauge.keys.sampling import rate_of
from crawlgauge.provenance import Provenance
from crawlgauge.sources.remote import AnyPath, RemotePath
from crawlgauge.store.attributes import Attributes
from crawlgauge.store.catalogue import Store, create_store
from crawlgauge.store.crawl_set import CrawlSet
from crawlgauge.store.crawl_writer import UnwrittenSet
from crawlgauge.store.files import LOCK_NAME, PARTIAL_PREFIX, STORE_FILE, explain_os_error
from crawlgauge.store.key_set import KeyReader
from crawlgauge.store.spilling import SpillFolder

__all__ = ["Exported"]

_DISCLOSED_SETTINGS = ("status", "mime")
"""What counts as a capture: without it two archives cannot be told to count alike."""

_NO_NAME = "(not disclosed)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was written.

    Parameters
    ----------
    path
        The new store.
    n_crawls, n_keys
        How many crawls it holds, and how many keys in all of them.
    sample_rate
        Share of the URLs of each crawl, the same of every crawl.
    """

    path: AnyPath
    n_crawls: int
    n_keys: int
    sample_rate: float


def export_sample(
    store: Store,
    path: AnyPath,
    *,
    threshold: int,
    progress: Callable[[int, int], None] | None = None,
) -> Exported:
    """Write the keys of all crawls below a threshold into a new store, without any names.

    The new store holds, of each crawl, its label, date, first and last capture, number of
    captures and the sampled keys. It holds no hosts, media types or statuses of URLs, no names of
    files, no counts by day or reason, and says of damage only that there was some.

    Parameters
    ----------
    store
        What to export.
    path
        Where to; nothing may be there.
    threshold
        Which keys; fewer where a crawl was added as a smaller sample.
    progress
        Called with how many of how many crawls are done.

    Raises
    ------
    StoreError
        If the store is empty or cannot be read, if the sample holds no URL of a crawl, or if
        there is something at `path` already.
    """
    sets = store.crawl_sets()
    if not sets:
        raise StoreError(f"the store {store.path} holds no crawls; there is nothing to export")
    with explain_os_error("read", path):
        if path.exists():
            raise StoreError(
                f"there is something at {path} already; name a folder that does not exist"
            )
    common = min(threshold, *(item.threshold for item in sets))
    # It appears whole or not at all: nobody shall give half of it away.
    with _unfinished(path) as partial:
        with explain_os_error("write", partial):
            create_store(partial, store.key_rule)
            target = Store(path=partial, key_rule=store.key_rule)
            n_keys = 0
            for number, item in enumerate(sets, start=1):
                n_keys += _export_crawl(item, target, common)
                if progress is not None:
                    progress(number, len(sets))
        with explain_os_error("write", path):
            _move(partial, path)
    return Exported(path=path, n_crawls=len(sets), n_keys=n_keys, sample_rate=rate_of(common))


@contextmanager
def _unfinished(path: AnyPath) -> Iterator[Path]:
    """Give the path of a folder on the disk, and delete what is left of it."""
    if isinstance(path, RemotePath):
        with SpillFolder(path) as spill:
            yield spill.open() / path.name
        return
    partial = path.with_name(f"{PARTIAL_PREFIX}{os.getpid()}-{path.name}")
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _move(partial: Path, path: AnyPath) -> None:
    if isinstance(path, Path):
        partial.rename(path)
        return
    from crawlgauge.store.objects import Objects

    objects = Objects(path)
    found = (entry for entry in partial.rglob("*") if entry.is_file() and entry.name != LOCK_NAME)
    names = sorted(entry.relative_to(partial).as_posix() for entry in found)
    try:
        # There is no store where its own file is not, which comes last.
        for name in sorted(names, key=lambda name: name == STORE_FILE):
            objects.upload(name, partial / name)
    except BaseException:
        for name in names:
            objects.delete(name)
        raise


def _export_crawl(item: CrawlSet, target: Store, threshold: int) -> int:
    crawl = item.crawl
    keys = KeyReader(item).between(0, threshold)
    if not keys.size:
        raise StoreError(
            f"none of the {crawl.n_urls:,} URLs of crawl {crawl.label!r} is in a sample of "
            f"{rate_of(threshold):.3g}; export a larger one with --sample"
        )
    settings = {name: item.provenance.settings.get(name) for name in _DISCLOSED_SETTINGS}
    description = replace(
        item,
        threshold=threshold,
        rejected={},
        excluded={},
        unassigned={},
        n_no_status=0,
        n_by_digest=0,
        days={},
        damage=tuple(
            replace(one, file=_NO_NAME, byte=None, reason=_NO_NAME, lost=_NO_NAME)
            for one in item.damage[:1]
        ),
        provenance=Provenance.now(
            settings={**settings, "sample": f"{rate_of(threshold):.6g}"}, inputs=()
        ),
    )
    with target.writing(crawl.label) as writer:
        unwritten = UnwrittenSet(description=description, ranges=[keys], n_most=keys.size)
        written = writer.publish([unwritten], Attributes.nothing())
    return written.sets[BY_URL].crawl.n_counted
