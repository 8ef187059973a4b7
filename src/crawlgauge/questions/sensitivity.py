"""What moves the number: the estimate made again without a crawl, from parts, by other choices."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

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
    measure,
    rank_movements,
    weigh_crawls,
    without_crawls,
    without_regimes,
    without_short_lags,
)
from crawlgauge.overlaps.table import OverlapTable
from crawlgauge.provenance import Setting
from crawlgauge.report import result_json, sensitivity_blocks
from crawlgauge.report.blocks import render_blocks
from crawlgauge.report.section import Section
from crawlgauge.sources.inputs import STDIN
from crawlgauge.sources.remote import AnyPath, conceal, to_path
from crawlgauge.sources.what_counts import DEFAULT_STATUS
from crawlgauge.store.crawl_set import CrawlSet

__all__ = ["Sensitivity", "sensitivity"]


# ---------- read the files of crawls again with other choices, into stores that are gone afterwards


_STATUSES = (DEFAULT_STATUS, "200", "any")
_MIMES = (None, "text/html")
_FOLDER = ".crawlgauge-sensitivity-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One option that is set otherwise; all others stay."""

    kind: Kind
    change: str
    subject: str
    options: ReadOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Rereading:
    """Crawls that can be read again.

    Parameters
    ----------
    crawl_list
        Where their files are, as for `add_crawls`.
    table
        What was estimated from: its crawls are taken, and of their pairs those that it has.
    options
        How they were read, and which sample of them is read again.
    folder
        For stores; each is removed when it has been counted.
    """

    crawl_list: AnyPath
    table: OverlapTable
    options: ReadOptions
    folder: Path

    def __post_init__(self) -> None:
        if str(self.crawl_list) == STDIN:
            raise SourceError(
                "the list of crawls is read several times, which standard input does not allow; "
                "name a file"
            )
        listed = {crawl.label for crawl in read_crawl_list(self.crawl_list)}
        lacking = [crawl.label for crawl in self.table.crawls if crawl.label not in listed]
        if lacking:
            raise SourceError(
                f"{self.crawl_list} does not list {names(lacking)}, which the estimate is made "
                "from; add the lines, or leave the crawls out with --exclude"
            )

    def read(self, choice: Choice | None = None) -> OverlapTable:
        """Read all files again and count.

        Parameters
        ----------
        choice
            What is set otherwise; nothing if None.

        Raises
        ------
        CrawlgaugeError
            As for `add_crawls` and `count_overlaps`.
        """
        options: ReadOptions = {**self.options, **({} if choice is None else choice.options)}
        store = self.folder / "store"
        try:
            add_crawls(store, str(self.crawl_list), **options)
            return fit_to(self.table, count_overlaps(store))
        finally:
            shutil.rmtree(store, ignore_errors=True)

    def vary(self, choice: Choice) -> Variation:
        """Read all files again with a choice; if that is not possible, say why."""
        table, reason = None, ""
        try:
            table = self.read(choice)
        except CrawlgaugeError as error:
            reason = str(error)
        return Variation(
            kind=choice.kind,
            change=choice.change,
            subject=choice.subject,
            table=table,
            reason=reason,
        )


def options_of(
    table: OverlapTable, sets: Sequence[CrawlSet], *, sample: str, scope: StrPath | None
) -> ReadOptions:
    """Return the options by which crawls were read, with the sample to be read again.

    Parameters
    ----------
    table
        Its rule is taken.
    sets
        The crawls in the store, whose choices are taken where they agree; none if the table does
        not come from a store.
    sample
        As for `add_crawls`.
    scope
        The file of URLs that count, if there was one: stores keep its checksum only.

    Raises
    ------
    SourceError
        If the crawls were read with different choices or with another scope than is given, or if
        the table is not of URLs.
    """
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
    _check_scope(scope, _common(settings, "scope"))
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


def _check_scope(scope: StrPath | None, checksum: Setting) -> None:
    if scope is None:
        if checksum is not None:
            raise SourceError("the crawls were added with --scope; name the same file again")
    elif checksum is not None and read_scope(scope).checksum != checksum:
        raise SourceError(
            f"{conceal(os.fspath(scope))} is not the scope that the crawls were added with"
        )


