"""Count the overlaps of all crawls, exactly or in a sample, and no more than is not known yet."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from crawlgauge.compiled import announce_compilation
from crawlgauge.crawl import Crawl
from crawlgauge.errors import OverlapError
from crawlgauge.keys.levels import BY_URL
from crawlgauge.keys.thresholds import WHOLE, parse_rate, rate_of, threshold_of
from crawlgauge.overlaps.cache import load_counts, save_counts
from crawlgauge.overlaps.counts import (
    Counts,
    Subject,
    add_new_sets,
    counts_of_pass,
    select_sets,
)
from crawlgauge.overlaps.hash_pass import HashPass, Progress, run_pass
from crawlgauge.overlaps.histories import MAX_HISTORY_CRAWLS, Histories
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.overlaps.tally_kernel import count_histories, count_pairs
from crawlgauge.provenance import Input, Provenance
from crawlgauge.remote.remote_path import AnyPath
from crawlgauge.store.catalogue import Store
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["count_sets", "count_store", "crawl_below"]

_MAX_NEW_SHARE = 1 / 3
"""With more new keys than this share of all, finding each of them in each old set takes longer
than to merge all sets anew."""

_log = logging.getLogger(__name__)


def count_store(
    store: Store,
    *,
    sample: str | None = None,
    level: str = BY_URL,
    progress: Progress | None = None,
    engine: HashPass | None = None,
) -> OverlapTable:
    """Count the overlaps of all crawls of a store; what it has counted before is not read again.

    Parameters
    ----------
    store
        The store. If it cannot be written to, nothing is kept for the next time.
    sample
        Count only this share of the URLs, such as ``1/64`` or ``0.01``; None for all that the
        store has of every crawl.
    level
        What to count: ``url``, ``content`` or ``text``.
    progress
        Called with how many of how many hash ranges are done.
    engine
        What passes over the sets; `run_pass` if not given.

    Raises
    ------
    OverlapError, StoreError
        As for `count_sets`, or if `sample` is no share, or if a crawl has no set of that level.
    """
    threshold = WHOLE if sample is None else threshold_of(parse_rate(sample))
    sets = store.crawl_sets(level)
    try:
        cache = store.cache_folder()
    except OSError as error:
        _log.info("counts are not kept for the next time: %s: %s", store.path, error.strerror)
        cache = None
    return count_sets(sets, threshold=threshold, cache=cache, progress=progress, engine=engine)


def count_sets(
    sets: Sequence[CrawlSet],
    *,
    threshold: int = WHOLE,
    cache: AnyPath | None = None,
    progress: Progress | None = None,
    engine: HashPass | None = None,
) -> OverlapTable:
    """Count how many URLs each two crawls share, and how many have each capture history.

    Pairs are counted for any number of crawls, histories for up to 64. If the histories are too
    many different ones, they are counted in a part of the URLs; pairs never are.

    Parameters
    ----------
    sets
        The crawls' sets, in order of date, then label.
    threshold
        Only keys below it are counted; less if a set holds less.
    cache
        Folder of counts from before; those of these sets are kept there. None for no cache.
    progress
        Called with how many of how many hash ranges are done.
    engine
        What passes over the sets; `run_pass` if not given.

    Raises
    ------
    OverlapError
        If there are no sets, sets that cannot be compared, or a sample without any URL of a crawl.
    StoreError
        If a set cannot be read; it is named.
    """
    _check_comparable(sets)
    common = min(threshold, *(item.threshold for item in sets))
    counts = _count(sets, common, cache, progress, engine)
    histories = None
    if counts.history_end:
        histories = Histories(
            n_crawls=len(sets),
            masks=counts.masks,
            counts=counts.counts,
            sample_rate=rate_of(counts.history_end),
        )
    sample = _describe_sample(sets, threshold, common)
    if sample is not None:
        _log.info("overlaps are counted among %s", sample)
    return OverlapTable(
        crawls=tuple(
            crawl_below(item, common, int(n))
            for item, n in zip(sets, counts.n_shared.diagonal(), strict=True)
        ),
        n_shared=counts.n_shared,
        histories=histories,
        level=sets[0].level,
        key_rule=sets[0].key_rule,
        sample_rate=rate_of(common),
        provenance=Provenance(
            settings={} if sample is None else {"counted_among": sample},
            inputs=tuple(Input(name=item.crawl.label, checksum=item.checksum) for item in sets),
        ),
    )


def _count(
    sets: Sequence[CrawlSet],
    threshold: int,
    cache: AnyPath | None,
    progress: Progress | None,
    engine: HashPass | None,
) -> Counts:
    subject = Subject(
        level=sets[0].level,
        key_rule=sets[0].key_rule,
        threshold=threshold,
        checksums=tuple(item.checksum for item in sets),
    )
    kept = [] if cache is None else list(load_counts(cache))
    known = _find_most_useful(kept, sets, subject)
    if known is not None and known.subject == subject:
        return known
    counts = None if known is None else _count_new(sets, subject, known, progress, engine)
    if counts is None:
        announce_compilation(count_histories, count_pairs)
        counted = (engine or run_pass)(
            sets, len(sets), threshold, history_end=threshold, progress=progress
        )
        counts = counts_of_pass(subject, counted)
    if cache is not None:
        _save(cache, counts)
    return counts


def _count_new(
    sets: Sequence[CrawlSet],
    subject: Subject,
    known: Counts,
    progress: Progress | None,
    engine: HashPass | None,
) -> Counts | None:
    """Count only the keys of sets that are not in `known`; None if that is not enough."""
    place_of = {checksum: k for k, checksum in enumerate(known.subject.checksums)}
    new = [k for k, item in enumerate(sets) if item.checksum not in place_of]
    old = [k for k, item in enumerate(sets) if item.checksum in place_of]
    selected = select_sets(known, [place_of[sets[k].checksum] for k in old])
    if not new:
        return selected
    announce_compilation(count_histories, count_pairs)
    counted = (engine or run_pass)(
        [sets[k] for k in (*new, *old)],
        len(new),
        subject.threshold,
        history_end=known.history_end,
        progress=progress,
    )
    return add_new_sets(subject, selected, counted, new)


def _find_most_useful(
    kept: Iterable[Counts], sets: Sequence[CrawlSet], subject: Subject
) -> Counts | None:
    """Return the counts that leave the least to be counted, if any help."""
    n_of = {item.checksum: item.crawl.n_counted for item in sets}
    n_all = sum(item.crawl.n_counted for item in sets)
    best, n_best = None, (1 - _MAX_NEW_SHARE) * n_all
    for counts in kept:
        about = counts.subject
        if replace(about, checksums=()) != replace(subject, checksums=()):
            continue
        if about == subject:
            return counts
        is_whole = counts.history_end == about.threshold
        # Histories of fewer crawls may go farther than where they had to be cut, or to begin with.
        is_extended = set(about.checksums) <= n_of.keys() and counts.history_end > 0
        if not (is_whole or is_extended or len(sets) > MAX_HISTORY_CRAWLS):
            continue
        n_known = sum(item.crawl.n_counted for item in sets if item.checksum in about.checksums)
        if n_known >= n_best:
            best, n_best = counts, n_known
    return best


def _save(cache: AnyPath, counts: Counts) -> None:
    try:
        save_counts(cache, counts)
    except OSError as error:
        _log.info("counts are not kept for the next time: %s: %s", cache, error.strerror)


def _check_comparable(sets: Sequence[CrawlSet]) -> None:
    if not sets:
        raise OverlapError("the store holds no crawls; add some with crawlgauge add")
    first = sets[0]
    for other in sets[1:]:
        for what in ("key_rule", "level"):
            if getattr(other, what) != getattr(first, what):
                raise OverlapError(
                    f"crawls {first.crawl.label!r} and {other.crawl.label!r} cannot be compared: "
                    f"their {what.replace('_', ' ')} is {getattr(first, what)} and "
                    f"{getattr(other, what)}; add one of them again from its files with --replace"
                )


def crawl_below(item: CrawlSet, threshold: int, n_counted: int) -> Crawl:
    """Return the crawl with the size that it has below a threshold.

    Parameters
    ----------
    item
        Its set.
    threshold
        At most the set's own.
    n_counted
        How many of its keys are below.

    Raises
    ------
    OverlapError
        If none is.
    """
    if threshold == WHOLE:
        return item.crawl
    if n_counted == 0:
        raise OverlapError(
            f"none of the {item.crawl.n_urls:,} URLs of crawl {item.crawl.label!r} is in the "
            f"sample of {_one_in(threshold)}; take a larger sample, or leave the crawl out"
        )
    # A size that is known stays as it is; another is as uncertain as the sample it comes from.
    is_known = item.threshold == WHOLE
    n_urls = item.crawl.n_urls if is_known else round(n_counted * WHOLE / threshold)
    return replace(item.crawl, n_urls=n_urls, n_sampled=n_counted)


def _describe_sample(sets: Sequence[CrawlSet], wanted: int, common: int) -> str | None:
    """Return in words what part of the URLs is counted, and why; None if all are."""
    if common == WHOLE:
        return None
    text = f"{_one_in(common)} of the URLs"
    if common == wanted:
        return text
    cause = next(item for item in sets if item.threshold == common)
    how = cause.provenance.settings.get("sample") or f"{cause.sample_rate:.6g}"
    return f"{text}: {cause.crawl.label} was added with --sample {how}"


def _one_in(threshold: int) -> str:
    return "1 in " + f"{1 / rate_of(threshold):,.1f}".removesuffix(".0")
