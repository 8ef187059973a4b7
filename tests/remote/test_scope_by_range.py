"""Of a large index a scope reads the part that can hold it, and gives what all of it would give."""

import random

import polars as pl
import pytest
from cdx_servers import write_cluster
from linear_time import check_linear_time

import crawlgauge as cg
from crawlgauge.errors import DamagedInput
from crawlgauge.sources import zipnum
from crawlgauge.sources.decompress import Stream
from crawlgauge.sources.remote import count_fetched

N_HOSTS, N_PAGES, BLOCK_LINES, N_PARTS = 400, 60, 50, 5
TLDS = ("com", "net", "org", "se")


def captures():
    """Return key, time, URL and status of captures, in order of their keys."""
    chance = random.Random(5)
    found = []
    for number in range(N_HOSTS):
        name, tld = f"site{number:03d}", TLDS[number % 4]
        for page in range(N_PAGES):
            token = f"{chance.getrandbits(128):032x}"
            host = name if page % 3 else f"www.{name}"
            url = f"https://{host}.{tld}/page/{page:03d}?{token}"
            key = f"{tld},{name})/page/{page:03d}?{token}"
            found.append((key, f"20230{1 + page % 9}15120000", url, "200"))
    return sorted(found)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    return write_cluster(
        tmp_path_factory.mktemp("cluster") / "indexes", captures(), BLOCK_LINES, N_PARTS
    )


@pytest.fixture
def scope(tmp_path):
    def write(*rules):
        path = tmp_path / "scope.txt"
        path.write_text("".join(f"{rule}\n" for rule in rules))
        return path

    return write


SCOPES = [
    ("site042.org",),
    ("www.site042.org", "https://site043.se/page/"),
    ("*.se",),
    ("site000.com", "site399.se"),
    ("com,site000)/page/00",),
    ("nowhere.example", "site101.net"),
]


def add(store, source, **options):
    return cg.add_crawl(store, "2023-05", source, **options).crawl_set


@pytest.mark.parametrize("rules", SCOPES)
@pytest.mark.parametrize("how", ["index", "folder", "parts-first"])
def test_a_scope_gives_what_the_whole_cluster_gives(cluster, scope, tmp_path, rules, how):
    path = scope(*rules)
    whole = add(tmp_path / "whole", [str(cluster / "*.gz")], scope=path)
    source = {
        "index": cluster / "cluster.idx",
        "folder": cluster,
        "parts-first": [str(cluster / "*.gz"), cluster / "cluster.idx"],
    }[how]
    found = add(tmp_path / "store", source, scope=path)
    assert (found.checksum, found.n_captures) == (whole.checksum, whole.n_captures)
    n_read = sum(entry.n_bytes for entry in found.provenance.inputs if entry.through)
    n_all = sum(file.stat().st_size for file in cluster.glob("*.gz"))
    assert n_read < n_all * (0.3 if rules == ("*.se",) else 0.03)
    # Adding it again changes nothing.
    again = cg.add_crawl(tmp_path / "store", "2023-05", source, scope=path)
    assert again.outcome == "unchanged"


@pytest.mark.parametrize("rules", [("!site042.org",), ("127.0.0.1", "site042.org")])
def test_a_scope_that_may_be_anywhere_reads_everything(cluster, scope, tmp_path, rules):
    path = scope(*rules)
    whole = add(tmp_path / "whole", [str(cluster / "*.gz")], scope=path)
    assert add(tmp_path / "store", cluster / "cluster.idx", scope=path).checksum == whole.checksum