def list_choices(options: ReadOptions) -> tuple[Choice, ...]:
    """Return all other rules of identity, statuses and media types to try.

    Parameters
    ----------
    options
        How the crawls were read.
    """
    identities = [name for name in RULES if name != options.get("identity")]
    statuses = [text for text in _STATUSES if text != options.get("status", DEFAULT_STATUS)]
    mimes = [text for text in _MIMES if text != options.get("mime")]
    return (
        *(
            Choice(
                kind="identity",
                change=f"URLs the same by {name}",
                subject=name,
                options={"identity": name},
            )
            for name in identities
        ),
        *(
            Choice(
                kind="status",
                change="captures of any status" if text == "any" else f"captures of status {text}",
                subject=text,
                options={"status": text},
            )
            for text in statuses
        ),
        *(
            Choice(
                kind="mime",
                change="all media types" if text is None else f"captures of {text} only",
                subject=text or "all",
                options={"mime": text},
            )
            for text in mimes
        ),
    )


@contextmanager
def make_room(store: Path | None) -> Iterator[Path]:
    """Give a folder for stores that is removed on every way out.

    Parameters
    ----------
    store
        The folder is made beside it, where there is room for crawls, if that is possible; else
        where the system keeps such folders.
    """
    with _make_folder(store) as folder:
        yield Path(folder)


def _make_folder(store: Path | None) -> "tempfile.TemporaryDirectory[str]":
    if store is not None:
        try:
            return tempfile.TemporaryDirectory(prefix=_FOLDER, dir=store.resolve().parent)
        except OSError:
            # A store may lie where nothing can be written.
            pass
    return tempfile.TemporaryDirectory(prefix=_FOLDER)


# ---------------------------------------------------------------------------- what moves the number


_NO_PARTS = "overlaps of pairs cannot be divided; capture histories could be"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How far the estimates move with each change, ready to be read, printed or saved.

    Parameters
    ----------
    movements
        The numbers.
    """

    movements: Movements

    def summary(self) -> str:
        """Return the changes as text for a terminal, those that move the coverage most first."""
        return render_blocks(sensitivity_blocks.to_blocks(self.movements))

    def to_dict(self) -> dict[str, Any]:
        """Return the changes as plain data, in the form of the JSON schema."""
        return result_json.sensitivity_document(self.movements)

    def to_json(self) -> str:
        """Return the changes as JSON."""
        return result_json.to_json(self.to_dict())

    def section(self) -> Section:
        """Return what the report shows of the changes."""
        return Section(
            name="sensitivity",
            title="What moves the number",
            blocks=tuple(sensitivity_blocks.to_blocks(self.movements)),
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
        again = as_added = None
        if crawl_list is not None:
            again = Rereading(
                crawl_list=to_path(os.fspath(crawl_list)),
                table=table,
                options=options_of(table, sets, sample=sample, scope=scope),
                folder=stack.enter_context(make_room(place if isinstance(place, Path) else None)),
            )
            # First of all: what cannot be read is better known before an hour of estimates.
            as_added = again.read()
        parts, no_parts = _divide(table, sets)
        left_out = [*without_crawls(table), *without_regimes(table)]
        left_out += [*without_short_lags(table), *as_parts(parts)]
        choices = () if again is None else list_choices(again.options)
        movements: list[Movement] = []
        reread = _read_again(fit, again, as_added, choices)
        for movement in chain(_leave_out(fit, left_out), reread):
            movements.append(movement)
            if progress is not None:
                progress(len(movements), len(left_out) + len(choices))
    return Sensitivity(
        movements=rank_movements(
            estimates,
            movements,
            part_rate=parts[0].sample_rate if parts else None,
            reading_rate=None if as_added is None else as_added.sample_rate,
            not_tried=_list_not_tried(movements, no_parts, is_read_again=again is not None),
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


def _read_again(
    fit: Fit, again: Rereading | None, as_added: OverlapTable | None, choices: Sequence[Choice]
) -> Iterator[Movement]:
    """Yield what files give when read with other choices, beside what they give as added."""
    if again is None or as_added is None:
        return
    before = estimate_like(as_added, fit.estimates)
    for choice in choices:
        yield measure(again.vary(choice), before)


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
