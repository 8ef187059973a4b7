"""What the store knows of one crawl: its set of keys and how it came about."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from crawlgauge.crawl import Crawl, format_time, parse_time
from crawlgauge.damage import Damage
from crawlgauge.errors import StoreError
from crawlgauge.keys.thresholds import rate_of
from crawlgauge.provenance import Provenance
from crawlgauge.remote.remote_path import AnyPath

__all__ = ["SET_SCHEMA", "CrawlSet"]

SET_SCHEMA = "crawlgauge.set/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSet:
    """One crawl's sorted set of URL keys, kept in a file, and its description.

    Parameters
    ----------
    crawl
        Label, date and sizes.
    level
        What the keys stand for: ``url``, ``content`` or ``text``. Of the others than ``url``, the
        numbers of URLs are those of contents or texts.
    key_rule
        Name and version of the rule by which they are the same.
    threshold
        The set keeps the keys below it; all of them if it is ``1 << 64``.
    n_captures
        Captures that count, repeated ones included.
    rejected, excluded
        Records that are no captures, and captures that do not count, by reason.
    unassigned
        Records of a collection's files that could not be assigned to any crawl, by reason, where
        this crawl was cut out of a collection.
    n_no_status
        Captures that count although their input, which has statuses, gives none for them.
    n_by_digest
        Captures of the level ``text`` that are no HTML pages, and are told by their digest.
    days
        Captures by the ordinal number of the day on which they were made.
    damage
        What was damaged in the input; empty if nothing.
    checksum
        Of the keys, whatever file they stand in.
    range_bits
        The file has a row group for each value of this many leading bits of the key.
    provenance
        Program, settings and input files.
    path
        The file that holds the keys.
    """

    crawl: Crawl
    level: str
    key_rule: str
    threshold: int
    n_captures: int
    rejected: Mapping[str, int]
    excluded: Mapping[str, int]
    damage: tuple[Damage, ...]
    checksum: str
    range_bits: int
    provenance: Provenance
    path: AnyPath
    unassigned: Mapping[str, int] = field(default_factory=dict)
    n_no_status: int = 0
    n_by_digest: int = 0
    days: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("rejected", "excluded", "unassigned", "days"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def sample_rate(self) -> float:
        """Share of all keys that the set keeps."""
        return rate_of(self.threshold)

    def to_dict(self) -> dict[str, Any]:
        """Return the description that stands in the file's metadata."""
        crawl = self.crawl
        return {
            "schema": SET_SCHEMA,
            "label": crawl.label,
            "date": crawl.date.isoformat(),
            "first_capture": format_time(crawl.first_capture),
            "last_capture": format_time(crawl.last_capture),
            "n_urls": crawl.n_urls,
            "n_sampled": crawl.n_sampled,
            "level": self.level,
            "key_rule": self.key_rule,
            # Beyond what numbers in JSON hold exactly.
            "threshold": f"{self.threshold:#x}",
            "n_captures": self.n_captures,
            "rejected": dict(self.rejected),
            "excluded": dict(self.excluded),
            "unassigned": dict(self.unassigned),
            "n_no_status": self.n_no_status,
            **({"n_by_digest": self.n_by_digest} if self.n_by_digest else {}),
            "days": [[dt.date.fromordinal(day).isoformat(), n] for day, n in self.days.items()],
            "damage": [damage.to_dict() for damage in self.damage],
            "checksum": self.checksum,
            "range_bits": self.range_bits,
            "provenance": self.provenance.to_dict(),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], path: AnyPath) -> "CrawlSet":
        """Read what `to_dict` wrote.

        Raises
        ------
        StoreError
            If the description is of another format.
        """
        schema = document.get("schema")
        if schema != SET_SCHEMA:
            raise StoreError(
                f"{path} is a set of format {schema!r}; this version of crawlgauge reads "
                f"{SET_SCHEMA!r}. Use the version that wrote it, or a newer one"
            )
        return cls(
            crawl=Crawl(
                label=document["label"],
                date=dt.date.fromisoformat(document["date"]),
                n_urls=document["n_urls"],
                n_sampled=document["n_sampled"],
                first_capture=parse_time(document["first_capture"]),
                last_capture=parse_time(document["last_capture"]),
                damaged=bool(document["damage"]),
            ),
            level=document["level"],
            key_rule=document["key_rule"],
            threshold=int(document["threshold"], 16),
            n_captures=document["n_captures"],
            rejected=document["rejected"],
            excluded=document["excluded"],
            unassigned=document["unassigned"],
            n_no_status=document["n_no_status"],
            # Sets from before there were other levels do not have it.
            n_by_digest=document.get("n_by_digest", 0),
            days={dt.date.fromisoformat(day).toordinal(): n for day, n in document["days"]},
            damage=tuple(map(Damage.from_dict, document["damage"])),
            checksum=document["checksum"],
            range_bits=document["range_bits"],
            provenance=Provenance.from_dict(document["provenance"]),
            path=path,
        )
