"""Anchors: keep what is known from elsewhere in a store, and count what its crawls hold of it."""

import datetime as dt
import os
import random
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawlgauge.crawl import AnchorKind, Crawl, parse_date
from crawlgauge.errors import SourceError, StoreError
from crawlgauge.ingest.crawl_list import list_words
from crawlgauge.ingest.options import read_scope
from crawlgauge.keys.sampling import WHOLE
from crawlgauge.locations import StrPath, find_store
from crawlgauge.overlaps.reference import (
    Entries,
    find_held,
    find_names,
    need_whole,
    read_reference_names,
)
from crawlgauge.overlaps.table import AnchorCounts
from crawlgauge.provenance import Provenance, Setting
from crawlgauge.sources.access_log import OWN_AGENTS
from crawlgauge.sources.decompress import fingerprint
from crawlgauge.sources.frontier import read_frontier
from crawlgauge.sources.inputs import find_inputs
from crawlgauge.sources.reading import read_inputs
from crawlgauge.sources.remote import conceal, to_path
from crawlgauge.sources.what_counts import Settings
from crawlgauge.store import anchors
from crawlgauge.store.anchors import MAX_KEYS, Anchor
from crawlgauge.store.catalogue import Store, open_store
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["Anchor", "Draw", "add_anchor", "draw_hosts", "list_anchors", "remove_anchor"]

_NO_HOST = "no-host"
_NOT_DRAWN = "foreign-host"
_MOST_ALIKE = 0.99
_TOO_MANY = (
    f"there are more URLs than an anchor holds ({MAX_KEYS:,}); a thousand drawn evenly, or the "
    "lists of fewer hosts, tell as much"
)


# ------------------------------------------------------------------------------------- in a store


def list_anchors(store: StrPath | None = None) -> tuple[Anchor, ...]:
    """Return what a store keeps to hold its estimates against.

    Parameters
    ----------
    store
        As for `open_store`.
    """
    return tuple(anchors.list_anchors(open_store(find_store(store))))


def remove_anchor(store: StrPath | None, name: str) -> None:
    """Take an anchor out of a store; estimates do without it from then on.

    Parameters
    ----------
    store
        As for `open_store`.
    name
        The anchor's.

    Raises
    ------
    StoreError
        If there is none of that name.
    """
    anchors.remove_anchor(open_store(find_store(store)), name)


def add_anchor(
    store: StrPath | None,
    name: str,
    reference: StrPath | int | Iterable[StrPath],
    *,
    kind: AnchorKind,
    date: dt.date | str | None = None,
    crawl: str | None = None,
    format: str | None = None,  # noqa: A002 - as everywhere where files are read
    column: str | None = None,
    scope: StrPath | None = None,
    site: str | None = None,
    own_agents: Iterable[str] | None = None,
) -> Anchor:
    """Keep something that is known from elsewhere; every later estimate is held against it.

    Parameters
    ----------
    store
        As for `open_store`.
    name
        What to call it; one of the same name is replaced.
    reference
        One file or several, in any format that can be read, or sitemaps and access logs, whose
        indexes lead to their parts; of a frontier a number, or a report of the crawler.
    kind
        ``uniform``: URLs that were drawn evenly from all that could be crawled. ``complete``: all
        URLs of hosts that were drawn evenly. ``frontier``: how many URLs a crawler knew of and did
        not fetch.
    date
        What it was true of. If not given, it is of the time of the crawl.
    crawl
        Label of the crawl to hold it against; the nearest one in time by default, but the first,
        whose coverage crawls cannot tell; the newest one if there is no date.
    format, column, scope
        As for `add_crawl`.
    site
        Of access logs whose lines do not name their host: its address.
    own_agents
        Of access logs: parts of the names of crawlers whose fetches do not count; by default those
        of known archives.

    Raises
    ------
    SourceError
        If the reference cannot be read, or holds nothing.
    StoreError
        If there is no such crawl, or the store cannot be written to.
    """
    opened = open_store(find_store(store))
    day = parse_date(date) if isinstance(date, str) else date
    crawls = [item.crawl for item in opened.crawl_sets()]
    if not crawls:
        raise StoreError(f"the store {opened.path} holds no crawls; add some first")
    labels = [item.label for item in crawls]
    if crawl is not None and crawl not in labels:
        raise StoreError(f"there is no crawl {crawl!r}; the store holds {', '.join(labels)}")
    # Which crawl is the newest one will change.
    label = crawl or (labels[-1] if day is None or kind == "frontier" else None)
    words = [str(reference)] if isinstance(reference, int) else list_words(reference)
    blank = Anchor(name=name, kind=kind, key_rule=opened.key_rule, date=day, label=label)
    if kind == "frontier":
        made = _read_frontier(blank, words, label or labels[-1])
    else:
        settings = Settings(
            key_rule=opened.rule,
            scope=None if scope is None else read_scope(to_path(os.fspath(scope))),
            format=format,
            column=column,
            site=site,
            own_agents=OWN_AGENTS if own_agents is None else tuple(own_agents),
        )
        drawn = anchors.find_anchor(opened, name) if kind == "complete" else None
        made = _read_urls(blank, words, settings, drawn)
    anchors.save_anchor(opened, made)
    return made


