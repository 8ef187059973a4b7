"""Where a result comes from: program version, settings and inputs, carried along with it."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from crawlgauge._version import __version__

__all__ = ["Input", "Provenance", "Setting"]

Setting = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One thing that a result was made from.

    Parameters
    ----------
    name
        The path as the user wrote it, or the label of a crawl.
    checksum
        Algorithm and digest, such as ``sha256:…``.
    n_bytes
        Size, where the input is a file.
    through
        The input that led to this one, where the user did not name it.
    version
        What the server of a remote input says of its bytes, such as ``etag:…``.
    """

    name: str
    checksum: str
    n_bytes: int | None = None
    through: str | None = None
    version: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the input as plain data for JSON."""
        document = {"name": self.name, "checksum": self.checksum, "n_bytes": self.n_bytes}
        further = {"through": self.through, "version": self.version}
        return document | {name: text for name, text in further.items() if text is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Program version, time, settings and inputs of a result.

    Parameters
    ----------
    crawlgauge
        Version of the program.
    created
        When, as ISO 8601 in UTC; None where the time would only make equal results differ.
    settings
        What the user chose, by name.
    inputs
        What the result was made from.
    """

    crawlgauge: str = __version__
    created: str | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    @classmethod
    def now(cls, *, settings: Mapping[str, Setting], inputs: tuple[Input, ...]) -> "Provenance":
        """Make a provenance that carries the present time."""
        created = dt.datetime.now(tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return cls(created=created, settings=settings, inputs=inputs)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Provenance":
        """Read what `to_dict` wrote; unknown members of newer versions are passed over."""
        return cls(
            crawlgauge=str(document.get("crawlgauge", "")),
            created=document.get("created"),
            settings=document.get("settings", {}),
            inputs=tuple(
                Input(
                    name=str(entry["name"]),
                    checksum=str(entry["checksum"]),
                    n_bytes=entry.get("n_bytes"),
                    through=entry.get("through"),
                    version=entry.get("version"),
                )
                for entry in document.get("inputs", [])
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance as plain data for JSON."""
        return {
            "crawlgauge": self.crawlgauge,
            "created": self.created,
            "settings": dict(self.settings),
            "inputs": [entry.to_dict() for entry in self.inputs],
        }
