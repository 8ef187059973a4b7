"""What the user chooses when adding: which URLs are the same, what counts, how files are read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from crawlgauge.keys.levels import BY_TEXT, BY_URL
from crawlgauge.keys.rules import GIVEN, SURT, KeyRule
from crawlgauge.keys.scope import Scope
from crawlgauge.keys.thresholds import Sampling
from crawlgauge.provenance import Setting
from crawlgauge.sources.captures import Captures
from crawlgauge.sources.request import DEFAULT_MAX_EXPANSION, Field, Request
from crawlgauge.sources.what_counts import WhatCounts, keep, select_captures
from crawlgauge.store.memory import default_memory

__all__ = ["Choices", "OnDamage"]

OnDamage = Literal["stop", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The user's choices for adding crawls.

    Parameters
    ----------
    rule
        Which URLs are the same.
    counts
        Which captures count, by status and media type.
    scope
        Which URLs count; None for all.
    format, column
        Format of the inputs, and the column that holds the URLs; None to find out.
    on_damage
        Whether damaged input stops the whole, or what can be read of it is kept.
    max_expansion
        How many times its compressed size an input may have.
    sampling
        Which part of the keys is kept.
    memory
        How many bytes of memory may be taken.
    levels
        What sets are made of the crawl.
    n_threads
        How many inputs are read at once; None for as many as there are processors.
    """

    rule: KeyRule = SURT
    counts: WhatCounts = field(default_factory=WhatCounts)
    scope: Scope | None = None
    format: str | None = None
    column: str | None = None
    on_damage: OnDamage = "stop"
    max_expansion: float = DEFAULT_MAX_EXPANSION
    sampling: Sampling = field(default_factory=Sampling)
    memory: int = field(default_factory=default_memory)
    levels: tuple[str, ...] = (BY_URL,)
    n_threads: int | None = None

    def request(self, group: str | None = None) -> Request:
        """Return what readers are asked for."""
        # Status and media type of some URLs are kept, whether or not they decide what counts.
        fields: set[Field] = {"time", "status", "mime", *self.counts.fields}
        if self.rule == GIVEN:
            fields.add("key")
        if self.levels != (BY_URL,):
            fields.add("digest")
        return Request(
            fields=frozenset(fields),
            format=self.format,
            column=self.column,
            group=group,
            needs_url=self.rule != GIVEN or self.scope is not None or self.column is not None,
            reads_bodies=self.levels != (BY_URL,),
            reads_texts=BY_TEXT in self.levels,
            hosts=None if self.scope is None else self.scope.hosts,
            max_expansion=self.max_expansion,
        )

    def select(self, batches: Iterable[Captures]) -> Iterator[Captures]:
        """Yield the captures that count, with the others counted by reason."""
        for batch in batches:
            captures = select_captures(batch, self.counts)
            yield captures if self.scope is None else _within(captures, self.scope)

    def settings(self) -> dict[str, Setting]:
        """Return the choices that a crawl's content depends on, by name."""
        settings: dict[str, Setting] = {
            "status": self.counts.status,
            "mime": self.counts.mime,
            "scope": None if self.scope is None else self.scope.checksum,
            "format": self.format,
            "column": self.column,
            "on_damage": self.on_damage,
            "sample": self.sampling.text,
        }
        if self.levels != (BY_URL,):
            # Left out where it says nothing, as in crawls from before there were levels.
            settings["levels"] = ",".join(self.levels)
        return settings


def _within(captures: Captures, scope: Scope) -> Captures:
    is_inside = scope.covers(captures.url)
    n_outside = int(np.count_nonzero(~is_inside))
    if not n_outside:
        return captures
    excluded = {**captures.excluded, "out-of-scope": n_outside}
    return keep(replace(captures, excluded=excluded), is_inside)
