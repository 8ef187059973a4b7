"""A real pywb, with two collections of real WARC files, is asked as the Wayback Machine is."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

import crawlgauge as cg
from crawlgauge.sources import cdx_server

ROOT = Path(__file__).parents[2]
HOME = ROOT / "build" / "pywb"
"""It wants versions of other packages than ours, so it has an environment of its own."""
COLLECTIONS = {"one": ("iana.warc.gz",), "two": ("example.warc.gz", "test1.warc.gz")}

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pywb")]


@pytest.fixture(scope="module")
def programs():
    """Return the folder of pywb's programs, which are installed where nothing may be skipped."""
    if not (HOME / "bin" / "wayback").exists():
        if not os.environ.get("CRAWLGAUGE_REQUIRE_ALL"):
            pytest.skip(
                f"pywb is not installed; python -m venv {HOME} && {HOME}/bin/pip install pywb"
            )
        subprocess.run([sys.executable, "-m", "venv", HOME], check=True)
        words = ["install", "--quiet", "pywb>=2.8", "setuptools<80"]
        subprocess.run([HOME / "bin" / "python", "-m", "pip", *words], check=True)
    return HOME / "bin"


@pytest.fixture(scope="module")
def pywb(programs, shared_data, tmp_path_factory):
    """Serve two collections, and a cluster of ZipNum; return the address."""
    folder = tmp_path_factory.mktemp("pywb")
    for name, files in COLLECTIONS.items():
        subprocess.run([programs / "wb-manager", "init", name], cwd=folder, check=True)
        paths = [shared_data / "formats" / "warc" / file for file in files]
        subprocess.run([programs / "wb-manager", "add", name, *paths], cwd=folder, check=True)
    cluster = folder / "cluster"
    cluster.mkdir()
    for suffix in ("idx", "cdx.gz"):
        shutil.copy(shared_data / "formats" / "zipnum" / f"zipnum-sample.{suffix}", cluster)
    (cluster / "zipnum-sample.loc").write_text(f"zipnum\t{cluster / 'zipnum-sample.cdx.gz'}\n")
    (folder / "config.yaml").write_text(
        "collections_root: collections\n"
        "collections:\n"
        "  cluster:\n"
        "    index:\n"
        "      type: zipnum\n"
        f"      path: {cluster / 'zipnum-sample.idx'}\n"
        f"      loc: {cluster / 'zipnum-sample.loc'}\n"
        "      max_blocks: 3\n"
        f"    archive_paths: {cluster}\n"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (folder / "log").open("wb")
    server = subprocess.Popen(
        [programs / "wayback", "-b", "127.0.0.1", "-p", str(port)],
        cwd=folder,
        stdout=log,
        stderr=log,
    )
    url = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{url}/collinfo.json") as answer:  # noqa: S310 - ours
                assert answer.status == 200
            break
        except OSError:
            assert server.poll() is None, (folder / "log").read_text()
            time.sleep(0.1)
    yield url
    server.terminate()
    server.wait(30)
    log.close()


@pytest.fixture(autouse=True)
def cache(impatient, tmp_path, monkeypatch):  # noqa: ARG001 - for what it does
    monkeypatch.setenv(cdx_server.CACHE_VARIABLE, str(tmp_path / "cache"))


def add(store, source, **options):
    return cg.add_crawl(store, "2014-01", source, status="any", rate=60_000, **options).crawl_set


@pytest.mark.parametrize("name", COLLECTIONS)
@pytest.mark.parametrize("domain", ["iana.org", "example.com", "org", "com"])
def test_a_collection_gives_the_set_of_its_warc_files(pywb, shared_data, tmp_path, name, domain):
    files = [shared_data / "formats" / "warc" / file for file in COLLECTIONS[name]]
    (tmp_path / "scope.txt").write_text(f"*.{domain}\n")
    word = f"cdx+{pywb}/{name}/cdx?url=*.{domain}"
    try:
        expected = add(tmp_path / "warc", files, scope=tmp_path / "scope.txt")
    except cg.SourceError:
        with pytest.raises(cg.SourceError, match=r"holds nothing|nothing in it counts"):
            add(tmp_path / "store", word)
        return
    found = add(tmp_path / "store", word)
    assert found.checksum == expected.checksum
    assert not found.rejected


def test_its_collections_are_crawls(pywb, tmp_path):
    result = cg.split_collection(
        tmp_path / "store",
        f"cdx+{pywb}/collinfo.json?url=*.iana.org",
        period="collection",
        rate=60_000,
    )
    labels = {item.crawl_set.crawl.label for item in result.additions}
    assert "one" in labels
    assert labels <= {*COLLECTIONS, "cluster"}


def test_a_cluster_is_asked_page_by_page(pywb, shared_data, tmp_path, caplog):
    cluster = shared_data / "formats" / "zipnum" / "zipnum-sample.cdx.gz"
    (tmp_path / "scope.txt").write_text("iana.org\n")
    expected = add(tmp_path / "file", cluster, scope=tmp_path / "scope.txt")
    with caplog.at_level("INFO"):
        found = add(tmp_path / "store", f"cdx+{pywb}/cluster/cdx?url=*.iana.org&pageSize=3")
    assert found.checksum == expected.checksum
    assert " pages; " in caplog.text
