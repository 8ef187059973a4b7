"""What a server says of an object: its size, and by what one tells that it has changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["RemoteFacts", "facts_of_info"]

_VERSIONS = (("generation", "generation"), ("ETag", "etag"), ("etag", "etag"))
"""By which an object's very bytes are told, first what is most precise."""
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified")


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFacts:
    """What a server says of an object.

    Parameters
    ----------
    st_size
        Its size in bytes, named as `os.stat_result` names it; -1 where the server does not say.
    version
        What is never the same for other bytes at the same address, such as ``etag:0cc175b9``;
        None where the server states no such thing.
    mark
        What will most likely differ for other bytes: the version, a weak one, or a time.
    takes_ranges
        Whether its server sends parts of it.
    """

    st_size: int
    version: str | None = None
    mark: str | None = None
    takes_ranges: bool = True

    def is_same(self, other: "RemoteFacts") -> bool:
        """Tell whether the object is as it was, as far as its server lets one know."""
        return self.st_size == other.st_size and self.mark == other.mark


def facts_of_info(info: Mapping[str, Any]) -> RemoteFacts:
    """Understand what fsspec says of an object.

    Parameters
    ----------
    info
        As from `AbstractFileSystem.info` or `ls`.

    Examples
    --------
    >>> facts_of_info({"size": 3, "ETag": '"0cc175b9"'}).version
    'etag:0cc175b9'
    """
    found = ((name, info.get(key)) for key, name in _VERSIONS)
    versions = [f"{name}:{str(value).strip(chr(34))}" for name, value in found if value]
    times = [str(info[name]) for name in _TIMES if info.get(name)]
    size = info.get("size")
    return RemoteFacts(
        st_size=-1 if size is None else int(size),
        version=next((text for text in versions if not text.startswith("etag:W/")), None),
        mark=next(iter([*versions, *times]), None),
    )