def copy(cluster, folder):
    folder.mkdir()
    for file in cluster.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_a_damaged_block_matters_only_where_it_is_in_scope(cluster, scope, tmp_path):
    folder, path = copy(cluster, tmp_path / "copy"), scope("site042.org")
    whole = add(tmp_path / "whole", cluster / "cluster.idx", scope=path)
    entries = [line.split("\t") for line in (folder / "cluster.idx").read_text().splitlines()]
    first = next(n for n, entry in enumerate(entries) if entry[0] > "org,site042)") - 1
    part, place, length = entries[first - 2][1], int(entries[first - 2][2]), 50
    data = bytearray((folder / part).read_bytes())
    data[place : place + length] = b"\xff" * length
    (folder / part).write_bytes(data)
    found = add(tmp_path / "store", folder / "cluster.idx", scope=path)
    assert found.checksum == whole.checksum
    assert not found.damage
    part, place = entries[first][1], int(entries[first][2])
    data = bytearray((folder / part).read_bytes())
    data[place + 20 : place + 200] = b"\xff" * 180
    (folder / part).write_bytes(data)
    with pytest.raises(DamagedInput) as error:
        add(tmp_path / "other", folder / "cluster.idx", scope=path)
    assert place <= error.value.damage.byte <= place + int(entries[first][3])
    assert error.value.damage.file.endswith(part)


def test_a_part_that_is_cut_matters_only_where_it_is_in_scope(cluster, scope, tmp_path):
    folder = copy(cluster, tmp_path / "copy")
    last = folder / f"cdx-{N_PARTS - 1:05d}.gz"
    last.write_bytes(last.read_bytes()[:-5000])
    path = scope("site042.org")
    found = add(tmp_path / "store", folder / "cluster.idx", scope=path)
    assert not found.damage
    with pytest.raises(DamagedInput, match="it ends there, but its cluster's index tells of"):
        add(tmp_path / "other", folder / "cluster.idx", scope=scope("site399.se"))


@pytest.mark.parametrize("kind", ["unsorted", "no-surts"])
def test_an_index_that_does_not_tell_by_its_keys_is_read_as_a_whole(cluster, scope, tmp_path, kind):
    folder, path = copy(cluster, tmp_path / "copy"), scope("site042.org")
    lines = (folder / "cluster.idx").read_text().splitlines(keepends=True)
    if kind == "unsorted":
        lines = lines[100:] + lines[:100]
    else:
        lines = [f"{number:04d}/{line.replace(')', '', 1)}" for number, line in enumerate(lines)]
    (folder / "cluster.idx").write_text("".join(lines))
    found = add(tmp_path / "store", folder / "cluster.idx", scope=path)
    assert found.checksum == add(tmp_path / "whole", cluster, scope=path).checksum
    n_read = sum(entry.n_bytes for entry in found.provenance.inputs if entry.through)
    assert n_read == sum(file.stat().st_size for file in folder.glob("*.gz"))


def serve(web, cluster):
    base = "/cc-index/collections/CC-MAIN-2023-40/indexes/"
    for file in cluster.iterdir():
        web.files[base + file.name] = file.read_bytes()
    return f"ccindex+{web.url}{base}"


@pytest.mark.parametrize("is_searched", [False, True])
def test_of_a_cluster_on_a_server_the_blocks_are_fetched(
    web, cluster, scope, tmp_path, monkeypatch, is_searched
):
    word, path = serve(web, cluster), scope("site042.org", "site043.se")
    if is_searched:
        monkeypatch.setattr(zipnum, "_SEARCHED_BYTES", 1 << 12)
        monkeypatch.setattr(zipnum, "_STEP_BYTES", 1 << 11)
    whole = add(tmp_path / "whole", cluster / "cluster.idx", scope=path)
    before = count_fetched()
    found = add(tmp_path / "store", word, scope=path)
    assert found.checksum == whole.checksum
    n_index = (cluster / "cluster.idx").stat().st_size
    n_all = sum(file.stat().st_size for file in cluster.glob("*.gz"))
    assert count_fetched() - before - n_index * (1 + is_searched) < 0.03 * n_all
    # Without the slash at its end a folder is one, too.
    assert add(tmp_path / "again", word.rstrip("/"), scope=path).checksum == whole.checksum
    parts = {name for name, _ in web.seen if name.endswith(".gz")}
    assert len(parts) == 2
    assert all("Range" in headers for name, headers in web.seen if name.endswith(".gz"))


