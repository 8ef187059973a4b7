"""Names of remote objects: which they are, and how they are shown without what is secret in them.

Everything but this room knows an object by its shown name. What was cut off it, a password or a
signature, stays in this process's memory and is put back when the object is opened.
"""

import re
import threading
from urllib.parse import unquote

__all__ = [
    "conceal",
    "is_remote",
    "is_web",
    "local_name",
    "reveal",
    "scheme_of",
    "without_credentials",
    "without_secrets",
]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
"""Of two letters at least: one is a drive of Windows."""
_LOCAL_SCHEMES = frozenset({"file", "local"})
_WEB_SCHEMES = frozenset({"http", "https"})

_USER = re.compile(r"(?<=://)[^/?#\s]*@")
_SIGNING = re.compile(
    # Amazon's and Google's, and their older forms.
    r"x-(amz|goog)-.*|awsaccesskeyid|googleaccessid|signature|expires|policy|key-pair-id"
    # Azure's shared access signatures.
    r"|sig|s[vtepr]|spr|sip|ss|srt|sks\w*|skoid|sktid|skt|ske|skv"
    # What others call them.
    r"|.*(token|secret|passw|pwd|auth|credential|session|api_?key|jwt|hmac|signature).*"
    r"|key|code|hash|md5",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"<>]+")

_addresses: dict[str, str] = {}
_lock = threading.Lock()


def scheme_of(name: str) -> str | None:
    """Return what stands before ``://`` in small letters, or None for a path.

    Examples
    --------
    >>> scheme_of("S3://bucket/key"), scheme_of("crawls/2021.cdx.gz")
    ('s3', None)
    """
    found = _SCHEME.match(name)
    return None if found is None else found[1].lower()


def is_remote(name: str) -> bool:
    """Tell whether a name is the address of something that is not on this machine.

    Examples
    --------
    >>> is_remote("gs://bucket/key"), is_remote("file:///data/a.cdx"), is_remote("a.cdx")
    (True, False, False)
    """
    scheme = scheme_of(name)
    return scheme is not None and scheme not in _LOCAL_SCHEMES


def is_web(name: str) -> bool:
    """Tell whether a name is an address on the web, where there are no folders nor globs."""
    return scheme_of(name) in _WEB_SCHEMES


def local_name(name: str) -> str:
    """Return the path that a ``file://`` address means, and any other path as it is.

    Examples
    --------
    >>> local_name("file:///data/my%20crawl.cdx"), local_name("my%20crawl.cdx")
    ('/data/my crawl.cdx', 'my%20crawl.cdx')
    """
    if scheme_of(name) not in _LOCAL_SCHEMES:
        return name
    path = name.partition("://")[2]
    return unquote(path.removeprefix("localhost") if path.startswith("localhost/") else path)


def without_credentials(name: str) -> str:
    """Return an address without user, password and signature, as it may be shown and stored.

    Parameters
    ----------
    name
        An address; paths are returned as they are.

    Examples
    --------
    >>> without_credentials("https://me:pw@example.org/a.gz?part=1&X-Amz-Signature=0f3a")
    'https://example.org/a.gz?part=1'
    """
    if not is_remote(name):
        return name
    before, mark, query = _USER.sub("", name, count=1).partition("?")
    kept = [pair for pair in query.split("&") if not _SIGNING.fullmatch(pair.partition("=")[0])]
    return before + mark + "&".join(kept) if any(kept) or not query else before


def without_secrets(text: str) -> str:
    """Return a message of somebody else with all addresses in it as they may be shown.

    Examples
    --------
    >>> without_secrets("no answer from http://me:pw@example.org/a, giving up")
    'no answer from http://example.org/a, giving up'
    """
    return _ADDRESS.sub(lambda found: without_credentials(found[0]), text)


def conceal(address: str) -> str:
    """Return the name that an address is shown by, and remember the address."""
    name = without_credentials(address)
    if name != address:
        with _lock:
            _addresses[name] = address
    return name


def reveal(name: str) -> str:
    """Return the address that `conceal` was given, or the name itself if there was none."""
    with _lock:
        return _addresses.get(name, name)
