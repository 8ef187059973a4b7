"""Re-read a store and tell whether every set is still what was written."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crawlgauge.errors import StoreError
from crawlgauge.keys.levels import rule_of
from crawlgauge.store.catalogue import Store
from crawlgauge.store.checksum import KeysChecksum
from crawlgauge.store.documents import ADD_AGAIN
from crawlgauge.store.files import explain_os_error
from crawlgauge.store.manifest import Manifest
from crawlgauge.store.set_file import SetReader
from crawlgauge.store.stored_files import open_whole

__all__ = ["Finding", "verify_crawls"]

_MAX_REPLACEMENTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What re-reading one crawl showed.

    Parameters
    ----------
    label
        The crawl.
    problem
        What is wrong and what to do, in words; None if all is well.
    """

    label: str
    problem: str | None


def verify_crawls(store: Store) -> Iterator[Finding]:
    """Re-read every crawl of a store and yield what was found."""
    for label in store.labels():
        try:
            problem = _check(store, label)
        except StoreError as error:
            problem = str(error)
        yield Finding(label=label, problem=problem)


def _check(store: Store, label: str) -> str | None:
    """Look for a problem; what was replaced while it was being read is read again."""
    for _ in range(_MAX_REPLACEMENTS):
        manifest = store.manifest(label)
        try:
            problem = _find_problem(store, label, manifest)
        except StoreError as error:
            problem = str(error)
        if problem is None or store.manifest(label) == manifest:
            break
    return problem


def _find_problem(store: Store, label: str, manifest: Manifest) -> str | None:
    for stored in (*manifest.sets.values(), manifest.attributes):
        path = store.folder(label) / stored.file
        with explain_os_error("read", path):
            if not path.is_file():
                return f"{path} is missing; {ADD_AGAIN}"
        # First the bytes: what is damaged may be anything, and is not to be interpreted.
        with explain_os_error("read", path), open_whole(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if stored.checksum != f"sha256:{digest}":
            return f"{path} is damaged: it was changed after it was written; {ADD_AGAIN}"
    for level in manifest.sets:
        problem = _find_problem_of_set(store, label, level)
        if problem is not None:
            return problem
    store.attributes(store.crawl_set(label))
    return None


def _find_problem_of_set(store: Store, label: str, level: str) -> str | None:
    reader = SetReader(store.set_path(label, level))
    description = reader.description
    if description.level != level:
        return f"its set of level {level} is one of level {description.level}; {ADD_AGAIN}"
    expected = rule_of(level, store.key_rule)
    if description.key_rule != expected:
        return f"its keys are of rule {description.key_rule}, not of {expected}; {ADD_AGAIN}"
    checksum, n_keys, last = KeysChecksum(), 0, -1
    for keys in reader.ranges():
        if keys.size and (int(keys[0]) <= last or np.any(keys[1:] <= keys[:-1])):
            return f"its keys are not in order; {ADD_AGAIN}"
        last = int(keys[-1]) if keys.size else last
        n_keys += keys.size
        checksum.update(keys)
    if last >= description.threshold:
        return f"it holds keys beyond its sample; {ADD_AGAIN}"
    if (checksum.text(), n_keys) != (description.checksum, description.crawl.n_counted):
        return f"its keys are not those that were written; {ADD_AGAIN}"
    return None
