"""What moves the number: the estimate made again without a crawl, from parts, by other choices."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from crawlgauge.api import Fit, Progress, count_overlaps, open_store
from crawlgauge.errors import CrawlgaugeError, FitError, OverlapError, SourceError
from crawlgauge.ingest.adding import add_crawls
from crawlgauge.ingest.crawl_list import read_crawl_list
from crawlgauge.ingest.options import ReadOptions, read_scope
from crawlgauge.keys.rules import BY_URL, RULES, SURT
from crawlgauge.locations import StrPath, find_store
from crawlgauge.model.phrases import names
from crawlgauge.model.sensitivity import (
    N_PARTS,
    Kind,
    Movement,
    Movements,
    Variation,
    as_parts,
    divide_histories,
    estimate_like,
    fit_to,
    leave_out,
    measure,
    rank_movements,
    weigh_crawls,
)
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Setting
from crawlgauge.report import result_json, sensitivity_blocks
from crawlgauge.report.section import Answer, Section
from crawlgauge.sources.inputs import STDIN
from crawlgauge.sources.remote import AnyPath, conceal, to_path
from crawlgauge.sources.what_counts import DEFAULT_STATUS
from crawlgauge.store.crawl_set import CrawlSet

if TYPE_CHECKING:
    from crawlgauge.report.blocks import Block

__all__ = ["Sensitivity", "sensitivity"]


_NO_PARTS = "overlaps of pairs cannot be divided; capture histories could be"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity(Answer):
    """How far the estimates move with each change, ready to be read, printed or saved.

    Parameters
    ----------
    movements
        The numbers.
    """

    movements: Movements

    def _blocks(self) -> "list[Block]":
        return sensitivity_blocks.to_blocks(self.movements)

    def _document(self) -> dict[str, Any]:
        return result_json.sensitivity_document(self.movements)

    def _section(self) -> Section:
        return Section(
            name="sensitivity", title="What moves the number", blocks=tuple(self._blocks())
        )


def sensitivity(
    fit: Fit,
    *,
    store: StrPath | None = None,
    crawl_list: StrPath | None = None,
    sample: str = "auto",
    scope: StrPath | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """See what moves the estimates: leave out crawls, regimes, short lags and most URLs in turn.

    Every change takes as long as an estimate; reading files again takes as long as adding them.

    Parameters
    ----------
    fit
        What `estimate` returned.
    store
        The store that it was counted from, if any: parts of the URLs are then counted in it, by
        ranges of their keys. Without it, capture histories are divided at random.
    crawl_list
        The CSV list of the crawls' files (``label,date,path``), as for `add_crawls`. If given,
        they are read again with other rules for which URLs are the same, other statuses and other
        media types, into a folder that is removed afterwards.
    sample
        Which part of the URLs is read again; as for `add_crawls`.
    scope
        The file of URLs that count, if the crawls were added with one.
    progress
        Called with how many of how many changes have been tried.

    Raises
    ------
    CrawlgaugeError
        If the store or a file cannot be read, or the list lacks a crawl.
    """
    table, estimates = fit.table, fit.estimates
    place = None if store is None else find_store(store)
    sets = () if place is None else _sets_of(str(place), table)
    with ExitStack() as stack:
        as_added: OverlapTable | None = None
        choices: list[tuple[Kind, str, str, ReadOptions]] = []
        if crawl_list is not None:
            listed = to_path(os.fspath(crawl_list))
            options = _options_of(table, sets, sample=sample, scope=scope)
            _check_list(listed, table)
            read = partial(_read, listed, table, stack.enter_context(_make_room(place)))
            # First of all: what cannot be read is better known before an hour of estimates.
            as_added, choices = read(options), _list_choices(options)
        parts, no_parts = _divide(table, sets)
        left_out = [*leave_out(table), *as_parts(parts)]
        movements: list[Movement] = []

        def add(movement: Movement) -> None:
            movements.append(movement)
            if progress is not None:
                progress(len(movements), len(left_out) + len(choices))

        for movement in _leave_out(fit, left_out):
            add(movement)
        if as_added is not None:
            before = estimate_like(as_added, estimates)
            for kind, change, subject, changed in choices:
                try:
                    found: OverlapTable | str = read({**options, **changed})
                except CrawlgaugeError as error:
                    found = str(error)
                add(measure(Variation(kind, change, subject, found), before))
    return Sensitivity(
        movements=rank_movements(
            estimates,
            movements,
            part_rate=parts[0].sample_rate if parts else None,
            reading_rate=None if as_added is None else as_added.sample_rate,
            not_tried=_list_not_tried(movements, no_parts, is_read_again=as_added is not None),
        )
    )


def _leave_out(fit: Fit, variations: Sequence[Variation]) -> Iterator[Movement]:
    table, estimates = fit.table, fit.estimates
    weights = dict(zip((crawl.label for crawl in table.crawls), weigh_crawls(table), strict=True))
    by_pairs = estimates
    if table.histories is not None and any(item.kind == "short-lags" for item in variations):
        # Short lags are left out of pairs alone, so that pairs alone are what to compare with.
        by_pairs = estimate_like(replace(table, histories=None), estimates)
    for variation in variations:
        weight = weights[variation.subject] if variation.kind == "crawl" else None
        before = by_pairs if variation.kind == "short-lags" else estimates
        yield measure(variation, before, weight)


def _sets_of(place: str, table: OverlapTable) -> tuple[CrawlSet, ...]:
    store = open_store(place)
    return tuple(store.crawl_set(crawl.label, table.level) for crawl in table.crawls)


def _divide(
    table: OverlapTable, sets: tuple[CrawlSet, ...]
) -> tuple[tuple[OverlapTable, ...], str | None]:
    """Return parts of the URLs, by their keys or at random, or why there are none."""
    try:
        if sets:
            from crawlgauge.overlaps.counting import count_parts

            counted = count_parts(sets, table, N_PARTS)
            return tuple(fit_to(table, part) for part in counted), None
        parts = divide_histories(table)
    except (FitError, OverlapError) as error:
        return (), str(error)
    return parts, None if parts else _NO_PARTS


def _list_not_tried(
    movements: Sequence[Movement], no_parts: str | None, *, is_read_again: bool
) -> tuple[str, ...]:
    kinds = {movement.kind for movement in movements}
    reasons = {
        "crawl": "crawls: an estimate takes two, and there are no more",
        "regime": "regimes: the check change-point finds one only",
        "short-lags": "short lags: there are too few longer ones",
        "part": None if no_parts is None else f"parts: {no_parts}",
        "identity": None
        if is_read_again
        else "which URLs are the same, statuses and media types: this takes the files of the "
        "crawls (--from crawls.csv)",
    }
    return tuple(text for kind, text in reasons.items() if kind not in kinds and text is not None)


# ---------- read the files of crawls again with other choices, into stores that are gone afterwards


_STATUSES = (DEFAULT_STATUS, "200", "any")
_MIMES = (None, "text/html")
_FOLDER = ".crawlgauge-sensitivity-"


def _check_list(crawl_list: AnyPath, table: OverlapTable) -> None:
    if str(crawl_list) == STDIN:
        raise SourceError(
            "the list of crawls is read several times, which standard input does not allow; "
            "name a file"
        )
    listed = {crawl.label for crawl in read_crawl_list(crawl_list)}
    lacking = [crawl.label for crawl in table.crawls if crawl.label not in listed]
    if lacking:
        raise SourceError(
            f"{crawl_list} does not list {names(lacking)}, which the estimate is made from; add "
            "the lines, or leave the crawls out with --exclude"
        )


def _options_of(
    table: OverlapTable, sets: Sequence[CrawlSet], *, sample: str, scope: StrPath | None
) -> ReadOptions:
    """Return the options by which crawls of a store were read, where they agree."""
    if table.level != BY_URL:
        raise SourceError(
            f"files are read again for their URLs only, and the estimate is of level "
            f"{table.level}; leave out --from"
        )
    rule = (table.key_rule or str(SURT)).partition("/")[0]
    options: dict[str, Any] = {"identity": rule, "sample": sample, "scope": scope}
    settings = [item.provenance.settings for item in sets]
    for name in ("status", "mime", "format", "column", "on_damage"):
        value = _common(settings, name)
        if value is not None:
            options[name] = value
    checksum = _common(settings, "scope")
    if scope is None and checksum is not None:
        raise SourceError("the crawls were added with --scope; name the same file again")
    if scope is not None and checksum is not None and read_scope(scope).checksum != checksum:
        raise SourceError(
            f"{conceal(os.fspath(scope))} is not the scope that the crawls were added with"
        )
    return cast("ReadOptions", options)


def _common(settings: Sequence[Mapping[str, Setting]], name: str) -> Setting:
    """Return what all crawls were added with; None if they do not say."""
    found = {of_crawl.get(name) for of_crawl in settings}
    if len(found) > 1:
        raise SourceError(
            f"the crawls were added with different --{name.replace('_', '-')}, so that no one "
            "reading of them is the store's; add them again with the same"
        )
    return found.pop() if found else None


def _list_choices(options: ReadOptions) -> list[tuple[Kind, str, str, ReadOptions]]:
    """Return all other rules of identity, statuses and media types to try, one at a time."""
    identities = [name for name in RULES if name != options.get("identity")]
    statuses = [text for text in _STATUSES if text != options.get("status", DEFAULT_STATUS)]
    mimes = [text for text in _MIMES if text != options.get("mime")]
    choices: list[tuple[Kind, str, str, ReadOptions]] = [
        ("identity", f"URLs the same by {name}", name, {"identity": name}) for name in identities
    ]
    for text in statuses:
        change = "captures of any status" if text == "any" else f"captures of status {text}"
        choices.append(("status", change, text, {"status": text}))
    for mime in mimes:
        change = "all media types" if mime is None else f"captures of {mime} only"
        choices.append(("mime", change, mime or "all", {"mime": mime}))
    return choices


def _read(
    crawl_list: AnyPath, table: OverlapTable, folder: str, options: ReadOptions
) -> OverlapTable:
    """Read all files again and count the crawls and pairs of a table."""
    store = Path(folder) / "store"
    try:
        add_crawls(store, str(crawl_list), **options)
        return fit_to(table, count_overlaps(store))
    finally:
        shutil.rmtree(store, ignore_errors=True)


def _make_room(store: AnyPath | None) -> "tempfile.TemporaryDirectory[str]":
    """Make a folder beside a store, where there is room for crawls, if that is possible."""
    if isinstance(store, Path):
        # A store may lie where nothing can be written.
        with suppress(OSError):
            return tempfile.TemporaryDirectory(prefix=_FOLDER, dir=store.resolve().parent)
    return tempfile.TemporaryDirectory(prefix=_FOLDER)
