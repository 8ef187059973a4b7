"""What a simulated web server answers: a small page for each URL, always the same."""

import base64
import hashlib
import html

__all__ = ["digest_sha1", "make_page", "split_url"]


def make_page(url: str) -> bytes:
    """Return the HTML page that stands at a URL."""
    host, path = split_url(html.escape(url))
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{path} at {host}</title></head>\n'
        f"<body><h1>{path}</h1><p>A simulated page, which is the same in every crawl.</p>\n"
        f'<p><a href="https://{host}/">Home</a></p></body></html>\n'
    ).encode()


def digest_sha1(data: bytes) -> str:
    """Return the SHA-1 of `data` in base 32, as web archives write it.

    Examples
    --------
    >>> digest_sha1(b"")
    '3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def split_url(url: str) -> tuple[str, str]:
    """Return the host of a URL and what follows it, without the slash between.

    Examples
    --------
    >>> split_url("https://www.university-34.example/research/4d2.html")
    ('www.university-34.example', 'research/4d2.html')
    """
    host, _, path = url.partition("://")[2].partition("/")
    return host, path
