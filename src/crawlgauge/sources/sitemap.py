"""Sitemaps: the URLs of a site as it lists them itself, and indexes that lead to several of these.

They are read as they come, without entities: a document type, which could declare some, is an
error. URLs of other hosts, which a sitemap has no say in, are rejected and counted, and so are
those that are not whole.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.parsers import expat

from crawlgauge.errors import DamagedInput, SourceError
from crawlgauge.keys.names import host_of_url
from crawlgauge.sources.captures import Intake, readable
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.remote import RemotePath, is_web
from crawlgauge.sources.urls import MAX_URL_BYTES
from crawlgauge.sources.what_counts import Settings

_ROOT = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?(urlset|sitemapindex)[\s>/]")
_ABSOLUTE = re.compile(r"https?://[^/?#\s]+", re.IGNORECASE)
_BEGINNING = 1 << 12
_PIECE_BYTES = 1 << 16
_MAX_TOKEN_BYTES = 1 << 20
"""A tag, comment or the like that is longer is none; the parser would keep all of it."""
_MAX_PARTS = 50_000
"""As the protocol allows."""
_MAX_DEPTH = 32
_ALLOWED = {"urlset": "url", "sitemapindex": "sitemap"}


def looks_like_sitemap(beginning: bytes) -> bool:
    r"""Tell whether an input that begins so is a sitemap.

    Examples
    --------
    >>> looks_like_sitemap(b'<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/">')
    True
    """
    return _root_of(beginning) == b"urlset"


def looks_like_sitemap_index(beginning: bytes) -> bool:
    """Tell whether an input that begins so is an index of sitemaps."""
    return _root_of(beginning) == b"sitemapindex"


def _root_of(beginning: bytes) -> bytes:
    if not beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return b""
    found = _ROOT.search(beginning[:_BEGINNING])
    return b"" if found is None else found[1]


def read_sitemap(stream: Stream, intake: Intake, settings: Settings) -> Iterator[None]:  # noqa: ARG001
    """Read a sitemap.

    The host is that of the sitemap's own address, or else of the first URL that it lists.

    Raises
    ------
    SourceError
        If it has a document type, or is no sitemap.
    DamagedInput
        If it breaks or ends early, and that is not wanted to be got over.
    """
    intake.collector.begin(has_status=False, has_type=False, has_time=False)
    own = host_of_url(stream.name.encode()) if is_web(stream.name) else b""

    def take(text: str, offset: int) -> None:
        nonlocal own
        url = text.encode("utf-8", "surrogatepass")
        reason: str | None = "too-long"
        if len(url) <= MAX_URL_BYTES:
            host = host_of_url(url)
            own = own or host
            reason = "no-absolute-url"
            if _ABSOLUTE.match(text):
                reason = intake.collector.add(url) if host == own else "foreign-host"
        if reason is not None:
            intake.reject(reason, url, offset=offset)

    yield from _parse(stream, "urlset", take)


def read_sitemap_index(stream: Stream, *, through: str | None) -> list[str]:
    """Return the sitemaps that an index leads to.

    Those of an index on this machine lie beside it, under the last part of their addresses, where
    there are such files; else they are where the index says. An index leads to one host.

    Parameters
    ----------
    stream
        The index.
    through
        What led to it; no index leads to another.

    Raises
    ------
    SourceError
        If it has a document type, leads elsewhere, or is no index.
    """
    if through is not None:
        raise SourceError(
            f"{stream.name} is an index of sitemaps that another index leads to, as none may; "
            "name it itself"
        )
    addresses: list[str] = []

    def take(text: str, offset: int) -> None:
        if not _ABSOLUTE.match(text) or len(text) > MAX_URL_BYTES:
            shown = readable(text.encode())
            raise SourceError(f"{stream.name} leads to {shown}, which is no address ({offset:,})")
        if len(addresses) == _MAX_PARTS:
            raise SourceError(f"{stream.name} leads to more than {_MAX_PARTS:,} sitemaps")
        addresses.append(text)

    for _ in _parse(stream, "sitemapindex", take):
        pass
    path = stream.path
    beside = path.parent if isinstance(path, Path) else None
    own = stream.name if isinstance(path, RemotePath) else (addresses or [""])[0]
    parts = []
    for address in addresses:
        if host_of_url(address.encode()) != host_of_url(own.encode()):
            shown = readable(address.encode())
            raise SourceError(
                f"{stream.name} leads to {shown}, on another host; name such sitemaps themselves"
            )
        name = re.split(r"[?#]", address)[0].rpartition("/")[2]
        local = None if beside is None or not name else beside / name
        parts.append(str(local) if local is not None and local.is_file() else address)
    return parts


def _parse(stream: Stream, root: str, take: Callable[[str, int], None]) -> Iterator[None]:
    """Hand on the text of each ``loc`` of an entry, and where it ends; yield after each piece."""
    parser, n_fed = _make_parser(stream.name, root, take), 0
    try:
        for block in stream.blocks():
            for at in range(0, len(block), _PIECE_BYTES):
                piece = block[at : at + _PIECE_BYTES]
                parser.Parse(piece, False)
                n_fed += len(piece)
                if n_fed - parser.CurrentByteIndex > _MAX_TOKEN_BYTES:
                    raise SourceError(
                        f"{stream.name} has a tag or comment of more than {_MAX_TOKEN_BYTES:,} "
                        f"bytes at byte {parser.CurrentByteIndex:,}, as no sitemap does; do not "
                        "trust it"
                    )
                yield
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = f"it is no well-formed XML from there on ({expat.errors.messages[error.code]})"
        stream.report_loss(reason, "the URLs behind", byte=parser.CurrentByteIndex)
    except DamagedInput as error:
        stream.recover(error, "entry")


def _make_parser(name: str, root: str, take: Callable[[str, int], None]) -> expat.XMLParserType:
    """Return a parser that hands on the text of each ``loc`` of an entry, and where it ends."""
    # The separator stands between a namespace and a name.
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    path: list[str] = []
    wanted = [root, _ALLOWED[root], "loc"]
    text: str | None = None

    def refuse_doctype(*_: object) -> None:
        raise SourceError(
            f"{name} declares a document type, which no sitemap needs and which can make a "
            "small file fill all memory; do not trust it"
        )

    def start(element: str, _attributes: object) -> None:
        nonlocal text
        path.append(element.rpartition(" ")[2])
        if len(path) > _MAX_DEPTH:
            raise SourceError(f"{name} is nested more than {_MAX_DEPTH} deep; no sitemap is")
        if path[0] != root:
            raise SourceError(f"{name} is no sitemap: its root is {path[0][:80]!r}")
        text = "" if path == wanted else None

    def add(piece: str) -> None:
        nonlocal text
        # One character more than there may be tells that there are too many.
        if text is not None and len(text) <= MAX_URL_BYTES:
            text += piece

    def end(_element: str) -> None:
        nonlocal text
        if text is not None:
            take(text.strip()[: MAX_URL_BYTES + 1], parser.CurrentByteIndex)
        text = None
        path.pop()

    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = add
    return parser