def _read_frontier(blank: Anchor, words: Sequence[str], label: str) -> Anchor:
    if len(words) != 1:
        raise SourceError("a frontier is one number or one file; name one")
    with need_whole():
        found = read_frontier(words[0], label)
    is_file = found.format != "a number" or not words[0].replace(",", "").replace("_", "").isdigit()
    return replace(
        blank,
        n_queued=found.n_urls,
        is_all_known=found.is_all_known,
        left_out={"too-few-fields": found.n_left_out} if found.n_left_out else {},
        provenance=Provenance.now(
            settings={"format": found.format},
            inputs=(fingerprint(words[0]),) if is_file else (),
        ),
    )


def _read_urls(
    blank: Anchor, words: Sequence[str], settings: Settings, drawn: Anchor | None
) -> Anchor:
    is_complete = blank.kind == "complete"
    found = Entries(row_threshold=WHOLE if is_complete else 1, most=MAX_KEYS, too_many=_TOO_MANY)
    with need_whole():
        read = read_inputs(find_inputs(words), settings, found, n_threads=0)
    keys, rows = found.finish(", ".join(words))
    made = replace(blank, keys=keys)
    settings_used: dict[str, Setting] = {"site": settings.site}
    if is_complete:
        if drawn is not None and drawn.drawn:
            settings_used |= dict(drawn.provenance.settings)
            made = replace(made, drawn=drawn.drawn)
        hosts = [host.decode() for host in settings.names.hosts.texts()]
        made = _by_host(made, rows, hosts, found.left_out)
    inputs = tuple(replace(item, name=conceal(item.name)) for item in read.inputs)
    return replace(
        made,
        left_out=dict(+found.left_out),
        provenance=Provenance.now(settings=settings_used, inputs=inputs),
    )


def _by_host(
    anchor: Anchor, rows: NDArray[np.void], names: Sequence[str], left_out: Counter[str]
) -> Anchor:
    """Give each key its host; what has none, or another than those drawn, is left out."""
    has_host = rows["host"] >= 0
    used, drawn = np.unique(rows["host"][has_host]).tolist(), {*anchor.drawn}
    wanted = [code for code in used if not drawn or names[code] in drawn]
    if drawn and not wanted:
        raise SourceError(
            f"none of the hosts listed was drawn for {anchor.name!r}: "
            f"{', '.join(anchor.drawn[:5])}, …; give their lists, or another name"
        )
    is_wanted = np.isin(rows["host"], wanted)
    left_out[_NO_HOST] += int(np.count_nonzero(~has_host))
    left_out[_NOT_DRAWN] += int(np.count_nonzero(has_host & ~is_wanted))
    return replace(
        anchor,
        keys=np.ascontiguousarray(rows["key"][is_wanted]),
        hosts=tuple(names[code] for code in wanted),
        host_codes=np.searchsorted(wanted, rows["host"][is_wanted]).astype(np.uint32),
    )


