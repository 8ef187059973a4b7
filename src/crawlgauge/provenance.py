"""Where a result comes from: program version, settings and inputs, carried along with it."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

from crawlgauge._version import __version__

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
        return {k: v for k, v in asdict(self).items() if v is not None or k == "n_bytes"}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Input":
        """Read what `to_dict` wrote."""
        further = {name: document.get(name) for name in ("n_bytes", "through", "version")}
        return cls(name=str(document["name"]), checksum=str(document["checksum"]), **further)


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
            inputs=tuple(map(Input.from_dict, document.get("inputs", []))),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance as plain data for JSON."""
        return {
            "crawlgauge": self.crawlgauge,
            "created": self.created,
            "settings": dict(self.settings),
            "inputs": [entry.to_dict() for entry in self.inputs],
        }
