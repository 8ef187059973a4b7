"""Percent-escapes: undone as often as they can be, then written where a URL needs them."""

__all__ = ["escape", "unescape"]

_PERCENT = 0x25
_HEX = frozenset(b"0123456789abcdefABCDEF")
_PRINTABLE = frozenset(range(0x21, 0x7F)) - {_PERCENT}


def unescape(text: bytes, keep: bytes = b"") -> bytes:
    """Replace ``%xx`` by its byte until none is left, but for the bytes in `keep`.

    Escapes cannot overlap, so the result does not depend on the order in which they are undone:
    one pass that looks back at what it has written finds all of them, however deep.

    Parameters
    ----------
    text
        A part of a URL.
    keep
        Bytes whose escape means something else than the byte itself, and stays.

    Examples
    --------
    >>> unescape(b"%41%2542%zz")
    b'AB%zz'
    >>> unescape(b"a%26b%2D", keep=b"&")
    b'a%26b-'
    """
    if _PERCENT not in text:
        return text
    found = bytearray()
    for byte in text:
        found.append(byte)
        while len(found) >= 3 and found[-3] == _PERCENT and _HEX.issuperset(found[-2:]):
            value = int(found[-2:], 16)
            if value in keep:
                break
            del found[-3:]
            found.append(value)
    return bytes(found)


def escape(text: bytes, also: bytes = b"") -> bytes:
    """Write as ``%xx`` what is no printable ASCII, lone percent signs, and the bytes in `also`.

    Parameters
    ----------
    text
        What `unescape` returned: an escape that is still there was kept on purpose.
    also
        Further bytes to escape.

    Examples
    --------
    >>> escape(b"a b%zz%3F#", also=b"#")
    b'a%20b%25zz%3F%23'
    """
    if _PRINTABLE.issuperset(text) and not any(byte in text for byte in also):
        return text
    found = bytearray()
    for place, byte in enumerate(text):
        is_kept = byte == _PERCENT and _is_escape(text[place : place + 3])
        if is_kept or (byte in _PRINTABLE and byte not in also):
            found.append(byte)
        else:
            found += b"%%%02x" % byte
    return bytes(found)


def _is_escape(text: bytes) -> bool:
    return len(text) == 3 and _HEX.issuperset(text[1:])
