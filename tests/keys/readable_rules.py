"""The plain rules of URL identity once more, readable: what the core must do."""

import re

BLANK = bytes(range(0x21))
SPACES = b" \t\n\v\f\r"
URL = re.compile(rb"([a-z][a-z0-9+.-]*)://([^/?]*)(.*)", re.IGNORECASE | re.DOTALL)
DEFAULT_PORTS = {
    b"http": re.compile(rb"(\[[^\]]*\]|(?!\[)[^:]*):80"),
    b"https": re.compile(rb"(\[[^\]]*\]|(?!\[)[^:]*):443"),
}


def canonical_raw(url: bytes) -> bytes:
    return url.split(b"#", 1)[0].strip(SPACES)


def canonical_scheme_free(url: bytes) -> bytes:
    text = url.split(b"#", 1)[0].strip(BLANK)
    found = URL.fullmatch(text)
    if found is None:
        return text
    scheme, authority, rest = found[1].lower(), found[2], found[3]
    userinfo, at, host = authority.rpartition(b"@")
    host = host.lower()
    if scheme not in DEFAULT_PORTS:
        return scheme + b"://" + userinfo + at + host + rest
    if default := DEFAULT_PORTS[scheme].fullmatch(host):
        host = default[1]
    slash = b"" if rest.startswith(b"/") else b"/"
    return userinfo + at + host + slash + rest
