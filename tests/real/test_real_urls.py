"""Every URL in the real data: the core gives the reference's form, and hardly ever needs it."""

import gzip
import re
import zlib

import pytest
from readable_rules import canonical_scheme_free

from crawlgauge.core.urls import scheme_free, surt
from crawlgauge.keys.surt import canonical_surt

MAX_DEFERRED = 0.003
# As indexes, logs and WARC headers write them; pages in the archives add their links.
URL = re.compile(rb"https?://[^\s\"'<>\\{}|^`\x00-\x1f\x7f]+", re.IGNORECASE)


def inflate(data):
    """Return what can be read of a gzip file of many members, some of them broken."""
    parts = []
    while data.startswith(b"\x1f\x8b"):
        member = zlib.decompressobj(31)
        try:
            parts.append(member.decompress(data))
        except zlib.error:
            break
        data = member.unused_data
    return b"".join(parts) or data


@pytest.fixture(scope="module")
def listed_urls(shared_data):
    urls = set()
    for path in (shared_data / "longitudinal").glob("*/*.txt.gz"):
        urls.update(gzip.decompress(path.read_bytes()).split(b"\n"))
    return sorted(urls - {b""})


@pytest.fixture(scope="module")
def archived_urls(formats):
    urls = set()
    for path in filter(lambda path: path.is_file(), formats.rglob("*")):
        urls.update(URL.findall(inflate(path.read_bytes())))
    return sorted(urls)


@pytest.mark.parametrize("kind", ["listed_urls", "archived_urls"])
def test_every_real_url_has_the_form_of_the_reference(request, kind):
    urls = request.getfixturevalue(kind)
    assert len(urls) > 10_000
    forms = list(map(surt, urls))
    deferred = [url for url, form in zip(urls, forms, strict=True) if form is None]
    assert len(deferred) < MAX_DEFERRED * len(urls)
    for url, form in zip(urls, forms, strict=True):
        assert form in (None, canonical_surt(url))
        assert scheme_free(url) == canonical_scheme_free(url)
