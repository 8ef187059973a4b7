"""The query of a SURT: parameters in order, without those that only name a session."""

import re

from crawlgauge.keys.percent import escape, unescape

__all__ = ["canonical_query"]

_KEEP = b"&+"
"""In a query ``&`` and ``+`` separate and stand for a space; their escapes do not."""

_SESSION = re.compile(rb"(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}")
_CFID = re.compile(rb"cfid=.+", re.DOTALL)
_CFTOKEN = re.compile(rb"cftoken=.+", re.DOTALL)


def canonical_query(query: bytes) -> bytes:
    """Return the query part of a SURT, without the question mark.

    Parameters
    ----------
    query
        After the question mark, as the URL has it.

    Examples
    --------
    >>> canonical_query(b"B=2&a=%31&PHPSESSID=0123456789abcdef0123456789abcdef")
    b'a=1&b=2'
    >>> canonical_query(b"x=1&cfid=14&cftoken=72")
    b'x=1'
    """
    text = escape(unescape(query, keep=_KEEP), also=b"#").lower()
    parameters = [item for item in text.split(b"&") if not _SESSION.fullmatch(item)]
    if any(map(_CFID.fullmatch, parameters)) and any(map(_CFTOKEN.fullmatch, parameters)):
        parameters = [
            item
            for item in parameters
            if not _CFID.fullmatch(item) and not _CFTOKEN.fullmatch(item)
        ]
    parameters.sort(key=_order)
    return b"&".join(parameters)


def _order(parameter: bytes) -> tuple[bytes, bool, bytes]:
    """Order by name, then no value before an empty one, then by value."""
    name, equals, value = parameter.partition(b"=")
    return name, bool(equals), value
