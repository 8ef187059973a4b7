"""Undo the content coding of HTTP (RFC 9110, 8.4.1): gzip, deflate, br and zstd."""

import importlib
import re
import zlib

import zstandard

__all__ = ["decode_content"]

_CODING = re.compile(rb"^content-encoding[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_BARE_DEFLATE = -zlib.MAX_WBITS


def decode_content(content: bytes, header: bytes, max_bytes: int) -> bytes | None:
    """Return what a payload is without its content coding.

    What does not have the coding that its header tells is taken as it is: tools have undone it.

    Parameters
    ----------
    content
        The payload.
    header
        The HTTP header.
    max_bytes
        The longest that it may be.

    Returns
    -------
    bytes or None
        None if it is longer, or has a coding that cannot be undone here.
    """
    found = _CODING.search(header)
    codings = [] if found is None else found[1].decode("latin-1").lower().split(",")
    decoded: bytes | None = content
    for coding in reversed([word.strip() for word in codings]):
        if decoded is None or coding in ("", "identity", "none"):
            continue
        decoded = _decode(decoded, coding, max_bytes)
    return decoded


def _decode(content: bytes, coding: str, max_bytes: int) -> bytes | None:
    if coding in ("gzip", "x-gzip", "deflate"):
        for window_bits in (_GZIP_OR_ZLIB, _BARE_DEFLATE):
            decoder = zlib.decompressobj(window_bits)
            try:
                decoded = decoder.decompress(content, max_bytes)
            except zlib.error:
                continue
            return None if decoder.unconsumed_tail else decoded
        return content
    if coding == "zstd":
        return _decode_zstd(content, max_bytes)
    if coding == "br":
        return _decode_brotli(content, max_bytes)
    return None


def _decode_zstd(content: bytes, max_bytes: int) -> bytes | None:
    try:
        decoded = zstandard.ZstdDecompressor().stream_reader(content).read(max_bytes + 1)
    except zstandard.ZstdError:
        return content
    return decoded if len(decoded) <= max_bytes else None


def _decode_brotli(content: bytes, max_bytes: int) -> bytes | None:
    brotli = importlib.import_module("brotli")
    decoder = brotli.Decompressor()
    try:
        decoded: bytes = decoder.process(content, output_buffer_limit=max_bytes + 1)
    except brotli.error:
        return content
    return decoded if len(decoded) <= max_bytes else None
