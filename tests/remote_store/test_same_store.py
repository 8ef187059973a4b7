"""A store on object storage is the same as one on the disk, and every command works on it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import crawlgauge as cg
from crawlgauge.errors import StoreError

N_CRAWLS = 4


@pytest.fixture
def both(s3_place, tmp_path, make_list):
    """Return a store on the disk and one on the server, made by the same commands."""
    local = tmp_path / "store"
    for number in range(N_CRAWLS):
        path = make_list(range(100 * number, 100 * number + 400), f"{number}.txt")
        for store in (local, s3_place.store):
            cg.add_crawl(store, f"202{number}-06", path)
    return local, s3_place


def files(folder):
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path for path in found}


def download(place, folder):
    for name in place.names():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(place.read(name))
    return folder


COMMANDS = """\
list
list --json
verify
overlaps
overlaps --sample 1/4
overlaps --json
estimate
strata --by host
history
check
plan --target 0.8
recall 0.txt""".splitlines()


def test_every_command_prints_the_same_of_both(both, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    local, place = both
    for command in COMMANDS:
        here, there = (run(*command.split(), "--store", store) for store in (local, place.store))
        assert here[0] == 0, here
        assert here[:2] == there[:2], command


def test_a_copy_of_either_is_a_store_of_the_other_kind(both, tmp_path):
    local, place = both
    copied = download(place, tmp_path / "copy")
    assert [item.problem for item in cg.verify_store(copied)] == [None] * N_CRAWLS
    there = place.below("uploaded")
    for name, path in files(local).items():
        there.write(name, path.read_bytes())
    assert [item.problem for item in cg.verify_store(there.store)] == [None] * N_CRAWLS
    for one, other in zip(cg.list_crawls(copied), cg.list_crawls(there.store), strict=True):
        assert one.checksum == other.checksum
    # Both can be written: locks that were copied keep nobody out.
    for store in (copied, there.store):
        cg.remove_crawl(store, "2020-06")
        cg.add_crawl(store, "2024-06", tmp_path / "0.txt")
        assert len(cg.list_crawls(store)) == N_CRAWLS


def test_an_address_that_begins_with_file_is_a_folder(tmp_path, make_list):
    store = tmp_path / "my store"
    cg.add_crawl(f"file://{tmp_path}/my%20store", "2021-06", make_list([1]))
    assert cg.list_crawls(store)[0].crawl.n_urls == 1


def test_a_crawl_is_replaced_appended_to_and_removed(s3_place, make_list):
    store = s3_place.store
    first, second = make_list(range(10), "1.txt"), make_list(range(5, 20), "2.txt")
    assert cg.add_crawl(store, "2021-06", first).outcome == "added"
    assert cg.add_crawl(store, "2021-06", first).outcome == "unchanged"
    with pytest.raises(StoreError, match=r"s3://.* already holds a crawl '2021-06'"):
        cg.add_crawl(store, "2021-06", second)
    assert cg.add_crawl(store, "2021-06", second, append=True).crawl_set.crawl.n_urls == 20
    s3_place.see_whole(["2021-06"])
    assert cg.add_crawl(store, "2021-06", second, replace=True).crawl_set.crawl.n_urls == 15
    s3_place.see_whole(["2021-06"])
    cg.remove_crawl(store, "2021-06")
    assert s3_place.names() == ["store.json"]


def test_counts_are_kept_for_the_next_time(both, monkeypatch):
    _, place = both
    table = cg.count_overlaps(place.store)
    assert [name for name in place.names() if name.startswith("cache/overlaps-")]
    monkeypatch.setattr("crawlgauge.store.ranges.SetReaders", None)
    assert cg.count_overlaps(place.store).n_shared.tolist() == table.n_shared.tolist()


def test_estimates_are_kept_for_the_next_time(both, monkeypatch):
    _, place = both
    table = cg.count_overlaps(place.store)
    first = cg.estimate(table, store=place.store)
    assert [name for name in place.names() if name.startswith("cache/estimates-")]
    monkeypatch.setattr("crawlgauge.model.coverage.estimate_coverage", None)
    assert cg.estimate(table, store=place.store).estimates == first.estimates


def test_stores_here_and_there_are_compared_and_samples_exported(both, tmp_path, run):
    local, place = both
    sample = place.below("sample")
    exported = cg.export_sample(place.store, sample.store, sample="1/2")
    local_sample = cg.export_sample(local, tmp_path / "sample", sample="1/2")
    assert (exported.n_keys, exported.n_crawls) == (local_sample.n_keys, N_CRAWLS)
    assert str(exported.path) == sample.store
    assert [item.problem for item in cg.verify_store(sample.store)] == [None] * N_CRAWLS
    with pytest.raises(StoreError, match="there is something at s3://"):
        cg.export_sample(local, sample.store)
    assert list((tmp_path / "tmp").iterdir()) == []
    there, here = (
        run("compare", other, "--store", local) for other in (sample.store, tmp_path / "sample")
    )
    assert here[0] == 0, here
    assert there[:2] == here[:2]


def test_other_levels_and_a_collection_that_is_cut_are_stored(s3_place, tmp_path):
    lines = [
        f"org,example)/{k} 2021{month:02}15000000 "
        f'{{"url": "http://example.org/{k}", "status": "200", "mime": "text/html", '
        f'"digest": "{k % 7 + 1:032d}"}}\n'
        for month in (1, 2)
        for k in range(20)
    ]
    path = tmp_path / "index.cdxj"
    path.write_text("".join(lines))
    cg.split_collection(s3_place.store, path, period="month", levels="url,content")
    assert cg.count_overlaps(s3_place.store, level="content").n_shared.tolist() == [[7, 7], [7, 7]]
    s3_place.see_whole(["2021-01", "2021-02"], others=s3_place.cached())


def test_what_does_not_fit_into_memory_lies_in_the_temporary_folder_meanwhile(
    s3_place, make_list, tmp_path, monkeypatch
):
    monkeypatch.setattr("crawlgauge.ingest.sorting._SHARE_FOR_KEYS", 1e-5)
    seen = []
    temporary = tmp_path / "tmp"

    def look(_):
        seen.extend(path.name for path in temporary.rglob("*.keys"))

    path = make_list(range(20_000))
    cg.add_crawl(s3_place.store, "2021-06", path, progress=look, memory="256M")
    assert cg.list_crawls(s3_place.store)[0].crawl.n_urls == 20_000
    assert list(temporary.iterdir()) == []
    assert (s3_place.names()[-1], "spill" in "".join(s3_place.names())) == ("store.json", False)


def test_without_the_extra_the_message_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['obstore'] = None\n"
        "from crawlgauge.cli.main import main\n"
        "main(['list', '--store', 's3://bucket/store'])\n"
    )
    source = str(Path(cg.__file__).parents[1])
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": source, "PATH": shutil.os.defpath},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "pip install '.[remote]'" in result.stderr
    assert "Traceback" not in result.stderr
