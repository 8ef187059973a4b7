"""The media type of a capture: the readable reference of `media_type_kernel`."""

import re

__all__ = ["MAX_TYPE_BYTES", "UNKNOWN_TYPES", "canonical_type"]

MAX_TYPE_BYTES = 255
"""127 bytes on each side of the slash is what can be registered (RFC 6838)."""

UNKNOWN_TYPES = (b"-", b"unk", b"no-type", b"unknown", b"warc/revisit")
"""What indexes and logs write where the media type is not known, or not that of the page."""

_TYPE = re.compile(rb"[\x00-\x20]*([^\x00-\x20;,]*)")
_PRINTABLE = frozenset(range(0x21, 0x7F))


def canonical_type(text: bytes) -> bytes:
    r"""Return a media type in lower case and without parameters, or nothing if it tells none.

    Parameters
    ----------
    text
        As the input has it.

    Examples
    --------
    >>> canonical_type(b" Text/HTML; charset=utf-8")
    b'text/html'
    >>> canonical_type(b"warc/revisit"), canonical_type(b"\xff\xd8")
    (b'', b'')
    """
    match = _TYPE.match(text)
    kind = match[1].lower() if match else b""
    is_type = len(kind) <= MAX_TYPE_BYTES and _PRINTABLE.issuperset(kind)
    return kind if is_type and kind not in UNKNOWN_TYPES else b""