# ----------------------------------------------------------------------------------- drawing hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Hosts that were drawn evenly from a list.

    Parameters
    ----------
    hosts
        Those drawn, in the order of the draw.
    n_listed
        Hosts in the list.
    seed
        The same seed draws the same hosts from the same list.
    """

    hosts: tuple[str, ...]
    n_listed: int
    seed: int


def draw_hosts(
    store: StrPath | None,
    name: str,
    n_hosts: int,
    source: StrPath,
    *,
    seed: int | None = None,
    column: str | None = None,
    is_scope: bool = False,
) -> Draw:
    """Draw hosts evenly from the list that defines an archive's scope, and keep the draw.

    Their complete lists of URLs are then what `add_anchor` takes under the same name.

    Parameters
    ----------
    store
        As for `open_store`.
    name
        What the anchor will be called.
    n_hosts
        How many to draw.
    source
        The list: seeds, or a registry's hosts, whether the archive holds them or not; of several
        URLs of a host, one counts.
    seed
        For a draw that can be repeated; kept in any case.
    column
        As for `recall`.
    is_scope
        Whether a list of just the hosts that the crawls hold is the scope's own, all of whose hosts
        were met.

    Raises
    ------
    SourceError
        If the list cannot be read or is too short, or was made from what the store holds: hosts
        that it lacks could not be drawn then, and the number would be too good.
    """
    opened = open_store(find_store(store))
    path = os.fspath(source)
    sets = opened.crawl_sets()
    place = to_path(path)
    if place.is_dir() or str(place).startswith(f"{opened.path}/"):
        raise _refuse(path)
    listed, _, _ = read_reference_names(path, by="host", column=column)
    own = fingerprint(path)
    crawled = {item.checksum for one in sets for item in one.provenance.inputs}
    hosts = sorted(listed)
    if own.checksum in crawled or (not is_scope and _are_held(opened, sets, set(hosts))):
        raise _refuse(path)
    if n_hosts < 1 or n_hosts > len(hosts):
        raise SourceError(f"{n_hosts} hosts cannot be drawn from the {len(hosts)} of {path}")
    seed = secrets.randbits(32) if seed is None else seed
    drawn = tuple(random.Random(seed).sample(hosts, n_hosts))  # noqa: S311 - a draw, no secret
    provenance = Provenance.now(
        settings={"seed": seed, "drawn_from": conceal(path), "n_listed": len(hosts)},
        inputs=(replace(own, name=conceal(path)),),
    )
    made = Anchor(name=name, kind="complete", key_rule=opened.key_rule, drawn=drawn)
    anchors.save_anchor(opened, replace(made, provenance=provenance))
    return Draw(hosts=drawn, n_listed=len(hosts), seed=seed)


def _refuse(path: str) -> SourceError:
    return SourceError(
        f"{path} lists what the store holds: hosts that no crawl met could not be drawn from it, "
        "and the coverage would come out too high. Draw from the list that defines the archive's "
        "scope: its seeds, or a registry; if it is that list, and every host of it was met, say so "
        "with --is-scope"
    )


def _are_held(store: Store, sets: Sequence[CrawlSet], hosts: set[str]) -> bool:
    """Tell whether the hosts are just those of one of the crawls, or of all together."""
    each = [find_names(store, item, by="host")[0] for item in sets]
    return any(
        hosts <= held and len(hosts) >= _MOST_ALIKE * len(held)
        for held in (*each, set[str]().union(*each))
    )


# --------------------------------------------------------------------------------------- counting


def count_anchors(
    store: Store, kept: Iterable[Anchor], crawls: Sequence[Crawl]
) -> tuple[AnchorCounts, ...]:
    """Count what crawls hold of a store's anchors, each held against one of them.

    Parameters
    ----------
    store
        Where both are.
    kept
        The anchors.
    crawls
        That are estimated from, in order of date; an anchor of another crawl is passed over.

    Raises
    ------
    StoreError
        If one cannot be read.
    """
    found = []
    for anchor in kept:
        label = anchor.label
        if label is None and anchor.date is not None:
            # What the first crawl holds says nothing of the others: nothing tells them apart.
            label = min(crawls[1:] or crawls, key=_distance_to(anchor.date)).label
        crawl = next((crawl for crawl in crawls if crawl.label == label), None)
        if crawl is None or anchor.is_pending:
            continue
        if anchor.key_rule != store.key_rule:
            raise StoreError(
                f"the anchor {anchor.name!r} is of rule {anchor.key_rule}, the store of "
                f"{store.key_rule}; add it again with crawlgauge anchor"
            )
        found.append(_count(store, anchor, crawl))
    return tuple(found)


def _distance_to(day: dt.date) -> Callable[[Crawl], int]:
    return lambda crawl: abs((crawl.date - day).days)


def _count(store: Store, anchor: Anchor, crawl: Crawl) -> AnchorCounts:
    counts = AnchorCounts(name=anchor.name, kind=anchor.kind, date=anchor.date, label=crawl.label)
    if anchor.kind == "frontier":
        n_known = anchor.n_queued or 0
        return replace(
            counts, n_queued=max(n_known - crawl.n_urls, 0) if anchor.is_all_known else n_known
        )
    held = find_held(store.crawl_set(crawl.label), anchor.keys)
    counts = replace(counts, n_looked_for=held.size, n_held=int(np.count_nonzero(held)))
    if anchor.kind == "uniform":
        return counts
    codes = anchor.host_codes[: held.size]
    alive = np.bincount(codes, minlength=len(anchor.hosts))
    own = np.bincount(codes[held], minlength=len(anchor.hosts))
    return replace(counts, per_host=tuple(zip(alive.tolist(), own.tolist(), strict=True)))