def test_of_many_hosts_the_index_is_read_rather_than_searched(web, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(zipnum, "_SEARCHED_BYTES", 1 << 12)
    monkeypatch.setattr(zipnum, "_STEP_BYTES", 1 << 11)
    word, scope = serve(web, cluster), tmp_path / "scope.txt"
    scope.write_text("".join(f"site{number:03d}.{TLDS[number % 4]}\n" for number in range(50)))
    whole = add(tmp_path / "whole", cluster / "cluster.idx", scope=scope)
    assert add(tmp_path / "store", word, scope=scope).checksum == whole.checksum
    assert sum(name.endswith("cluster.idx") for name, _ in web.seen) < 10


def test_blocks_of_many_hosts_are_found_in_time_with_their_number(tmp_path):
    def find(n_hosts):
        hosts = [f"org,site{number:06d}".encode() for number in range(n_hosts)]
        lines = [b"%b)/ 20230101000000\tpart\t%d\t9\t1\n" % (h, 9 * n) for n, h in enumerate(hosts)]
        (tmp_path / "cluster.idx").write_bytes(b"".join(lines))
        (tmp_path / "part").touch()
        with Stream(str(tmp_path / "cluster.idx")) as stream:
            ((_, spans),) = zipnum.find_blocks(stream, hosts[1::2], is_alone=False)
        assert spans == [(0, 9 * n_hosts)]

    check_linear_time(find, 2000)


def test_of_a_cluster_on_object_storage_the_blocks_are_fetched(bucket, cluster, scope, tmp_path):
    for file in cluster.iterdir():
        bucket.put(f"indexes/{file.name}", file.read_bytes())
    path = scope("site042.org")
    whole = add(tmp_path / "whole", cluster / "cluster.idx", scope=path)
    for name in ("indexes/cluster.idx", "indexes/"):
        before = count_fetched()
        found = add(tmp_path / name.replace("/", "-"), f"{bucket.url}/{name}", scope=path)
        assert found.checksum == whole.checksum
        n_index = (cluster / "cluster.idx").stat().st_size
        n_all = sum(file.stat().st_size for file in cluster.glob("*.gz"))
        assert count_fetched() - before - n_index < 0.03 * n_all


def test_blocks_come_whole_from_a_server_that_breaks_off(web, cluster, scope, tmp_path):
    word, path = serve(web, cluster), scope("*.se")
    whole = add(tmp_path / "whole", cluster / "cluster.idx", scope=path)
    web.drop_after = [1000] * 20
    assert add(tmp_path / "store", word, scope=path).checksum == whole.checksum


def write_columnar(path):
    """Write a columnar index as Common Crawl's is: by key, with statistics, gzip."""
    rows = captures()
    chance = random.Random(7)
    pl.DataFrame(
        {
            "url_surtkey": [row[0] for row in rows],
            "url": [row[2] for row in rows],
            "url_host_name": [row[2].split("/")[2] for row in rows],
            "url_host_tld": [row[0].split(",")[0] for row in rows],
            "fetch_time": [int(row[1]) for row in rows],
            "fetch_status": [200 for _ in rows],
            "content_digest": [f"{chance.getrandbits(160):040X}" for _ in rows],
            "content_mime_type": ["text/html" for _ in rows],
            "warc_filename": [f"crawl-data/{chance.getrandbits(64):x}.warc.gz" for _ in rows],
            "warc_record_offset": [chance.getrandbits(30) for _ in rows],
        }
    ).write_parquet(path, compression="gzip", row_group_size=len(rows) // 60, statistics=True)


def test_of_a_columnar_index_on_a_server_the_row_groups_are_fetched(web, scope, tmp_path):
    path = tmp_path / "part-00000.gz.parquet"
    write_columnar(path)
    web.files["/part-00000.gz.parquet"] = path.read_bytes()
    rules = scope("site042.org")
    whole = add(tmp_path / "whole", path, scope=rules)
    before = count_fetched()
    found = add(tmp_path / "store", f"{web.url}/part-00000.gz.parquet", scope=rules)
    assert (found.checksum, found.excluded) == (whole.checksum, whole.excluded)
    n_bytes = path.stat().st_size
    # Beside the first 64 kB, by which the format is told, and the footer.
    with path.open("rb") as file:
        file.seek(-8, 2)
        n_looked_at = (1 << 16) + int.from_bytes(file.read(4), "little")
    assert n_bytes > 2_000_000
    assert count_fetched() - before - n_looked_at < 0.03 * n_bytes
