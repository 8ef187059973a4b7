"""Counts in files of a store's cache folder, where they can be lost but never be wrong.

A file holds a checksum of itself and says which keys were counted. What is damaged is passed over
and deleted, and so is what fits no crawls of the store.
"""

import base64
import logging
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.sets import MaskCounts
from crawlgauge.errors import StoreError
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, HostGroups, move_bits
from crawlgauge.sources.remote import AnyPath, RemotePath
from crawlgauge.store.crawl_set import check_document, to_document
from crawlgauge.store.files import replace_file
from crawlgauge.store.history_index import Subject

__all__ = ["Counts", "SetCounts", "find_counts", "load_counts", "save_counts"]

_SCHEMA = "crawlgauge.counts/2"
"""Counts of another version are not used: it may have counted otherwise."""

_PATTERN = "overlaps-*.json"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SetCounts:
    """Overlaps and capture histories of sets, in their order.

    Parameters
    ----------
    n_shared
        Keys that each two share, symmetric; the diagonal holds those of each.
    found
        Histories of the keys below `history_end`, in rising order, and how many keys have each;
        bit t is set t.
    history_end
        The threshold of what was counted, or less if there are too many different histories below
        it: the largest power of two, at most half of it, below which they are not. 0 if there are
        too many sets for histories.
    """

    n_shared: NDArray[np.int64]
    found: tuple[NDArray[np.uint64], NDArray[np.int64]]
    history_end: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """What was counted of a subject.

    Parameters
    ----------
    subject
        Of which sets.
    of_sets
        What was counted.
    origins, host_groups
        Of what each crawl was made, and histories by groups of its hosts; no origins where nobody
        has looked for groups.
    """

    subject: Subject
    of_sets: SetCounts
    origins: tuple[str, ...] = ()
    host_groups: HostGroups | None = None


def find_counts(folder: AnyPath, subject: Subject) -> Counts | None:
    """Return the counts of a subject, if they follow from what a folder holds.

    Those of some sets follow from those of more, unless histories were cut: fewer sets have fewer
    histories, which may go farther.
    """
    wanted, n_wanted = set(subject.checksums), len(subject.checksums)
    for known in load_counts(folder):
        about, end = known.subject, known.of_sets.history_end
        if about == subject:
            return known
        if replace(about, checksums=subject.checksums) != subject or not wanted <= {
            *about.checksums
        }:
            continue
        is_same = wanted == {*about.checksums} and end > 0
        if n_wanted > MAX_HISTORY_CRAWLS or end == about.threshold or is_same:
            places = [about.checksums.index(checksum) for checksum in subject.checksums]
            return Counts(subject=subject, of_sets=_select(known.of_sets, places))
    return None


def _select(known: SetCounts, places: Sequence[int]) -> SetCounts:
    """Return the counts of some sets, in any order; one may come several times."""
    selected, end = MaskCounts(min(len(places), MAX_HISTORY_CRAWLS)), 0
    if len(places) <= MAX_HISTORY_CRAWLS:
        targets, end = np.zeros(len(known.n_shared), np.uint64), known.history_end
        for bit, place in enumerate(places):
            targets[place] |= np.uint64(1 << bit)
        moved = move_bits(known.found[0], targets)
        selected.add(moved[moved != 0], known.found[1][moved != 0])
    n_shared = known.n_shared[np.ix_(places, places)]
    return SetCounts(n_shared=n_shared, found=selected.arrays(), history_end=end)


def load_counts(folder: AnyPath) -> Iterator[Counts]:
    """Yield the counts that a folder holds; damaged files are passed over."""
    for path in sorted(folder.glob(_PATTERN)):
        counts = _read(path)
        if counts is not None:
            yield counts


def save_counts(folder: AnyPath, counts: Counts) -> None:
    """Keep counts, and delete those that are of no use beside them.

    Parameters
    ----------
    folder
        The cache folder of a store.
    counts
        Of all sets that the store holds of a level. Counts of just these sets below other
        thresholds stay.

    Raises
    ------
    OSError
        If they cannot be written.
    """
    content = to_document(_to_dict(counts))
    name = _PATTERN.replace("*", counts.subject.name)
    if isinstance(folder, RemotePath):
        from crawlgauge.store.objects import Objects

        Objects(folder).put(name, content)
    else:
        replace_file(folder / name, content)
    for path in list(folder.glob(_PATTERN)):
        if path.name != name and not _is_useful_beside(_read(path), counts.subject):
            path.unlink(missing_ok=True)


def _is_useful_beside(other: Counts | None, subject: Subject) -> bool:
    if other is None or other.subject.level != subject.level:
        return other is not None
    is_present = sorted(other.subject.checksums) == sorted(subject.checksums)
    return is_present and other.subject.threshold != subject.threshold


def _read(path: AnyPath) -> Counts | None:
    try:
        return _from_dict(check_document(path.read_bytes(), path, _SCHEMA))
    except FileNotFoundError:
        return None  # Another process has just deleted it.
    except OSError as error:
        _log.warning("%s cannot be read (%s); overlaps are counted again", path, error.strerror)
    except StoreError:
        _log.warning("%s is damaged, or of another version; overlaps are counted again", path)
    return None


def _to_dict(counts: Counts) -> dict[str, Any]:
    of_sets, groups = counts.of_sets, counts.host_groups
    return {
        "schema": _SCHEMA,
        "subject": counts.subject.to_dict(),
        "history_end": hex(of_sets.history_end),
        "n_shared": _pack(of_sets.n_shared),
        "histories": [*map(_pack, of_sets.found)],
        "origins": counts.origins,
        "group_rate": groups and groups.sample_rate,
        "groups": [] if groups is None else [_pack(groups.masks), _pack(groups.counts)],
    }


def _from_dict(document: dict[str, Any]) -> Counts:
    """Read what `_to_dict` returned, whole: its checksum has been compared."""
    subject, groups = Subject.from_dict(document["subject"]), None
    if document["groups"]:
        masks, counts = map(_unpack, document["groups"])
        groups = HostGroups(
            n_crawls=len(subject.checksums),
            n_groups=counts.shape[1],
            masks=masks,
            counts=counts,
            sample_rate=document["group_rate"],
        )
    masks, counts = map(_unpack, document["histories"])
    return Counts(
        subject=subject,
        of_sets=SetCounts(
            n_shared=_unpack(document["n_shared"]),
            found=(masks, counts),
            history_end=int(document["history_end"], 16),
        ),
        origins=tuple(document["origins"]),
        host_groups=groups,
    )


def _pack(array: NDArray[Any]) -> list[Any]:
    # Most numbers are small, whatever their type.
    kept = array.astype(np.min_scalar_type(array.max(initial=0)))
    content = base64.b64encode(zlib.compress(kept.tobytes(), 1)).decode()
    return [array.dtype.str, kept.dtype.str, array.shape, content]


def _unpack(packed: list[Any]) -> NDArray[Any]:
    dtype, kept, shape, content = packed
    values = np.frombuffer(zlib.decompress(base64.b64decode(content)), kept)
    return values.astype(dtype).reshape(shape)
