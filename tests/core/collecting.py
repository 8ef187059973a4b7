"""A collector that keeps what it hands on, for the tests."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from crawlgauge.core.batch import NO_CODE, NO_STATUS, NO_TIME
from crawlgauge.core.captures import REASONS, Collector
from crawlgauge.keys.names import Names
from crawlgauge.sources.what_counts import Settings, WhatCounts


@dataclass
class Collected:
    """All that a collector has handed on."""

    names: Names
    batches: list = field(default_factory=list)

    def _all(self, name):
        return [getattr(batch, name) for batch in self.batches]

    @property
    def keys(self):
        return [int(key) for keys in self._all("keys") for key in keys]

    @property
    def n_captures(self):
        return sum(self._all("n_captures"))

    @property
    def n_no_status(self):
        return sum(self._all("n_no_status"))

    @property
    def rejected(self):
        return dict(sum(map(Counter, self._all("rejected")), Counter()))

    @property
    def excluded(self):
        return dict(sum(map(Counter, self._all("excluded")), Counter()))

    @property
    def days(self):
        return dict(sum(map(Counter, self._all("days")), Counter()))

    @property
    def left_out(self):
        return [
            (REASONS[row["reason"]], self._name(self.names.groups, row["group"]))
            for rows in self._all("left_out")
            for row in rows
        ]

    @property
    def digests(self):
        return [digest for digests in self._all("digests") for digest in digests]

    @property
    def rows(self):
        """Key, time, host, media type, status, and whether it is a revisit, of each row."""
        return [
            (
                int(row["key"]),
                None if row["time"] == NO_TIME else int(row["time"]),
                self._name(self.names.hosts, row["host"]),
                self._name(self.names.types, row["mime"]),
                None if row["status"] == NO_STATUS else int(row["status"]),
                bool(row["is_revisit"]),
            )
            for row in np.concatenate(self._all("rows"))
        ]

    @property
    def groups(self):
        return [
            self._name(self.names.groups, code) for codes in self._all("groups") for code in codes
        ]

    @staticmethod
    def _name(table, code):
        return None if code == NO_CODE else table.texts()[code]


def collect(**settings):
    """Return a collector, and what it hands on; ``any`` status counts if nothing is said."""
    names = Names()
    found = Collected(names)
    settings.setdefault("counts", WhatCounts(status="any"))
    return Collector(Settings(names=names, **settings), found.batches.append), found
