"""The path of a SURT: plain segments, none of which names a session."""

import re

from crawlgauge.keys.percent import escape, unescape

__all__ = ["canonical_path"]

_KEEP = b"?"
"""In a path an escaped question mark is a character; a plain one would begin the query."""

_SERVLET_SESSION = re.compile(rb";jsessionid=[^;/]*")
_ASPX_SESSION = re.compile(rb"\((?:[0-9a-z]{24}|(?:[a-z]\([0-9a-z]{24}\))+)\)")


def canonical_path(path: bytes) -> bytes:
    """Return the path part of a SURT.

    Parameters
    ----------
    path
        From the first slash after the host to the query, as the URL has it; may be empty.

    Examples
    --------
    >>> canonical_path(b"/a/./b/../%7Euser//Page.HTML")
    b'/a/~user/page.html'
    >>> canonical_path(b"/shop.jsp;jsessionid=0123")
    b'/shop.jsp'
    """
    text = escape(unescape(path, keep=_KEEP), also=b"#").lower()
    text = _SERVLET_SESSION.sub(b"", text)
    return b"/" + b"/".join(_strip_sessions(_walk(text.split(b"/")[1:])))


def _walk(segments: list[bytes]) -> list[bytes]:
    """Follow ``.`` and ``..``, as RFC 3986 says; then leave out empty segments."""
    kept: list[bytes] = []
    for segment in segments:
        if segment == b"..":
            del kept[-1:]
        elif segment != b".":
            kept.append(segment)
    return [segment for segment in kept if segment]


def _strip_sessions(segments: list[bytes]) -> list[bytes]:
    """Leave out the session segments that ASP.NET puts before the name of a page."""
    if not any(segment.startswith(b"(") for segment in segments):
        return segments
    kept = []
    last_page = b"/".join(segments).rfind(b".aspx")
    place = 0
    for segment in segments:
        place += len(segment) + 1
        # At least one character must stand between the session and the page's ending.
        if last_page <= place or not _ASPX_SESSION.fullmatch(segment):
            kept.append(segment)
    return kept
