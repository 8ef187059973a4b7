"""Crawls to read with both engines, and what the stores know of them."""

import gzip
import json
import random

import pytest

import crawlgauge as cg

collect_ignore = ["killing.py"]  # A program that a test runs; it needs PySpark.


@pytest.fixture
def write_urls(tmp_path):
    """Write a list of URLs, and return its path."""

    def write(name, urls):
        path = tmp_path / name
        path.write_text("".join(f"{url}\n" for url in urls), encoding="utf-8")
        return path

    return write


@pytest.fixture
def write_cdxj(tmp_path):
    """Write captures of random pages as CDXJ, compressed or not, and return the path."""

    def write(name, *, seed, n_lines=300, year=2021, n_hosts=20):
        chance = random.Random(seed)
        lines = []
        for _ in range(n_lines):
            host, page = chance.randrange(n_hosts), chance.randrange(n_lines)
            month, day = 1 + chance.randrange(12), 1 + chance.randrange(28)
            time = f"{year}{month:02}{day:02}{chance.randrange(24):02}0000"
            fields = {
                "url": f"https://host{host}.example.org/page/{page}",
                "mime": chance.choice(["text/html", "image/png", "application/pdf"]),
                "status": chance.choice(["200", "200", "200", "301", "404"]),
                "digest": f"sha1:{chance.randrange(60):032X}",
                "filename": f"CRAWL-{year}-{month:02}.warc.gz",
            }
            lines.append(f"org,example,host{host})/page/{page} {time} {json.dumps(fields)}\n")
        data = "".join(lines).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def describe(store, label, level="url"):
    """Return all that a store knows of a set, but when and by what it was made."""
    document = cg.open_store(store).crawl_set(label, level).to_dict()
    provenance = document["provenance"]
    settings = {name: value for name, value in provenance["settings"].items() if name != "engine"}
    document["provenance"] = {"settings": settings, "inputs": provenance["inputs"]}
    return document


def list_attributes(store, label):
    """Return key, time, status, host and media type of each of the smallest keys."""
    opened = cg.open_store(store)
    found = opened.attributes(opened.crawl_set(label))
    texts = [
        [names[code] if code >= 0 else None for code in codes.tolist()]
        for names, codes in ((found.hosts, found.host_codes), (found.mimes, found.mime_codes))
    ]
    numbers = (found.keys.tolist(), found.times.tolist(), found.statuses.tolist())
    return found.threshold, list(zip(*numbers, *texts, strict=True))


@pytest.fixture
def assert_same():
    """See that two stores hold the same of a crawl: keys, counts, inputs and attributes."""

    def compare(one, other, label, levels=("url",)):
        for level in levels:
            assert describe(one, label, level) == describe(other, label, level)
        assert list_attributes(one, label) == list_attributes(other, label)

    return compare
