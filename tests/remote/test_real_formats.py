"""Real files of every format give the same from remote storage as from the disk, faults and all."""

import pytest

import crawlgauge as cg

pytestmark = [pytest.mark.real, pytest.mark.slow]

MAX_BYTES = 20_000_000


def read(store, name, root):
    """Return what comes of adding a file: its set and counts, or the message without the place."""
    try:
        added = cg.add_crawl(
            store, "x", name, date="2020-01-01", status="any", on_damage="keep"
        ).crawl_set
    except cg.CrawlgaugeError as error:
        return str(error).replace(root, "")
    counts = added.n_captures, dict(added.rejected), dict(added.excluded), len(added.damage)
    return added.checksum, *counts


def test_each_real_file_is_the_same(shared_data, bucket, tmp_path):
    root = shared_data / "formats"
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    files = [path for path in files if path.stat().st_size < MAX_BYTES]
    assert len(files) > 50
    # All first: the parts of a cluster are beside its index.
    names = [bucket.put(str(path.relative_to(root)), path.read_bytes()) for path in files]
    for number, (path, name) in enumerate(zip(files, names, strict=True)):
        local = read(tmp_path / f"local-{number}", str(path), str(root))
        remote = read(tmp_path / f"remote-{number}", name, bucket.url)
        assert remote == local, name
