"""Every URL in the real data: the kernel gives the reference's key, and hardly ever needs it."""

import gzip
import re
import zlib

import numpy as np
import pyarrow as pa
import pytest
import xxhash

from crawlgauge.keys.hashing import compute_keys
from crawlgauge.keys.rules import SCHEME_FREE, SURT
from crawlgauge.keys.scheme_free import canonical_scheme_free
from crawlgauge.keys.surt import canonical_surt
from crawlgauge.keys.surt_kernel import hash_surt

REFERENCES = {SURT: canonical_surt, SCHEME_FREE: canonical_scheme_free}
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
def archived_urls(shared_data):
    urls = set()
    for path in filter(lambda path: path.is_file(), (shared_data / "formats").rglob("*")):
        urls.update(URL.findall(inflate(path.read_bytes())))
    return sorted(urls)


@pytest.fixture(params=["listed_urls", "archived_urls"])
def real_urls(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("rule", REFERENCES, ids=str)
def test_every_real_url_has_the_key_of_the_reference(real_urls, rule):
    assert len(real_urls) > 10_000
    keys = compute_keys(pa.array(real_urls, pa.binary()), rule).tolist()
    expected = [xxhash.xxh64_intdigest(REFERENCES[rule](url), seed=42) for url in real_urls]
    assert keys == expected


def test_the_reference_is_needed_for_hardly_any_real_url(real_urls):
    data = np.frombuffer(b"".join(real_urls), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, real_urls)], dtype=np.int32)
    keys = np.empty(len(real_urls), dtype=np.uint64)
    deferred = hash_surt(data, offsets[:-1], offsets[1:], keys)
    assert deferred.size < MAX_DEFERRED * len(real_urls)
